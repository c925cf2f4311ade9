// The parts of the tracker on plain arrays, so that tests can hold each against exact arithmetic.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "factor.hpp"

using namespace core;

using Out = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Numbers = In<double, 1>;
using Matrix = In<double, 2>;
using Two = std::pair<double, double>;

static Two pair(Twice x) { return {x.hi, x.lo}; }
static Twice twice(Two x) { return {x.first, x.second}; }

template <class Real>
static void factor(nb::module_ &module, const char *name) {
    using F = Factor<Real>;
    nb::class_<F>(module, name)
        .def(nb::init<>())
        .def_prop_ro("size", &F::size)
        .def("whole",
             [](F &self, Matrix high, Matrix low) {  // of high + low; false if it is not positive definite
                 size_t k = high.shape(0);
                 require(high.shape(1) == k && low.shape(0) == k && low.shape(1) == k,
                         "two square matrices of one size");
                 return self.whole(int(k), [&](int i, Real *out) {
                     for (int j = 0; j <= i; j++) {
                         if constexpr (std::is_same_v<Real, Twice>) out[j] = two_sum(high(j, i), low(j, i));
                         else out[j] = high(j, i) + low(j, i);
                     }
                 });
             })
        .def("append",
             [](F &self, std::vector<double> column, double diagonal) {
                 require(int(column.size()) == self.size(), "a column has a number for each row");
                 std::vector<Real> c(column.begin(), column.end());
                 self.forward(c.data());
                 Real pivot = diagonal;
                 for (Real x : c) pivot = pivot - x * x;
                 self.append(c.data(), pivot);
             })
        .def("remove",
             [](F &self, int r) {
                 require(r >= 0 && r < self.size(), "there is no such row");
                 self.remove(r);
             })
        .def("solve",
             [](const F &self, std::vector<double> x) {
                 require(int(x.size()) == self.size(), "a right-hand side has a number for each row");
                 std::vector<Real> y(x.begin(), x.end());
                 self.solve(y.data());
                 for (size_t j = 0; j < x.size(); j++) x[j] = rounded(y[j]);
                 return x;
             })
        .def("entry", [](const F &self, int i, int j) {
            require(i >= 0 && i <= j && j < self.size(), "there is no such entry of the upper triangle");
            return rounded(self.at(i, j));
        });
}

void bind_parts(nb::module_ &module) {
    module.def("two_sum", [](double a, double b) { return pair(two_sum(a, b)); });
    module.def("two_prod", [](double a, double b) { return pair(two_prod(a, b)); });
    module.def("add_product", [](Two x, Two a, Two b) { return pair(add_product(twice(x), twice(a), twice(b))); });
    module.def("add_double_product", [](Two x, double a, double b) { return pair(add_product(twice(x), a, b)); });
    module.def("divide", [](Two a, Two b) { return pair(twice(a) / twice(b)); });
    module.def("root", [](Two a) { return pair(root(twice(a))); });
    module.def("accumulate", [](Out hi, Out lo, double scale, Numbers row) {
        require(hi.size() == row.size() && lo.size() == row.size(), "arrays of one size");
        accumulate(hi.data(), lo.data(), scale, row.data(), int(row.size()));
    });
    module.def("accumulate_row", [](Out hi, Out lo, Numbers row, double a, double a_lo) {
        require(hi.size() == row.size() && lo.size() == row.size(), "arrays of one size");
        accumulate(hi.data(), lo.data(), row.data(), a, a_lo, int(row.size()));
    });
    module.def("combine", [](Matrix x, Matrix sum_hi, Matrix sum_lo, Out hi, Out lo) {  // rows: hi and lo of x; bases
        size_t n = hi.size();
        bool two = x.shape(0) == 2 && x.shape(1) == 2 && sum_hi.shape(0) == 2 && sum_lo.shape(0) == 2;
        bool one_size = lo.size() == n && sum_hi.shape(1) == n && sum_lo.shape(1) == n;
        require(two && one_size, "two numbers, two rows, one size");
        const double *h[2] = {&sum_hi(0, 0), &sum_hi(1, 0)};
        const double *l[2] = {&sum_lo(0, 0), &sum_lo(1, 0)};
        combine(&x(0, 0), &x(1, 0), h, l, hi.data(), lo.data(), int(hi.size()));
    });
    module.def("dot", [](Numbers x, Numbers y) {
        require(x.size() == y.size(), "arrays of one size");
        return dot(x.data(), y.data(), int(x.size()));
    });
    module.def("add_rows", [](Numbers flat, std::vector<int64_t> start, Matrix a, int n, Out out, int stride) {
        int64_t rows = int64_t(a.shape(0)), room = int64_t(flat.size());
        bool fits = n >= 0 && stride >= n && a.shape(1) >= start.size();
        fits &= rows == 0 || int64_t(out.size()) >= (rows - 1) * stride + n;
        for (int64_t first : start) fits &= first >= 0 && first <= room - n;
        require(fits, "rows within the flat array, a number for each, and room for what comes out");
        int k = int(start.size()), a_stride = int(a.shape(1));
        add_rows(flat.data(), start.data(), k, a.data(), a_stride, int(rows), n, out.data(), stride);
    });
    module.def("reachable",
               [](std::vector<int8_t> state, std::vector<int> group, Matrix x, std::vector<double> within) {
                   bool fits = group.size() == state.size() && x.shape(0) == 4 && x.shape(1) == state.size();
                   require(fits && within.size() == 5, "a group and four numbers for each set, and five limits");
                   std::vector<int8_t> out(state.size());  // rows of x: g, dg, norm, spread
                   Budget budget{within[0], within[1], within[2], within[3], within[4]};
                   const double *rows[4] = {&x(0, 0), &x(1, 0), &x(2, 0), &x(3, 0)};
                   int n = int(state.size());
                   reachable(state.data(), group.data(), rows[0], rows[1], rows[2], rows[3], n, budget, out.data());
                   return std::vector<int>(out.begin(), out.end());
               });
    factor<double>(module, "Factor");
    factor<Twice>(module, "TwiceFactor");
}
