// Cholesky factor M = R'R of the margin system, updated row by row, in either precision.
//
// M = Q_FF + A_F' D A_F (D > 0 diagonal) is positive definite exactly where the bordered system of the margin set F is
// nonsingular, because the equality rows fix A_F a. A sample enters by one column and leaves by a rank-one *positive*
// update of what is behind it; both are stable.
#pragma once
#include <algorithm>
#include <type_traits>
#include <vector>

#include "lines.hpp"
#include "loops.hpp"
#include "real.hpp"

namespace core {

template <class Real>
class Factor {
  public:
    int size() const { return k_; }
    Real &at(int i, int j) { return R_[size_t(i) * stride_ + j]; }
    const Real &at(int i, int j) const { return R_[size_t(i) * stride_ + j]; }
    void clear() { k_ = 0; }
    void copy(const Factor &from) {  // only what is in use of it
        clear();
        reserve(from.k_);
        k_ = from.k_;
        for (int i = 0; i < k_; i++) std::copy(&from.at(i, i), &from.at(i, k_ - 1) + 1, &at(i, i));
    }

    void forward(Real *x) const {  // solve R'x = x
        if constexpr (std::is_same_v<Real, double>) {
            solve_down(R_.data(), stride_, k_, x);
        } else {
            for (int i = 0; i < k_; i++) {
                for (int j = 0; j < i; j++) x[i] -= at(j, i) * x[j];
                x[i] = x[i] / at(i, i);
            }
        }
    }
    void backward(Real *x) const {  // solve R x = x
        if constexpr (std::is_same_v<Real, double>) {
            solve_up(R_.data(), stride_, k_, x);
        } else {
            for (int i = k_ - 1; i >= 0; i--) {
                for (int j = i + 1; j < k_; j++) x[i] -= at(i, j) * x[j];
                x[i] = x[i] / at(i, i);
            }
        }
    }
    void solve(Real *x) const {
        forward(x);
        backward(x);
    }

    // Append a last column: `column` is that of M after `forward`, pivot the square of its diagonal element.
    void append(const Real *column, Real pivot) {
        reserve(k_ + 1);
        for (int j = 0; j < k_; j++) at(j, k_) = column[j];
        at(k_, k_) = root(pivot);
        k_++;
    }

    // Remove row and column r of M.
    void remove(int r) {
        removed_.resize(size_t(k_) + 1);
        Real *v = removed_.data();
        for (int i = r + 1; i < k_; i++) v[i - r - 1] = at(r, i);
        for (int j = 0; j < r; j++) std::copy(&at(j, r + 1), &at(j, k_ - 1) + 1, &at(j, r));
        // Behind r the factor T of the trailing block becomes that of T'T + v'v, v the removed row.
        for (int j = r + 1; j < k_; j++) {
            Real first = v[j - r - 1];
            Real h = root(at(j, j) * at(j, j) + first * first);
            Real c = at(j, j) / h;
            Real s = first / h;
            at(j - 1, j - 1) = h;
            if constexpr (std::is_same_v<Real, double>) {
                rotate(&at(j, j) + 1, &at(j - 1, j), v + j - r, c, s, k_ - j - 1);
            } else {
                for (int i = j + 1; i < k_; i++) {
                    Real x = at(j, i), y = v[i - r - 1];
                    at(j - 1, i - 1) = c * x + s * y;
                    v[i - r - 1] = c * y - s * x;
                }
            }
        }
        k_--;
    }

    // Factor a whole matrix, given by its columns; false if a pivot is not positive.
    template <class Column>
    bool whole(int k, Column column) {
        clear();
        reserve(k);
        std::vector<Real> c(k + 1);
        for (int i = 0; i < k; i++) {
            column(i, c.data());  // of M: rows 0 to i
            Real pivot = c[i];
            forward(c.data());
            for (int j = 0; j < i; j++) pivot = pivot - c[j] * c[j];
            if (!(rounded(pivot) > 0.0)) return false;
            append(c.data(), pivot);
        }
        return true;
    }

  private:
    void reserve(int k) {
        if (k <= rows_) return;
        int rows = std::max(k, std::max(128, 2 * rows_));
        int stride = rows + 8;  // with a power of two, rows would share lines of the cache
        Lines<Real> grown(size_t(rows) * stride);
        for (int i = 0; i < k_; i++) std::copy(&at(i, i), &at(i, k_ - 1) + 1, &grown[size_t(i) * stride + i]);
        R_.swap(grown);
        rows_ = rows;
        stride_ = stride;
    }

    int k_ = 0, rows_ = 0, stride_ = 0;
    Lines<Real> R_, removed_;
};

// The small symmetric positive definite system S x = r of the equality rows, by Cholesky's method in place.
class Small {
  public:
    void resize(int m) {
        m_ = m;
        S_.assign(size_t(m) * m, 0.0);
    }
    double &operator()(int g, int h) { return S_[size_t(g) * m_ + h]; }
    void factor() {
        for (int i = 0; i < m_; i++)
            for (int j = 0; j <= i; j++) {
                double s = (*this)(i, j);
                for (int f = 0; f < j; f++) s -= (*this)(i, f) * (*this)(j, f);
                (*this)(i, j) = j < i ? s / (*this)(j, j) : std::sqrt(s);
            }
    }
    void solve(double *x) {
        for (int i = 0; i < m_; i++) {
            for (int j = 0; j < i; j++) x[i] -= (*this)(i, j) * x[j];
            x[i] /= (*this)(i, i);
        }
        for (int i = m_ - 1; i >= 0; i--) {
            for (int j = i + 1; j < m_; j++) x[i] -= (*this)(j, i) * x[j];
            x[i] /= (*this)(i, i);
        }
    }

  private:
    int m_ = 0;
    std::vector<double> S_;
};

}  // namespace core
