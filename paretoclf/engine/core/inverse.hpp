// The inverse K of H_BB for a basis B of any program, dense, changed by one or two items at a time.
//
// H_BB is indefinite, and any of its leading blocks may be singular: an inverse takes every exchange alike, at k^2 for k
// members. Its errors grow from exchange to exchange; solutions are refined with H_BB itself, and it is made afresh where
// that does not help.
#pragma once
#include <algorithm>
#include <type_traits>

#include "columns.hpp"
#include "lines.hpp"

namespace core {

template <class Real>
class Inverse {
  public:
    Indices members, where;  // the items of B; the place of each item in it, -1 outside

    static constexpr bool carries = std::is_same_v<Real, double>;  // whether solutions are carried from basis to basis
    static constexpr int turns = 3;                                // how often a solution is refined

    int size() const { return int(members.size()); }
    template <class Do>
    void each_entry(int a, const Do &what) const {  // of a row of H_BB
        for (int b = 0; b < size(); b++) what(b, block(a)[b]);
    }

    // Of other members; false if their block is singular.
    bool whole(const Columns &H, Indices all) {
        members = std::move(all), where.assign(H.items, -1);
        int k = size();
        reserve(k, 0);
        for (int a = 0; a < k; a++) where[members[a]] = a;
        n_ = H.n;
        for (int a = 0; a < k; a++) read_block(H, a);
        if (!invert()) return false;
        kinds();
        for (int a = 0; a < k; a++) add_up(a);
        return true;
    }

    const Vector &sums(int kind) const { return sums_[kind]; }  // |K| 1 over the members that are variables, or rows

    int room() const { return apart_; }  // how long vectors of members must be: whole lanes

    // Of one vector or two: out += K x; out -= H_BB x; sizes of x: out += |K| x, out += |H_BB| x
    void add_times(int count, const Real *const *x, Real *const *out) const { products(K_, count, x, 1.0, out); }
    void take_off(int count, const Real *const *x, Real *const *out) const { products(S_, count, x, -1.0, out); }
    void add_sizes(int count, const double *const *x, double *const *out) const { sizes(K_, count, x, out); }
    void add_block_sizes(int count, const double *const *x, double *const *out) const { sizes(S_, count, x, out); }

    // One item or two change their roles; T their columns of the transform. False if their pivot is 0.
    bool exchange(const Columns &H, const int *items, int count, const Real *const *T) {
        int k = size();
        Real zero = 0.0, one = 1.0, a = T[0][items[0]], b = zero, c = zero, d = one;
        if (count == 2) b = T[1][items[0]], c = T[0][items[1]], d = T[1][items[1]];
        Real determinant = a * d - b * c;
        if (rounded(determinant) == 0.0) return false;
        Real pivot[2][2] = {{d / determinant, -b / determinant}, {-c / determinant, a / determinant}};
        bool leaving[2] = {};
        for (int p = 0; p < count; p++) {
            leaving[p] = where[items[p]] >= 0;
            left_[p].resize(k + 2), right_[p].resize(k + 2);
        }
        for (int p = 0; p < count; p++)
            for (int s = 0; s < k; s++) {
                Real sum = zero;
                for (int q = 0; q < count; q++) sum += T[q][members[s]] * pivot[q][p];
                // Of T, rows are columns within the basis and within the rest, and minus columns between the two.
                left_[p][s] = sum, right_[p][s] = leaving[p] ? T[p][members[s]] : -T[p][members[s]];
            }
        for (int s = 0; s < k; s++) {
            for (int p = 0; p < count; p++) add(K_.data() + size_t(s) * apart_, right_[p].data(), -left_[p][s], k);
            add_up(s);
        }
        for (int p = 0; p < count; p++)
            if (leaving[p]) remove(where[items[p]]);
        reserve(size() + count, size());
        for (int p = 0; p < count; p++) {
            if (leaving[p]) continue;
            int last = size();
            members.push_back(items[p]), where[items[p]] = last;
            for (int s = 0; s < last; s++) at(s, last) = at(last, s) = left_[p][s];
            at(last, last) = pivot[p][p];
            if (p == 0) left_[1].resize(std::max<size_t>(left_[1].size(), last + 2)), left_[1][last] = pivot[0][1];
            read_block(H, last);
            if constexpr (std::is_same_v<Real, double>) {
                for (int s = 0; s < last; s++) sums_[items[p] >= n_][s] += std::abs(left_[p][s]);
                kinds(), add_up(last);
            }
        }
        return true;
    }

  protected:
    const double *block(int a) const { return S_.data() + size_t(a) * apart_; }

  private:
    // The row a of K in sums_, for doubles.
    void add_up(int a) {
        if constexpr (std::is_same_v<Real, double>) {
            const double *row = K_.data() + size_t(a) * apart_;
            sums_[0][a] = dot_of_sizes(row, kind_[0].data(), int(kind_[0].size()));
            sums_[1][a] = dot_of_sizes(row, kind_[1].data(), int(kind_[1].size()));
        }
    }
    void kinds() {
        for (int kind = 0; kind < 2; kind++) {
            sums_[kind].resize(size()), kind_[kind].resize(size());
            for (int a = 0; a < size(); a++) kind_[kind][a] = (members[a] >= n_) == kind;
        }
    }
    Real &at(int a, int b) { return K_[size_t(a) * apart_ + b]; }
    template <class Number>
    void products(const Lines<Number> &M, int count, const Real *const *x, double sign, Real *const *out) const {
        if constexpr (std::is_same_v<Real, double>) {
            matrix_times(M.data(), apart_, size(), count, x, sign, out);
        } else {
            for (int q = 0; q < count; q++)
                for (int a = 0; a < size(); a++) {
                    Real sum = 0.0;
                    for (int b = 0; b < size(); b++) sum = add_product(sum, M[size_t(a) * apart_ + b], x[q][b]);
                    out[q][a] += Real(sign) * sum;
                }
        }
    }
    template <class Number>
    void sizes(const Lines<Number> &M, int count, const double *const *x, double *const *out) const {
        if constexpr (std::is_same_v<Number, double>) {
            sizes_times(M.data(), apart_, size(), count, x, out);
        } else {
            for (int q = 0; q < count; q++)
                for (int a = 0; a < size(); a++)
                    for (int b = 0; b < size(); b++) out[q][a] += std::abs(rounded(M[size_t(a) * apart_ + b])) * x[q][b];
        }
    }
    void read_block(const Columns &H, int a) {  // its row and column a
        raw_.assign(H.items, 0.0);
        H.add_to(members[a], 1.0, raw_.data());
        for (int b = 0; b < size(); b++) S_[size_t(a) * apart_ + b] = S_[size_t(b) * apart_ + a] = raw_[members[b]];
    }
    void remove(int a) {  // the last one takes its place
        int last = size() - 1;
        where[members[a]] = -1;
        if (a < last) {
            where[members[last]] = a, members[a] = members[last];
            for (int b = 0; b <= last; b++) at(a, b) = at(last, b), S_[size_t(a) * apart_ + b] = S_[size_t(last) * apart_ + b];
            for (int b = 0; b <= last; b++) at(b, a) = at(b, last), S_[size_t(b) * apart_ + a] = S_[size_t(b) * apart_ + last];
            for (int p = 0; p < 2; p++)
                if (int(left_[p].size()) > last) left_[p][a] = left_[p][last];
            for (Vector &sums : sums_)
                if (int(sums.size()) > last) sums[a] = sums[last];
        }
        members.pop_back();
        kinds();
    }
    bool invert() {  // by elimination with the largest pivots, then symmetric
        int k = size();
        Lines<Real> U(size_t(k) * apart_);
        for (int a = 0; a < k; a++)
            for (int b = 0; b < k; b++) U[size_t(a) * apart_ + b] = block(a)[b], at(a, b) = a == b ? 1.0 : 0.0;
        auto u = [&](int a) { return U.data() + size_t(a) * apart_; };
        for (int c = 0; c < k; c++) {
            int best = c;
            for (int a = c + 1; a < k; a++)
                if (std::abs(rounded(u(a)[c])) > std::abs(rounded(u(best)[c]))) best = a;
            if (rounded(u(best)[c]) == 0.0) return false;
            if (best != c) std::swap_ranges(u(c), u(c) + k, u(best)), std::swap_ranges(&at(c, 0), &at(c, 0) + k, &at(best, 0));
            for (int a = c + 1; a < k; a++) {
                if (rounded(u(a)[c]) == 0.0) continue;
                Real share = -(u(a)[c] / u(c)[c]);
                add(u(a) + c + 1, u(c) + c + 1, share, k - c - 1), add(&at(a, 0), &at(c, 0), share, k);
            }
        }
        for (int a = k - 1; a >= 0; a--) {
            for (int c = a + 1; c < k; c++)
                if (rounded(u(a)[c]) != 0.0) add(&at(a, 0), &at(c, 0), -u(a)[c], k);
            for (int b = 0; b < k; b++) at(a, b) = at(a, b) / u(a)[a];
        }
        for (int a = 0; a < k; a++)
            for (int b = 0; b < a; b++) at(a, b) = at(b, a) = (at(a, b) + at(b, a)) * Real(0.5);
        return true;
    }
    void reserve(int k, int kept) {
        if (k <= rows_) return;
        int rows = std::max(k, std::max(32, 2 * rows_)), apart = (rows + 7) / 8 * 8 + 8;
        Lines<Real> K(size_t(rows) * apart);
        Lines<double> S(size_t(rows) * apart);
        for (int a = 0; a < kept; a++)
            for (int b = 0; b < kept; b++)
                K[size_t(a) * apart + b] = at(a, b), S[size_t(a) * apart + b] = S_[size_t(a) * apart_ + b];
        K_.swap(K), S_.swap(S);
        rows_ = rows, apart_ = apart;
    }

    int rows_ = 0, apart_ = 0, n_ = 0;
    Vector sums_[2], kind_[2];
    Lines<Real> K_;
    Lines<double> S_;
    std::vector<Real> left_[2], right_[2];
    Vector raw_;
};

}  // namespace core
