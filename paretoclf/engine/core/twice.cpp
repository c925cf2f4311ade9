// The loops in twice the precision; they must not be contracted (see real.hpp).
#include "loops.hpp"
#include "processors.hpp"
#include "real.hpp"

namespace core {

EVERY_PROCESSOR void accumulate(double *RESTRICT hi, double *RESTRICT lo, double scale, const double *RESTRICT row, int n) {
    if (scale == 1.0 || scale == -1.0) {  // the product is exact: a third of the work
        for (int i = 0; i < n; i++) {
            Twice s = two_sum(hi[i], scale * row[i]);
            hi[i] = s.hi, lo[i] += s.lo;
        }
        return;
    }
    for (int i = 0; i < n; i++) {
        double p = scale * row[i], e = std::fma(scale, row[i], -p);
        Twice s = two_sum(hi[i], p);
        Twice r = two_sum(s.hi, lo[i] + (e + s.lo));
        hi[i] = r.hi, lo[i] = r.lo;
    }
}

EVERY_PROCESSOR void accumulate(double *RESTRICT hi, double *RESTRICT lo, const double *RESTRICT row, double a, double a_lo,
                                int n) {
    for (int i = 0; i < n; i++) {
        double p = row[i] * a, e = std::fma(row[i], a, -p);
        Twice s = two_sum(hi[i], p);
        Twice r = two_sum(s.hi, lo[i] + (e + s.lo));
        hi[i] = r.hi, lo[i] = r.lo + row[i] * a_lo;
    }
}

EVERY_PROCESSOR void accumulate(double *RESTRICT hi, double *RESTRICT lo, const double *RESTRICT row,
                                const double *RESTRICT row_lo, double scale, int n) {
    for (int i = 0; i < n; i++) {
        double p = scale * row[i], e = std::fma(scale, row[i], -p);
        Twice s = two_sum(hi[i], p);
        Twice r = two_sum(s.hi, lo[i] + (e + s.lo));
        hi[i] = r.hi, lo[i] = r.lo + scale * row_lo[i];
    }
}

EVERY_PROCESSOR void combine(const double *x_hi, const double *x_lo, const double *const *sum_hi,
                             const double *const *sum_lo, double *RESTRICT hi, double *RESTRICT lo, int n) {
    const double *RESTRICT h0 = sum_hi[0], *RESTRICT h1 = sum_hi[1], *RESTRICT l0 = sum_lo[0], *RESTRICT l1 = sum_lo[1];
    double a = x_hi[0], al = x_lo[0], b = x_hi[1], bl = x_lo[1];
    for (int i = 0; i < n; i++) {
        double p = a * h0[i], e = std::fma(a, h0[i], -p) + (a * l0[i] + al * h0[i]);
        double q = b * h1[i], f = std::fma(b, h1[i], -q) + (b * l1[i] + bl * h1[i]);
        Twice s = two_sum(p, q);
        Twice r = two_sum(s.hi, s.lo + (e + f));
        hi[i] = r.hi, lo[i] = r.lo;
    }
}

}  // namespace core
