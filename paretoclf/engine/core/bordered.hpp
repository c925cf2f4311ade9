// The basis of a large, sparse program: the factor of H_BB of some step, and what has entered or left since in a
// border.
//
//     (H_00  C)
//     (C'    G),   S = G - C' H_00^-1 C,
//
// with a column of H for each item that has entered and a unit column, which holds its value at 0, for each that has
// left. H_00^-1 C is kept, too: one product with K takes one solution by the factor and one with S. After some exchanges
// a new factor is made.
// It is a factor in doubles for solutions in twice the precision, which are refined with H_BB itself.
//
// Sums of the sizes of K's rows are estimated by probes where a factor is made, and grow with each exchange by no less
// than they do.
#pragma once
#include <algorithm>
#include <functional>
#include <random>

#include "schur_complement.hpp"
#include "members.hpp"
#include "sparse_factor.hpp"

namespace core {

template <class Real>
class Bordered : public Members {
  public:
    using Make = std::function<bool(const Indices &, SparseFactor &)>;
    Make make;        // makes a factor of the block of some items; false if that is singular
    int border = 64;  // items that may have entered or left before a new factor is made

    static constexpr bool updates = true;  // whether solutions are updated from basis to basis
    static constexpr int turns = 12;       // the most that a solution is refined

    int room() const { return size(); }
    // At least |K| 1 over the members that are variables (kind 0), or rows (kind 1).
    const Vector &sums(int kind) const { return sums_[kind]; }

    // Take other members and make the factor of their block; false if it is singular.
    bool factor(const Columns &H, Indices items) {
        set_members(std::move(items), H.items);
        H_ = &H;
        base_ = members;
        place_ = where;
        border_.clear();
        solved_.clear();
        schur_.clear();
        beside_.assign(H.items, -1);
        factor_ = SparseFactor();
        if (!members.empty() && (!make(members, factor_) || factor_.has_lost(LOST))) return false;
        probe_sums();
        return true;
    }

    // Call what(b, entry) for each entry of row a of H_BB.
    template <class Do>
    void each_entry(int a, const Do &what) const {
        H_->each(members[a], [&](int row, double value) {
            if (where[row] >= 0) what(where[row], value);
        });
    }

    // For one vector or two: out += K x; out -= H_BB x; and for sizes x >= 0: out += what bounds |K| x; out += |H_BB| x
    void add_inverse_times(int count, const Real *const *x, Real *const *out) const {
        if (count == 2) add_solution<2>(x, out);
        else add_solution<1>(x, out);
    }
    void subtract_block_times(int count, const Real *const *x, Real *const *out) const {
        product_.resize(H_->items);
        for (int q = 0; q < count; q++) {
            std::fill(product_.begin(), product_.end(), Real(0.0));
            H_->add_all(members, x[q], product_.data());
            for (int a = 0; a < size(); a++) out[q][a] -= product_[members[a]];
        }
    }
    void add_inverse_sizes(int count, const double *const *x, double *const *out) const {
        for (int q = 0; q < count; q++) {
            double largest[2] = {0.0, 0.0};
            for (int a = 0; a < size(); a++) largest[kind(a)] = std::max(largest[kind(a)], x[q][a]);
            for (int a = 0; a < size(); a++) out[q][a] += largest[0] * sums_[0][a] + largest[1] * sums_[1][a];
        }
    }
    void add_block_sizes(int count, const double *const *x, double *const *out) const {
        for (int q = 0; q < count; q++)
            for (int a = 0; a < size(); a++)
                each_entry(a, [&](int b, double value) { out[q][b] += std::abs(value) * x[q][a]; });
    }

    // Exchange one item or two: who is in the basis leaves, who is outside enters. T are their columns of the
    // transform. False if their pivot block, or the new basis, is singular.
    bool exchange(const Columns &H, const int *items, int count, const Real *const *T) {
        double pivot[2][2];
        if (!invert_pivot(items, count, T, pivot)) return false;
        grow_sums(items, count, T, pivot);
        for (int p = 0; p < count; p++) {
            if (where[items[p]] >= 0) {
                remove(where[items[p]]);
            } else {
                append_member(items[p]);
                for (int kind = 0; kind < 2; kind++) sums_[kind].push_back(entering_[p][kind]);
            }
        }
        bool fits = true;
        for (int p = 0; p < count && fits; p++) fits = change_border(items[p]);
        return (fits && schur_.factor()) || factor(H, sorted(members));
    }

  private:
    static constexpr double SAFE = 16.0;   // how many times what probes show is allowed
    static constexpr double LOST = 1e-14;  // a pivot that is this share of the numbers above it is 0 but for rounding
    // Probes have random signs, two of which may happen to cancel: no sum is less than this share of the largest.
    static constexpr double LEAST = 1e-3;

    int kind(int a) const { return members[a] >= H_->n; }
    void remove(int a) {
        int last = remove_member(a);
        for (Vector &sums : sums_) {
            sums[a] = sums[last];
            sums.pop_back();
        }
    }

    // Add what an exchange can add to the sums of |K|: a product of two columns, in which who enters has a row of its
    // own.
    void grow_sums(const int *items, int count, const Real *const *T, const double (*pivot)[2]) {
        int k = size();
        double column_sum[2][2] = {};  // of each column, over the members that are variables, and rows
        for (int p = 0; p < count; p++)
            for (int s = 0; s < k; s++) column_sum[p][kind(s)] += std::abs(rounded(T[p][members[s]]));
        for (int p = 0; p < count; p++) {
            entering_[p][0] = entering_[p][1] = 0.0;
            for (int q = 0; q < count; q++) {
                double size = std::abs(pivot[q][p]);
                for (int kind = 0; kind < 2; kind++) entering_[p][kind] += size * column_sum[q][kind];
                entering_[p][items[q] >= H_->n] += size;
            }
        }
        for (int s = 0; s < k; s++)
            for (int p = 0; p < count; p++) {
                double left = 0.0;
                for (int q = 0; q < count; q++) left += rounded(T[q][members[s]]) * pivot[q][p];
                for (int kind = 0; kind < 2; kind++) sums_[kind][s] += std::abs(left) * column_sum[p][kind];
                if (where[items[p]] < 0) sums_[items[p] >= H_->n][s] += std::abs(left);
            }
    }
    // Estimate the sums of |K| by two vectors of random signs: a row's sum is at most a root of k times its length.
    void probe_sums() {
        int k = size();
        std::minstd_rand random(1);
        auto sign = [&] { return random() % 2 ? 1.0 : -1.0; };
        for (int r = 0; r < 2; r++) {
            Vector probes(2 * size_t(k), 0.0);
            for (int a = 0; a < k; a++) {
                if (kind(a) != r) continue;
                probes[2 * a] = sign();
                probes[2 * a + 1] = sign();
            }
            factor_.solve<2>(probes.data(), scratch_);
            sums_[r].resize(k);
            double safe = SAFE * std::sqrt(double(k));
            double largest = 0.0;
            for (int a = 0; a < k; a++) {
                sums_[r][a] = safe * std::max(std::abs(probes[2 * a]), std::abs(probes[2 * a + 1]));
                largest = std::max(largest, sums_[r][a]);
            }
            for (double &sum : sums_[r]) sum = std::max(sum, LEAST * largest);
        }
    }

    bool entered(int item) const { return place_[item] < 0; }  // since the factor was made; else it has left

    // Let an item enter or leave by the border; false if that has no room for it. Who leaves again after it entered, or
    // enters again, only leaves the border.
    bool change_border(int item) {
        if (int at = beside_[item]; at >= 0) {
            beside_[item] = -1;
            border_.erase(border_.begin() + at);
            solved_.erase(solved_.begin() + at);
            for (size_t i = at; i < border_.size(); i++) beside_[border_[i]] = int(i);
            schur_.remove(at);
            return true;
        }
        int c = int(border_.size());
        if (c >= border) return false;
        beside_[item] = c;
        border_.push_back(item);
        Vector &solved = solved_.emplace_back(base_.size(), 0.0);
        each_beside(item, [&](int a, double value) { solved[a] = value; });
        factor_.solve<1>(solved.data(), scratch_);
        schur_.append([&](int i) {
            double entry = 0.0;
            if (entered(item) && entered(border_[i]))
                H_->each(item, [&](int row, double value) { entry += row == border_[i] ? value : 0.0; });
            each_beside(border_[i], [&](int a, double value) { entry -= value * solved[a]; });
            return entry;
        });
        return true;
    }
    // Call what(place, entry) for each entry of C in the column of an item of the border.
    template <class Do>
    void each_beside(int item, const Do &what) const {
        if (!entered(item)) return what(place_[item], 1.0);
        H_->each(item, [&](int row, double value) {
            if (place_[row] >= 0) what(place_[row], value);
        });
    }

    // out += K x, by the factor and S
    template <int Q>
    void add_solution(const Real *const *x, Real *const *out) const {
        int k = int(base_.size());
        int c = int(border_.size());
        right_.assign(size_t(k) * Q, 0.0);
        beyond_.assign(size_t(c) * Q, 0.0);
        for (int a = 0; a < size(); a++) {
            double *to = number_of<Q>(members[a]);
            for (int q = 0; q < Q; q++) to[q] = rounded(x[q][a]);
        }
        factor_.solve<Q>(right_.data(), scratch_);
        for (int i = 0; i < c; i++)
            each_beside(border_[i], [&](int a, double value) {
                for (int q = 0; q < Q; q++) beyond_[Q * i + q] -= value * right_[size_t(a) * Q + q];
            });
        schur_.solve<Q>(beyond_.data());
        for (int i = 0; i < c; i++) {
            const double *solved = solved_[i].data();
            for (int q = 0; q < Q; q++) {
                double by = beyond_[Q * i + q];
                if (by == 0.0) continue;
                for (int a = 0; a < k; a++) right_[size_t(a) * Q + q] -= solved[a] * by;
            }
        }
        for (int a = 0; a < size(); a++) {
            const double *from = number_of<Q>(members[a]);
            for (int q = 0; q < Q; q++) out[q][a] += Real(from[q]);
        }
    }
    // Where the numbers of a member are: among those of the factor, or of the border.
    template <int Q>
    double *number_of(int item) const {
        int at = place_[item];
        return at >= 0 ? right_.data() + size_t(at) * Q : beyond_.data() + size_t(beside_[item]) * Q;
    }

    const Columns *H_ = nullptr;
    SparseFactor factor_;
    Indices base_, place_;     // items of the factor; the place of each item among them, -1 outside
    Indices border_, beside_;  // items that entered or left since; the place of each item among them, -1 outside
    std::vector<Vector> solved_;  // H_00^-1 C, column by column
    SchurComplement schur_;
    Vector sums_[2];
    double entering_[2][2];  // sums of the rows of K of who enters
    mutable Vector right_, beyond_, scratch_;
    mutable std::vector<Real> product_;
};

}  // namespace core
