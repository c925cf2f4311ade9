// The dense Schur complement S of a border: the symmetric matrix that an item enters or leaves by a row and column.
#pragma once
#include <algorithm>

#include "columns.hpp"

namespace core {

class SchurComplement {
  public:
    int size() const { return size_; }
    void clear() {
        size_ = 0;
        entries_.clear();
    }
    // Append a row and column: entry(i) for i up to the new one itself.
    template <class Entry>
    void append(const Entry &entry) {
        int c = size_;
        Vector wider(size_t(c + 1) * (c + 1));
        for (int i = 0; i < c; i++)
            std::copy(row(entries_, i), row(entries_, i) + c, wider.data() + size_t(i) * (c + 1));
        for (int i = 0; i <= c; i++) wider[size_t(i) * (c + 1) + c] = wider[size_t(c) * (c + 1) + i] = entry(i);
        entries_.swap(wider);
        size_ = c + 1;
    }
    void remove(int at) {
        Vector kept;
        for (int i = 0; i < size_; i++)
            for (int j = 0; j < size_; j++)
                if (i != at && j != at) kept.push_back(entries_[size_t(i) * size_ + j]);
        entries_.swap(kept);
        size_--;
    }

    // Factor by elimination with the largest pivots; false if S is singular.
    bool factor() {
        int c = size_;
        eliminated_ = entries_;
        order_.resize(c);
        for (int k = 0; k < c; k++) {
            int best = k;
            for (int i = k + 1; i < c; i++)
                if (std::abs(row(eliminated_, i)[k]) > std::abs(row(eliminated_, best)[k])) best = i;
            order_[k] = best;
            double *own = row(eliminated_, k);
            double *other = row(eliminated_, best);
            if (other[k] == 0.0) return false;
            if (best != k) std::swap_ranges(own, own + c, other);
            for (int i = k + 1; i < c; i++) {
                double *below = row(eliminated_, i);
                if (below[k] == 0.0) continue;
                below[k] /= own[k];
                advance(below + k + 1, own + k + 1, -below[k], c - k - 1);
            }
        }
        return true;
    }
    // Solve S x = x for one vector or two, in place; numbers of the two stand beside each other.
    template <int Q>
    void solve(double *x) const {
        int c = size_;
        for (int k = 0; k < c; k++)
            for (int q = 0; q < Q; q++) std::swap(x[Q * k + q], x[Q * order_[k] + q]);
        for (int k = 0; k < c; k++) subtract_row<Q>(k, 0, k, x);
        for (int k = c - 1; k >= 0; k--) {
            subtract_row<Q>(k, k + 1, c, x);
            for (int q = 0; q < Q; q++) x[Q * k + q] /= eliminated_[size_t(k) * c + k];
        }
    }

  private:
    double *row(Vector &table, int i) { return table.data() + size_t(i) * size_; }
    // x_k -= (row k of the triangles, entries from `first` to `last`) x
    template <int Q>
    void subtract_row(int k, int first, int last, double *x) const {
        const double *own = eliminated_.data() + size_t(k) * size_;
        for (int i = first; i < last; i++)
            for (int q = 0; q < Q; q++) x[Q * k + q] -= own[i] * x[Q * i + q];
    }

    int size_ = 0;
    Vector entries_, eliminated_;  // S; its two triangles
    Indices order_;                // the row that each pivot was in
};

}  // namespace core
