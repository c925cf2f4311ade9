// The matrix H = (P A'; A 0) of a program, by its columns: each dense over the range that it has entries in, or sparse.
#pragma once
#include <cmath>
#include <vector>

#include "loops.hpp"
#include "real.hpp"

namespace core {

using Vector = std::vector<double>;
using Indices = std::vector<int>;

inline void add(double *x, const double *row, double a, int n) { advance(x, row, a, n); }
template <class Number>
inline void add(Twice *x, const Number *row, Twice a, int n) {
    for (int i = 0; i < n; i++) x[i] = add_product(x[i], row[i], a);
}

class Columns {
  public:
    int n, items;

    Columns(const double *P, const double *A, int n, int m) : n(n), items(n + m) {
        Vector column(items);
        begin_.push_back(0), rows_begin_.push_back(0);
        for (int j = 0; j < items; j++) {
            for (int i = 0; i < n; i++) column[i] = j < n ? P[size_t(j) * n + i] : A[size_t(j - n) * n + i];
            for (int i = n; i < items; i++) column[i] = j < n ? A[size_t(i - n) * n + j] : 0.0;
            keep(column);
            diagonal_.push_back(column[j]);
        }
    }

    double diagonal(int j) const { return diagonal_[j]; }

    // out += a (column j)
    template <class Real>
    void add_to(int j, Real a, Real *out) const {
        const double *values = &values_[begin_[j]];
        int count = int(begin_[j + 1] - begin_[j]);
        if (dense_[j]) return add(out + first_[j], values, a, count);
        const int *rows = &rows_[rows_begin_[j]];
        for (int k = 0; k < count; k++) {
            if constexpr (std::is_same_v<Real, double>) out[rows[k]] += a * values[k];
            else out[rows[k]] = add_product(out[rows[k]], values[k], a);
        }
    }
    // out += a |column j|
    void add_sizes_to(int j, double a, double *out) const {
        const double *values = &values_[begin_[j]];
        int count = int(begin_[j + 1] - begin_[j]);
        if (dense_[j]) return advance_by_sizes(out + first_[j], values, a, count);
        const int *rows = &rows_[rows_begin_[j]];
        for (int k = 0; k < count; k++) out[rows[k]] += a * std::abs(values[k]);
    }

  private:
    void keep(const Vector &column) {
        int first = 0, last = int(column.size()), count = 0;
        while (first < last && column[first] == 0.0) first++;
        while (first < last && column[last - 1] == 0.0) last--;
        for (int i = first; i < last; i++) count += column[i] != 0.0;
        bool dense = 3 * count >= last - first;
        for (int i = first; i < last; i++)
            if (dense || column[i] != 0.0) {
                values_.push_back(column[i]);
                if (!dense) rows_.push_back(i);
            }
        first_.push_back(first), dense_.push_back(dense);
        begin_.push_back(values_.size()), rows_begin_.push_back(rows_.size());
    }

    Vector values_, diagonal_;
    Indices rows_, first_;
    std::vector<size_t> begin_, rows_begin_;
    std::vector<char> dense_;
};

}  // namespace core
