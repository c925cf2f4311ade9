// The basis of a large, sparse program: the factor of H_BB of some step, and what has come or gone since in a border.
//
//     (H_00  C)
//     (C'    G),   S = G - C' H_00^-1 C,
//
// with a column of H for who has come and a unit column, which holds its value at 0, for who has gone. One product with K
// takes two solutions by the factor and one with S; after some exchanges a new factor is made. It is a factor in doubles
// for solutions in twice the precision, which are refined with H_BB itself.
//
// Sums of the sizes of K's rows are probed where a factor is made, and grow with each exchange by no less than they do.
#pragma once
#include <algorithm>
#include <functional>
#include <random>

#include "columns.hpp"

namespace core {

// L U = Pr H_BB Pc with a unit diagonal of L: columns of both, without diagonals.
struct Factor {
    struct Triangle {
        std::vector<int> begin, rows;
        Vector values;
    };
    Triangle L, U;
    Vector diagonal;      // of U
    Indices rows, columns;  // where each row, and each column, of H_BB is

    // H_BB^-1 x for one vector or two, in place; numbers of the two stand beside each other
    template <int Q>
    void solve(double *x, Vector &scratch) const {
        int k = int(diagonal.size());
        scratch.resize(size_t(k) * Q);
        double *y = scratch.data();
        for (int a = 0; a < k; a++)
            for (int q = 0; q < Q; q++) y[Q * rows[a] + q] = x[Q * a + q];
        for (int c = 0; c < k; c++) take_off<Q>(L, c, y);
        for (int c = k - 1; c >= 0; c--) {
            for (int q = 0; q < Q; q++) y[Q * c + q] /= diagonal[c];
            take_off<Q>(U, c, y);
        }
        for (int a = 0; a < k; a++)
            for (int q = 0; q < Q; q++) x[Q * a + q] = y[Q * columns[a] + q];
    }

    // Whether a pivot is no more than rounding leaves of what has cancelled there.
    bool has_lost(double share) const {
        for (size_t c = 0; c < diagonal.size(); c++) {
            double most = 0.0;
            for (int e = U.begin[c]; e < U.begin[c + 1]; e++) most = std::max(most, std::abs(U.values[e]));
            if (!(std::abs(diagonal[c]) > share * most)) return true;
        }
        return false;
    }

  private:
    template <int Q>
    static void take_off(const Triangle &T, int c, double *y) {
        double by[Q];
        bool any = false;
        for (int q = 0; q < Q; q++) by[q] = y[Q * c + q], any |= by[q] != 0.0;
        if (!any) return;
        for (int e = T.begin[c]; e < T.begin[c + 1]; e++)
            for (int q = 0; q < Q; q++) y[Q * T.rows[e] + q] -= T.values[e] * by[q];
    }
};

template <class Real>
class Bordered {
  public:
    using Make = std::function<bool(const Indices &, Factor &)>;
    Indices members, where;  // the items of B; the place of each item in it, -1 outside
    Make make;               // a factor of the block of some items; false if that is singular
    int border = 64;         // items that may have come or gone before a new factor is made

    static constexpr bool carries = true;  // whether solutions are carried from basis to basis
    static constexpr int turns = 12;       // the most that a solution is refined

    int size() const { return int(members.size()); }
    int room() const { return size(); }
    const Vector &sums(int kind) const { return sums_[kind]; }  // at least |K| 1 over the members that are variables, or rows

    // Of other members; false if their block is singular.
    bool whole(const Columns &H, Indices all) {
        members = std::move(all), where.assign(H.items, -1), base_ = members;
        for (int a = 0; a < size(); a++) where[members[a]] = a;
        H_ = &H, place_ = where, border_.clear(), S_.clear(), beside_.assign(H.items, -1);
        factor_ = Factor();
        if (!members.empty() && (!make(members, factor_) || factor_.has_lost(LOST))) return false;
        probe();
        return true;
    }

    // Of one vector or two: out += K x; out -= H_BB x; sizes of x: out += what bounds |K| x, out += |H_BB| x
    void add_times(int count, const Real *const *x, Real *const *out) const {
        if (count == 2) add_solution<2>(x, out);
        else add_solution<1>(x, out);
    }
    void take_off(int count, const Real *const *x, Real *const *out) const {
        product_.resize(H_->items);
        for (int q = 0; q < count; q++) {
            std::fill(product_.begin(), product_.end(), Real(0.0));
            H_->add_all(members, x[q], product_.data());
            for (int a = 0; a < size(); a++) out[q][a] -= product_[members[a]];
        }
    }
    void add_sizes(int count, const double *const *x, double *const *out) const {
        for (int q = 0; q < count; q++) {
            double most[2] = {0.0, 0.0};
            for (int a = 0; a < size(); a++) most[kind(a)] = std::max(most[kind(a)], x[q][a]);
            for (int a = 0; a < size(); a++) out[q][a] += most[0] * sums_[0][a] + most[1] * sums_[1][a];
        }
    }
    void add_block_sizes(int count, const double *const *x, double *const *out) const {
        for (int q = 0; q < count; q++)
            for (int a = 0; a < size(); a++)
                each_entry(a, [&](int b, double value) { out[q][b] += std::abs(value) * x[q][a]; });
    }
    // The entries of a row of H_BB
    template <class Do>
    void each_entry(int a, const Do &what) const {
        H_->each(members[a], [&](int row, double value) {
            if (where[row] >= 0) what(where[row], value);
        });
    }

    // One item or two change their roles; T their columns of the transform. False if their pivot is 0.
    bool exchange(const Columns &H, const int *items, int count, const Real *const *T) {
        double a = rounded(T[0][items[0]]), b = 0.0, c = 0.0, d = 1.0;
        if (count == 2) b = rounded(T[1][items[0]]), c = rounded(T[0][items[1]]), d = rounded(T[1][items[1]]);
        Real exact = count == 2 ? T[0][items[0]] * T[1][items[1]] - T[1][items[0]] * T[0][items[1]] : T[0][items[0]];
        double determinant = rounded(exact);
        if (determinant == 0.0) return false;
        double pivot[2][2] = {{d / determinant, -b / determinant}, {-c / determinant, a / determinant}};
        grow(items, count, T, pivot);
        for (int p = 0; p < count; p++) {
            if (where[items[p]] >= 0) remove(where[items[p]]);
            else {
                where[items[p]] = size(), members.push_back(items[p]);
                sums_[0].push_back(entering_[p][0]), sums_[1].push_back(entering_[p][1]);
            }
        }
        for (int p = 0; p < count; p++)
            if (!toggle(items[p])) return afresh(H);
        return decompose() || afresh(H);
    }

  private:
    static constexpr double SAFE = 16.0;   // how many times what probes show is allowed
    static constexpr double LOST = 1e-14;  // a pivot that is this share of the numbers above it is 0 but for rounding
    int kind(int a) const { return members[a] >= H_->n; }

    bool afresh(const Columns &H) {
        Indices B = members;
        std::sort(B.begin(), B.end());
        return whole(H, std::move(B));
    }
    void remove(int a) {  // the last one takes its place
        int last = size() - 1;
        where[members[a]] = -1;
        if (a < last) {
            where[members[last]] = a, members[a] = members[last];
            for (Vector &sums : sums_) sums[a] = sums[last];
        }
        members.pop_back();
        for (Vector &sums : sums_) sums.pop_back();
    }
    // What an exchange can add to the sums of |K|: a product of two columns, in which who enters has a row of its own.
    void grow(const int *items, int count, const Real *const *T, const double (*pivot)[2]) {
        int k = size();
        double across[2][2] = {};  // of each column, over the members that are variables, and rows
        for (int p = 0; p < count; p++)
            for (int s = 0; s < k; s++) across[p][kind(s)] += std::abs(rounded(T[p][members[s]]));
        for (int p = 0; p < count; p++) {
            entering_[p][0] = entering_[p][1] = 0.0;
            for (int q = 0; q < count; q++) {
                double size = std::abs(pivot[q][p]);
                for (int r = 0; r < 2; r++) entering_[p][r] += size * across[q][r];
                entering_[p][items[q] >= H_->n] += size;
            }
        }
        for (int s = 0; s < k; s++)
            for (int p = 0; p < count; p++) {
                double left = 0.0;
                for (int q = 0; q < count; q++) left += rounded(T[q][members[s]]) * pivot[q][p];
                for (int r = 0; r < 2; r++) sums_[r][s] += std::abs(left) * across[p][r];
                if (where[items[p]] < 0) sums_[items[p] >= H_->n][s] += std::abs(left);
            }
    }
    // Rows of K in sizes, as vectors of random signs show them: |row| is at most a root of k times its length.
    void probe() {
        int k = size();
        std::minstd_rand random(1);
        for (int r = 0; r < 2; r++) {
            Vector x(2 * size_t(k), 0.0);
            for (int a = 0; a < k; a++)
                if (kind(a) == r) x[2 * a] = random() % 2 ? 1.0 : -1.0, x[2 * a + 1] = random() % 2 ? 1.0 : -1.0;
            factor_.solve<2>(x.data(), scratch_);
            sums_[r].resize(k);
            double safe = SAFE * std::sqrt(double(k)), all = 0.0;
            for (int a = 0; a < k; a++) {
                sums_[r][a] = safe * std::max(std::abs(x[2 * a]), std::abs(x[2 * a + 1]));
                all = std::max(all, sums_[r][a]);
            }
            for (double &sum : sums_[r]) sum = std::max(sum, 1e-3 * all);  // two signs may happen to cancel
        }
    }
    // Let an item come or go beside the factor; whether there is room for it.
    bool toggle(int item) {
        int c = int(border_.size());
        if (int at = beside_[item]; at >= 0) {
            beside_[item] = -1, border_.erase(border_.begin() + at);
            for (int i = at; i < c - 1; i++) beside_[border_[i]] = i;
            Vector kept;
            for (int i = 0; i < c; i++)
                for (int j = 0; j < c; j++)
                    if (i != at && j != at) kept.push_back(S_[size_t(i) * c + j]);
            return S_.swap(kept), true;
        }
        if (c >= border) return false;
        beside_[item] = c, border_.push_back(item);
        Vector w(base_.size(), 0.0), wider(size_t(c + 1) * (c + 1));
        each_beside(item, [&](int a, double value) { w[a] = value; });
        factor_.solve<1>(w.data(), scratch_);
        for (int i = 0; i < c; i++) std::copy(S_.data() + size_t(i) * c, S_.data() + size_t(i) * c + c, wider.data() + size_t(i) * (c + 1));
        for (int i = 0; i <= c; i++) {
            double entry = 0.0;
            if (comes(item) && comes(border_[i]))
                H_->each(item, [&](int row, double value) { entry += row == border_[i] ? value : 0.0; });
            each_beside(border_[i], [&](int a, double value) { entry -= value * w[a]; });
            wider[size_t(i) * (c + 1) + c] = wider[size_t(c) * (c + 1) + i] = entry;
        }
        return S_.swap(wider), true;
    }
    bool comes(int item) const { return place_[item] < 0; }
    // The entries of C in the column of an item that has come or gone
    template <class Do>
    void each_beside(int item, const Do &what) const {
        if (!comes(item)) return what(place_[item], 1.0);
        H_->each(item, [&](int row, double value) {
            if (place_[row] >= 0) what(place_[row], value);
        });
    }
    bool decompose() {  // S by elimination with the largest pivots; false if it is singular
        int c = int(border_.size());
        eliminated_ = S_, order_.resize(c);
        for (int k = 0; k < c; k++) {
            int best = k;
            for (int i = k + 1; i < c; i++)
                if (std::abs(eliminated_[size_t(i) * c + k]) > std::abs(eliminated_[size_t(best) * c + k])) best = i;
            order_[k] = best;
            double *own = eliminated_.data() + size_t(k) * c, *other = eliminated_.data() + size_t(best) * c;
            if (other[k] == 0.0) return false;
            if (best != k) std::swap_ranges(own, own + c, other);
            for (int i = k + 1; i < c; i++) {
                double *row = eliminated_.data() + size_t(i) * c;
                if (row[k] == 0.0) continue;
                row[k] /= own[k];
                advance(row + k + 1, own + k + 1, -row[k], c - k - 1);
            }
        }
        return true;
    }
    template <int Q>
    void solve_border(double *s) const {  // S^-1 s in place
        int c = int(border_.size());
        for (int k = 0; k < c; k++) {
            for (int q = 0; q < Q; q++) std::swap(s[Q * k + q], s[Q * order_[k] + q]);
        }
        for (int k = 0; k < c; k++)
            for (int i = 0; i < k; i++)
                for (int q = 0; q < Q; q++) s[Q * k + q] -= eliminated_[size_t(k) * c + i] * s[Q * i + q];
        for (int k = c - 1; k >= 0; k--) {
            for (int i = k + 1; i < c; i++)
                for (int q = 0; q < Q; q++) s[Q * k + q] -= eliminated_[size_t(k) * c + i] * s[Q * i + q];
            for (int q = 0; q < Q; q++) s[Q * k + q] /= eliminated_[size_t(k) * c + k];
        }
    }
    template <int Q>
    void add_solution(const Real *const *x, Real *const *out) const {
        int k = int(base_.size()), c = int(border_.size());
        right_.assign(size_t(k) * Q, 0.0), beyond_.assign(size_t(c) * Q, 0.0);
        for (int a = 0; a < size(); a++) {
            int at = place_[members[a]];
            double *to = at >= 0 ? right_.data() + size_t(at) * Q : beyond_.data() + size_t(beside_[members[a]]) * Q;
            for (int q = 0; q < Q; q++) to[q] = rounded(x[q][a]);
        }
        if (c) {
            first_ = right_;
            factor_.solve<Q>(first_.data(), scratch_);
            for (int i = 0; i < c; i++)
                each_beside(border_[i], [&](int a, double value) {
                    for (int q = 0; q < Q; q++) beyond_[Q * i + q] -= value * first_[size_t(a) * Q + q];
                });
            solve_border<Q>(beyond_.data());
            for (int i = 0; i < c; i++)
                each_beside(border_[i], [&](int a, double value) {
                    for (int q = 0; q < Q; q++) right_[size_t(a) * Q + q] -= value * beyond_[Q * i + q];
                });
        }
        factor_.solve<Q>(right_.data(), scratch_);
        for (int a = 0; a < size(); a++) {
            int at = place_[members[a]];
            const double *from = at >= 0 ? right_.data() + size_t(at) * Q : beyond_.data() + size_t(beside_[members[a]]) * Q;
            for (int q = 0; q < Q; q++) out[q][a] += Real(from[q]);
        }
    }

    const Columns *H_ = nullptr;
    Factor factor_;
    Indices base_, place_, border_, beside_, order_;  // of the factor: its items and their places; who came or went since
    Vector S_, eliminated_, sums_[2];
    double entering_[2][2];
    mutable Vector right_, beyond_, first_, scratch_;
    mutable std::vector<Real> product_;
};

}  // namespace core
