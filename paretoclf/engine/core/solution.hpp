// The solution on a basis, as an affine function around t: in double, and in twice the precision.
//
//   Q_FF a + A_F' eta = p_F - Q_FL c_L(t),   A_F a = e(t) - A_L c_L(t),   g = Q a - p + A' eta.
//
// Both solve with the factor of M = Q_FF + A_F' D A_F and the small Schur complement of the equality rows. In twice the
// precision that is only a preconditioner: the solution is refined against residuals of the system itself.
#pragma once
#include <cmath>
#include <limits>

#include "basis.hpp"

namespace core {

constexpr double INF = std::numeric_limits<double>::infinity();

// Right-hand sides of the margin set's system at t + t_lo (value), and their slopes (rate): the samples at their cap
// are known.
struct RightSides {
    Twice phi[2][2];                 // value and rate of the two functions that the caps are made of
    double cap[2];                   // phi, rounded: caps are made of these
    std::vector<Twice> line_e, e[2];  // right-hand sides with those at their cap, and without: value, rate
    Pair at_cap[2];                  // what those at their cap add to Q a: value, rate

    template <class Form>
    void compute(const Basis<Form> &B, double t, double t_lo) {
        int m = B.problem.m;
        line_e.resize(m);
        e[0].resize(m);
        e[1].resize(m);
        for (int b = 0; b < 2; b++) {
            phi[0][b] = B.line.phi[b].at(t, t_lo);
            phi[1][b] = B.line.phi[b].slope;
            cap[b] = phi[0][b].hi;
        }
        for (int g = 0; g < m; g++) {
            line_e[g] = B.line.e[g].at(t, t_lo);
            for (int r = 0; r < 2; r++) {
                e[r][g] = r ? B.line.e[g].slope : line_e[g];
                for (int b = 0; b < 2; b++) e[r][g] = add_product(e[r][g], -phi[r][b], B.fixed[b][g]);
            }
        }
        const double *hi[2] = {B.sums[0].hi.data(), B.sums[1].hi.data()};
        const double *lo[2] = {B.sums[0].lo.data(), B.sums[1].lo.data()};
        for (int r = 0; r < 2; r++) {
            at_cap[r].hi.resize(B.problem.Q.width());
            at_cap[r].lo.resize(B.problem.Q.width());
            double x[2] = {phi[r][0].hi, phi[r][1].hi};
            double x_lo[2] = {phi[r][0].lo, phi[r][1].lo};
            combine(x, x_lo, hi, lo, at_cap[r].hi.data(), at_cap[r].lo.data(), B.problem.Q.width());
        }
    }
};

template <class Form, class Real>
class Solution;

// ---- twice the precision -------------------------------------------------------------------------------------------

template <class Form>
class Solution<Form, Twice> {
  public:
    double t = 0, t_lo = 0;
    RightSides right;
    Pair a[2], eta[2], w[2];  // value and rate
    Vector cap, q[2], g[2], g_scale, g_error[2];  // of all samples, in double; bounds on the rounding of g and its rate

    // Throws Refused where the margin system is singular for all practical purposes.
    void compute(Basis<Form> &B, double at, double at_lo) {
        auto &P = B.problem;
        t = at;
        t_lo = at_lo;
        right.compute(B, t, t_lo);
        cap.resize(P.n);
        double largest = 0.0, fastest = 0.0;
        for (int i = 0; i < P.n; i++) {
            cap[i] = B.line.cap(i, right.cap);
            largest = std::max(largest, cap[i]);
            fastest = std::max(fastest, std::abs(B.line.cap_rate[i]));
        }
        own_products(B);
        prepare(B);
        for (int rate = 0; rate < 2; rate++) {
            double scale = rate ? B.line.rate_scale() : largest + fastest;
            double correction = refine(B, rate, scale);
            if (!(correction <= 0.0) && !B.precise) {  // not a number is no solution either
                if (!B.refactor_twice()) throw Refused("the margin system is indefinite: the kernel matrix is not PSD");
                prepare(B);
                correction = refine(B, rate, scale);
            }
            if (!(correction <= UNREFINED)) {
                char number[32];
                std::snprintf(number, sizeof number, "%.1e", correction);
                std::string reason = "the margin system is too ill-conditioned (corrections stay at ";
                throw Refused(reason + number + ")");
            }
        }
        gradients(B);
    }

    // Compute the gradient of a sample, its rate, and the size of the rate's terms, rounded once.
    void precisely(const Basis<Form> &B, int i, double &value, double &rate, double &size) const {
        auto &P = B.problem;
        Twice x(-P.p[i], -B.targets[i]), dx;
        size = 0.0;
        if constexpr (Form::has_features) {
            P.Q.each(i, [&](int c, double z) {
                x = add_product(x, z, w[0][c]);
                dx = add_product(dx, z, w[1][c]);
                size += std::abs(z * w[1].hi[c]);
            });
        } else {
            double own = P.Q.sign[i];
            Twice start = two_sum(own * right.at_cap[0].hi[i], x.hi);
            x = {start.hi, start.lo + (own * right.at_cap[0].lo[i] + x.lo)};
            dx = {own * right.at_cap[1].hi[i], own * right.at_cap[1].lo[i]};
            size = std::abs(dx.hi);
            for (int j = 0; j < B.size(); j++) {
                double z = own * P.Q.row(i)[B.F[j]] * P.Q.sign[B.F[j]];
                x = add_product(x, z, a[0][j]);
                dx = add_product(dx, z, a[1][j]);
                size += std::abs(z * a[1].hi[j]);
            }
        }
        if (int h = P.group[i]; h >= 0) {
            x = add_product(x, P.kappa[i], eta[0][h]);
            dx = add_product(dx, P.kappa[i], eta[1][h]);
            size += std::abs(eta[1].hi[h]);
        }
        value = rounded(x);
        rate = rounded(dx);
    }

    // Measure how far the solution is from its own sets, beyond rounding, in units of cap and margin. Next to t = 0
    // caps may be smaller than what twice the precision leaves of p and eta, whose difference the multipliers make up
    // for.
    double violation(const Basis<Form> &B) const {
        double worst = 0.0;
        for (int j = 0; j < B.size(); j++) {
            int i = B.F[j];
            double x = a[0].hi[j];
            double terms = std::abs(B.problem.p[i]) + std::abs(row_multiplier(B, i, 0));
            double beyond = std::max(-x, x - cap[i]) - LEFT_OF_TERMS * terms / B.problem.diagonal(i);
            if (cap[i] > 0.0) worst = worse(worst, beyond / cap[i]);
        }
        for (int i = 0; i < B.problem.n; i++) {
            if (B.state[i] > MARGIN) continue;
            double beyond = std::abs(g[0][i]);
            if (B.state[i] == RIGHT) beyond = -g[0][i];
            if (B.state[i] == LEFT) beyond = g[0][i];
            worst = worse(worst, (beyond - g_error[0][i]) / g_scale[i]);
        }
        return worst;
    }
    double row_multiplier(const Basis<Form> &B, int i, int rate) const {  // (A' eta)_i
        int h = B.problem.group[i];
        return h < 0 ? 0.0 : B.problem.kappa[i] * eta[rate].hi[h];
    }

  private:
    static constexpr int PASSES = 12;
    static double worse(double x, double y) { return y > x || std::isnan(y) ? y : x; }

    // Compute Q_FF, which is read several times.
    void own_products(Basis<Form> &B) {
        if constexpr (!Form::has_features) {
            int k = B.size();
            own_.resize(size_t(k) * k);
            for (int j = 0; j < k; j++) B.problem.Q.column(B.F, B.F[j], nullptr, own_.data() + size_t(j) * k);
        }
    }
    // Compute the factor's solutions for the rows of A_F, and the Schur complement.
    void prepare(Basis<Form> &B) {
        auto &P = B.problem;
        int k = B.size();
        U_.assign(P.m, Vector(k, 0.0));
        S_.resize(P.m);
        for (int j = 0; j < k; j++)
            if (int h = P.group[B.F[j]]; h >= 0) U_[h][j] = P.kappa[B.F[j]];
        for (auto &x : U_) B.solve(x.data());
        for (int h = 0; h < P.m; h++)
            for (int j = 0; j < k; j++)
                if (int own = P.group[B.F[j]]; own >= 0) S_(own, h) += P.kappa[B.F[j]] * U_[h][j];
        S_.factor();
    }
    // Compute what the margin set's equations miss; for features, w on the way.
    void residual(const Basis<Form> &B, int rate, Vector &out) {
        auto &P = B.problem;
        int k = B.size();
        const Pair &at_cap = right.at_cap[rate];
        Pair &x = a[rate], &r = scratch_;
        r.hi.resize(k);
        r.lo.resize(k);
        for (int j = 0; j < k; j++) {
            int i = B.F[j];
            r.set(j, rate ? Twice() : Twice(P.p[i], B.targets[i]));
        }
        if constexpr (Form::has_features) {
            Pair &slope = w[rate];
            slope = at_cap;
            for (int j = 0; j < k; j++)
                P.Q.each(B.F[j], [&](int c, double z) { slope.set(c, add_product(slope[c], z, x[j])); });
            for (int j = 0; j < k; j++) {
                Twice s = r[j];
                P.Q.each(B.F[j], [&](int c, double z) { s = add_product(s, -z, slope[c]); });
                r.set(j, s);
            }
        } else {
            for (int j = 0; j < k; j++) {
                double own = P.Q.sign[B.F[j]];
                Twice s = two_sum(r.hi[j], -own * at_cap.hi[B.F[j]]);
                r.set(j, {s.hi, s.lo + (r.lo[j] - own * at_cap.lo[B.F[j]])});
            }
            for (int j = 0; j < k; j++)
                if (x.hi[j] != 0.0 || x.lo[j] != 0.0)  // all of them are, when a refinement begins
                    accumulate(r.hi.data(), r.lo.data(), own_.data() + size_t(j) * k, -x.hi[j], -x.lo[j], k);
        }
        for (int j = 0; j < k; j++) {
            Twice s = r[j];
            if (int h = P.group[B.F[j]]; h >= 0) s = add_product(s, -P.kappa[B.F[j]], eta[rate][h]);
            out[j] = rounded(s);
        }
    }
    // Refine the solution, or its rate. Returns the last correction, relative; 0 where it is negligible.
    double refine(const Basis<Form> &B, int rate, double scale) {
        auto &P = B.problem;
        int k = B.size(), m = P.m;
        Pair &x = a[rate], &h = eta[rate];
        x.assign(k);
        h.assign(m);
        w[rate].assign(P.Q.features());
        Vector r(k), re(m);
        double longest = 0.0;
        for (int i : B.F) longest = std::max(longest, P.norm[i]);
        double floor = 1e-14 * scale * longest, last = INF, terms = floor;
        for (int count = 0; count < PASSES; count++) {
            residual(B, rate, r);
            for (int g = 0; g < m; g++) {
                Twice s = right.e[rate][g];
                for (int j = 0; j < k; j++)
                    if (P.group[B.F[j]] == g) s = add_product(s, -P.kappa[B.F[j]], x[j]);
                re[g] = rounded(s);
            }
            for (int j = 0; j < k; j++)
                if (int g = P.group[B.F[j]]; g >= 0) r[j] += P.weight[g] * P.kappa[B.F[j]] * re[g];
            B.solve(r.data());
            for (int g = 0; g < m; g++) re[g] = -re[g];
            for (int j = 0; j < k; j++)
                if (int g = P.group[B.F[j]]; g >= 0) re[g] += P.kappa[B.F[j]] * r[j];
            S_.solve(re.data());
            double size = 0.0;
            for (int j = 0; j < k; j++) {
                for (int g = 0; g < m; g++) r[j] -= re[g] * U_[g][j];
                size = worse(size, std::abs(r[j]) * P.norm[B.F[j]]);
            }
            // The first solution may be all cancellation; from then on the corrections must shrink.
            if (count > 1 && !(size <= std::max(0.5 * last, REFINED * terms))) break;
            double most = 0.0, moved = 0.0;
            terms = floor;
            last = size;
            for (int j = 0; j < k; j++) {
                add(x, j, r[j]);
                terms = std::max(terms, std::abs(x.hi[j]) * P.norm[B.F[j]]);
            }
            for (int g = 0; g < m; g++) {
                add(h, g, re[g]);
                most = std::max(most, std::abs(h.hi[g]));
                moved = std::max(moved, std::abs(re[g]));
            }
            if (size <= REFINED * terms && moved <= REFINED * most) {
                if (Form::has_features) residual(B, rate, r);  // w after the final correction
                return 0.0;
            }
        }
        return last / std::max(terms, 1e-300);
    }
    static void add(Pair &x, int j, double step) {  // x_j += step, in twice the precision
        Twice s = two_sum(x.hi[j], step);
        x.set(j, {s.hi, x.lo[j] + s.lo});
    }
    // Compute the gradients of all samples and their rates in double, with bounds on their rounding errors.
    void gradients(Basis<Form> &B) {
        auto &P = B.problem;
        int n = P.n, k = B.size();
        coef_.resize(2, std::max(k, 1));
        all_.resize(2, n);
        slopes_.resize(2, std::max(P.Q.features(), 1));
        double sum[2] = {0.0, 0.0};
        for (int r = 0; r < 2; r++) {
            if constexpr (Form::has_features) {
                // Where large terms cancel the low part is no rounding of the high one.
                double square = 0.0;
                for (int c = 0; c < P.Q.d; c++) {
                    slopes_[r][c] = w[r].at(c);
                    square += slopes_[r][c] * slopes_[r][c];
                }
                sum[r] = std::sqrt(square);
            } else {
                for (int j = 0; j < k; j++) {
                    coef_[r][j] = a[r].hi[j];
                    sum[r] += std::abs(a[r].hi[j]) * P.Q.norm[B.F[j]];
                }
            }
        }
        if constexpr (Form::has_features) {
            for (int i = 0; i < n; i++)  // each sample is read once for both
                for (int r = 0; r < 2; r++) all_[r][i] = P.Q.times(i, slopes_[r]);
        } else {
            const double *at_cap[2] = {right.at_cap[0].hi.data(), right.at_cap[1].hi.data()};
            P.Q.products(B.F, coef_, 2, at_cap, slopes_, slots_, all_);
        }
        for (int r = 0; r < 2; r++) {
            q[r].resize(n);
            g[r].resize(n);
            g_error[r].resize(n);
            for (int i = 0; i < n; i++) {
                double h = row_multiplier(B, i, r);
                double size = sum[r] * P.Q.norm[i];
                if (!Form::has_features) size += std::abs(right.at_cap[r].hi[i]);
                q[r][i] = all_[r][i];
                g[r][i] = q[r][i] + h - (r ? 0.0 : P.p[i]);
                g_error[r][i] = ROUNDING * ((r ? 0.0 : 1.0) + std::abs(h) + size);
            }
        }
        g_scale.resize(n);
        for (int i = 0; i < n; i++) g_scale[i] = 1.0 + std::abs(q[0][i]);
    }

    std::vector<Vector> U_;
    Small S_;
    Vector own_;
    Pair scratch_;
    Table coef_, all_, slopes_;
    Slots slots_;
};

// ---- double --------------------------------------------------------------------------------------------------------

template <class Form>
class Solution<Form, double> {
  public:
    enum All { G, DG, CENTRE };  // rows of `all`: margins, their rates, products with the centres of the groups

    RightSides right;
    Vector a, da, eta, deta;
    Table U, rows, w, all;  // the factor's solutions for the rows of A_F, these rows; w, its rate, centres; all samples
    Small S;
    Vector spread;    // squared distance of each sample from the centre of the margin set
    double value[3];  // the optimal value p'a - a'Qa/2, its derivative, minus its second derivative
    // Sum of multiplier times sqrt(Q_ii) over the margin set, and |w|: times this and sqrt(Q_ii) a margin may be wrong
    // by rounding.
    double total = 0;
    double error_growth = 1;  // how much more than usual rounding errors of multipliers may be, by the least pivot
    double spoilt = 0;        // how wrong a multiplier may be where that pivot is small
    double outside = 0;       // by how much a multiplier is out of its box, next to its cap or in units of the margin

    // Compute it from nothing but the basis; false if double precision is not enough.
    bool compute(Basis<Form> &B, double t, double t_lo, bool with_spread, int room) {
        auto &P = B.problem;
        int n = P.n, m = P.m;
        int k = B.size();
        int wanted = with_spread ? 2 + m : 2;
        a.resize(k + room);
        da.resize(k + room);
        eta.resize(m);
        deta.resize(m);
        coef_.resize(2 + m, k + room);
        U.resize(m, k + room);
        rows.resize(m, k + room);
        w.resize(2 + m, std::max(P.Q.features(), 1));
        all.resize(2 + m, n);
        if (!on_margin(B, t, t_lo)) return false;
        Vector count(m, 0.0);
        for (int i : B.F)
            if (int own = P.group[i]; own >= 0) count[own] += 1.0;
        for (int h = 0; h < m; h++)
            for (int j = 0; j < k; j++) coef_[2 + h][j] = rows[h][j] / count[h];
        std::copy(a.begin(), a.begin() + k, coef_[0]);
        std::copy(da.begin(), da.begin() + k, coef_[1]);
        const double *at_cap[2] = {right.at_cap[0].hi.data(), right.at_cap[1].hi.data()};
        P.Q.products(B.F, coef_, wanted, at_cap, w, slots_, all);
        if (with_spread) measure_spread(B, count);
        return inspect(B, k);
    }
    // Compute only what there is of it on the margin set; false if double precision is not enough.
    bool on_margin(Basis<Form> &B, double t, double t_lo) {
        auto &P = B.problem;
        int m = P.m, k = B.size();
        double least = B.least_pivot();
        if (least < LEAST_PIVOT) return false;
        error_growth = std::max(1.0, FAST_PIVOT / least);
        right.compute(B, t, t_lo);
        for (int j = 0; j < k; j++) {
            int i = B.F[j], own = P.group[i];
            Twice fixed = P.Q.of_capped(i, right.at_cap[0]);
            a[j] = (P.p[i] - fixed.hi) + (B.targets[i] - fixed.lo);
            da[j] = -P.Q.of_capped(i, right.at_cap[1]).hi;
            for (int h = 0; h < m; h++) U[h][j] = rows[h][j] = own == h ? P.kappa[i] : 0.0;
            if (own >= 0) {
                double scale = P.weight[own] * P.kappa[i];
                a[j] += scale * rounded(right.e[0][own]);
                da[j] += scale * rounded(right.e[1][own]);
            }
        }
        spoilt = 0.0;
        if (least < FAST_PIVOT)
            for (int j = 0; j < k; j++) spoilt = std::max(spoilt, EPSILON * std::abs(a[j]) / (least * P.Q.shift));
        B.factor.solve(a.data());
        B.factor.solve(da.data());
        for (int h = 0; h < m; h++) B.factor.solve(U[h]);
        schur(k);
        bordered(k, right.e[0], a, eta);
        bordered(k, right.e[1], da, deta);
        return true;
    }
    void schur(int k) {
        S.resize(U.rows());
        for (int g = 0; g < U.rows(); g++)
            for (int h = 0; h < U.rows(); h++) S(g, h) = dot(rows[g], U[h], k);
        S.factor();
    }
    void step(double dt, int k) {
        advance(a.data(), da.data(), dt, k);
        for (size_t h = 0; h < eta.size(); h++) eta[h] += dt * deta[h];
        advance(w[W], w[DW], dt, w.stride());
        value[0] += dt * (value[1] - 0.5 * dt * value[2]);
        value[1] -= dt * value[2];
    }

  private:
    // Measure how far each sample is from the centre of the margin set: of the members of its own row of A.
    void measure_spread(const Basis<Form> &B, const Vector &count) {
        auto &P = B.problem;
        Vector centre(P.m, 0.0);  // its squared length
        for (int j = 0; j < B.size(); j++)
            if (int own = P.group[B.F[j]]; own >= 0)
                centre[own] += P.kappa[B.F[j]] / count[own] * all[CENTRE + own][B.F[j]];
        spread.resize(P.n);
        for (int i = 0; i < P.n; i++) {
            int own = P.group[i];
            spread[i] = P.Q.diagonal[i];
            if (own >= 0) spread[i] += centre[own] - 2.0 * P.kappa[i] * all[CENTRE + own][i];
        }
    }
    // Complete x = M^-1 (right + A'D e), given in x, to the solution of the bordered system, with the multipliers of
    // the rows.
    void bordered(int k, const std::vector<Twice> &e, Vector &x, Vector &multipliers) {
        for (int h = 0; h < U.rows(); h++) multipliers[h] = dot(rows[h], x.data(), k) - rounded(e[h]);
        S.solve(multipliers.data());
        for (int h = 0; h < U.rows(); h++) advance(x.data(), U[h], -multipliers[h], k);
    }
    // Sums over the solution, by which `inspect` judges it.
    struct Sums {
        double margin_terms = 1.0;              // of a margin, but for w
        double linear = 0.0, slope = 0.0;       // p'a + eta'e, and the derivative of the optimal value
        double lost = 0.0, lost_rate = 0.0;     // what margins that are violated cost, and its derivative
        double largest_cap = 0.0, slack = 0.0;  // slack: to the caps, of the margin set
        double terms = 0.0;                     // multipliers times norms
        double worst_margin = 0.0;              // violation of a margin beyond rounding
        bool in_box = true;                     // multipliers, but for rounding
    };
    // Turn Q a into margins; false if the solution leaves its sets, or rounding errors are too large. With
    // (Q a)_i = g_i + p_i - kappa_i eta the optimal value and its derivatives are no differences of large numbers.
    bool inspect(const Basis<Form> &B, int k) {
        Sums sums;
        for (int h = 0; h < B.problem.m; h++) {
            sums.margin_terms += std::abs(eta[h]);
            sums.linear += eta[h] * right.line_e[h].hi;
            sums.slope += eta[h] * B.line.e[h].slope.hi;
            sums.lost_rate -= deta[h] * B.line.e[h].slope.hi;
        }
        sums = with_members(B, k, sums);
        sums = with_samples(B, sums);
        value[0] = 0.5 * (sums.linear - sums.lost);
        value[1] = sums.slope;
        value[2] = sums.lost_rate;
        return is_precise(B, sums);
    }
    Sums with_members(const Basis<Form> &B, int k, Sums sums) {
        auto &Q = B.problem.Q;
        outside = 0.0;
        total = Form::has_features ? std::sqrt(dot(w[W], w[W], w.stride())) : 0.0;
        for (int j = 0; j < k; j++) {
            int i = B.F[j];
            double cap = B.line.cap(i, right.cap);
            total += std::abs(a[j]) * Q.norm[i];
            sums.terms += std::abs(a[j]) * Q.norm[i];
            sums.linear += B.problem.p[i] * a[j];
            sums.largest_cap = std::max(sums.largest_cap, cap);
            sums.slack += cap - a[j];
            double beyond = std::max(-a[j], a[j] - cap);
            sums.in_box &= beyond <= 1e-9 * cap;
            if (beyond > 0.0) outside = std::max(outside, beyond * std::max(Q.norm[i] * Q.longest, 1.0 / cap));
        }
        return sums;
    }
    Sums with_samples(const Basis<Form> &B, Sums sums) {
        auto &P = B.problem;
        double *g = all[G];
        double *dg = all[DG];
        for (int i = 0; i < P.n; i++) {
            int own = P.group[i];
            g[i] -= P.p[i];
            if (own >= 0) {
                g[i] += P.kappa[i] * eta[own];
                dg[i] += P.kappa[i] * deta[own];
            }
            if (B.state[i] > LEFT) continue;  // in the margin set, or without a cap
            double rounding = 10 * ROUNDING * (sums.margin_terms + P.Q.norm[i] * total);
            if (B.state[i] == RIGHT) {
                sums.worst_margin = std::max(sums.worst_margin, -g[i] - rounding);
                continue;
            }
            double cap = B.line.cap(i, right.cap);
            double rate = B.line.cap_rate[i];
            sums.largest_cap = std::max(sums.largest_cap, cap);
            sums.terms += cap * P.Q.norm[i];
            sums.linear += P.p[i] * cap;
            sums.lost += cap * g[i];
            sums.slope -= rate * g[i];
            sums.lost_rate += rate * dg[i];
            sums.worst_margin = std::max(sums.worst_margin, g[i] - rounding);
        }
        return sums;
    }
    // Whether double precision is enough for this solution.
    bool is_precise(const Basis<Form> &B, const Sums &sums) const {
        auto &P = B.problem;
        double longest = P.Q.longest;
        if (B.line.to_zero) {  // the value is a difference of sums of this size, and certificates are relative to it
            double e = right.line_e[0].hi;
            if (std::abs(value[0]) < FAST_VALUE * longest * longest * e * e) return false;
        }
        double error = ROUNDING * (sums.margin_terms + total * longest);
        // Where a cost is small all multipliers are, for they balance, and b is nearly the label of one class: of
        // Q a - p + A' eta only Q a is left, and a must be right relative to that.
        if (sums.terms * longest < FAST_SCORES * P.target) return false;
        // With a small pivot the balance itself is in question.
        if (spoilt * longest > FAST_SUMS * sums.terms) return false;
        // The other cost makes dear what margins are wrong by.
        if (P.target > 0.0 && error * sums.slack > FAST_GAP * std::abs(value[0])) return false;
        bool on_its_sets = sums.in_box && sums.worst_margin <= 0.0;
        return on_its_sets && error <= std::min(FAST_ERROR, FAST_SHIFT * P.Q.shift * sums.largest_cap);
    }

    Table coef_;
    Slots slots_;
};

}  // namespace core
