// The face of the engine for any parametric program: the columns of its matrix, and walks in two precisions.
#include "general.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>

#include <atomic>
#include <memory>

#include "bordered.hpp"
#include "coarse.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace core;

using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Sides = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using Masks = nb::ndarray<const bool, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Whole = nb::ndarray<const int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Numbers = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Labels = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

static void require(bool fits, const char *what) {
    if (!fits) throw std::invalid_argument(what);
}
template <class Array>
static bool finite(const Array &x) {
    return std::all_of(x.data(), x.data() + x.size(), [](double v) { return std::isfinite(v); });
}
template <class T>
static nb::object array(std::vector<T> values, std::vector<size_t> shape) {  // takes the values over
    auto *kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void *p) noexcept { delete static_cast<std::vector<T> *>(p); });
    return nb::cast(nb::ndarray<nb::numpy, T>(kept->data(), shape.size(), shape.data(), owner));
}
template <class Real>
static nb::object rows(const std::vector<Real> *rows, int count) {
    Vector all;
    for (int r = 0; r < count; r++)
        for (Real x : rows[r]) all.push_back(rounded(x));
    return array(std::move(all), {size_t(count), rows[0].size()});
}

// Values and multipliers of all items, and in a second row their rates.
template <class W>
static nb::object points(const W &walk, int count) {
    size_t N = walk.labels.size();
    Vector v, y;
    for (int r = 0; r < count; r++)
        for (size_t i = 0; i < N; i++)
            v.push_back(rounded(walk.value(r, int(i)))), y.push_back(rounded(walk.multiplier(r, int(i))) + 0.0);
    return nb::make_tuple(array(std::move(v), {size_t(count), N}), array(std::move(y), {size_t(count), N}));
}

// What Python calls: a walk that has one user at a time. Calls give the interpreter's lock away.
template <class Real, class Basis>
struct GuardedWalk : Walk<Real, Basis> {
    using Walk<Real, Basis>::Walk;
    std::atomic<bool> taken{false};
};
template <class T>
class Only {
  public:
    explicit Only(T &walk) : taken_(walk.taken) {
        if (taken_.exchange(true)) throw std::runtime_error("the walk is at work in another thread");
    }
    Only(const Only &) = delete;
    ~Only() { taken_ = false; }

  private:
    std::atomic<bool> &taken_;
};

static Program program_of(const Columns &H, const Matrix &q, const Sides &sides, const Masks &masks) {
    size_t N = H.items;
    require(q.shape(0) == 2 && q.shape(1) == size_t(H.n), "q has two rows of n numbers");
    require(sides.shape(0) == 4 && sides.shape(1) == 2 && sides.shape(2) == N, "sides are four pairs of rows, a number an item");
    require(masks.shape(0) == 5 && masks.shape(1) == N, "masks are five rows, one an item");
    require(finite(q) && finite(sides), "the numbers of a line must be finite");
    Program out;
    for (int r = 0; r < 2; r++) {
        out.q[r].assign(N, 0.0);
        for (int i = 0; i < H.n; i++) out.q[r][i] = q(r, i);
        for (int s = 0; s < 4; s++) out.sides[s][r].assign(&sides(s, r, 0), &sides(s, r, 0) + N);
    }
    std::vector<char> *flags[] = {&out.has_low, &out.has_up, &out.soft_low, &out.soft_up, &out.fixed};
    for (int s = 0; s < 5; s++) flags[s]->assign(&masks(s, 0), &masks(s, 0) + N);
    return out;
}

static std::vector<int8_t> labels_of(const Columns &H, const Labels &labels) {
    require(labels.size() == size_t(H.items), "one label per item");
    require(std::all_of(labels.data(), labels.data() + labels.size(), [](int64_t x) { return x >= -2 && x <= 2; }),
            "labels lie between -2 and 2");
    return std::vector<int8_t>(labels.data(), labels.data() + labels.size());
}
// A triangle by columns, without its diagonal, which is put beside where that is asked for.
static Factor::Triangle triangle_of(nb::handle given, int k, Vector *diagonal) {
    auto [begin, rows, values] = nb::cast<std::tuple<Whole, Whole, Numbers>>(given);
    require(begin.size() == size_t(k) + 1 && rows.size() == values.size() && begin(0) == 0 && begin(k) == int(rows.size()),
            "a triangle has a column an item");
    Factor::Triangle T;
    T.begin.push_back(0);
    for (int c = 0; c < k; c++) {
        require(begin(c) <= begin(c + 1) && begin(c + 1) <= begin(k), "columns begin where others end");
        for (int e = begin(c); e < begin(c + 1); e++) {
            require(rows(e) >= 0 && rows(e) < k, "rows lie in the triangle");
            if (rows(e) != c) T.rows.push_back(rows(e)), T.values.push_back(values(e));
            else if (diagonal) diagonal->push_back(values(e));
        }
        T.begin.push_back(int(T.rows.size()));
    }
    return T;
}
// A basis whose factors come from Python: a function from items to L, U and where rows and columns are, or None.
static Bordered<Twice> bordered(nb::callable make) {
    Bordered<Twice> basis;
    basis.make = [make](const Indices &items, Factor &out) {
        nb::gil_scoped_acquire closed;
        nb::object found = make(array(Indices(items), {items.size()}));
        if (found.is_none()) return false;
        int k = int(items.size());
        out.L = triangle_of(found[0], k, nullptr), out.U = triangle_of(found[1], k, &out.diagonal);
        require(int(out.diagonal.size()) == k, "a triangle has its diagonal");
        for (int part = 0; part < 2; part++) {
            auto order = nb::cast<Whole>(found[2 + part]);
            require(order.size() == size_t(k), "one place a row, and a column");
            (part ? out.columns : out.rows).assign(order.data(), order.data() + k);
            for (int place : part ? out.columns : out.rows) require(place >= 0 && place < k, "places lie in the triangle");
        }
        return true;
    };
    return basis;
}

template <class Real, class Basis>
static void walk(nb::module_ &module, const char *name) {
    using W = GuardedWalk<Real, Basis>;
    auto face = nb::class_<W>(module, name);
    if constexpr (std::is_same_v<Basis, Bordered<Twice>>)
        face.def(
            "__init__",
            [](W *self, const Columns &H, Matrix q, Sides sides, Masks masks, Labels labels, nb::callable make) {
                new (self) W(H, program_of(H, q, sides, masks), labels_of(H, labels), bordered(make));
            },
            "H"_a, "q"_a, "sides"_a, "masks"_a, "labels"_a.noconvert(), "make"_a, nb::keep_alive<1, 2>())
            .def_prop_rw("border", [](W &self) { return Only(self), self.basis().border; },
                         [](W &self, int border) { Only turn(self);
                             self.basis().border = border; });
    else
        face.def(
            "__init__",
            [](W *self, const Columns &H, Matrix q, Sides sides, Masks masks, Labels labels) {
                new (self) W(H, program_of(H, q, sides, masks), labels_of(H, labels));
            },
            "H"_a, "q"_a, "sides"_a, "masks"_a, "labels"_a.noconvert(), nb::keep_alive<1, 2>());
    face
        .def("solve", [](W &self, double t) {  // values and multipliers at t, and their rates; None if refused
            Only turn(self);
            if (!self.show(Real(t))) return nb::object(nb::none());
            return points(self, 2);
        }, "t"_a)
        .def("run", [](W &self, int64_t limit, bool keep, int64_t steps) {
            Only turn(self);
            nb::gil_scoped_release open;
            return int(self.run(limit, keep, steps));
        }, "limit"_a, "keep"_a, "steps"_a)
        .def("segments", [](W &self, bool all) {  // what is known of them is taken away; the last point stays unless all
            Only turn(self);
            size_t N = self.labels.size(), k = self.joined.size();
            Vector left[2];
            size_t points = N ? self.values.size() / N : 0;
            if (!all && points) {
                for (int r = 0; r < 2; r++) {
                    Vector &kept = r ? self.multipliers : self.values;
                    left[r].assign(kept.end() - N, kept.end()), kept.resize(kept.size() - N);
                }
                points--;
            }
            self.times.erase(self.times.begin());
            auto out = nb::make_tuple(array(std::move(self.times), {k}), array(std::move(self.pieces), {k, N}),
                                      array(std::vector<int8_t>(self.joined.begin(), self.joined.end()), {k}), array(std::move(self.values), {points, N}),
                                      array(std::move(self.multipliers), {points, N}));
            self.times = {rounded(self.t)}, self.pieces.clear(), self.joined.clear();
            self.values = std::move(left[0]), self.multipliers = std::move(left[1]);
            return out;
        }, "all"_a)
        .def_prop_ro("labels", [](W &self) {
            Only turn(self);
            return array(std::vector<int8_t>(self.labels), {self.labels.size()});
        })
        .def_prop_ro("ray", [](W &self) {
            Only turn(self);
            return rows(&self.ray, 1);
        })
        .def_prop_ro("now", [](W &self) {  // values and multipliers where it is
            Only turn(self);
            return points(self, 1);
        })
        .def_prop_ro("t", [](W &self) { return Only(self), rounded(self.t); })
        .def_prop_ro("why", [](W &self) { return Only(self), nb::str(self.why.c_str()); })
        .def_prop_ro("exchanges", [](W &self) { return Only(self), self.exchanges; })
        .def_prop_ro("crossed", [](W &self) { return Only(self), self.crossed; })
        .def_rw("afresh", &W::afresh)
        .def_rw("compared", &W::compared)
        .def_ro("worst", &W::worst)
        .def_ro("solved", &W::solved)
        .def_prop_ro("members", [](W &self) { return Only(self), self.members(); });
}

void bind_general(nb::module_ &module) {
    nb::class_<Columns>(module, "Columns")
        .def(
            "__init__",
            [](Columns *self, Matrix P, Matrix A, Matrix F) {
                size_t n = P.shape(0), m = A.shape(0), rank = F.shape(0);
                require(P.shape(1) == n && (A.shape(1) == n || m == 0), "P must be n x n, A m x n");
                require(F.shape(1) == n || rank == 0, "F must have n columns");
                require(n + m < (1u << 30) && rank <= n, "too many items");
                require(finite(P) && finite(A) && finite(F), "P, A and F must be finite");
                new (self) Columns(P.data(), A.data(), F.data(), int(n), int(m), int(rank));
            },
            "P"_a, "A"_a, "F"_a)
        .def_static(
            "sparse",
            [](Whole begin, Whole rows, Numbers values, int n) {
                require(begin.size() > 0 && begin(0) == 0 && rows.size() == values.size(), "columns begin where others end");
                int items = int(begin.size()) - 1;
                require(n >= 0 && n <= items && begin(items) == int(rows.size()), "n of the items are variables");
                for (int j = 0; j < items; j++) {
                    require(begin(j) <= begin(j + 1) && begin(j + 1) <= begin(items), "columns begin where others end");
                    for (int e = begin(j); e < begin(j + 1); e++)
                        require(rows(e) >= 0 && rows(e) < items && (e == begin(j) || rows(e - 1) < rows(e)), "rows increase");
                }
                require(finite(values), "the entries must be finite");
                return new Columns(begin.data(), rows.data(), values.data(), n, items - n);
            },
            "begin"_a, "rows"_a, "values"_a, "n"_a);
    walk<double, Inverse<double>>(module, "Walk");
    walk<Twice, Coarse>(module, "FineWalk");
    walk<Twice, Inverse<Twice>>(module, "TwiceWalk");
    walk<Twice, Bordered<Twice>>(module, "SparseWalk");
}
