// The factor of a sparse block, which comes from outside (SuperLU): how to solve with it, and whether it can be
// trusted.
#pragma once
#include <algorithm>

#include "columns.hpp"

namespace core {

// L U = Pr M Pc with a unit diagonal of L: columns of both, without diagonals.
struct SparseFactor {
    struct Triangle {
        std::vector<int> begin, rows;
        Vector values;
    };
    Triangle L, U;
    Vector diagonal;        // of U
    Indices rows, columns;  // where each row, and each column, of M is

    // Solve M x = x for one vector or two, in place; numbers of the two stand beside each other.
    template <int Q>
    void solve(double *x, Vector &scratch) const {
        int k = int(diagonal.size());
        scratch.resize(size_t(k) * Q);
        double *y = scratch.data();
        for (int a = 0; a < k; a++)
            for (int q = 0; q < Q; q++) y[Q * rows[a] + q] = x[Q * a + q];
        for (int c = 0; c < k; c++) subtract_column<Q>(L, c, y);
        for (int c = k - 1; c >= 0; c--) {
            for (int q = 0; q < Q; q++) y[Q * c + q] /= diagonal[c];
            subtract_column<Q>(U, c, y);
        }
        for (int a = 0; a < k; a++)
            for (int q = 0; q < Q; q++) x[Q * a + q] = y[Q * columns[a] + q];
    }

    // Whether a pivot is no more than rounding leaves of what has cancelled there: this share of the numbers above it.
    bool has_lost(double share) const {
        for (size_t c = 0; c < diagonal.size(); c++) {
            double largest = 0.0;
            for (int e = U.begin[c]; e < U.begin[c + 1]; e++) largest = std::max(largest, std::abs(U.values[e]));
            if (!(std::abs(diagonal[c]) > share * largest)) return true;
        }
        return false;
    }

  private:
    // y -= (column c of T) y_c, as substitution does once y_c is known
    template <int Q>
    static void subtract_column(const Triangle &T, int c, double *y) {
        double known[Q];
        bool any = false;
        for (int q = 0; q < Q; q++) {
            known[q] = y[Q * c + q];
            any |= known[q] != 0.0;
        }
        if (!any) return;
        for (int e = T.begin[c]; e < T.begin[c + 1]; e++)
            for (int q = 0; q < Q; q++) y[Q * T.rows[e] + q] -= T.values[e] * known[q];
    }
};

}  // namespace core
