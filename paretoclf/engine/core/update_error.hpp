// How wrong a solution may be that is updated from basis to basis, by a column of the transform at each exchange.
//
// Let r be the residuals of the equations w = Hu + (q, 0), one an item. A step along the line adds its share of the
// residuals of the rates, and a multiple of a column the same multiple of the column's own residuals, whatever the
// basis is: bounds of r add up, and are never multiplied. What r does to u and w depends on the basis there is: K r in
// B, H K r outside. `amplified_` bounds that for an r no larger than 1, once in the equations of variables and once in
// those of rows, whose units differ: from the sums of the rows of |K|, and norms of dense columns.
#pragma once
#include "members.hpp"

namespace core {

template <class Basis>
class UpdateError {
  public:
    Vector residual[2];         // bounds on r of the solution now, and of its rate
    Vector column_residual[2];  // bounds on r of two columns of the transform

    explicit UpdateError(int items) {
        for (int r = 0; r < 2; r++) {
            residual[r].assign(items, 0.0);
            column_residual[r].assign(items, 0.0);
            amplified_[r].assign(items, 0.0);
        }
    }
    void basis_changed() { known_ = false; }  // or its inverse was recomputed

    // Take the residuals as those of a solution that has just been computed, next to the largest terms of its
    // equations.
    void begin(const Basis &basis, int n, const double (*terms)[2]) {
        for (int r = 0; r < 2; r++) {
            largest_of_members(residual[r], basis, n, share_[r]);
            for (int kind = 0; kind < 2; kind++)
                share_[r][kind] = terms[r][kind] > 0.0 ? share_[r][kind] / terms[r][kind] : 0.0;
        }
    }
    // Whether the residuals are no more than a few times those of a solution that would be computed now.
    bool is_small(const Basis &basis, int n, const double (*terms)[2]) const {
        for (int r = 0; r < 2; r++) {
            double largest[2];
            largest_of_members(residual[r], basis, n, largest);
            for (int kind = 0; kind < 2; kind++)
                if (!(largest[kind] <= GROWTH * share_[r][kind] * terms[r][kind])) return false;
        }
        return true;
    }
    // Bound how wrong each item may be, given bounds on the residuals of all.
    void bound(const Columns &H, const Basis &basis, const Vector &residuals, Vector &errors) {
        if (!known_) {
            for (int kind = 0; kind < 2; kind++) {
                const Vector &sums = basis.sums(kind);
                std::fill(amplified_[kind].begin(), amplified_[kind].end(), 0.0);
                H.add_sizes(basis.members, sums.data(), amplified_[kind]);
                for (int a = 0; a < basis.size(); a++) amplified_[kind][basis.members[a]] = sums[a];
            }
            known_ = true;
        }
        double largest[2];
        largest_of_members(residuals, basis, H.n, largest);
        bounds(amplified_[0].data(), amplified_[1].data(), largest, residuals.data(), basis.where.data(), H.items,
               errors.data());
    }
    // Follow the solution along a step; it is rounded once more.
    void step(double by) { grow(residual[0].data(), residual[1].data(), by, ONCE_MORE, int(residual[0].size())); }
    // Follow it by a multiple of a column: in the values now (r = 0), or in the rates (r = 1).
    void add_column(int r, int which, double by) {
        add(residual[r].data(), column_residual[which].data(), by, int(residual[r].size()));
    }

    // Find the largest of some numbers over the members that are variables, and over those that are rows.
    static void largest_of_members(const Vector &of, const Basis &basis, int n, double *largest) {
        largest[0] = largest[1] = 0.0;
        for (int j : basis.members) largest[j >= n] = std::max(largest[j >= n], of[j]);
    }

  private:
    static constexpr double GROWTH = 16.0;     // as much as so many steps leave that are like the first
    static constexpr double ONCE_MORE = 1.02;  // the unit of rounding of all bounds is 45 roundings
    bool known_ = false;  // whether `amplified_` is that of this basis
    Vector amplified_[2];
    double share_[2][2] = {};
};

}  // namespace core
