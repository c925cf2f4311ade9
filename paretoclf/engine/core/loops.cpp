#include "loops.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "log.hpp"
#include "processors.hpp"

namespace core {

namespace {
// Sums run in eight lanes beside each other (vectors of GCC and Clang: whatever the processor has, it is used).
typedef double Lanes __attribute__((vector_size(64), aligned(8), may_alias));
#define AT(p) (*(const Lanes *)(p))
#define SUM(v) (((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7])))
constexpr int LANES = 8;
}  // namespace

EVERY_PROCESSOR double dot(const double *x, const double *y, int n) {
    Lanes s = {}, t = {};
    int i = 0;
    for (; i + 2 * LANES <= n; i += 2 * LANES) {
        s += AT(x + i) * AT(y + i);
        t += AT(x + i + LANES) * AT(y + i + LANES);
    }
    if (i + LANES <= n) {
        s += AT(x + i) * AT(y + i);
        i += LANES;
    }
    s += t;
    double sum = SUM(s);
    for (; i < n; i++) sum += x[i] * y[i];
    return sum;
}

EVERY_PROCESSOR void advance(double *RESTRICT x, const double *RESTRICT dx, double dt, int n) {
    for (int i = 0; i < n; i++) x[i] += dt * dx[i];
}

EVERY_PROCESSOR void add_column(const double *RESTRICT column, int n, double a, double b, double *RESTRICT x,
                                double *RESTRICT size) {
    for (int i = 0; i < n; i++) {
        x[i] += a * column[i];
        size[i] += b * std::abs(column[i]);
    }
}

EVERY_PROCESSOR void add_column(const double *RESTRICT column, int n, const double *a, const double *b,
                                double *const *x, double *const *size) {
    double *RESTRICT x0 = x[0];
    double *RESTRICT x1 = x[1];
    double *RESTRICT s0 = size[0];
    double *RESTRICT s1 = size[1];
    double a0 = a[0], a1 = a[1], b0 = b[0], b1 = b[1];
    for (int i = 0; i < n; i++) {
        double c = column[i], d = std::abs(c);
        x0[i] += a0 * c;
        x1[i] += a1 * c;
        s0[i] += b0 * d;
        s1[i] += b1 * d;
    }
}

EVERY_PROCESSOR void dot_column(const double *RESTRICT column, int n, const double *RESTRICT x,
                                const double *RESTRICT y, double *sums) {
    Lanes s[4] = {};
    int i = 0;
    for (; i + LANES <= n; i += LANES) {
        Lanes a = AT(column + i) * AT(x + i);
        Lanes b = AT(column + i) * AT(y + i);
        s[0] += a;
        s[1] += b;
        s[2] += a < 0.0 ? -a : a;
        s[3] += b < 0.0 ? -b : b;
    }
    for (int q = 0; q < 4; q++) sums[q] = SUM(s[q]);
    for (; i < n; i++) {
        double a = column[i] * x[i];
        double b = column[i] * y[i];
        sums[0] += a;
        sums[1] += b;
        sums[2] += std::abs(a);
        sums[3] += std::abs(b);
    }
}

EVERY_PROCESSOR void two_ways(const int8_t *labels, const double *const *pinned, const double *const *g, double step,
                              int n, double *RESTRICT value, double *RESTRICT multiplier) {
    const double *RESTRICT still = pinned[0];
    const double *RESTRICT rate = pinned[1];
    const double *RESTRICT x = g[0];
    const double *RESTRICT dx = g[1];
    for (int i = 0; i < n; i++) {
        bool odd = labels[i] & 1;
        double a = still[i] + step * rate[i];
        double b = x[i] + step * dx[i];
        value[i] = odd ? a : b;
        multiplier[i] = odd ? 0.0 - b : a;
    }
}

EVERY_PROCESSOR double largest_size(const double *x, int n) {
    double most[LANES] = {};
    int i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int l = 0; l < LANES; l++) most[l] = std::abs(x[i + l]) > most[l] ? std::abs(x[i + l]) : most[l];
    for (; i < n; i++) most[0] = std::max(most[0], std::abs(x[i]));
    return *std::max_element(most, most + LANES);
}

EVERY_PROCESSOR bool close(const double *RESTRICT x, const double *RESTRICT y, const double *RESTRICT e,
                           const double *RESTRICT f, int n) {
    int different = 0;
    for (int i = 0; i < n; i++) different += !(std::abs(x[i] - y[i]) <= e[i] + f[i]);
    return different == 0;
}

namespace {
template <int Q, int WIDE, bool SIZES>
inline __attribute__((always_inline)) void times_from(const double *RESTRICT M, int stride, int k,
                                                      const double *const *x, double sign, double *const *out, int c) {
    Lanes sum[Q][WIDE] = {};
    for (int b = 0; b < k; b++)
        for (int w = 0; w < WIDE; w++) {
            Lanes row = AT(M + int64_t(b) * stride + c + w * LANES);
            if (SIZES) row = row < 0.0 ? -row : row;
            for (int q = 0; q < Q; q++) sum[q][w] += x[q][b] * row;
        }
    for (int q = 0; q < Q; q++)
        for (int w = 0; w < WIDE; w++) *(Lanes *)(out[q] + c + w * LANES) += sign * sum[q][w];
}
template <int Q, bool SIZES>
inline __attribute__((always_inline)) void times_all(const double *M, int stride, int k, const double *const *x,
                                                     double sign, double *const *out) {
    int c = 0;
    for (; c + 3 * LANES < k; c += 4 * LANES) times_from<Q, 4, SIZES>(M, stride, k, x, sign, out, c);
    for (; c < k; c += LANES) times_from<Q, 1, SIZES>(M, stride, k, x, sign, out, c);
}
}  // namespace

EVERY_PROCESSOR void matrix_times(const double *M, int stride, int k, int count, const double *const *x, double sign,
                                  double *const *out) {
    if (count == 2) times_all<2, false>(M, stride, k, x, sign, out);
    else times_all<1, false>(M, stride, k, x, sign, out);
}

EVERY_PROCESSOR void sizes_times(const double *M, int stride, int k, int count, const double *const *x,
                                 double *const *out) {
    if (count == 2) times_all<2, true>(M, stride, k, x, 1.0, out);
    else times_all<1, true>(M, stride, k, x, 1.0, out);
}

EVERY_PROCESSOR void mix(const double *RESTRICT first, const double *RESTRICT last, double t, int n,
                         double *RESTRICT out) {
    for (int i = 0; i < n; i++) out[i] = (1.0 - t) * first[i] + t * last[i];
}

EVERY_PROCESSOR int due(const double *const *g, const double *const *low, const double *const *high,
                        const double *const *error, const double *RESTRICT still, double span, int n) {
    const double *RESTRICT x = g[0];
    const double *RESTRICT dx = g[1];
    const double *RESTRICT a = low[0];
    const double *RESTRICT da = low[1];
    const double *RESTRICT b = high[0];
    const double *RESTRICT db = high[1];
    const double *RESTRICT e = error[0];
    const double *RESTRICT de = error[1];
    int64_t found = 0;
    for (int i = 0; i < n; i++) {
        double down = da[i] - dx[i];
        double up = dx[i] - db[i];
        double least = still[i];
        found += (x[i] - a[i] - e[i] <= (down + de[i]) * span) & (down > least);
        found += (b[i] - x[i] - e[i] <= (up + de[i]) * span) & (up > least);
    }
    return int(found);
}

EVERY_PROCESSOR void bounds(const double *RESTRICT amplified_0, const double *RESTRICT amplified_1, const double *most,
                            const double *RESTRICT of, const int *RESTRICT where, int n, double *RESTRICT out) {
    double a = most[0], b = most[1];
    for (int i = 0; i < n; i++) out[i] = a * amplified_0[i] + b * amplified_1[i] + (where[i] < 0 ? of[i] : 0.0);
}

EVERY_PROCESSOR void grow(double *RESTRICT x, double *RESTRICT dx, double by, double once, int n) {
    for (int i = 0; i < n; i++) {
        x[i] = once * x[i] + by * dx[i];
        dx[i] *= once;
    }
}

EVERY_PROCESSOR void outside(const int *RESTRICT where, const double *RESTRICT T, double a, int n, double *RESTRICT g) {
    for (int i = 0; i < n; i++) g[i] += where[i] < 0 ? -(a * T[i]) : a * T[i];
}

EVERY_PROCESSOR void of_kinds(const int8_t *RESTRICT labels, const double *RESTRICT g, const double *RESTRICT pinned,
                              const double *const *error, double step, int n, double *size, double *most) {
    const double *RESTRICT e = error[0], *RESTRICT de = error[1];
    double sizes[2][LANES] = {}, errors[2][LANES] = {};
    auto one = [&](int i, int l) __attribute__((always_inline)) {
        bool odd = labels[i] & 1;
        double x = std::abs(g[i]);
        double y = std::abs(pinned[i]);
        double off = e[i] + step * de[i];
        double value = odd ? y : x;
        double multiplier = odd ? x : y;
        double own = odd ? 0.0 : off;
        double other = odd ? off : 0.0;
        sizes[0][l] = value > sizes[0][l] ? value : sizes[0][l];
        sizes[1][l] = multiplier > sizes[1][l] ? multiplier : sizes[1][l];
        errors[0][l] = own > errors[0][l] ? own : errors[0][l];
        errors[1][l] = other > errors[1][l] ? other : errors[1][l];
    };
    int i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int l = 0; l < LANES; l++) one(i + l, l);
    for (; i < n; i++) one(i, 0);
    for (int kind = 0; kind < 2; kind++)
        for (int l = 0; l < LANES; l++) {
            size[kind] = std::max(size[kind], sizes[kind][l]);
            most[kind] = std::max(most[kind], errors[kind][l]);
        }
}

EVERY_PROCESSOR double arrivals(const double *const *g, const double *const *low, const double *const *high,
                                const double *const *error, double near, double t, double last, int n,
                                double *RESTRICT at_low, double *RESTRICT at_high, double *least) {
    const double *RESTRICT x = g[0];
    const double *RESTRICT dx = g[1];
    const double *RESTRICT a = low[0];
    const double *RESTRICT da = low[1];
    const double *RESTRICT b = high[0];
    const double *RESTRICT db = high[1];
    const double *RESTRICT e = error[0];
    const double *RESTRICT de = error[1];
    constexpr double NEVER = std::numeric_limits<double>::infinity();
    double first[LANES], room[LANES];
    for (int l = 0; l < LANES; l++) {
        first[l] = last;
        room[l] = NEVER;
    }
    auto one = [&](int i, double &soonest, double &left) __attribute__((always_inline)) {
        double to_low = x[i] - a[i];
        double to_high = b[i] - x[i];
        double down = da[i] - dx[i];
        double up = dx[i] - db[i];
        double nearest = (to_low < to_high ? to_low : to_high) + e[i];
        left = nearest < left ? nearest : left;
        double there = near * e[i];
        double when_low = t + (to_low > there ? to_low : 0.0) / down;
        double when_high = t + (to_high > there ? to_high : 0.0) / up;
        when_low = down > de[i] ? when_low : NEVER;
        when_high = up > de[i] ? when_high : NEVER;
        at_low[i] = when_low;
        at_high[i] = when_high;
        double sooner = when_low < when_high ? when_low : when_high;
        soonest = sooner < soonest ? sooner : soonest;
    };
    int i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int l = 0; l < LANES; l++) one(i + l, first[l], room[l]);
    for (; i < n; i++) one(i, first[0], room[0]);
    for (int l = 1; l < LANES; l++) {
        first[0] = std::min(first[0], first[l]);
        room[0] = std::min(room[0], room[l]);
    }
    *least = room[0];
    return first[0];
}

EVERY_PROCESSOR double dot_of_sizes(const double *x, const double *y, int n) {
    double sums[LANES] = {};
    int i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int l = 0; l < LANES; l++) sums[l] += std::abs(x[i + l]) * y[i + l];
    double sum = ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
    for (; i < n; i++) sum += std::abs(x[i]) * y[i];
    return sum;
}

namespace {
// Q sums of rows in one pass, four rows at a time; meanwhile the next ones are fetched, which begin anywhere.
template <int Q>
inline __attribute__((always_inline)) void add_rows_to(const double *RESTRICT flat, const int64_t *RESTRICT start,
                                                       int k, const double *RESTRICT a, int a_stride, int n,
                                                       double *RESTRICT out, int out_stride) {
    constexpr int R = 4;
    int j = 0;
    for (; j + R <= k; j += R) {
        const double *r[R], *next[R];
        double c[Q][R];
        for (int l = 0; l < R; l++) {
            r[l] = flat + start[j + l];
            next[l] = flat + start[std::min(j + R + l, k - 1)];
            for (int q = 0; q < Q; q++) c[q][l] = a[int64_t(q) * a_stride + j + l];
        }
        int i = 0;
        for (; i + LANES <= n; i += LANES) {
            Lanes x[R];
            for (int l = 0; l < R; l++) {
                x[l] = AT(r[l] + i);
                __builtin_prefetch(next[l] + i);
            }
            for (int q = 0; q < Q; q++) {
                Lanes s = c[q][0] * x[0] + c[q][1] * x[1];
                Lanes t = c[q][2] * x[2] + c[q][3] * x[3];
                *(Lanes *)(out + int64_t(q) * out_stride + i) += s + t;
            }
        }
        for (; i < n; i++)
            for (int q = 0; q < Q; q++)
                for (int l = 0; l < R; l++) out[int64_t(q) * out_stride + i] += c[q][l] * r[l][i];
    }
    for (; j < k; j++)
        for (int q = 0; q < Q; q++) {
            const double *RESTRICT r = flat + start[j];
            double *RESTRICT o = out + int64_t(q) * out_stride;
            double c = a[int64_t(q) * a_stride + j];
            for (int i = 0; i < n; i++) o[i] += c * r[i];
        }
}
}  // namespace

EVERY_PROCESSOR void add_rows(const double *RESTRICT flat, const int64_t *RESTRICT start, int k,
                              const double *RESTRICT a, int a_stride, int rows, int n, double *RESTRICT out,
                              int out_stride) {
    while (rows >= 3) {
        add_rows_to<3>(flat, start, k, a, a_stride, n, out, out_stride);
        rows -= 3;
        a += 3 * int64_t(a_stride);
        out += 3 * int64_t(out_stride);
    }
    if (rows == 2) add_rows_to<2>(flat, start, k, a, a_stride, n, out, out_stride);
    if (rows == 1) add_rows_to<1>(flat, start, k, a, a_stride, n, out, out_stride);
}

EVERY_PROCESSOR void gather_rows(const double *RESTRICT flat, const int64_t *RESTRICT start, int k,
                                 const int *RESTRICT columns, int n, double *RESTRICT out, int out_stride) {
    constexpr int R = 8;  // so many rows are on their way from memory at once
    int j = 0;
    for (; j + R <= k; j += R) {
        double *o = out + int64_t(j) * out_stride;
        for (int c = 0; c < n; c++)
            for (int l = 0; l < R; l++) o[int64_t(l) * out_stride + c] = flat[start[j + l] + columns[c]];
    }
    for (; j < k; j++)
        for (int c = 0; c < n; c++) out[int64_t(j) * out_stride + c] = flat[start[j] + columns[c]];
}

// Both triangles go four rows at a time: less traffic on x. The small triangle between uses reciprocals, which need
// not wait for x as quotients would.
EVERY_PROCESSOR void solve_down(const double *R, int stride, int k, double *x) {
    int j = 0;
    while (j < k && x[j] == 0.0) j++;
    for (; j + 3 < k; j += 4) {
        const double *RESTRICT r0 = R + int64_t(j) * stride;
        const double *RESTRICT r1 = r0 + stride;
        const double *RESTRICT r2 = r1 + stride;
        const double *RESTRICT r3 = r2 + stride;
        double i0 = 1.0 / r0[j];
        double i1 = 1.0 / r1[j + 1];
        double i2 = 1.0 / r2[j + 2];
        double i3 = 1.0 / r3[j + 3];
        double x0 = x[j] * i0;
        double x1 = (x[j + 1] - r0[j + 1] * x0) * i1;
        double x2 = (x[j + 2] - r0[j + 2] * x0 - r1[j + 2] * x1) * i2;
        double x3 = (x[j + 3] - r0[j + 3] * x0 - r1[j + 3] * x1 - r2[j + 3] * x2) * i3;
        x[j] = x0;
        x[j + 1] = x1;
        x[j + 2] = x2;
        x[j + 3] = x3;
        double *RESTRICT rest = x;
        for (int i = j + 4; i < k; i++) rest[i] -= (r0[i] * x0 + r1[i] * x1) + (r2[i] * x2 + r3[i] * x3);
    }
    for (; j < k; j++) {
        const double *row = R + int64_t(j) * stride;
        x[j] /= row[j];
        for (int i = j + 1; i < k; i++) x[i] -= row[i] * x[j];
    }
}

EVERY_PROCESSOR void solve_up(const double *R, int stride, int k, double *x) {
    int j = k - 1;
    for (; j >= k - k % 4; j--) {
        const double *row = R + int64_t(j) * stride;
        for (int i = j + 1; i < k; i++) x[j] -= row[i] * x[i];
        x[j] /= row[j];
    }
    double x0 = 0.0, x1 = 0.0, x2 = 0.0, x3 = 0.0;  // the last four: they cannot be loaded as a vector yet
    for (j -= 3; j >= 0; j -= 4) {
        const double *RESTRICT r0 = R + int64_t(j) * stride;
        const double *RESTRICT r1 = r0 + stride;
        const double *RESTRICT r2 = r1 + stride;
        const double *RESTRICT r3 = r2 + stride;
        double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
        int i = j + 4;
        if (i + 4 <= k) {
            s0 = (r0[i] * x0 + r0[i + 1] * x1) + (r0[i + 2] * x2 + r0[i + 3] * x3);
            s1 = (r1[i] * x0 + r1[i + 1] * x1) + (r1[i + 2] * x2 + r1[i + 3] * x3);
            s2 = (r2[i] * x0 + r2[i + 1] * x1) + (r2[i + 2] * x2 + r2[i + 3] * x3);
            s3 = (r3[i] * x0 + r3[i + 1] * x1) + (r3[i + 2] * x2 + r3[i + 3] * x3);
            i += 4;
        }
        Lanes v0 = {}, v1 = {}, v2 = {}, v3 = {};
        for (; i + LANES <= k; i += LANES) {
            Lanes y = AT(x + i);
            v0 += AT(r0 + i) * y;
            v1 += AT(r1 + i) * y;
            v2 += AT(r2 + i) * y;
            v3 += AT(r3 + i) * y;
        }
        double f0 = SUM(v0), f1 = SUM(v1), f2 = SUM(v2), f3 = SUM(v3);
        for (; i < k; i++) {
            f0 += r0[i] * x[i];
            f1 += r1[i] * x[i];
            f2 += r2[i] * x[i];
            f3 += r3[i] * x[i];
        }
        double i0 = 1.0 / r0[j];
        double i1 = 1.0 / r1[j + 1];
        double i2 = 1.0 / r2[j + 2];
        double i3 = 1.0 / r3[j + 3];
        x3 = ((x[j + 3] - f3) - s3) * i3;
        x2 = (((x[j + 2] - f2) - s2) - r2[j + 3] * x3) * i2;
        x1 = (((x[j + 1] - f1) - s1) - r1[j + 3] * x3 - r1[j + 2] * x2) * i1;
        x0 = (((x[j] - f0) - s0) - r0[j + 3] * x3 - r0[j + 2] * x2 - r0[j + 1] * x1) * i0;
        x[j] = x0;
        x[j + 1] = x1;
        x[j + 2] = x2;
        x[j + 3] = x3;
    }
}

EVERY_PROCESSOR void rotate(const double *row, double *to, double *RESTRICT rest, double c, double s, int n) {
    for (int i = 0; i < n; i++) {
        double x = row[i], y = rest[i];
        to[i] = c * x + s * y;
        rest[i] = c * y - s * x;
    }
}

EVERY_PROCESSOR void sign_and_add(double *RESTRICT out, const double *RESTRICT sign, const double *RESTRICT more,
                                  int n) {
    for (int i = 0; i < n; i++) out[i] = sign[i] * out[i] + more[i];
}

EVERY_PROCESSOR void add_signed(double *RESTRICT out, double scale, const double *RESTRICT sign,
                                const double *RESTRICT row, int n) {
    for (int i = 0; i < n; i++) out[i] += scale * sign[i] * row[i];
}

EVERY_PROCESSOR int possible(const double *RESTRICT g, const double *RESTRICT dg, const double *RESTRICT norm,
                             const double *RESTRICT side, int n, double fixed, double total, double dfixed,
                             double dtotal, double limit, double rounding) {
    int count = 0;
    for (int i = 0; i < n; i++) {
        double slack = (1.0 - rounding) * side[i] * g[i] - fixed - norm[i] * total;
        double fast = dfixed + norm[i] * dtotal - (1.0 + rounding) * side[i] * dg[i];
        bool away = slack - fast * limit > 0.0;
        count += (away | (side[i] == 0.0)) ? 0 : 1;
    }
    return count;
}

EVERY_PROCESSOR void reachable(const int8_t *RESTRICT state, const int *RESTRICT group, const double *RESTRICT g,
                               const double *RESTRICT dg, const double *RESTRICT norm, const double *RESTRICT spread,
                               int n, Budget within, int8_t *RESTRICT out) {
    auto [t, way, centre, error, total] = within;
    for (int i = 0; i < n; i++) {  // without a branch: it runs in lanes
        double side = state[i] == RIGHT ? 1.0 : -1.0;
        double moves = side * dg[i] * t;
        double wide = spread[i] < 0.0 ? 0.0 : spread[i];
        double slack = side * g[i] + (moves > 0.0 ? 0.0 : moves) - error * (1.0 + norm[i] * total);
        slack -= group[i] >= 0 ? centre : 0.0;
        bool away = (slack > 0.0) & (slack * slack > (wide + 1e-12 * norm[i] * norm[i]) * way * way);
        out[i] = !(away | (state[i] >= MARGIN));
    }
}

}  // namespace core
