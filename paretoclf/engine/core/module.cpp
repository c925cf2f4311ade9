// The face of the core: trackers over a kernel matrix, dense features and sparse features.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include <limits>

#include "bindings.hpp"
#include "ends.hpp"
#include "many.hpp"

using namespace nanobind::literals;
using namespace core;

using In1 = In<double, 1>;
using In2 = In<double, 2>;
using In3 = In<double, 3>;
using Ints = In<int64_t, 1>;
using States = In<int8_t, 1>;
using Out3 = nb::ndarray<double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

static Vector vector(const In1 &x) { return Vector(x.data(), x.data() + x.size()); }
static Indices indices(const Ints &x) { return Indices(x.data(), x.data() + x.size()); }

// What Python calls: a tracker that has one user at a time, and goes nowhere before it is on a line.
template <class Form>
struct Guarded : Tracker<Form> {
    using Tracker<Form>::Tracker;
    bool on_line = false;
    mutable std::atomic<bool> taken{false};
};
template <class T>
static OneUser turn_of(const T &tracker) {
    return OneUser(tracker.taken, "the tracker is at work in another thread");
}
template <class T>
static void require_line(const T &tracker) {
    if (!tracker.on_line)
        throw std::runtime_error("the tracker is on no line yet: set_line must follow start and load");
}

// Check a line that is given, and read it.
template <class Form>
static Line line_of(const Tracker<Form> &T, const In2 &bases, const In1 &start, const In1 &stop, const In1 &e0,
                    const In1 &e_end, bool to_zero, double end_tolerance) {
    size_t n = T.problem.n, m = T.problem.m;
    bool fits = bases.shape(0) == 2 && bases.shape(1) == n && start.size() == 2 && stop.size() == 2;
    fits &= e0.size() == m && e_end.size() == m;
    require(fits, "a line has two bases of n caps, two numbers at either end, and m right-hand sides");
    bool numbers = finite(bases) && finite(start) && finite(stop);
    numbers &= finite(e0) && finite(e_end) && std::isfinite(end_tolerance);
    require(numbers, "the numbers of a line must be finite");
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
    line.to_zero = to_zero;
    line.end_tolerance = end_tolerance;
    return line;
}

template <class Form>
static void check_members(const Tracker<Form> &T, const Ints &margin) {
    std::vector<bool> seen(T.problem.n, false);
    for (size_t j = 0; j < margin.size(); j++) {
        require(margin(j) >= 0 && margin(j) < T.problem.n, "members of the margin set lie between 0 and n - 1");
        require(!seen[margin(j)], "members of the margin set differ");
        seen[margin(j)] = true;
    }
}

// Read the sets of all samples: those outside of the margin set as given, its members at 0.
template <class Form>
static std::vector<int8_t> sets_of(const Tracker<Form> &T, const States &state, const Ints &margin) {
    require(int64_t(state.size()) == T.problem.n, "one set per sample");
    check_members(T, margin);
    std::vector<int8_t> sets(state.data(), state.data() + state.size());
    for (size_t j = 0; j < margin.size(); j++) sets[margin(j)] = RIGHT;
    auto known = [](int8_t x) { return x == RIGHT || x == LEFT || x == OUT; };
    require(std::all_of(sets.begin(), sets.end(), known), "sets outside of the margin set are 0, 1 or 3");
    return sets;
}

// Whether what was saved is of a tracker of this form and size.
template <class Form>
static bool fits_tracker(const Tracker<Form> &T, const Sets &saved) {
    size_t n = T.problem.n, m = T.problem.m, width = T.problem.Q.width();
    bool fits = saved.state.size() == n && saved.targets.size() == n && int(saved.F.size()) == saved.factor.size();
    for (int b = 0; b < 2; b++) {
        if (saved.base[b].empty()) continue;  // without bases there are no sums
        fits &= saved.base[b].size() == n && saved.sums[b].size() == width && saved.fixed[b].size() == m;
    }
    return fits;
}
template <class Form>
static void require_width(const Tracker<Form> &T, int64_t width) {
    require(width == 0 || width == T.problem.Q.features(), "width must be 0, or the number of features");
}

// Give away what was recorded, its memory and all, and end recording.
template <class T>
static nb::dict take_log(T &self) {
    OneUser turn = turn_of(self);
    Log log = std::exchange(self.B.log, Log());
    size_t s = log.first.size(), c = log.changes.size(), m = self.problem.m;
    Vector t = std::move(log.first);
    t.insert(t.end(), log.last.begin(), log.last.end());
    std::vector<int64_t> changes(4 * c);
    for (size_t j = 0; j < c; j++) {
        const Change &x = log.changes[j];
        changes[j] = x.segment;
        changes[c + j] = x.sample;
        changes[2 * c + j] = x.old;
        changes[3 * c + j] = x.now;
    }
    nb::dict out;
    out["state"] = array(std::move(log.state));
    out["t"] = array<double>(std::move(t), {2, s});
    out["ptr"] = array(std::move(log.ptr));
    out["index"] = array(std::move(log.index));
    out["a0"] = array(std::move(log.a_first));
    out["a1"] = array(std::move(log.a_last));
    out["eta"] = array<double>(std::move(log.eta), {s, 2, m});
    out["value"] = array<double>(std::move(log.value), {s, 3});
    out["w"] = array<double>(std::move(log.w), {s, 2, size_t(log.width)});
    out["changes"] = array<int64_t>(std::move(changes), {4, c});
    out["outside"] = array(std::move(log.outside));
    return out;
}

static nb::object rows(const Pair &x) {
    Vector both = x.hi;
    both.insert(both.end(), x.lo.begin(), x.lo.end());
    return array<double>(std::move(both), {2, x.size()});
}

// ---- what trackers do for Python, one function a method ----

template <class T>
static void start(T &self, States state, Ints margin) {
    OneUser turn = turn_of(self);
    std::vector<int8_t> sets = sets_of(self, state, margin);
    self.on_line = false;
    self.B.start(std::move(sets));
}
template <class T>
static void set_line(T &self, In2 bases, In1 start, In1 stop, In1 e0, In1 e_end, bool to_zero, double end_tolerance) {
    OneUser turn = turn_of(self);
    self.set_line(line_of(self, bases, start, stop, e0, e_end, to_zero, end_tolerance));
    self.on_line = true;
}
// Let a sample enter the margin set; false if it depends on it.
template <class T>
static bool enter(T &self, int64_t i) {
    OneUser turn = turn_of(self);
    require_line(self);
    if (i < 0 || i >= self.problem.n) throw std::out_of_range("i lies between 0 and n - 1");
    require(self.B.state[i] != MARGIN, "who enters the margin set is not in it");
    const Candidate &with = self.B.sharp_candidate(int(i));
    if (!(with.pivot > self.B.negligible(int(i)))) return false;
    self.B.append(int(i), Vector(with.row), with.pivot);
    return true;
}
template <class T>
static bool take(T &self, Ints margin) {
    OneUser turn = turn_of(self);
    require_line(self);
    check_members(self, margin);
    require(self.B.F.empty(), "a margin set is taken where there is none");
    for (size_t j = 0; j < margin.size(); j++)
        require(self.B.state[margin(j)] == RIGHT, "members of a margin set that is taken are at 0");
    return self.B.take(indices(margin));
}
template <class T>
static int run(T &self, int64_t limit, double seconds) {
    constexpr int64_t MOST = std::numeric_limits<int64_t>::max() / 2;
    constexpr double LONGEST = 1e6;
    OneUser turn = turn_of(self);
    require_line(self);
    require(seconds >= 0.0, "seconds must be a number from 0 on");
    return int(self.run(std::min(limit, MOST), std::min(seconds, LONGEST)));
}
template <class T>
static bool quiet(T &self) {
    OneUser turn = turn_of(self);
    require_line(self);
    return self.quiet();
}
template <class T>
static nb::object caps(const T &self, double t) {
    OneUser turn = turn_of(self);
    require_line(self);
    return array(self.caps(t, 0.0));
}
template <class T>
static const auto &solved(T &self, double t) {
    nb::gil_scoped_release free;
    return self.solution(t, self.t_lo);
}
// Return multipliers of the margin set and eta in two parts, and the slopes w, at some t.
template <class T>
static nb::object solution(T &self, double t) {
    OneUser turn = turn_of(self);
    require_line(self);
    require(std::isfinite(t), "t must be finite");
    const auto &found = solved(self, t);
    Vector w(found.w[0].size());
    for (size_t c = 0; c < w.size(); c++) w[c] = found.w[0].at(c);
    return nb::make_tuple(rows(found.a[0]), rows(found.eta[0]), array(std::move(w)));
}
template <class T>
static void record(T &self, bool keep, int64_t width, In1 at) {
    OneUser turn = turn_of(self);
    require_width(self, width);
    require(finite(at) && std::is_sorted(at.data(), at.data() + at.size()), "at must be finite and increase");
    Log &log = self.B.log;
    log.clear();
    log.keep = keep;
    log.width = int(width);
    log.at = vector(at);
    log.state = self.B.state;
}
template <class T>
static void load(T &self, const Sets &saved) {
    OneUser turn = turn_of(self);
    require(fits_tracker(self, saved), "what is loaded must be of a tracker of the same form and size");
    self.on_line = false;
    static_cast<Sets &>(self.B) = saved;
    self.B.changed();
}
// Follow lines on each of which the cap of one sample moves, and return where they end.
template <class T>
static nb::object ends(T &self, const Sets &saved, In1 caps, Ints samples, In1 to, int64_t width, int64_t limit) {
    OneUser turn = turn_of(self);
    size_t k = samples.size(), n = self.problem.n, m = self.problem.m;
    bool on_line = fits_tracker(self, saved) && !saved.base[0].empty();
    require(on_line, "what is loaded must be of a tracker of the same form and size, on a line");
    bool same_caps = caps.size() == n && std::equal(saved.base[0].begin(), saved.base[0].end(), caps.data());
    require(same_caps, "caps must be those of the line on which it was saved");
    bool positive = to.size() == k && finite(to);
    positive = positive && std::all_of(to.data(), to.data() + k, [](double x) { return x >= 0.0; });
    require(positive, "one cap from 0 on for each sample that moves");
    require_width(self, width);
    for (size_t j = 0; j < k; j++)
        require(samples(j) >= 0 && samples(j) < int64_t(n), "samples lie between 0 and n - 1");
    LineEnds found;
    {
        nb::gil_scoped_release free;
        self.on_line = false;
        found = Ends(self, saved, vector(caps), int(width), limit).follow(indices(samples), vector(to));
    }
    return nb::make_tuple(array<double>(std::move(found.alpha), {k, n}), array<double>(std::move(found.eta), {k, m}),
                          array<double>(std::move(found.w), {k, size_t(width)}), array(std::move(found.failed)));
}
// The part of a stacked array that begins at an offset.
template <class T>
static In<T, 1> part(const T *begin, size_t size) {
    return In<T, 1>(const_cast<T *>(begin), 1, &size);
}
static nb::object dict_of(Followed found, size_t n, size_t m, size_t width) {
    size_t knots = found.u.size();
    nb::dict out;
    out["u"] = array(std::move(found.u));
    out["first"] = array(std::move(found.first));
    out["sets"] = array<int8_t>(std::move(found.sets), {knots, n});
    out["alpha"] = array<double>(std::move(found.alpha), {knots, n});
    out["eta"] = array<double>(std::move(found.eta), {knots, m});
    out["w"] = array<double>(std::move(found.w), {knots, width});
    out["free"] = array(std::move(found.free));
    out["lines"] = array(std::move(found.lines));
    out["failed"] = array(std::move(found.failed));
    return out;
}
// Follow lines of caps, each from a basis of its own, and return all that happens on them.
template <class T>
static nb::object many(T &self, In2 caps, In<int8_t, 2> states, Ints ptr, Ints margins, In2 t, int64_t width,
                       int64_t limit, double apart, double at_bound) {
    OneUser turn = turn_of(self);
    size_t k = states.shape(0), n = self.problem.n;
    require(caps.shape(0) == 2 && caps.shape(1) == n && finite(caps), "two caps per sample, which are finite");
    require(states.shape(1) == n && t.shape(0) == k && t.shape(1) == 2 && finite(t), "n sets and two t for each line");
    bool stacked = ptr.size() == k + 1 && ptr(0) == 0 && ptr(k) == int64_t(margins.size());
    stacked = stacked && std::is_sorted(ptr.data(), ptr.data() + k + 1);
    require(stacked, "ptr must increase from 0 to the number of members of margin sets");
    require_width(self, width);
    std::vector<std::vector<int8_t>> sets;
    std::vector<Indices> members;
    for (size_t j = 0; j < k; j++) {
        Ints own = part(margins.data() + ptr(j), size_t(ptr(j + 1) - ptr(j)));
        sets.push_back(sets_of(self, part(states.data() + j * n, n), own));
        members.push_back(indices(own));
    }
    Followed found;
    {
        nb::gil_scoped_release free;
        self.on_line = false;
        const double *cap = caps.data();
        Many lines(self, Vector(cap, cap + n), Vector(cap + n, cap + 2 * n), int(width), limit, apart, at_bound);
        for (size_t j = 0; j < k; j++) lines.follow(std::move(sets[j]), std::move(members[j]), t(j, 0), t(j, 1));
        lines.finish();
        found = std::move(lines.out);
    }
    return dict_of(std::move(found), n, self.problem.m, size_t(width));
}
static nb::object dict_of(const Counts &counts) {
    nb::dict out;
    out["regular"] = counts.regular;
    out["simple"] = counts.simple;
    out["dependent"] = counts.dependent;
    out["jump"] = counts.jump;
    out["zero"] = counts.zero;
    return out;
}

// A property for Python, `read` in a turn of its own.
template <class T, class Read>
static auto in_turn(const Read &read) {
    return [read](const T &self) {
        OneUser turn = turn_of(self);
        return read(self);
    };
}

template <class T>
static void bind_properties(nb::class_<T> &kind) {
    auto margin = [](const T &self) { return array(std::vector<int64_t>(self.B.F.begin(), self.B.F.end())); };
    auto set_ahead = [](T &self, double t) {
        OneUser turn = turn_of(self);
        require(t >= 0.0 && t <= 1.0, "ahead lies between 0 and 1");
        self.ahead = t;
    };
    auto set_doubles = [](T &self, bool doubles) {
        OneUser turn = turn_of(self);
        self.doubles = doubles;
    };
    kind.def_prop_ro("state", in_turn<T>([](const T &self) { return array(self.B.state); }))
        .def_prop_ro("margin", in_turn<T>(margin))
        .def_prop_ro("segments", in_turn<T>([](const T &self) { return self.B.log.segments(); }))
        .def_prop_ro("exchanges", [](const T &self) { return self.exchanges(); })
        .def_prop_ro("counts", [](const T &self) { return dict_of(self.counts); })
        .def_prop_ro("drift", [](const T &self) { return self.drift(); })
        .def_prop_ro("watched", [](const T &self) { return self.watched(); })
        .def_prop_ro("t", [](const T &self) { return self.t; })
        .def_prop_rw("ahead", [](const T &self) { return self.ahead; }, set_ahead)
        .def_prop_rw("doubles", [](const T &self) { return self.doubles; }, set_doubles);
}
template <class Form>
static nb::class_<Guarded<Form>> tracker(nb::module_ &module, const char *name) {
    using T = Guarded<Form>;
    auto released = nb::call_guard<nb::gil_scoped_release>();
    auto save = [](const T &self) { return std::make_unique<Sets>(self.B); };
    nb::class_<T> kind(module, name);
    kind.def("start", start<T>, "state"_a.noconvert(), "margin"_a.noconvert(), released)
        .def("set_line", set_line<T>, "bases"_a, "start"_a, "stop"_a, "e0"_a, "e_end"_a, "to_zero"_a, "end_tolerance"_a,
             released)
        .def("enter", enter<T>, "i"_a, released)
        .def("take", take<T>, "margin"_a.noconvert(), released)
        .def("run", run<T>, "limit"_a, "seconds"_a, released)
        .def("quiet", quiet<T>, released)
        .def("solution", solution<T>, "t"_a)
        .def("caps", caps<T>, "t"_a)
        .def("record", record<T>, "keep"_a, "width"_a, "at"_a)
        .def("take_log", take_log<T>)
        .def("save", in_turn<T>(save))
        .def("load", load<T>, "saved"_a)
        .def("ends", ends<T>, "saved"_a, "caps"_a, "samples"_a.noconvert(), "to"_a, "width"_a, "limit"_a)
        .def("many", many<T>, "caps"_a, "states"_a.noconvert(), "ptr"_a.noconvert(), "margins"_a.noconvert(), "t"_a,
             "width"_a, "limit"_a, "apart"_a, "at_bound"_a);
    bind_properties(kind);
    return kind;
}

// ---- problems ----

template <class Form>
static Problem<Form> problem(Form form, In1 p, In1 kappa, Ints group, int64_t m) {
    size_t n = form.diagonal.size();
    require(n > 0, "there must be a sample");
    require(finite(form.diagonal), "samples must be finite, and so their squares");
    require(p.size() == n && kappa.size() == n && group.size() == n, "one p, kappa and group per sample");
    require(finite(p) && finite(kappa), "p and kappa must be finite");
    require(m >= 0 && m <= int64_t(n), "there are from 0 to n groups");
    for (size_t i = 0; i < n; i++) require(group(i) >= -1 && group(i) < m, "groups lie between -1 and m - 1");
    return Problem<Form>(std::move(form), vector(p), vector(kappa), indices(group), int(m));
}
static int size_of(size_t size) {
    require(size <= size_t(std::numeric_limits<int>::max()), "there are at most 2147483647 of a kind");
    return int(size);
}
static Sparse sparse(const Ints &ptr, const In<int32_t, 1> &columns, const In1 &values, int64_t d) {
    size_t size = columns.size();
    bool fits = ptr.size() > 0 && ptr(0) == 0 && ptr(ptr.size() - 1) == int64_t(size) && values.size() == size;
    fits = fits && std::is_sorted(ptr.data(), ptr.data() + ptr.size());
    require(fits, "ptr must increase from 0 to the number of columns, which is that of values");
    auto known = [&](int32_t c) { return c >= 0 && c < d; };
    bool inside = d >= 0 && std::all_of(columns.data(), columns.data() + size, known);
    require(inside, "columns lie between 0 and d - 1");
    return Sparse(ptr.data(), columns.data(), values.data(), size_of(ptr.size() - 1), size_of(size_t(d)));
}

// out += (hi + lo) B in twice the precision, for stacks: (r, m, k) by (r, k, n), or by one for all, (1, k, n).
static void add_products(In3 hi, In3 lo, In3 B, Out3 out_hi, Out3 out_lo) {
    size_t r = hi.shape(0), m = hi.shape(1), k = hi.shape(2), n = B.shape(2);
    auto has_width = [&](const auto &x, size_t width) {
        return x.shape(0) == r && x.shape(1) == m && x.shape(2) == width;
    };
    bool one_for_all = B.shape(0) == 1;
    bool fits = has_width(lo, k) && (B.shape(0) == r || one_for_all) && B.shape(1) == k;
    fits = fits && has_width(out_hi, n) && has_width(out_lo, n);
    require(fits, "shapes must be (r, m, k), (r, m, k), (r or 1, k, n), (r, m, n) and (r, m, n)");
    for (size_t s = 0; s < r; s++)
        for (size_t i = 0; i < m; i++)
            for (size_t j = 0; j < k; j++) {
                if (hi(s, i, j) == 0.0) continue;  // as most multipliers are
                const double *row = &B(one_for_all ? 0 : s, j, 0);
                accumulate(&out_hi(s, i, 0), &out_lo(s, i, 0), row, hi(s, i, j), lo(s, i, j), int(n));
            }
}

void bind_parts(nb::module_ &module);    // parts.cpp
void bind_general(nb::module_ &module);  // general.cpp
void bind_judge(nb::module_ &module);    // judge.cpp

NB_MODULE(_core, module) {
    nb::module_ parts = module.def_submodule("parts", "the parts of the tracker, for tests");
    bind_parts(parts);
    bind_general(module);
    bind_judge(module);
    nb::exception<Refused>(module, "Refused", PyExc_RuntimeError);
    nb::class_<Sets>(module, "Sets");
    module.def("add_product", add_products, "hi"_a, "lo"_a, "B"_a, "out_hi"_a.noconvert(), "out_lo"_a.noconvert(),
               nb::call_guard<nb::gil_scoped_release>());
    tracker<Gram>(module, "KernelTracker")
        .def(
            "__init__",
            [](Guarded<Gram> *self, In2 K, In1 sign, In1 p, In1 kappa, Ints group, int64_t m) {
                require(K.shape(0) == sign.size() && K.shape(1) == sign.size(), "K must be n x n");
                require(finite(sign), "sign must be finite");
                size_of(sign.size());
                new (self) Guarded<Gram>(problem(Gram(K.data(), vector(sign)), p, kappa, group, m));
            },
            nb::arg("K").noconvert(), "sign"_a, "p"_a, "kappa"_a, "group"_a.noconvert(), "m"_a, nb::keep_alive<1, 2>());
    tracker<Dense>(module, "DenseTracker")
        .def(
            "__init__",
            [](Guarded<Dense> *self, In2 Z, In1 p, In1 kappa, Ints group, int64_t m) {
                Dense form(Z.data(), size_of(Z.shape(0)), size_of(Z.shape(1)));
                new (self) Guarded<Dense>(problem(std::move(form), p, kappa, group, m));
            },
            "Z"_a, "p"_a, "kappa"_a, "group"_a.noconvert(), "m"_a);
    tracker<Sparse>(module, "SparseTracker")
        .def(
            "__init__",
            [](Guarded<Sparse> *self, Ints ptr, In<int32_t, 1> columns, In1 values, int64_t d, In1 p, In1 kappa,
               Ints group, int64_t m) {
                new (self) Guarded<Sparse>(problem(sparse(ptr, columns, values, d), p, kappa, group, m));
            },
            "ptr"_a.noconvert(), "columns"_a.noconvert(), "values"_a, "d"_a, "p"_a, "kappa"_a, "group"_a.noconvert(),
            "m"_a);
}
