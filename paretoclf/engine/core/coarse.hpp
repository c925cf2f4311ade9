// The inverse of a basis in doubles, for solutions in twice the precision: they are refined with H_BB itself.
#pragma once
#include "inverse.hpp"

namespace core {

class Coarse : public Inverse<double> {
  public:
    static constexpr bool updates = true;
    static constexpr int turns = 12;  // the most that a solution is refined

    // For one vector or two: out += K x
    void add_inverse_times(int count, const Twice *const *x, Twice *const *out) const {
        const double *from[2];
        double *to[2];
        for (int q = 0; q < count; q++) {
            rounded_[q].assign(room(), 0.0);
            product_[q].assign(room(), 0.0);
            for (int a = 0; a < size(); a++) rounded_[q][a] = rounded(x[q][a]);
            from[q] = rounded_[q].data();
            to[q] = product_[q].data();
        }
        Inverse<double>::add_inverse_times(count, from, to);
        for (int q = 0; q < count; q++)
            for (int a = 0; a < size(); a++) out[q][a] += Twice(product_[q][a]);
    }
    // For one vector or two: out -= H_BB x, in twice the precision
    void subtract_block_times(int count, const Twice *const *x, Twice *const *out) const {
        int k = size();
        for (int q = 0; q < count; q++) {
            high_.assign(k, 0.0);
            low_.assign(k, 0.0);
            for (int a = 0; a < k; a++)
                if (rounded(x[q][a]) != 0.0) accumulate(high_.data(), low_.data(), block(a), x[q][a].hi, x[q][a].lo, k);
            for (int a = 0; a < k; a++) out[q][a] -= two_sum(high_[a], low_[a]);
        }
    }
    // Exchange as `Inverse` does, by columns that are rounded.
    bool exchange(const Columns &H, const int *items, int count, const Twice *const *T) {
        const double *columns[2];
        for (int q = 0; q < count; q++) {
            columns_[q].resize(H.items);
            for (int i = 0; i < H.items; i++) columns_[q][i] = rounded(T[q][i]);
            columns[q] = columns_[q].data();
        }
        return Inverse<double>::exchange(H, items, count, columns);
    }

  private:
    mutable Vector rounded_[2], product_[2], high_, low_;
    Vector columns_[2];
};

}  // namespace core
