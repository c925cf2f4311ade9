// Loops of the walk in general.hpp on arrays of numbers in twice the precision, compiled once for every generation of
// x86 processors, as those on doubles are (loops.hpp): without hardware for fused products each is a call of a library.
#pragma once
#include <cstdint>

#include "real.hpp"

namespace core {

// x += by dx; an entry of dx that is 0 takes no time
void advance(Twice *x, const Twice *dx, Twice by, int n);

// g += a T, with the other sign outside B, where `where` is negative.
void outside(const int *where, const Twice *T, Twice a, int n, Twice *g);

// out += sum_a by_a column_a, for columns of entries from begin[a] on.
void add_columns(const size_t *begin, const int *rows, const double *values, const int *columns, const Twice *by, int k,
                 Twice *out);

// As those of loops.hpp.
void two_ways(const int8_t *labels, const Twice *const *pinned, const Twice *const *g, Twice step, int n, double *value,
              double *multiplier);
void of_kinds(const int8_t *labels, const Twice *g, const Twice *pinned, const double *const *error, double step, int n,
              double *size, double *most);
int due(const Twice *const *g, const Twice *const *low, const Twice *const *high, const double *const *error,
        const double *zero, double span, int n);

}  // namespace core
