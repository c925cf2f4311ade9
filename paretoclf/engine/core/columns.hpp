// The matrix H = (P A'; A 0) of a program, by its columns: each dense over the range that it has entries in, or sparse.
#pragma once
#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "loops.hpp"
#include "real.hpp"
#include "twice.hpp"

namespace core {

using Vector = std::vector<double>;
using Indices = std::vector<int>;

// x += a row
inline void add(double *x, const double *row, double a, int n) { advance(x, row, a, n); }
inline void add(Twice *x, const Twice *row, Twice a, int n) { advance(x, row, a, n); }
template <class Number>
inline void add(Twice *x, const Number *row, Twice a, int n) {
    for (int i = 0; i < n; i++) x[i] = add_product(x[i], row[i], a);
}

class Columns {
  public:
    int n, items, rank;

    // From whole matrices, row by row. F has so many rows, or none, and F'F = P up to rounding: by it, products with
    // many columns of P are faster.
    Columns(const double *P, const double *A, const double *F, int n, int m, int rank)
        : n(n), items(n + m), rank(rank), F_(F, F + size_t(rank) * n), largest_of_A_(items, 0.0), sparse_(false) {
        for (int i = 0; i < m; i++)
            for (int j = 0; j < n; j++) {
                double size = std::abs(A[size_t(i) * n + j]);
                largest_of_A_[j] = std::max(largest_of_A_[j], size);
                largest_of_A_[n + i] = std::max(largest_of_A_[n + i], size);
            }
        begin_.push_back(0);
        rows_begin_.push_back(0);
        Vector column(items);
        for (int j = 0; j < items; j++) {
            for (int i = 0; i < n; i++) column[i] = j < n ? P[size_t(j) * n + i] : A[size_t(j - n) * n + i];
            for (int i = n; i < items; i++) column[i] = j < n ? A[size_t(i - n) * n + j] : 0.0;
            append(column);
            diagonal_.push_back(column[j]);
        }
        set_lengths();
    }

    // A large, sparse H by its columns, rows of which increase; no entry is 0.
    Columns(const int *begin, const int *rows, const double *values, int n, int m)
        : n(n), items(n + m), rank(0), values_(values, values + begin[n + m]), diagonal_(items, 0.0),
          largest_of_A_(items, 0.0), rows_(rows, rows + begin[n + m]), first_(items, 0), of_rows_(items, 0),
          begin_(begin, begin + items + 1), rows_begin_(begin_), dense_(items, 0), sparse_(true) {
        for (int j = 0; j < items; j++)
            each(j, [&](int row, double value) {
                if (row == j) diagonal_[j] = value;
                if ((row < n) != (j < n)) largest_of_A_[j] = std::max(largest_of_A_[j], std::abs(value));
                of_rows_[j] += row >= n;
                all_of_rows_ += row >= n;
            });
        set_lengths();
    }

    double diagonal(int j) const { return diagonal_[j]; }
    double largest_of_A(int j) const { return largest_of_A_[j]; }  // the largest size of the entries of A in column j
    int count(int j) const { return int(begin_[j + 1] - begin_[j]); }
    int all_of_rows() const { return all_of_rows_; }  // entries of all columns in the rows of H from n on

    // Call what(row, entry) for each entry of a column.
    template <class Do>
    void each(int j, const Do &what) const { each(j, 0, what); }

    // out += a (column j)
    template <class Real>
    void add_to(int j, Real a, Real *out) const {
        if (has_loop(j, count(j))) return add(out + first_[j], values_.data() + begin_[j], a, count(j));
        each(j, [&](int row, double value) { out[row] = plus(out[row], value, a); });
    }
    // out += sum_a by_a (column of the a-th of some items)
    template <class Real>
    void add_all(const Indices &some, const Real *by, Real *out) const {
        if constexpr (!std::is_same_v<Real, double>)
            if (sparse_)
                return add_columns(begin_.data(), rows_.data(), values_.data(), some.data(), by, int(some.size()), out);
        for (size_t a = 0; a < some.size(); a++) add_to(some[a], by[a], out);
    }
    // out += a (column j), and sizes += b |column j|
    template <class Real>
    void add_one(int j, Real a, double b, std::vector<Real> &out, Vector &sizes) const {
        if constexpr (std::is_same_v<Real, double>)
            if (has_loop(j, count(j))) {
                int first = first_[j];
                return add_column(values_.data() + begin_[j], count(j), a, b, out.data() + first, sizes.data() + first);
            }
        each(j, [&](int row, double value) {
            out[row] = plus(out[row], value, a);
            sizes[row] += b * std::abs(value);
        });
    }
    // For each of two: out += a (column j), and sizes += b |column j|
    template <class Real>
    void add_both(int j, const Real *a, const double *b, std::vector<Real> *out, Vector *sizes) const {
        if constexpr (std::is_same_v<Real, double>)
            if (has_loop(j, count(j))) {
                int first = first_[j];
                double *to[] = {out[0].data() + first, out[1].data() + first};
                double *size[] = {sizes[0].data() + first, sizes[1].data() + first};
                return add_column(values_.data() + begin_[j], count(j), a, b, to, size);
            }
        each(j, [&](int row, double value) {
            for (int r = 0; r < 2; r++) {
                out[r][row] = plus(out[r][row], value, a[r]);
                sizes[r][row] += b[r] * std::abs(value);
            }
        });
    }

    // For each of two: out += (columns of variables) u, and sizes += unit times what bounds |these| |u|; u is 0
    // elsewhere. |P_ij| is at most the root of P_ii P_jj, which bounds rounding of F'F, too.
    void add_by_factor(const Vector *u, double unit, Vector *out, Vector *sizes) const {
        for (int r = 0; r < 2; r++) {
            for (int k = 0; k < rank; k++) {
                const double *row = F_.data() + size_t(k) * n;
                add(out[r].data(), row, dot(row, u[r].data(), n), n);
            }
            double size = 0.0;
            for (int j = 0; j < n; j++) {
                if (u[r][j] == 0.0) continue;
                size += length_[j] * std::abs(u[r][j]);
                each(j, count(j) - of_rows_[j], [&](int row, double value) {
                    out[r][row] += value * u[r][j];
                    sizes[r][row] += unit * std::abs(value * u[r][j]);
                });
            }
            add(sizes[r].data(), length_.data(), unit * size, n);
        }
    }
    // For each of two: out_j += (rows of column j from n on) u, and sizes_j += unit |rows| |u|
    template <class Real>
    void add_products(int j, const std::vector<Real> *u, double unit, std::vector<Real> *out, Vector *sizes) const {
        int of_rows = of_rows_[j];
        int skipped = count(j) - of_rows;
        if (of_rows == 0) return;
        if constexpr (std::is_same_v<Real, double>)
            if (has_loop(j, of_rows)) {
                int first = first_[j] + skipped;
                double sums[4];
                dot_column(values_.data() + begin_[j] + skipped, of_rows, u[0].data() + first, u[1].data() + first,
                           sums);
                for (int r = 0; r < 2; r++) {
                    out[r][j] += sums[r];
                    sizes[r][j] += unit * sums[2 + r];
                }
                return;
            }
        for (int r = 0; r < 2; r++) {
            Real sum = 0.0;
            double size = 0.0;
            each(j, [&](int row, double value) {
                if (row < n) return;
                sum = plus(sum, value, u[r][row]);
                size += std::abs(value) * std::abs(rounded(u[r][row]));
            });
            out[r][j] += sum;
            sizes[r][j] += unit * size;
        }
    }
    // sizes += what bounds |some columns| x, for x >= 0. Dense columns count by norms, |P_ij| by the root of P_ii P_jj.
    void add_sizes(const Indices &some, const double *x, Vector &sizes) const {
        double of_P = 0.0;
        double of_A[2] = {0.0, 0.0};  // of columns of variables, and of rows
        for (size_t a = 0; a < some.size(); a++) {
            int j = some[a];
            if (has_loop(j, count(j))) {
                of_P += j < n ? length_[j] * x[a] : 0.0;
                of_A[j >= n] += x[a];
            } else {
                each(j, [&](int row, double value) { sizes[row] += x[a] * std::abs(value); });
            }
        }
        if (of_A[0] + of_A[1] == 0.0) return;
        for (int j = 0; j < n; j++) sizes[j] += of_P * length_[j] + of_A[1] * largest_of_A_[j];
        for (int j = n; j < items; j++) sizes[j] += of_A[0] * largest_of_A_[j];
    }

  private:
    static constexpr int SHORT = 16;  // below this a loop of its own costs more than it saves

    static double plus(double x, double value, double a) { return x + a * value; }
    static Twice plus(Twice x, double value, Twice a) { return add_product(x, value, a); }
    // Whether so many entries of column j are one array, and enough for a loop of its own.
    bool has_loop(int j, int count) const { return dense_[j] && count >= SHORT; }

    template <class Do>
    void each(int j, int from, const Do &what) const {
        // No reference of an element: without one entry in all columns the arrays are empty.
        const double *values = values_.data() + begin_[j];
        const int *rows = dense_[j] ? nullptr : rows_.data() + rows_begin_[j];
        int count = int(begin_[j + 1] - begin_[j]);
        for (int k = from; k < count; k++) what(rows ? rows[k] : first_[j] + k, values[k]);
    }
    // Append a column: the range of its entries as it is, where that is not much longer than a list of them.
    void append(const Vector &column) {
        int first = 0;
        int last = int(column.size());
        while (first < last && column[first] == 0.0) first++;
        while (first < last && column[last - 1] == 0.0) last--;
        int count = 0;
        for (int i = first; i < last; i++) count += column[i] != 0.0;
        bool dense = 3 * count >= last - first;
        int of_rows = 0;
        for (int i = first; i < last; i++) {
            if (!dense && column[i] == 0.0) continue;
            values_.push_back(column[i]);
            if (!dense) rows_.push_back(i);
            of_rows += i >= n;
        }
        first_.push_back(first);
        dense_.push_back(dense);
        begin_.push_back(values_.size());
        rows_begin_.push_back(rows_.size());
        of_rows_.push_back(of_rows);
        all_of_rows_ += of_rows;
    }
    void set_lengths() {
        for (int j = 0; j < n; j++) length_.push_back(std::sqrt(std::max(diagonal_[j], 0.0)));
    }

    Vector values_, diagonal_, F_;
    Vector length_;         // roots of the diagonal of P
    Vector largest_of_A_;   // of each item
    Indices rows_, first_;  // rows of the entries of sparse columns; the first row of dense ones
    Indices of_rows_;       // entries of each column in the rows of H from n on
    int all_of_rows_ = 0;
    std::vector<size_t> begin_, rows_begin_;
    std::vector<char> dense_;
    bool sparse_;  // no column is dense
};

}  // namespace core
