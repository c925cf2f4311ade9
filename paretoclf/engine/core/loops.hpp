// The few loops that take the time, on plain arrays. Each is compiled once for every generation of x86 processors
// (function multiversioning), so that one binary serves all; sums run in several lanes instead of being reordered.
#pragma once
#include <cstdint>

namespace core {

double dot(const double *x, const double *y, int n);

// x += dt dx
void advance(double *x, const double *dx, double dt, int n);

// sum_i |x_i| y_i
double dot_of_sizes(const double *x, const double *y, int n);

// x += a column and size += b |column|; of one, or of two at once.
void add_column(const double *column, int n, double a, double b, double *x, double *size);
void add_column(const double *column, int n, const double *a, const double *b, double *const *x, double *const *size);

// value and multiplier of all items a step on, of which one is pinned, the other one g or minus g (see pieces.hpp).
void two_ways(const int8_t *labels, const double *const *pinned, const double *const *g, double step, int n,
              double *value, double *multiplier);

// Return the largest size; whether all |x - y| <= e + f.
double largest_size(const double *x, int n);
bool close(const double *x, const double *y, const double *e, const double *f, int n);

// sums = products of a column with x and with y, and those of their sizes
void dot_column(const double *column, int n, const double *x, const double *y, double *sums);

// out_q += sign M x_q for a symmetric matrix M of k rows, and out_q += |M| x_q; one vector or two, in whole lanes of
// eight.
void matrix_times(const double *M, int stride, int k, int count, const double *const *x, double sign,
                  double *const *out);
void sizes_times(const double *M, int stride, int k, int count, const double *const *x, double *const *out);

// out = (1 - t) first + t last
void mix(const double *first, const double *last, double t, int n, double *out);

// at_low, at_high = when g, which moves at its rate, comes to the ends low and high of its piece: infinite where it
// does not go there faster than error[1]. A slack of no more than `near` times error[0] counts as 0. Return the first
// time of all, no later than `last`; least = the smallest slack with its error added.
double arrivals(const double *const *g, const double *const *low, const double *const *high, const double *const *error,
                double near, double t, double last, int n, double *at_low, double *at_high, double *least);

// Count the ends of pieces that may be reached within a span, for all that g, its rate and the ends may be wrong by. A
// rate of no more than `zero` is 0.
int due(const double *const *g, const double *const *low, const double *const *high, const double *const *error,
        const double *zero, double span, int n);

// out = most_0 amplified_0 + most_1 amplified_1, and outside B, where `where` is negative, plus residual: how wrong an
// updated solution may be (see update_error.hpp).
void bounds(const double *amplified_0, const double *amplified_1, const double *most, const double *residual,
            const int *where, int n, double *out);

// x = once x + by dx, then dx = once dx
void grow(double *x, double *dx, double by, double once, int n);

// g += a T, with the other sign outside B, where `where` is negative.
void outside(const int *where, const double *T, double a, int n, double *g);

// size = the largest sizes of values and of multipliers, of which one is g (the value where the label is even) and the
// other one pinned; most = the largest error_0 + step error_1 of those that are g.
void of_kinds(const int8_t *labels, const double *g, const double *pinned, const double *const *error, double step,
              int n, double *size, double *most);

// out_q += sum_j a_qj row_j, where row j is the n numbers from flat[start[j]] on; rows of a and out are a stride apart.
void add_rows(const double *flat, const int64_t *start, int k, const double *a, int a_stride, int rows, int n,
              double *out, int out_stride);

// out_j = row_j at some columns, where row j begins at flat[start[j]]; rows of out are a stride apart.
void gather_rows(const double *flat, const int64_t *start, int k, const int *columns, int n, double *out,
                 int out_stride);

// Solve R'x = x and R x = x in place: the leading k rows of an upper triangle, rows `stride` numbers apart.
void solve_down(const double *R, int stride, int k, double *x);
void solve_up(const double *R, int stride, int k, double *x);

// One row of the update of a factor when a row above it is removed: to, rest = c row + s rest, c rest - s row.
void rotate(const double *row, double *to, double *rest, double c, double s, int n);

// (hi, lo) += scale row, and (hi, lo) += row (a, a_lo), in twice the precision.
void accumulate(double *hi, double *lo, double scale, const double *row, int n);
void accumulate(double *hi, double *lo, const double *row, double a, double a_lo, int n);

// (hi, lo) += scale (row, row_lo), in twice the precision.
void accumulate(double *hi, double *lo, const double *row, const double *row_lo, double scale, int n);

// (hi, lo) = x_0 (sum_0) + x_1 (sum_1), in twice the precision; parts of the two numbers and vectors.
void combine(const double *x_hi, const double *x_lo, const double *const *sum_hi, const double *const *sum_lo,
             double *hi, double *lo, int n);

// out = sign out + more
void sign_and_add(double *out, const double *sign, const double *more, int n);

// out += scale (sign row)
void add_signed(double *out, double scale, const double *sign, const double *row, int n);

// Count the samples that may be on their margin at the time `limit`: side g - (fixed + norm total) against the fastest
// that it can shrink. What is not a number counts.
int possible(const double *g, const double *dg, const double *norm, const double *side, int n, double fixed,
             double total, double dfixed, double dtotal, double limit, double rounding);

// out = whether a sample outside the margin set may come to its margin (see watch.hpp) within a time t, when w goes a
// `way` from its course and the centre of their group goes `centre`; margins may be wrong by error (1 + norm total).
// What is not a number may.
struct Budget {
    double t, way, centre, error, total;
};
void reachable(const int8_t *state, const int *group, const double *g, const double *dg, const double *norm,
               const double *spread, int n, Budget within, int8_t *out);

}  // namespace core
