// How wrong a solution may be that is carried from basis to basis, a column of the transform at each exchange.
//
// Let r be what is left of the equations w = Hu + (q, 0), one an item. A step along the line adds its share of the rates' r,
// and a multiple of a column the same multiple of what is left of the column's own equations, whatever the basis is: bounds
// of r add up, and are never multiplied. What r does to u and w depends on the basis there is: K r in B, H K r outside.
// `reach_` bounds that for an r no larger than 1, once in the equations of variables and once in those of rows, whose units
// differ: from the sums of the rows of |K|, and norms of dense columns.
#pragma once
#include "inverse.hpp"

namespace core {

template <class Basis>
class Carried {
  public:
    Vector left[2];    // bounds of r where it is, and of its rate
    Vector column[2];  // the same of two columns of the transform

    explicit Carried(int items) {
        for (int r = 0; r < 2; r++) left[r].assign(items, 0.0), column[r].assign(items, 0.0), reach_[r].assign(items, 0.0);
    }
    void forget() { made_ = false; }  // the basis is another one, or K is

    // What is left there is that of a solution that has just been computed, next to the largest terms of its equations.
    void begin(const Basis &K, int n, const double (*terms)[2]) {
        for (int r = 0; r < 2; r++) {
            largest(left[r], K, n, share_[r]);
            for (int kind = 0; kind < 2; kind++) share_[r][kind] = terms[r][kind] > 0.0 ? share_[r][kind] / terms[r][kind] : 0.0;
        }
    }
    // Whether it is no more than so many times as much as that of one that is computed now would be.
    bool fits(const Basis &K, int n, const double (*terms)[2]) const {
        for (int r = 0; r < 2; r++) {
            double most[2];
            largest(left[r], K, n, most);
            for (int kind = 0; kind < 2; kind++)
                if (!(most[kind] <= GROWTH * share_[r][kind] * terms[r][kind])) return false;
        }
        return true;
    }
    // How wrong each item may be for what is left of the equations of all.
    void bound(const Columns &H, const Basis &K, const Vector &of, Vector &out) {
        if (!made_) {
            int k = K.size();
            for (int kind = 0; kind < 2; kind++) {
                const Vector &sums = K.sums(kind);
                std::fill(reach_[kind].begin(), reach_[kind].end(), 0.0);
                H.add_sizes(K.members, sums.data(), reach_[kind]);
                for (int a = 0; a < k; a++) reach_[kind][K.members[a]] = sums[a];
            }
            made_ = true;
        }
        double most[2];
        largest(of, K, H.n, most);
        bounds(reach_[0].data(), reach_[1].data(), most, of.data(), K.where.data(), H.items, out.data());
    }
    // It goes on by a step, and is rounded once more.
    void step(double by) {
        grow(left[0].data(), left[1].data(), by, ONCE_MORE, int(left[0].size()));
    }
    void add(int r, int which, double by) { core::add(left[r].data(), column[which].data(), by, int(left[r].size())); }

    // The largest of members: variables and rows.
    static void largest(const Vector &of, const Basis &K, int n, double *most) {
        most[0] = most[1] = 0.0;
        for (int j : K.members) most[j >= n] = std::max(most[j >= n], of[j]);
    }

  private:
    static constexpr double GROWTH = 16.0;    // as much as so many steps leave that are like the first
    static constexpr double ONCE_MORE = 1.02;  // the unit of rounding of all bounds is 45 roundings
    bool made_ = false;
    Vector reach_[2];
    double share_[2][2] = {};
};

}  // namespace core
