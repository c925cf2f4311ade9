// The quadratic term Q of a box QP in three forms: a kernel matrix, dense features, sparse features.
//
// All answer the same questions. `sums` holds, for either base of the caps, what the samples at their cap add to Q a:
// for a kernel matrix K_L'(sign base)_L (one number a sample), for features Z_L' base_L (one number a feature).
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "lines.hpp"
#include "loops.hpp"
#include "real.hpp"

namespace core {

using Indices = std::vector<int>;

// Where rows of numbers begin that `add_rows` is to combine.
struct Slots {
    const double *flat = nullptr;
    std::vector<int64_t> start;
};

// Squares of the samples' lengths and what follows from them; the shift is what is typical of them.
struct Lengths {
    std::vector<double> diagonal, norm, length;  // Q_ii, sqrt(Q_ii), sqrt(Q_ii + shift)
    double longest = 0.0, shift = 1.0;

    void set(std::vector<double> squares) {
        diagonal = std::move(squares);
        double sum = 0.0;
        for (double x : diagonal) sum += x;
        double mean = diagonal.empty() ? 0.0 : sum / double(diagonal.size());
        shift = mean > 0.0 ? mean : 1.0;
        for (double x : diagonal) {
            norm.push_back(std::sqrt(x));
            length.push_back(std::sqrt(x + shift));
            longest = std::max(longest, norm.back());
        }
    }
};

// ---- a kernel matrix: Q_ij = sign_i K_ij sign_j -------------------------------------------------------------------

class Gram : public Lengths {
  public:
    static constexpr bool has_features = false;
    const double *K;
    std::vector<double> sign;
    int n;

    Gram(const double *matrix, std::vector<double> signs) : K(matrix), sign(std::move(signs)), n(int(sign.size())) {
        std::vector<double> squares(n);
        for (int i = 0; i < n; i++) squares[i] = std::max(row(i)[i], 0.0);
        set(std::move(squares));
    }
    int width() const { return n; }
    int features() const { return 0; }
    const double *row(int i) const { return K + size_t(i) * n; }

    void column(const Indices &F, int i, double *, double *out) const {  // Q_Fi
        const double *r = row(i);
        for (size_t j = 0; j < F.size(); j++) out[j] = sign[i] * r[F[j]] * sign[F[j]];
    }
    bool alike(int i, int j, double most) const {  // equal rows of Q, up to rounding of a kernel
        const double *x = row(i), *y = row(j);
        if (sign[i] != sign[j]) return false;
        for (int c = 0; c < n; c++)
            if (!(std::abs(x[c] - y[c]) <= most * longest * longest)) return false;
        return true;
    }
    void add_to_sum(Pair &sum, int i, double scale) const {
        accumulate(sum.hi.data(), sum.lo.data(), scale * sign[i], row(i), n);
    }
    Twice of_capped(int i, const Pair &at_cap) const { return {sign[i] * at_cap.hi[i], sign[i] * at_cap.lo[i]}; }

    // ---- products with all samples: out_q = Q coef_q (+ at_cap for the first two); w is not used
    void products(const Indices &F, Table &coef, int rows, const double *const *at_cap, Table &, Slots &slots,
                  Table &out) const {
        for (int q = 0; q < rows; q++) {
            if (q < 2) std::copy(at_cap[q], at_cap[q] + n, out[q]);
            else std::fill(out[q], out[q] + n, 0.0);
        }
        slots.start.resize(F.size());
        for (size_t j = 0; j < F.size(); j++) {
            slots.start[j] = int64_t(F[j]) * n;
            for (int q = 0; q < rows; q++) coef[q][j] *= sign[F[j]];
        }
        add_rows(K, slots.start.data(), int(F.size()), coef[0], coef.stride(), rows, n, out[0], out.stride());
        for (int q = 0; q < rows; q++)
            for (int i = 0; i < n; i++) out[q][i] *= sign[i];
    }

    // ---- products with the samples that are watched (see watch.hpp): rows of the margin set, in K or in a block
    size_t block(int rows, int stride) const { return size_t(rows) * stride; }
    void watch_all(const Indices &F, Slots &slots, int room) const {
        slots.flat = K;
        slots.start.assign(F.size() + room, 0);
        for (size_t j = 0; j < F.size(); j++) slots.start[j] = int64_t(F[j]) * n;
    }
    void watch_some(const Indices &F, const Indices &near, int count, int stride, int room, double *to,
                    Slots &slots) const {
        slots.flat = to;
        slots.start.resize(F.size() + room);
        for (size_t j = 0; j < F.size(); j++) slots.start[j] = int64_t(F[j]) * n;
        gather_rows(K, slots.start.data(), int(F.size()), near.data(), count, to, stride);
        for (size_t j = 0; j < slots.start.size(); j++) slots.start[j] = int64_t(j) * stride;
    }
    void enters(int i, int k, bool everything, const Indices &near, int count, double *to, Slots &slots) const {
        if (everything) slots.start[k] = int64_t(i) * n;
        else gather(i, near, count, to + slots.start[k]);
    }
    void leaves(int r, int k, Slots &slots) const {  // k remain; the slot of the leaver becomes the first free one
        std::rotate(slots.start.begin() + r, slots.start.begin() + r + 1, slots.start.begin() + k + 1);
    }
    // Add a column for i, which just left F.
    void widen(int i, const Indices &F, int column, double *to, const Slots &slots) const {
        const double *r = row(i);
        for (size_t j = 0; j < F.size(); j++) to[slots.start[j] + column] = r[F[j]];
        to[slots.start[F.size()] + column] = r[i];
    }
    // Rates of Q a of the watched samples; w is not used, cap_dg what those at their cap contribute.
    void rates(const Indices &F, const double *da, double *coef, Table &, const Slots &slots, const Indices &,
               int count, const double *signs, const double *cap_dg, double *dg) const {
        for (size_t j = 0; j < F.size(); j++) coef[j] = sign[F[j]] * da[j];
        std::fill(dg, dg + count, 0.0);
        add_rows(slots.flat, slots.start.data(), int(F.size()), coef, 0, 1, count, dg, 0);
        sign_and_add(dg, signs, cap_dg, count);
    }
    double cap_rate(int i, const double *slope, const Pair *sums) const {
        return sign[i] * (slope[0] * sums[0].at(i) + slope[1] * sums[1].at(i));
    }
    // The cap of sample i, moving at this rate, joins those that contribute; `products` holds its row, columns up to
    // count; those of the margin set are in columns from `base` on.
    void cap_rate_changes(int i, double rate, const double *products, const Indices &near, int count, int base,
                          int last, const double *signs, double *cap_dg, Table &) const {
        add_signed(cap_dg, rate * sign[i], signs, products, count);
        for (int c = base; c < last; c++) cap_dg[c] += rate * sign[i] * signs[c] * row(i)[near[c]];
    }

  private:
    void gather(int i, const Indices &near, int count, double *to) const {
        const double *r = row(i);
        for (int c = 0; c < count; c++) to[c] = r[near[c]];
    }
};

// ---- features: Q_ij = z_i . z_j, labels folded into the samples --------------------------------------------------

// Rows of the table of slopes: w, its rate; behind them the centres of the groups.
enum Slopes { W, DW, CENTRES };

// The common part of dense and sparse features; `Derived::each(i, f)` calls f(feature, value) for all of sample i.
template <class Derived>
class Features : public Lengths {
  public:
    static constexpr bool has_features = true;
    int n, d;
    std::vector<double> sign;  // ones

    Features(int samples, int features) : n(samples), d(features), sign(samples, 1.0), dw_cap_(features) {}
    int width() const { return d; }
    int features() const { return d; }

    void add_sample(int i, double scale, double *w) const {
        self().each(i, [&](int c, double z) { w[c] += scale * z; });
    }
    double times(int i, const double *w) const {
        double s = 0.0;
        self().each(i, [&](int c, double z) { s += z * w[c]; });
        return s;
    }
    void column(const Indices &F, int i, double *zero, double *out) const {  // `zero` (d) is zero before and after
        self().each(i, [&](int c, double z) { zero[c] = z; });
        for (size_t j = 0; j < F.size(); j++) out[j] = self().times(F[j], zero);
        self().each(i, [&](int c, double) { zero[c] = 0.0; });
    }
    void add_to_sum(Pair &sum, int i, double scale) const {
        self().each(i, [&](int c, double z) { sum.set(c, add_product(sum[c], scale, z)); });
    }
    Twice of_capped(int i, const Pair &at_cap) const {
        return {self().times(i, at_cap.hi.data()), self().times(i, at_cap.lo.data())};
    }
    double cap_rate(int, const double *, const Pair *) const { return 0.0; }  // it is in the rate of w
    void cap_rate_changes(int i, double rate, const double *, const Indices &, int, int, int, const double *, double *,
                          Table &) {
        add_sample(i, rate, dw_cap_.data());
    }

  protected:
    const Derived &self() const { return static_cast<const Derived &>(*this); }
    void slopes(const Indices &F, const Table &coef, int rows, const double *const *at_cap, Table &w) {
        std::copy(at_cap[1], at_cap[1] + d, dw_cap_.begin());
        for (int q = 0; q < rows; q++) {
            if (q < 2) std::copy(at_cap[q], at_cap[q] + d, w[q]);
            else std::fill(w[q], w[q] + d, 0.0);
            for (size_t j = 0; j < F.size(); j++) add_sample(F[j], coef[q][j], w[q]);
        }
    }
    void rate_of_w(const Indices &F, const double *da, Table &w) const {
        std::copy(dw_cap_.begin(), dw_cap_.end(), w[DW]);
        for (size_t j = 0; j < F.size(); j++) add_sample(F[j], da[j], w[DW]);
    }
    std::vector<double> dw_cap_;  // rate of what those at their cap add to w
};

class Dense : public Features<Dense> {
  public:
    Dense(const double *Z, int samples, int features) : Features(samples, features), tall_(Z, Z + size_t(n) * d) {
        std::vector<double> squares(n);
        flat_.resize(size_t(n) * d);
        for (int i = 0; i < n; i++) {
            const double *z = row(i);
            squares[i] = dot(z, z, d);
            for (int c = 0; c < d; c++) flat_[size_t(c) * n + i] = z[c];
        }
        set(std::move(squares));
    }
    const double *row(int i) const { return tall_.data() + size_t(i) * d; }
    template <class Do>
    void each(int i, Do f) const {
        const double *z = row(i);
        for (int c = 0; c < d; c++) f(c, z[c]);
    }
    void add_sample(int i, double scale, double *w) const { advance(w, row(i), scale, d); }
    double times(int i, const double *w) const { return dot(row(i), w, d); }
    bool alike(int i, int j, double) const { return std::equal(row(i), row(i) + d, row(j)); }

    void products(const Indices &F, Table &coef, int rows, const double *const *at_cap, Table &w, Slots &slots,
                  Table &out) {
        slopes(F, coef, rows, at_cap, w);
        slots.start.resize(d);
        for (int c = 0; c < d; c++) slots.start[c] = int64_t(c) * n;
        for (int q = 0; q < rows; q++) std::fill(out[q], out[q] + n, 0.0);
        add_rows(flat_.data(), slots.start.data(), d, w[0], w.stride(), rows, n, out[0], out.stride());
    }
    size_t block(int, int stride) const { return size_t(d) * stride; }
    void watch_all(const Indices &, Slots &slots, int) const {
        slots.flat = flat_.data();
        slots.start.resize(d);
        for (int c = 0; c < d; c++) slots.start[c] = int64_t(c) * n;
    }
    void watch_some(const Indices &, const Indices &near, int count, int stride, int, double *to, Slots &slots) const {
        slots.flat = to;
        slots.start.resize(d);
        for (int c = 0; c < d; c++) slots.start[c] = int64_t(c) * stride;
        for (int i = 0; i < count; i++) {  // sample by sample, whose numbers stand beside each other
            const double *z = row(near[i]);
            for (int c = 0; c < d; c++) to[slots.start[c] + i] = z[c];
        }
    }
    void enters(int, int, bool, const Indices &, int, double *, Slots &) const {}
    void leaves(int, int, Slots &) const {}
    void widen(int i, const Indices &, int column, double *to, const Slots &slots) const {
        for (int c = 0; c < d; c++) to[slots.start[c] + column] = row(i)[c];
    }
    void rates(const Indices &F, const double *da, double *, Table &w, const Slots &slots, const Indices &, int count,
               const double *, const double *, double *dg) const {
        rate_of_w(F, da, w);
        std::fill(dg, dg + count, 0.0);
        add_rows(slots.flat, slots.start.data(), d, w[DW], 0, 1, count, dg, 0);
    }

  private:
    Lines<double> tall_, flat_;  // sample by sample, and feature by feature
};

class Sparse : public Features<Sparse> {
  public:
    Sparse(const int64_t *ptr, const int *columns, const double *values, int samples, int features)
        : Features(samples, features), ptr_(ptr, ptr + n + 1), columns_(columns, columns + ptr[n]),
          values_(values, values + ptr[n]) {
        std::vector<double> squares(n, 0.0);
        for (int i = 0; i < n; i++) each(i, [&](int, double z) { squares[i] += z * z; });
        set(std::move(squares));
    }
    template <class Do>
    void each(int i, Do f) const {
        for (int64_t c = ptr_[i]; c < ptr_[i + 1]; c++) f(columns_[c], values_[c]);
    }
    bool alike(int i, int j, double) const {
        int64_t a = ptr_[i];
        int64_t b = ptr_[j];
        int64_t size = ptr_[i + 1] - a;
        return ptr_[j + 1] - b == size &&
               std::equal(columns_.data() + a, columns_.data() + a + size, columns_.data() + b) &&
               std::equal(values_.data() + a, values_.data() + a + size, values_.data() + b);
    }
    void products(const Indices &F, Table &coef, int rows, const double *const *at_cap, Table &w, Slots &, Table &out) {
        slopes(F, coef, rows, at_cap, w);
        for (int q = 0; q < rows; q++)
            for (int i = 0; i < n; i++) out[q][i] = times(i, w[q]);
    }
    size_t block(int, int) const { return 0; }
    void watch_all(const Indices &, Slots &, int) const {}
    void watch_some(const Indices &, const Indices &, int, int, int, double *, Slots &) const {}
    void enters(int, int, bool, const Indices &, int, double *, Slots &) const {}
    void leaves(int, int, Slots &) const {}
    void widen(int, const Indices &, int, double *, const Slots &) const {}
    void rates(const Indices &F, const double *da, double *, Table &w, const Slots &, const Indices &near, int count,
               const double *, const double *, double *dg) const {
        rate_of_w(F, da, w);
        for (int c = 0; c < count; c++) dg[c] = times(near[c], w[DW]);
    }

  private:
    std::vector<int64_t> ptr_;
    std::vector<int> columns_;
    std::vector<double> values_;
};

}  // namespace core
