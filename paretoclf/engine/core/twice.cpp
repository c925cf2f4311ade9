// The loops in twice the precision; they must not be contracted (see real.hpp).
#include "twice.hpp"

#include <algorithm>

#include "loops.hpp"
#include "processors.hpp"

namespace core {

EVERY_PROCESSOR void accumulate(double *RESTRICT hi, double *RESTRICT lo, double scale, const double *RESTRICT row,
                                int n) {
    if (scale == 1.0 || scale == -1.0) {  // the product is exact: a third of the work
        for (int i = 0; i < n; i++) {
            Twice s = two_sum(hi[i], scale * row[i]);
            hi[i] = s.hi;
            lo[i] += s.lo;
        }
        return;
    }
    for (int i = 0; i < n; i++) {
        double p = scale * row[i];
        double e = std::fma(scale, row[i], -p);
        Twice s = two_sum(hi[i], p);
        Twice r = two_sum(s.hi, lo[i] + (e + s.lo));
        hi[i] = r.hi;
        lo[i] = r.lo;
    }
}

EVERY_PROCESSOR void accumulate(double *RESTRICT hi, double *RESTRICT lo, const double *RESTRICT row, double a,
                                double a_lo, int n) {
    for (int i = 0; i < n; i++) {
        double p = row[i] * a;
        double e = std::fma(row[i], a, -p);
        Twice s = two_sum(hi[i], p);
        Twice r = two_sum(s.hi, lo[i] + (e + s.lo));
        hi[i] = r.hi;
        lo[i] = r.lo + row[i] * a_lo;
    }
}

EVERY_PROCESSOR void accumulate(double *RESTRICT hi, double *RESTRICT lo, const double *RESTRICT row,
                                const double *RESTRICT row_lo, double scale, int n) {
    for (int i = 0; i < n; i++) {
        double p = scale * row[i];
        double e = std::fma(scale, row[i], -p);
        Twice s = two_sum(hi[i], p);
        Twice r = two_sum(s.hi, lo[i] + (e + s.lo));
        hi[i] = r.hi;
        lo[i] = r.lo + scale * row_lo[i];
    }
}

EVERY_PROCESSOR void combine(const double *x_hi, const double *x_lo, const double *const *sum_hi,
                             const double *const *sum_lo, double *RESTRICT hi, double *RESTRICT lo, int n) {
    const double *RESTRICT h0 = sum_hi[0];
    const double *RESTRICT h1 = sum_hi[1];
    const double *RESTRICT l0 = sum_lo[0];
    const double *RESTRICT l1 = sum_lo[1];
    double a = x_hi[0], al = x_lo[0], b = x_hi[1], bl = x_lo[1];
    for (int i = 0; i < n; i++) {
        double p = a * h0[i];
        double e = std::fma(a, h0[i], -p) + (a * l0[i] + al * h0[i]);
        double q = b * h1[i];
        double f = std::fma(b, h1[i], -q) + (b * l1[i] + bl * h1[i]);
        Twice s = two_sum(p, q);
        Twice r = two_sum(s.hi, s.lo + (e + f));
        hi[i] = r.hi;
        lo[i] = r.lo;
    }
}

// ---- numbers whose two parts stand beside each other ----

EVERY_PROCESSOR void advance(Twice *RESTRICT x, const Twice *RESTRICT dx, Twice by, int n) {
    for (int i = 0; i < n; i++)
        if (dx[i].hi != 0.0) x[i] = add_product(x[i], dx[i], by);
}

EVERY_PROCESSOR void outside(const int *RESTRICT where, const Twice *RESTRICT T, Twice a, int n, Twice *RESTRICT g) {
    Twice minus = {-a.hi, -a.lo};
    for (int i = 0; i < n; i++)
        if (T[i].hi != 0.0) g[i] = add_product(g[i], T[i], where[i] < 0 ? minus : a);
}

EVERY_PROCESSOR void add_columns(const size_t *RESTRICT begin, const int *RESTRICT rows, const double *RESTRICT values,
                                 const int *RESTRICT columns, const Twice *RESTRICT by, int k, Twice *RESTRICT out) {
    for (int a = 0; a < k; a++) {
        Twice own = by[a];
        if (own.hi == 0.0) continue;
        for (size_t e = begin[columns[a]]; e < begin[columns[a] + 1]; e++)
            out[rows[e]] = add_product(out[rows[e]], values[e], own);
    }
}

EVERY_PROCESSOR void two_ways(const int8_t *labels, const Twice *const *pinned, const Twice *const *g, Twice step,
                              int n, double *RESTRICT value, double *RESTRICT multiplier) {
    const Twice *RESTRICT still = pinned[0];
    const Twice *RESTRICT rate = pinned[1];
    const Twice *RESTRICT x = g[0];
    const Twice *RESTRICT dx = g[1];
    for (int i = 0; i < n; i++) {
        bool odd = labels[i] & 1;
        double a = rounded(add_product(still[i], rate[i], step));
        double b = rounded(add_product(x[i], dx[i], step));
        value[i] = odd ? a : b;
        multiplier[i] = odd ? 0.0 - b : a;
    }
}

EVERY_PROCESSOR void of_kinds(const int8_t *RESTRICT labels, const Twice *RESTRICT g, const Twice *RESTRICT pinned,
                              const double *const *error, double step, int n, double *size, double *most) {
    const double *RESTRICT e = error[0], *RESTRICT de = error[1];
    double sizes[2] = {}, errors[2] = {};
    for (int i = 0; i < n; i++) {
        bool odd = labels[i] & 1;
        double x = std::abs(g[i].hi);
        double y = std::abs(pinned[i].hi);
        double off = e[i] + step * de[i];
        sizes[odd] = std::max(sizes[odd], x);
        sizes[!odd] = std::max(sizes[!odd], y);
        errors[odd] = std::max(errors[odd], off);
    }
    for (int kind = 0; kind < 2; kind++) {
        size[kind] = std::max(size[kind], sizes[kind]);
        most[kind] = std::max(most[kind], errors[kind]);
    }
}

EVERY_PROCESSOR int due(const Twice *const *g, const Twice *const *low, const Twice *const *high,
                        const double *const *error, const double *RESTRICT still, double span, int n) {
    const Twice *RESTRICT x = g[0];
    const Twice *RESTRICT dx = g[1];
    const Twice *RESTRICT a = low[0];
    const Twice *RESTRICT da = low[1];
    const Twice *RESTRICT b = high[0];
    const Twice *RESTRICT db = high[1];
    const double *RESTRICT e = error[0], *RESTRICT de = error[1];
    int found = 0;
    for (int i = 0; i < n; i++) {
        double down = rounded(da[i] - dx[i]);
        double up = rounded(dx[i] - db[i]);
        double least = still[i];
        found += (rounded(x[i] - a[i]) - e[i] <= (down + de[i]) * span) & (down > least);
        found += (rounded(b[i] - x[i]) - e[i] <= (up + de[i]) * span) & (up > least);
    }
    return found;
}

}  // namespace core
