// The face of the engine for any parametric program: the columns of its matrix, and walks in two precisions.
#include "general.hpp"

#include <nanobind/stl/tuple.h>

#include "bindings.hpp"
#include "bordered.hpp"
#include "coarse.hpp"

using namespace nanobind::literals;
using namespace core;

using Matrix = In<double, 2>;
using Sides = In<double, 3>;
using Masks = In<bool, 2>;
using Whole = In<int32_t, 1>;
using Numbers = In<double, 1>;
using Labels = In<int64_t, 1>;

template <class Real>
static nb::object rows(const std::vector<Real> *rows, int count) {
    Vector all;
    for (int r = 0; r < count; r++)
        for (Real x : rows[r]) all.push_back(rounded(x));
    return array(std::move(all), {size_t(count), rows[0].size()});
}

// Return values and multipliers of all items, and in a second row their rates, where there is one.
template <class W>
static nb::object points(const W &walk, int count) {
    size_t items = walk.pieces.labels.size();
    Vector values, multipliers;
    for (int r = 0; r < count; r++)
        for (size_t i = 0; i < items; i++) {
            values.push_back(rounded(walk.value(r, int(i))));
            multipliers.push_back(rounded(walk.multiplier(r, int(i))) + 0.0);
        }
    std::vector<size_t> shape{size_t(count), items};
    return nb::make_tuple(array(std::move(values), shape), array(std::move(multipliers), shape));
}

// What Python calls: a walk that has one user at a time. Calls give the interpreter's lock away.
template <class Real, class Basis>
struct GuardedWalk : Walk<Real, Basis> {
    using Walk<Real, Basis>::Walk;
    std::atomic<bool> taken{false};
};
template <class W>
static OneUser turn_of(W &walk) {
    return OneUser(walk.taken, "the walk is at work in another thread");
}
// A property of a walk for Python: `read` in a turn of its own.
template <class W, class Read>
static auto in_turn(const Read &read) {
    return [read](W &walk) {
        OneUser turn = turn_of(walk);
        return read(walk);
    };
}

static Program program_of(const Columns &H, const Matrix &q, const Sides &sides, const Masks &masks) {
    size_t N = H.items;
    require(q.shape(0) == 2 && q.shape(1) == size_t(H.n), "q has two rows of n numbers");
    require(sides.shape(0) == 4 && sides.shape(1) == 2 && sides.shape(2) == N,
            "sides are four pairs of rows, a number an item");
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
// Read a triangle by columns, without its diagonal, which is put beside where that is asked for.
static SparseFactor::Triangle triangle_of(nb::handle given, int k, Vector *diagonal) {
    auto [begin, rows, values] = nb::cast<std::tuple<Whole, Whole, Numbers>>(given);
    bool fits = begin.size() == size_t(k) + 1 && rows.size() == values.size();
    fits = fits && begin(0) == 0 && begin(k) == int(rows.size());
    require(fits, "a triangle has a column an item");
    SparseFactor::Triangle T;
    T.begin.push_back(0);
    for (int c = 0; c < k; c++) {
        require(begin(c) <= begin(c + 1) && begin(c + 1) <= begin(k), "columns begin where others end");
        for (int e = begin(c); e < begin(c + 1); e++) {
            require(rows(e) >= 0 && rows(e) < k, "rows lie in the triangle");
            if (rows(e) != c) {
                T.rows.push_back(rows(e));
                T.values.push_back(values(e));
            } else if (diagonal) {
                diagonal->push_back(values(e));
            }
        }
        T.begin.push_back(int(T.rows.size()));
    }
    return T;
}
// A basis whose factors come from Python: `make` is a function from items to L, U and where rows and columns are, or
// None where their block is singular.
static Bordered<Twice> bordered(nb::callable make) {
    Bordered<Twice> basis;
    basis.make = [make](const Indices &items, SparseFactor &out) {
        nb::gil_scoped_acquire closed;
        nb::object found = make(array(Indices(items), {items.size()}));
        if (found.is_none()) return false;
        int k = int(items.size());
        out.L = triangle_of(found[0], k, nullptr);
        out.U = triangle_of(found[1], k, &out.diagonal);
        require(int(out.diagonal.size()) == k, "a triangle has its diagonal");
        for (int part = 0; part < 2; part++) {
            auto order = nb::cast<Whole>(found[2 + part]);
            require(order.size() == size_t(k), "one place a row, and a column");
            (part ? out.columns : out.rows).assign(order.data(), order.data() + k);
            for (int place : part ? out.columns : out.rows)
                require(place >= 0 && place < k, "places lie in the triangle");
        }
        return true;
    };
    return basis;
}

// Return what is written down of the path; the end of its last segment is written now.
template <class W>
static nb::object segments_of(W &walk) {
    auto all = walk.segments;
    all.write_last();
    std::vector<int8_t> joined(all.joined.begin(), all.joined.end());
    auto changes = nb::make_tuple(array(std::move(all.change_segment)), array(std::move(all.change_item)),
                                  array(std::move(all.change_step)));
    auto points =
        nb::make_tuple(array(std::move(all.counts)), array(std::move(all.places)), array(std::move(all.numbers)));
    return nb::make_tuple(array(std::move(all.times)), array(std::move(joined)), array(std::move(all.first_labels)),
                          changes, points);
}

// Bind how a walk begins; one on sparse bases takes a function that factors.
template <class W, class Face>
static void bind_beginning(Face &face) {
    if constexpr (std::is_same_v<decltype(W::basis), Bordered<Twice>>) {
        auto begin = [](W *self, const Columns &H, Matrix q, Sides sides, Masks masks, Labels labels,
                        nb::callable make) {
            new (self) W(H, program_of(H, q, sides, masks), labels_of(H, labels), bordered(make));
        };
        face.def("__init__", begin, "H"_a, "q"_a, "sides"_a, "masks"_a, "labels"_a.noconvert(), "make"_a,
                 nb::keep_alive<1, 2>());
        auto set_border = [](W &self, int border) {
            OneUser turn = turn_of(self);
            self.basis.border = border;
        };
        face.def_prop_rw("border", in_turn<W>([](W &self) { return self.basis.border; }), set_border);
    } else {
        auto begin = [](W *self, const Columns &H, Matrix q, Sides sides, Masks masks, Labels labels) {
            new (self) W(H, program_of(H, q, sides, masks), labels_of(H, labels));
        };
        face.def("__init__", begin, "H"_a, "q"_a, "sides"_a, "masks"_a, "labels"_a.noconvert(), nb::keep_alive<1, 2>());
    }
}

template <class Real, class Basis>
static void bind_walk(nb::module_ &module, const char *name) {
    using W = GuardedWalk<Real, Basis>;
    auto face = nb::class_<W>(module, name);
    bind_beginning<W>(face);
    auto solve = [](W &self, double t) {  // values and multipliers at t, and their rates; None if refused
        OneUser turn = turn_of(self);
        return self.solve_at(Real(t)) ? points(self, 2) : nb::object(nb::none());
    };
    auto run = [](W &self, int64_t limit, bool keep, int64_t steps) {
        OneUser turn = turn_of(self);
        nb::gil_scoped_release open;
        return int(self.run(limit, keep, steps));
    };
    auto segments = [](W &self) {
        OneUser turn = turn_of(self);
        return segments_of(self);
    };
    auto set_whole_points = [](W &self, bool whole) {
        OneUser turn = turn_of(self);
        self.segments.whole_points = whole;
    };
    auto labels = [](W &self) { return array(std::vector<int8_t>(self.pieces.labels), {self.pieces.labels.size()}); };
    face.def("solve", solve, "t"_a)
        .def("run", run, "limit"_a, "keep"_a, "steps"_a)
        .def("segments", segments)
        .def_prop_ro("labels", in_turn<W>(labels))
        .def_prop_ro("ray", in_turn<W>([](W &self) { return rows(&self.ray, 1); }))
        .def_prop_ro("now", in_turn<W>([](W &self) { return points(self, 1); }))  // values and multipliers where it is
        .def_prop_ro("t", in_turn<W>([](W &self) { return rounded(self.t); }))
        .def_prop_ro("why", in_turn<W>([](W &self) { return nb::str(self.why.c_str()); }))
        .def_prop_ro("exchanges", in_turn<W>([](W &self) { return self.exchanges; }))
        .def_prop_ro("crossed", in_turn<W>([](W &self) { return self.crossed; }))
        .def_rw("afresh", &W::recompute_always)
        .def_prop_rw("whole_points", in_turn<W>([](W &self) { return self.segments.whole_points; }), set_whole_points)
        .def_rw("compared", &W::compare_updates)
        .def_ro("worst", &W::worst_update)
        .def_ro("solved", &W::solved)
        .def_prop_ro("members", in_turn<W>([](W &self) { return self.basis.size(); }));
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
                require(begin.size() > 0 && begin(0) == 0 && rows.size() == values.size(),
                        "columns begin where others end");
                int items = int(begin.size()) - 1;
                require(n >= 0 && n <= items && begin(items) == int(rows.size()), "n of the items are variables");
                for (int j = 0; j < items; j++) {
                    require(begin(j) <= begin(j + 1) && begin(j + 1) <= begin(items), "columns begin where others end");
                    for (int e = begin(j); e < begin(j + 1); e++)
                        require(rows(e) >= 0 && rows(e) < items && (e == begin(j) || rows(e - 1) < rows(e)),
                                "rows increase");
                }
                require(finite(values), "the entries must be finite");
                return new Columns(begin.data(), rows.data(), values.data(), n, items - n);
            },
            "begin"_a, "rows"_a, "values"_a, "n"_a);
    bind_walk<double, Inverse<double>>(module, "Walk");
    bind_walk<Twice, Coarse>(module, "FineWalk");
    bind_walk<Twice, Inverse<Twice>>(module, "TwiceWalk");
    bind_walk<Twice, Bordered<Twice>>(module, "SparseWalk");
}
