// The face of the core: trackers over a kernel matrix, dense features and sparse features.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include "walk.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace core;

template <class T, int dimensions>
using In = nb::ndarray<const T, nb::ndim<dimensions>, nb::c_contig, nb::device::cpu>;
using In1 = In<double, 1>;
using In2 = In<double, 2>;
using Ints = In<int64_t, 1>;
using In3 = In<double, 3>;
using Out3 = nb::ndarray<double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using States = In<int8_t, 1>;

template <class T, class Values>
static nb::object array(Values values, std::vector<size_t> shape) {  // takes the values over
    auto *kept = new Values(std::move(values));
    nb::capsule owner(kept, [](void *p) noexcept { delete static_cast<Values *>(p); });
    return nb::cast(nb::ndarray<nb::numpy, T>(kept->data(), shape.size(), shape.data(), owner));
}
template <class T>
static nb::object array(std::vector<T> values) {
    size_t n = values.size();
    return array<T>(std::move(values), {n});
}
static Vector vector(const In1 &x) { return Vector(x.data(), x.data() + x.size()); }
static Indices indices(const Ints &x) { return Indices(x.data(), x.data() + x.size()); }

template <class Form>
static Line line_of(const Tracker<Form> &T, const In2 &bases, const In1 &start, const In1 &stop, const In1 &e0, const In1 &e_end,
                    bool to_zero, double end_tolerance) {
    size_t n = T.problem.n, m = T.problem.m;
    if (bases.shape(0) != 2 || bases.shape(1) != n || start.size() != 2 || stop.size() != 2 || e0.size() != m || e_end.size() != m)
        throw std::invalid_argument("a line has two bases of n caps, two numbers at either end, and m right-hand sides");
    Line line;
    for (int b = 0; b < 2; b++) {
        line.base[b].assign(bases.data() + b * n, bases.data() + (b + 1) * n);
        line.phi[b] = Affine::between(start(b), stop(b));
    }
    line.cap_rate.resize(n);
    double move[2] = {stop(0) - start(0), stop(1) - start(1)};
    for (size_t i = 0; i < n; i++) line.cap_rate[i] = move[0] * line.base[0][i] + move[1] * line.base[1][i];
    for (size_t g = 0; g < m; g++) {
        line.e.push_back(Affine::between(e0(g), e_end(g)));
        if (e_end(g) != 0.0) line.ends_empty = false;
    }
    line.to_zero = to_zero, line.end_tolerance = end_tolerance;
    return line;
}

template <class Form>
static void check_members(const Tracker<Form> &T, const States &state, const Ints &margin) {
    bool fits = int(state.size()) == T.problem.n;
    for (size_t j = 0; j < margin.size(); j++) fits &= margin(j) >= 0 && margin(j) < T.problem.n;
    if (!fits) throw std::invalid_argument("one set per sample, and members of the margin set from 0 to n - 1");
}

// What was recorded is given away, its memory and all, and recording ends.
template <class Form>
static nb::dict take_log(Tracker<Form> &T) {
    Log log = std::exchange(T.B.log, Log());
    size_t s = log.first.size(), c = log.changes.size(), m = T.problem.m;
    Vector t = std::move(log.first);
    t.insert(t.end(), log.last.begin(), log.last.end());
    std::vector<int64_t> changes(4 * c);
    for (size_t j = 0; j < c; j++) {
        const Change &x = log.changes[j];
        changes[j] = x.segment, changes[c + j] = x.sample, changes[2 * c + j] = x.old, changes[3 * c + j] = x.now;
    }
    nb::dict out;
    out["state"] = array(std::move(log.state));
    out["t"] = array<double>(std::move(t), {2, s});
    out["ptr"] = array(std::move(log.ptr));
    out["index"] = array(std::move(log.index));
    out["a0"] = array(std::move(log.a_first)), out["a1"] = array(std::move(log.a_last));
    out["eta"] = array<double>(std::move(log.eta), {s, 2, m});
    out["value"] = array<double>(std::move(log.value), {s, 3});
    out["w"] = array<double>(std::move(log.w), {s, 2, size_t(log.width)});
    out["changes"] = array<int64_t>(std::move(changes), {4, c});
    return out;
}

static nb::object rows(const Pair &x) {
    Vector both = x.hi;
    both.insert(both.end(), x.lo.begin(), x.lo.end());
    return array<double>(std::move(both), {2, x.size()});
}

template <class Form>
static nb::class_<Tracker<Form>> tracker(nb::module_ &module, const char *name) {
    using T = Tracker<Form>;
    auto released = nb::call_guard<nb::gil_scoped_release>();
    nb::class_<T> kind(module, name);
    kind.def(
            "start",
            [](T &self, States state, Ints margin) {
                check_members(self, state, margin);
                std::vector<int8_t> sets(state.data(), state.data() + state.size());
                for (size_t j = 0; j < margin.size(); j++) sets[margin(j)] = RIGHT;
                self.B.start(std::move(sets));
            },
            "state"_a, "margin"_a, released)
        .def(
            "set_line",
            [](T &self, In2 bases, In1 start, In1 stop, In1 e0, In1 e_end, bool to_zero, double end_tolerance) {
                self.set_line(line_of(self, bases, start, stop, e0, e_end, to_zero, end_tolerance));
            },
            "bases"_a, "start"_a, "stop"_a, "e0"_a, "e_end"_a, "to_zero"_a, "end_tolerance"_a, released)
        .def(
            "enter",
            [](T &self, int i) {  // false if it depends on the margin set
                const Candidate &with = self.B.sharp_candidate(i);
                if (with.pivot <= self.B.negligible(i)) return false;
                self.B.append(i, Vector(with.row), with.pivot);
                return true;
            },
            "i"_a, released)
        .def(
            "take",
            [](T &self, Ints margin) {  // a whole margin set at once; false if it is dependent
                self.B.F = indices(margin);
                for (int i : self.B.F) self.B.state[i] = MARGIN;
                return self.B.factored();
            },
            "margin"_a, released)
        .def("run", [](T &self, int64_t limit, double seconds) { return int(self.run(limit, seconds)); }, "limit"_a, "seconds"_a,
             released)
        .def("quiet", &T::quiet, released)
        .def(
            "solution",
            [](T &self, double t) {
                const Solution<Form, Twice> *found;
                {
                    nb::gil_scoped_release free;
                    found = &self.solution(t, self.t_lo);
                }
                Vector w(found->w[0].size());
                for (size_t c = 0; c < w.size(); c++) w[c] = found->w[0].at(c);
                return nb::make_tuple(rows(found->a[0]), rows(found->eta[0]), array(std::move(w)));
            },
            "t"_a)
        .def("caps", [](const T &self, double t) { return array(self.caps(t, 0.0)); }, "t"_a)
        .def(
            "record",
            [](T &self, bool keep, int width, In1 at) {
                self.B.log.clear();
                self.B.log.keep = keep, self.B.log.width = width, self.B.log.at = vector(at);
                self.B.log.state = self.B.state;
            },
            "keep"_a, "width"_a, "at"_a)
        .def("take_log", &take_log<Form>)
        .def("save", [](const T &self) { return std::make_unique<Sets>(self.B); })
        .def("load", [](T &self, const Sets &saved) { static_cast<Sets &>(self.B) = saved, self.B.changed(); })
        .def_prop_ro("state", [](const T &self) { return array(self.B.state); })
        .def_prop_ro("margin",
                     [](const T &self) { return array(std::vector<int64_t>(self.B.F.begin(), self.B.F.end())); })
        .def_prop_ro("segments", [](const T &self) { return self.B.log.segments(); })
        .def_prop_ro("exchanges", &T::exchanges)
        .def_prop_ro("counts",
                     [](const T &self) {
                         const Counts &c = self.counts;
                         nb::dict out;
                         out["regular"] = c.regular, out["simple"] = c.simple, out["dependent"] = c.dependent;
                         out["jump"] = c.jump, out["zero"] = c.zero;
                         return out;
                     })
        .def_prop_ro("drift", [](const T &self) { return self.drift(); })
        .def_prop_ro("watched", &T::watched)
        .def_ro("t", &T::t)
        .def_rw("ahead", &T::ahead)
        .def_rw("doubles", &T::doubles);
    return kind;
}

template <class Form>
static Problem<Form> problem(Form form, In1 p, In1 kappa, Ints group, int m) {
    bool fits = p.size() == kappa.size() && p.size() == group.size() && p.size() == form.diagonal.size();
    for (size_t i = 0; fits && i < group.size(); i++) fits = group(i) >= -1 && group(i) < m;
    if (!fits) throw std::invalid_argument("one p, kappa and group per sample, with groups from -1 to m - 1");
    return Problem<Form>(std::move(form), vector(p), vector(kappa), indices(group), m);
}

void bind_parts(nb::module_ &module);  // parts.cpp

NB_MODULE(_core, module) {
    nb::module_ parts = module.def_submodule("parts", "the parts of the tracker, for tests");
    bind_parts(parts);
    nb::exception<Refused>(module, "Refused");
    nb::class_<Sets>(module, "Sets");
    // out += (hi + lo) B in twice the precision, for stacks: (r, m, k) by (r, k, n), or by one for all, (1, k, n).
    module.def(
        "add_product",
        [](In3 hi, In3 lo, In3 B, Out3 out_hi, Out3 out_lo) {
            size_t r = hi.shape(0), m = hi.shape(1), k = hi.shape(2), n = B.shape(2);
            auto fits = [&](const auto &x, size_t width) { return x.shape(0) == r && x.shape(1) == m && x.shape(2) == width; };
            if (!fits(lo, k) || (B.shape(0) != r && B.shape(0) != 1) || B.shape(1) != k || !fits(out_hi, n) || !fits(out_lo, n))
                throw std::invalid_argument("shapes must be (r, m, k), (r, m, k), (r or 1, k, n), (r, m, n) and (r, m, n)");
            for (size_t s = 0; s < r; s++)
                for (size_t i = 0; i < m; i++)
                    for (size_t j = 0; j < k; j++)
                        if (hi(s, i, j) != 0.0)  // as most multipliers are
                            accumulate(&out_hi(s, i, 0), &out_lo(s, i, 0), &B(B.shape(0) == 1 ? 0 : s, j, 0), hi(s, i, j),
                                       lo(s, i, j), int(n));
        },
        "hi"_a, "lo"_a, "B"_a, "out_hi"_a.noconvert(), "out_lo"_a.noconvert(), nb::call_guard<nb::gil_scoped_release>());
    tracker<Gram>(module, "KernelTracker")
        .def(
            "__init__",
            [](Tracker<Gram> *self, In2 K, In1 sign, In1 p, In1 kappa, Ints group, int m) {
                if (K.shape(0) != sign.size() || K.shape(1) != sign.size()) throw std::invalid_argument("K must be n x n");
                new (self) Tracker<Gram>(problem(Gram(K.data(), vector(sign)), p, kappa, group, m));
            },
            nb::arg("K").noconvert(), "sign"_a, "p"_a, "kappa"_a, "group"_a, "m"_a, nb::keep_alive<1, 2>());
    tracker<Dense>(module, "DenseTracker")
        .def(
            "__init__",
            [](Tracker<Dense> *self, In2 Z, In1 p, In1 kappa, Ints group, int m) {
                new (self) Tracker<Dense>(problem(Dense(Z.data(), int(Z.shape(0)), int(Z.shape(1))), p, kappa, group, m));
            },
            "Z"_a, "p"_a, "kappa"_a, "group"_a, "m"_a);
    tracker<Sparse>(module, "SparseTracker")
        .def(
            "__init__",
            [](Tracker<Sparse> *self, Ints ptr, In<int32_t, 1> columns, In1 values, int d, In1 p, In1 kappa, Ints group, int m) {
                new (self) Tracker<Sparse>(
                    problem(Sparse(ptr.data(), columns.data(), values.data(), int(ptr.size()) - 1, d), p, kappa, group, m));
            },
            "ptr"_a, "columns"_a, "values"_a, "d"_a, "p"_a, "kappa"_a, "group"_a, "m"_a);
}
