// The inverse K of H_BB for a basis B of any program, dense, changed by one or two items at a time.
//
// H_BB is indefinite, and any of its leading blocks may be singular: an inverse takes every exchange alike, at k^2 for
// k members. Its errors grow from exchange to exchange; solutions are refined with H_BB itself, and the inverse is
// recomputed where that does not help.
#pragma once
#include <algorithm>
#include <type_traits>

#include "lines.hpp"
#include "members.hpp"

namespace core {

template <class Real>
class Inverse : public Members {
  public:
    static constexpr bool updates = std::is_same_v<Real, double>;  // whether solutions are updated from basis to basis
    static constexpr int turns = 3;                                // how often a solution is refined

    // Call what(b, entry) for each entry of row a of H_BB.
    template <class Do>
    void each_entry(int a, const Do &what) const {
        for (int b = 0; b < size(); b++) what(b, block(a)[b]);
    }

    // Take other members and compute the inverse of their block; false if it is singular.
    bool factor(const Columns &H, Indices items) {
        n_ = H.n;
        set_members(std::move(items), H.items);
        reserve(size(), 0);
        for (int a = 0; a < size(); a++) read_block(H, a);
        if (!invert()) return false;
        mark_kinds();
        for (int a = 0; a < size(); a++) sum_row(a);
        return true;
    }

    // |K| 1 over the members that are variables (kind 0), or rows (kind 1); kept for doubles only.
    const Vector &sums(int kind) const { return sums_[kind]; }

    int room() const { return stride_; }  // how long vectors of members must be: whole lanes

    // For one vector or two: out += K x; out -= H_BB x; and for sizes x >= 0: out += |K| x; out += |H_BB| x
    void add_inverse_times(int count, const Real *const *x, Real *const *out) const {
        add_products(K_, count, x, 1.0, out);
    }
    void subtract_block_times(int count, const Real *const *x, Real *const *out) const {
        add_products(S_, count, x, -1.0, out);
    }
    void add_inverse_sizes(int count, const double *const *x, double *const *out) const {
        add_sizes(K_, count, x, out);
    }
    void add_block_sizes(int count, const double *const *x, double *const *out) const { add_sizes(S_, count, x, out); }

    // Exchange one item or two: who is in the basis leaves, who is outside enters. T are their columns of the
    // transform. False if their pivot block is singular.
    bool exchange(const Columns &H, const int *items, int count, const Real *const *T) {
        Real pivot[2][2];
        if (!invert_pivot(items, count, T, pivot)) return false;
        update_entries(items, count, T, pivot);
        for (int p = 0; p < count; p++)
            if (leaving_[p]) remove(where[items[p]]);
        reserve(size() + count, size());
        for (int p = 0; p < count; p++)
            if (!leaving_[p]) append(H, items[p], p, pivot);
        return true;
    }

  protected:
    const double *block(int a) const { return S_.data() + size_t(a) * stride_; }  // row a of H_BB

  private:
    Real *row(int a) { return K_.data() + size_t(a) * stride_; }
    double *block_row(int a) { return S_.data() + size_t(a) * stride_; }

    // Sum the sizes of row a of K; for doubles, the only ones whose solutions are updated.
    void sum_row(int a) {
        if constexpr (std::is_same_v<Real, double>)
            for (int kind = 0; kind < 2; kind++)
                sums_[kind][a] = dot_of_sizes(row(a), of_kind_[kind].data(), int(of_kind_[kind].size()));
    }
    // Mark the members that are variables, and those that are rows, by ones.
    void mark_kinds() {
        for (int kind = 0; kind < 2; kind++) {
            sums_[kind].resize(size());
            of_kind_[kind].resize(size());
            for (int a = 0; a < size(); a++) of_kind_[kind][a] = (members[a] >= n_) == kind;
        }
    }

    // Subtract from K what the exchange changes in it: a product of two columns for each item.
    void update_entries(const int *items, int count, const Real *const *T, const Real (*pivot)[2]) {
        int k = size();
        for (int p = 0; p < count; p++) {
            leaving_[p] = where[items[p]] >= 0;
            left_[p].resize(k + 2);
            right_[p].resize(k + 2);
        }
        for (int p = 0; p < count; p++) {
            bool leaves = leaving_[p];
            Real *left = left_[p].data();
            Real *right = right_[p].data();
            for (int s = 0; s < k; s++) {
                Real sum = 0.0;
                for (int q = 0; q < count; q++) sum += T[q][members[s]] * pivot[q][p];
                left[s] = sum;
                // Rows of T are its columns within the basis and within the rest, and minus these between the two.
                right[s] = leaves ? T[p][members[s]] : -T[p][members[s]];
            }
        }
        for (int s = 0; s < k; s++) {
            for (int p = 0; p < count; p++) add(row(s), right_[p].data(), -left_[p][s], k);
            sum_row(s);
        }
    }
    void remove(int a) {
        int last = remove_member(a);
        if (a < last) {
            std::copy(row(last), row(last) + last + 1, row(a));
            std::copy(block_row(last), block_row(last) + last + 1, block_row(a));
            for (int b = 0; b <= last; b++) {
                row(b)[a] = row(b)[last];
                block_row(b)[a] = block_row(b)[last];
            }
            for (auto &left : left_)
                if (int(left.size()) > last) left[a] = left[last];
            for (Vector &sums : sums_)
                if (int(sums.size()) > last) sums[a] = sums[last];
        }
        mark_kinds();
    }
    // Let the p-th item of an exchange enter: its row and column of K are what `update_entries` left of its own column.
    void append(const Columns &H, int item, int p, const Real (*pivot)[2]) {
        int last = size();
        append_member(item);
        const Real *left = left_[p].data();
        Real *own = row(last);
        for (int s = 0; s < last; s++) row(s)[last] = own[s] = left[s];
        row(last)[last] = pivot[p][p];
        if (p == 0) {  // the other item may enter, too: then this is where their rows meet
            left_[1].resize(std::max<size_t>(left_[1].size(), last + 2));
            left_[1][last] = pivot[0][1];
        }
        read_block(H, last);
        if constexpr (std::is_same_v<Real, double>) {
            double *sums = sums_[item >= n_].data();
            for (int s = 0; s < last; s++) sums[s] += std::abs(left[s]);
            mark_kinds();
            sum_row(last);
        }
    }

    // For one vector or two: out += sign M x
    template <class Number>
    void add_products(const Lines<Number> &M, int count, const Real *const *x, double sign, Real *const *out) const {
        if constexpr (std::is_same_v<Real, double>) {
            matrix_times(M.data(), stride_, size(), count, x, sign, out);
        } else {
            for (int q = 0; q < count; q++)
                for (int a = 0; a < size(); a++) {
                    Real sum = 0.0;
                    for (int b = 0; b < size(); b++) sum = add_product(sum, M[size_t(a) * stride_ + b], x[q][b]);
                    out[q][a] += Real(sign) * sum;
                }
        }
    }
    // For one vector or two: out += |M| x
    template <class Number>
    void add_sizes(const Lines<Number> &M, int count, const double *const *x, double *const *out) const {
        if constexpr (std::is_same_v<Number, double>) {
            sizes_times(M.data(), stride_, size(), count, x, out);
        } else {
            for (int q = 0; q < count; q++)
                for (int a = 0; a < size(); a++)
                    for (int b = 0; b < size(); b++)
                        out[q][a] += std::abs(rounded(M[size_t(a) * stride_ + b])) * x[q][b];
        }
    }
    // Read row and column a of H_BB.
    void read_block(const Columns &H, int a) {
        column_.assign(H.items, 0.0);
        H.add_to(members[a], 1.0, column_.data());
        for (int b = 0; b < size(); b++) block_row(a)[b] = block_row(b)[a] = column_[members[b]];
    }

    // Invert the block by elimination with the largest pivots; then make it symmetric, as an inverse is but for
    // rounding.
    bool invert() {
        int k = size();
        Lines<Real> eliminated(size_t(k) * stride_);
        auto upper = [&](int a) { return eliminated.data() + size_t(a) * stride_; };
        for (int a = 0; a < k; a++)
            for (int b = 0; b < k; b++) {
                upper(a)[b] = block(a)[b];
                row(a)[b] = a == b ? 1.0 : 0.0;
            }
        for (int c = 0; c < k; c++) {
            int best = c;
            for (int a = c + 1; a < k; a++)
                if (std::abs(rounded(upper(a)[c])) > std::abs(rounded(upper(best)[c]))) best = a;
            if (rounded(upper(best)[c]) == 0.0) return false;
            if (best != c) {
                std::swap_ranges(upper(c), upper(c) + k, upper(best));
                std::swap_ranges(row(c), row(c) + k, row(best));
            }
            for (int a = c + 1; a < k; a++) {
                if (rounded(upper(a)[c]) == 0.0) continue;
                Real share = -(upper(a)[c] / upper(c)[c]);
                add(upper(a) + c + 1, upper(c) + c + 1, share, k - c - 1);
                add(row(a), row(c), share, k);
            }
        }
        substitute_back(eliminated.data());
        for (int a = 0; a < k; a++)
            for (int b = 0; b < a; b++) row(a)[b] = row(b)[a] = (row(a)[b] + row(b)[a]) * Real(0.5);
        return true;
    }
    // Solve with the triangle that elimination left, for all columns at once.
    void substitute_back(const Real *eliminated) {
        int k = size();
        for (int a = k - 1; a >= 0; a--) {
            const Real *upper = eliminated + size_t(a) * stride_;
            for (int c = a + 1; c < k; c++)
                if (rounded(upper[c]) != 0.0) add(row(a), row(c), -upper[c], k);
            for (int b = 0; b < k; b++) row(a)[b] = row(a)[b] / upper[a];
        }
    }
    // Make room for k members; what is known of the first `kept` stays.
    void reserve(int k, int kept) {
        if (k <= rows_) return;
        int rows = std::max(k, std::max(32, 2 * rows_));
        int stride = (rows + 7) / 8 * 8 + 8;  // whole lanes, and no power of two: rows would share lines of the cache
        Lines<Real> K(size_t(rows) * stride);
        Lines<double> S(size_t(rows) * stride);
        for (int a = 0; a < kept; a++)
            for (int b = 0; b < kept; b++) {
                K[size_t(a) * stride + b] = row(a)[b];
                S[size_t(a) * stride + b] = block_row(a)[b];
            }
        K_.swap(K);
        S_.swap(S);
        rows_ = rows;
        stride_ = stride;
    }

    int rows_ = 0, stride_ = 0, n_ = 0;
    Vector sums_[2], of_kind_[2];
    Lines<Real> K_;
    Lines<double> S_;  // H_BB
    bool leaving_[2] = {};
    std::vector<Real> left_[2], right_[2];  // an exchange subtracts the product of these columns, for each of its items
    Vector column_;
};

}  // namespace core
