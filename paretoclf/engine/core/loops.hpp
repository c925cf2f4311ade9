// The few loops that take the time, on plain arrays. Each is compiled once for every generation of x86 processors
// (function multiversioning), so that one binary serves all; sums run in several lanes instead of being reordered.
#pragma once
#include <cstdint>

namespace core {

double dot(const double *x, const double *y, int n);

// x += dt dx
void advance(double *x, const double *dx, double dt, int n);

// x += a |dx|, and sum_i |x_i| y_i
void advance_by_sizes(double *x, const double *dx, double a, int n);
double dot_of_sizes(const double *x, const double *y, int n);

// x += a column and size += b |column|; of one, or of two at once.
void add_column(const double *column, int n, double a, double b, double *x, double *size);
void add_column(const double *column, int n, const double *a, const double *b, double *const *x, double *const *size);

// Values and multipliers of items, a step on from where one of them is pinned and the other is +-g (see general.hpp).
void two_ways(const int8_t *labels, const double *const *pinned, const double *const *g, double step, int n, double *value,
              double *multiplier);

// The largest size, and whether all |x - y| <= e + f.
double largest_size(const double *x, int n);
bool close(const double *x, const double *y, const double *e, const double *f, int n);

// The products of a column with two vectors, and of their sizes.
void dot_column(const double *column, int n, const double *x, const double *y, double *sums);

// out_q += sign M x_q, for a symmetric matrix M of k rows, or +- |M| x_q; one vector or two, in whole lanes of eight.
void matrix_times(const double *M, int apart, int k, int count, const double *const *x, double sign, double *const *out);
void sizes_times(const double *M, int apart, int k, int count, const double *const *x, double *const *out);

// out = (1 - t) first + t last
void mix(const double *first, const double *last, double t, int n, double *out);

// When g, that grows by dg, comes to the ends low and high of its piece: into at_low and at_high, infinite where it does not
// go there faster than error[1] says; what it is before an end by less than near times error[0] is nothing. The first of all;
// least: the smallest room that is left, plus its error.
double arrivals(const double *const *g, const double *const *low, const double *const *high, const double *const *error,
                double near, double t, double last, int n, double *at_low, double *at_high, double *least);

// How many ends of pieces may be reached within a span, by what g, its rate and the ends may be wrong by. A rate of
// no more than `still` is 0.
int due(const double *const *g, const double *const *low, const double *const *high, const double *const *error,
        const double *still, double span, int n);

// What a solution that is carried on may be wrong by (see carried.hpp): most_0 reach_0 + most_1 reach_1, and `of` outside B.
void bounds(const double *reach_0, const double *reach_1, const double *most, const double *of, const int *where, int n, double *out);

// x = once x + by dx, then dx = once dx
void grow(double *x, double *dx, double by, double once, int n);

// g += a T, with the other sign outside B, where `where` is negative.
void outside(const int *where, const double *T, double a, int n, double *g);

// The largest sizes of values (labels that are even) and multipliers, of which one is g and the other one pinned; the largest
// error_0 + step error_1 of those that are g.
void of_kinds(const int8_t *labels, const double *g, const double *pinned, const double *const *error, double step, int n,
              double *size, double *most);

// out_q += sum_j a_qj row_j, where row j is the n numbers from flat[start[j]] on; rows of a and out are so far apart.
void add_rows(const double *flat, const int64_t *start, int k, const double *a, int a_apart, int rows, int n, double *out,
              int out_apart);

// out_j = row_j at some columns, where row j begins at flat[start[j]]; rows of out are so far apart.
void gather_rows(const double *flat, const int64_t *start, int k, const int *columns, int n, double *out, int out_apart);

// Solve R'x = x and R x = x in place: the leading k rows of an upper triangle, rows `apart` numbers apart.
void solve_down(const double *R, int apart, int k, double *x);
void solve_up(const double *R, int apart, int k, double *x);

// One row of the update of a factor when a row above it is removed: to, rest = c row + s rest, c rest - s row.
void rotate(const double *row, double *to, double *rest, double c, double s, int n);

// (hi, lo) += scale row, and (hi, lo) += row (a, a_lo), in twice the precision.
void accumulate(double *hi, double *lo, double scale, const double *row, int n);
void accumulate(double *hi, double *lo, const double *row, double a, double a_lo, int n);

// (hi, lo) += scale (row, row_lo), in twice the precision.
void accumulate(double *hi, double *lo, const double *row, const double *row_lo, double scale, int n);

// (hi, lo) = x_0 (sum_0) + x_1 (sum_1), in twice the precision; parts of the two numbers and vectors.
void combine(const double *x_hi, const double *x_lo, const double *const *sum_hi, const double *const *sum_lo, double *hi,
             double *lo, int n);

// out = sign out + more
void sign_and_add(double *out, const double *sign, const double *more, int n);

// out += scale (sign row)
void add_signed(double *out, double scale, const double *sign, const double *row, int n);

// How many of n samples may be on their margin at the time `limit`: side g - (fixed + reach total) against the fastest
// that it can shrink. What is not a number counts.
int possible(const double *g, const double *dg, const double *reach, const double *side, int n, double fixed,
             double total, double dfixed, double dtotal, double limit, double rounding);

// Which samples outside the margin set may come to their margin (see watch.hpp) within a time t, when w goes a `way` from its
// course and the centre of their group goes `centre`; margins may be wrong by error (1 + reach total). What is not a number
// may.
struct Budget {
    double t, way, centre, error, total;
};
void reachable(const int8_t *state, const int *group, const double *g, const double *dg, const double *reach,
               const double *spread, int n, Budget within, int8_t *out);

}  // namespace core
