// One pass over points of a compiled program, for their judge (paretoclf/proof/programs/extremes.py): what is largest and
// least of each column and of each row, and sums at each point.
//
// Points are columns: a matrix has a row of k numbers for each column, or row, of the program. A number that is none is
// lost among the largest; the sums keep it.
#include <limits>

#include "bindings.hpp"
#include "processors.hpp"

using namespace nanobind::literals;
using namespace core;

using Vector = std::vector<double>;
using Numbers = In<double, 1>;
using Matrix = In<double, 2>;
using Whole = In<int64_t, 1>;
using Changed = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

constexpr int LANES = 8;

static inline double larger(double a, double b) { return a > b ? a : b; }
static inline double smaller(double a, double b) { return a < b ? a : b; }

EVERY_PROCESSOR static double largest(const double *x, int k) {
    double most[LANES] = {};
    int p = 0;
    for (; p + LANES <= k; p += LANES)
        for (int l = 0; l < LANES; l++) most[l] = larger(x[p + l], most[l]);
    for (; p < k; p++) most[0] = larger(x[p], most[0]);
    return *std::max_element(most, most + LANES);
}
EVERY_PROCESSOR static double least(const double *x, int k) {
    double found[LANES];
    std::fill(found, found + LANES, std::numeric_limits<double>::infinity());
    int p = 0;
    for (; p + LANES <= k; p += LANES)
        for (int l = 0; l < LANES; l++) found[l] = smaller(x[p + l], found[l]);
    for (; p < k; p++) found[0] = smaller(x[p], found[0]);
    return *std::min_element(found, found + LANES);
}

// Data that are affine in t, at each point.
EVERY_PROCESSOR static void along(double first, double last, const double *RESTRICT t, int k, double *RESTRICT out) {
    if (first == last) {
        std::fill(out, out + k, first);
        return;
    }
    for (int p = 0; p < k; p++) out[p] = (1.0 - t[p]) * first + t[p] * last;
}
// sums[p] += x[p] y[p], and terms[p] no less than its size
EVERY_PROCESSOR static void add_terms(const double *RESTRICT x, const double *RESTRICT y, int k, double *RESTRICT sums,
                                      double *RESTRICT terms) {
    for (int p = 0; p < k; p++) {
        double term = x[p] * y[p];
        sums[p] += term;
        terms[p] = larger(std::abs(term), terms[p]);
    }
}
// Products of two affine functions, at points and, mixed, between each two: those of each with the other's next.
EVERY_PROCESSOR static void add_products(const double *RESTRICT x, const double *RESTRICT y, int k,
                                         double *RESTRICT at_points, double *RESTRICT mixed) {
    for (int p = 0; p < k; p++) at_points[p] += x[p] * y[p];
    for (int p = 0; p + 1 < k; p++) mixed[p] += x[p] * y[p + 1] + x[p + 1] * y[p];
}
EVERY_PROCESSOR static void take_sizes(const double *x, int k, double *out) {
    for (int p = 0; p < k; p++) out[p] = std::abs(x[p]);
}
EVERY_PROCESSOR static void subtract(const double *RESTRICT from, int k, double *RESTRICT x) {
    for (int p = 0; p < k; p++) x[p] = from[p] - x[p];
}
EVERY_PROCESSOR static void add(const double *RESTRICT more, int k, double *RESTRICT x) {
    for (int p = 0; p < k; p++) x[p] += more[p];
}
// bend[p] += the product of the changes of x and y from this point to the next
EVERY_PROCESSOR static void add_bends(const double *RESTRICT x, const double *RESTRICT y, int k, double *RESTRICT bend) {
    for (int p = 0; p + 1 < k; p++) bend[p] += (x[p + 1] - x[p]) * (y[p + 1] - y[p]);
}
EVERY_PROCESSOR static void add_multiple(const double *RESTRICT x, double by, int k, double *RESTRICT sums) {
    for (int p = 0; p < k; p++) sums[p] += by * x[p];
}

// Of the products of matrices with points, `slack` holds Ax, and then the sizes of b - Ax; `gradient` holds A'z + Px, and then the sizes of A'z + Px + q.
static nb::object extremes(Numbers t, Matrix x, Matrix z, nb::tuple of_matrices, Matrix q, Matrix b) {
    auto slack = nb::cast<Changed>(of_matrices[0]);
    auto gradient = nb::cast<Changed>(of_matrices[1]);
    auto curved = nb::cast<Whole>(of_matrices[2]);
    auto half_P = nb::cast<Matrix>(of_matrices[3]);
    const size_t n = x.shape(0), m = z.shape(0);
    const int k = int(t.size());
    require(x.shape(1) == t.size() && z.shape(1) == t.size(), "points have one t each");
    require(slack.shape(0) == m && slack.shape(1) == t.size(), "slacks are those of the rows");
    require(gradient.shape(0) == n && gradient.shape(1) == t.size(), "the gradient is that of the columns");
    require(half_P.shape(0) == curved.size() && half_P.shape(1) == t.size(), "P has a row a curved column");
    require(q.shape(0) == 2 && q.shape(1) == n && b.shape(0) == 2 && b.shape(1) == m, "data have two ends");
    for (size_t c = 0; c < curved.size(); c++) require(curved(c) >= 0 && size_t(curved(c)) < n, "columns are there");

    Vector least_column(n), largest_gradient(n), least_cost(n);
    Vector largest_slack(m), least_slack(m), largest_multiplier(m), least_size(m), least_multiplier(m), least_bound(m);
    Vector value(k), term(k), bend(k), moved(k), products(k), mixed(k), here(k), size(k);
    {
        nb::gil_scoped_release open;
        for (size_t j = 0; j < n; j++) {
            const double *X = x.data() + j * k;
            double *G = gradient.data() + j * k;
            along(q(0, j), q(1, j), t.data(), k, here.data());
            add(here.data(), k, G);
            add_terms(X, here.data(), k, value.data(), term.data());
            if (q(0, j) != q(1, j)) add_multiple(X, q(1, j) - q(0, j), k, moved.data());
            take_sizes(here.data(), k, here.data());
            least_cost[j] = least(here.data(), k);
            take_sizes(G, k, G);
            take_sizes(X, k, size.data());
            least_column[j] = least(size.data(), k);
            largest_gradient[j] = largest(G, k);
            add_products(G, size.data(), k, products.data(), mixed.data());
        }
        for (size_t c = 0; c < curved.size(); c++) {
            const double *X = x.data() + curved(c) * k;
            const double *Y = half_P.data() + c * k;
            add_terms(X, Y, k, value.data(), term.data());
            add_bends(X, Y, k, bend.data());
        }
        for (size_t i = 0; i < m; i++) {
            const double *Z = z.data() + i * k;
            double *S = slack.data() + i * k;
            along(b(0, i), b(1, i), t.data(), k, here.data());
            subtract(here.data(), k, S);
            take_sizes(here.data(), k, here.data());
            least_bound[i] = least(here.data(), k);
            least_slack[i] = least(S, k);
            take_sizes(S, k, S);
            take_sizes(Z, k, size.data());
            largest_slack[i] = largest(S, k);
            largest_multiplier[i] = largest(size.data(), k);
            least_size[i] = least(size.data(), k);
            least_multiplier[i] = least(Z, k);
            add_products(S, size.data(), k, products.data(), mixed.data());
        }
    }
    bend.resize(k - 1);
    mixed.resize(k - 1);
    auto columns = nb::make_tuple(array(std::move(least_column)), array(std::move(largest_gradient)),
                                  array(std::move(least_cost)));
    auto rows = nb::make_tuple(array(std::move(largest_slack)), array(std::move(least_slack)),
                               array(std::move(largest_multiplier)), array(std::move(least_size)),
                               array(std::move(least_multiplier)), array(std::move(least_bound)));
    auto points = nb::make_tuple(array(std::move(value)), array(std::move(term)), array(std::move(moved)),
                                 array(std::move(products)), array(std::move(mixed)), array(std::move(bend)));
    return nb::make_tuple(columns, rows, points);
}

void bind_judge(nb::module_ &module) {
    module.def("extremes", extremes, "t"_a, "x"_a, "z"_a, "of_matrices"_a, "q"_a, "b"_a);
}
