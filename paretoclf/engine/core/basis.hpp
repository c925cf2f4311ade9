// The problem, the line it is on, and the basis: which index is where, and the factor of the margin system.
#pragma once
#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "factor.hpp"
#include "kernel.hpp"
#include "log.hpp"
#include "tolerances.hpp"

namespace core {

using Vector = std::vector<double>;

struct Refused : std::runtime_error {  // a path that cannot be followed with confidence
    using std::runtime_error::runtime_error;
};

// An affine function of t in twice the precision.
struct Affine {
    double start = 0;
    Twice slope;
    static Affine between(double a, double b) { return {a, two_sum(b, -a)}; }
    Twice at(double t, double t_lo) const {
        Twice x = add_product(Twice(start), t, slope.hi);
        return two_sum(x.hi, x.lo + (t * slope.lo + t_lo * slope.hi));
    }
};

// Caps are phi_0(t) base_0 + phi_1(t) base_1, the right-hand sides e(t); both are affine for t in [0, 1].
struct Line {
    Vector base[2];
    Affine phi[2];
    std::vector<Affine> e;
    Vector cap_rate;       // slopes of the caps
    bool to_zero = false;  // followed no further than to where the multipliers of the equality rows add up to 0
    bool ends_empty = true;  // all right-hand sides end at 0
    double end_tolerance = 0;

    double cap(int i, const double *phi_now) const { return phi_now[0] * base[0][i] + phi_now[1] * base[1][i]; }
    double rate_scale() const {
        double most = 0.0;
        for (double c : cap_rate) most = std::max(most, std::abs(c));
        for (const Affine &x : e) most = std::max(most, std::abs(x.slope.hi));
        return most;
    }
};

// min a'Qa/2 - p'a  s.t.  A a = e, 0 <= a <= c; index i is in row group[i] of A (-1: in none), with coefficient
// kappa_i.
template <class Form>
struct Problem {
    Form Q;
    int n, m;
    Vector p, kappa;
    Indices group;
    Vector weight;  // D of the factored matrix M = Q_FF + A_F' D A_F
    Vector norm;   // square roots of the diagonal of M
    double target = 0;  // largest |p_i| that a multiplier of a row can balance

    Problem(Form form, Vector linear, Vector coefficients, Indices rows, int row_count)
        : Q(std::move(form)), n(int(linear.size())), m(row_count), p(std::move(linear)), kappa(std::move(coefficients)),
          group(std::move(rows)), weight(m, 0.0), norm(n) {
        Vector square(m, 0.0), count(m, 0.0);
        for (int i = 0; i < n; i++)
            if (group[i] >= 0) {
                square[group[i]] += kappa[i] * kappa[i];
                count[group[i]] += 1.0;
            }
        for (int g = 0; g < m; g++) weight[g] = square[g] > 0.0 ? Q.shift * count[g] / square[g] : Q.shift;
        for (int i = 0; i < n; i++) {
            norm[i] = std::sqrt(diagonal(i));
            if (group[i] >= 0) target = std::max(target, std::abs(p[i]));
        }
    }
    double shifted(int i, int j) const {  // (A' D A)_ij
        return group[i] >= 0 && group[i] == group[j] ? weight[group[i]] * kappa[i] * kappa[j] : 0.0;
    }
    double diagonal(int i) const { return Q.diagonal[i] + shifted(i, i); }
};

// A sample that may join the margin set: its column of Q and of the factor, the combination u with M_FF u = M_Fi, and
// the squared pivot.
struct Candidate {
    Vector column, row, u;
    double pivot = 0;
    int refined = -1;  // the sample, if it is that of `sharp_candidate` on this basis
};

// The state of a basis, which can be saved and loaded. Margin sets are kept such that the bordered system is
// nonsingular.
struct Sets {
    std::vector<int8_t> state;
    Indices F;
    Factor<double> factor;
    Vector targets;                // shifts of the targets of the margin set, see `enter`
    Pair sums[2];                  // see kernel.hpp
    std::vector<Twice> fixed[2];   // for either base, what those at their cap add to A a
    Vector base[2];                // the bases they belong to
};

template <class Form>
struct Basis : Sets {
    Problem<Form> &problem;
    Line line;
    Log log;
    // The factor of the same margin system in twice the precision, where that in double refines nothing any more.
    std::unique_ptr<Factor<Twice>> precise;

    explicit Basis(Problem<Form> &given) : problem(given) {
        state.assign(problem.n, RIGHT);
        targets.assign(problem.n, 0.0);
        zero_.assign(problem.Q.features(), 0.0);
    }

    int size() const { return int(F.size()); }

    // Take over sets outside the margin set; the margin set is empty then.
    void start(std::vector<int8_t> sets) {
        state = std::move(sets);
        F.clear();
        factor.clear();
        changed();
        std::fill(targets.begin(), targets.end(), 0.0);
        base[0].clear();  // the sums belong to no bases
    }
    void set_line(Line to) {
        line = std::move(to);
        if (base[0] == line.base[0] && base[1] == line.base[1]) return;
        for (int b = 0; b < 2; b++) {
            base[b] = line.base[b];
            sums[b].assign(problem.Q.width());
            fixed[b].assign(problem.m, Twice());
        }
        for (int i = 0; i < problem.n; i++)
            if (state[i] == LEFT) cap_changes(i, 1.0);
    }
    void cap_changes(int i, double sign) {  // i joins (+1) or leaves (-1) those at their cap
        int g = problem.group[i];
        for (int b = 0; b < 2; b++) {
            double scale = sign * line.base[b][i];
            if (scale == 0.0) continue;
            problem.Q.add_to_sum(sums[b], i, scale);
            if (g >= 0) fixed[b][g] = add_product(fixed[b][g], problem.kappa[i], scale);
        }
    }

    // ---- the factor ----

    // Factor the system of the whole margin set at once; false if it is not positive definite.
    bool factor_whole() {
        Vector column(F.size());
        changed();
        return factor.whole(size(), [&](int i, double *out) {
            Indices before(F.begin(), F.begin() + i + 1);
            problem.Q.column(before, F[i], zero_.data(), out);
            for (int j = 0; j <= i; j++) out[j] += problem.shifted(F[i], F[j]);
        });
    }
    // Take a whole margin set at once, where there is none and its members are at 0; false, and none, if it is
    // dependent.
    bool take(Indices margin) {
        F = std::move(margin);
        for (int i : F) state[i] = MARGIN;
        if (factor_whole()) return true;
        for (int i : F) state[i] = RIGHT;
        F.clear();
        factor.clear();
        changed();
        return false;
    }
    // Factor the margin system in twice the precision; false if it is not positive definite.
    bool refactor_twice() {
        auto made = std::make_unique<Factor<Twice>>();
        bool definite = made->whole(size(), [&](int i, Twice *out) {
            for (int j = 0; j <= i; j++) out[j] = entry(F[i], F[j]) + Twice(problem.shifted(F[i], F[j]));
        });
        if (definite) precise = std::move(made);
        return definite;
    }
    // The least squared pivot, each relative to what is typical of such a sample.
    double least_pivot() const {
        double least = 1.0;
        for (int j = 0; j < size(); j++)
            least = std::min(least, factor.at(j, j) * factor.at(j, j) / (problem.Q.diagonal[F[j]] + problem.Q.shift));
        return least;
    }
    void solve(double *x) const {
        if (!precise) return factor.solve(x);
        std::vector<Twice> y(x, x + F.size());
        precise->solve(y.data());
        for (size_t j = 0; j < F.size(); j++) x[j] = rounded(y[j]);
    }

    // Compute sample i as a candidate for the margin set.
    const Candidate &candidate(int i) {
        auto &[column, row, u, pivot, refined] = candidate_;
        size_t k = F.size();
        refined = -1;
        column.resize(k);
        row.resize(k);
        u.resize(k);
        problem.Q.column(F, i, zero_.data(), column.data());
        for (size_t j = 0; j < k; j++) row[j] = column[j] + problem.shifted(i, F[j]);
        factor.forward(row.data());
        u = row;
        pivot = problem.diagonal(i) - dot(row.data(), row.data(), int(k));
        factor.backward(u.data());
        return candidate_;
    }
    // Compute a candidate, and refine it where its pivot is all cancellation.
    const Candidate &sharp_candidate(int i) {
        if (candidate_.refined == i) return candidate_;  // the ratio test asked for it, and now the exchange does
        candidate(i);
        if (candidate_.pivot < SHARPEN * problem.diagonal(i)) {
            if constexpr (Form::has_features) by_residual_vector(i);
            else by_residuals(i);
        }
        candidate_.refined = i;
        return candidate_;
    }
    // Squared pivot below which a sample counts as dependent on the margin set.
    double negligible(int i) const {
        double size = problem.norm[i];
        for (size_t j = 0; j < F.size(); j++) size += std::abs(candidate_.u[j]) * problem.norm[F[j]];
        return (Form::has_features ? DEPENDENT_FEATURES : DEPENDENT_KERNEL) * size * size;
    }

    // ---- exchanges of the sets ----

    void append(int i, const Vector &row, double pivot) {
        factor.append(row.data(), pivot);
        changed();
        if (state[i] == LEFT) cap_changes(i, -1.0);
        mark(i, MARGIN);
        F.push_back(i);
    }
    void drop(int r, Set to) {
        int i = F[r];
        targets[i] = 0.0;
        factor.remove(r);
        changed();
        F.erase(F.begin() + r);
        mark(i, to);
        if (to == LEFT) cap_changes(i, 1.0);
    }
    void flip(int i) {  // sample i goes from one bound to the other
        Set to = state[i] == RIGHT ? LEFT : RIGHT;
        mark(i, to);
        cap_changes(i, to == LEFT ? 1.0 : -1.0);
    }
    bool alone(int r) const {  // whether member r of the margin set is the only one of its row of A
        int g = problem.group[F[r]];
        if (g < 0) return false;
        for (size_t j = 0; j < F.size(); j++)
            if (int(j) != r && problem.group[F[j]] == g) return false;
        return true;
    }
    double *zero() { return zero_.data(); }
    void changed() {  // the margin set, or its factor
        precise.reset();
        candidate_.refined = -1;
    }

  private:
    void mark(int i, Set now) {
        log.mark(i, Set(state[i]), now);
        state[i] = now;
    }

    Twice entry(int i, int j) const {
        if constexpr (Form::has_features) {
            Twice s;
            problem.Q.each(i, [&](int c, double z) { zero_[c] = z; });
            problem.Q.each(j, [&](int c, double z) { s = add_product(s, zero_[c], z); });
            problem.Q.each(i, [&](int c, double) { zero_[c] = 0.0; });
            return s;
        } else {
            return problem.Q.sign[i] * problem.Q.row(i)[j] * problem.Q.sign[j];
        }
    }
    // Refine a candidate by residuals, for a kernel: the pivot comes from the refined combination.
    void by_residuals(int i) {
        auto &[column, row, u, pivot, refined] = candidate_;
        size_t k = F.size();
        Vector residual(k), row_residual(problem.m), own(k * k);
        for (size_t j = 0; j < k; j++) problem.Q.column(F, F[j], zero_.data(), own.data() + j * k);
        for (int pass = 0; pass < 3; pass++) {
            Pair r;
            r.hi = column;
            r.lo.assign(k, 0.0);
            for (size_t j = 0; j < k; j++) accumulate(r.hi.data(), r.lo.data(), own.data() + j * k, -u[j], 0.0, int(k));
            for (int g = 0; g < problem.m; g++) row_residual[g] = problem.group[i] == g ? problem.kappa[i] : 0.0;
            for (size_t j = 0; j < k; j++)
                if (problem.group[F[j]] >= 0) row_residual[problem.group[F[j]]] -= problem.kappa[F[j]] * u[j];
            for (size_t j = 0; j < k; j++) {
                int g = problem.group[F[j]];
                residual[j] = r.at(j) + (g >= 0 ? problem.weight[g] * problem.kappa[F[j]] * row_residual[g] : 0.0);
            }
            Vector step = residual;
            solve(step.data());
            for (size_t j = 0; j < k; j++) u[j] += step[j];
        }
        pivot = problem.diagonal(i);
        for (size_t j = 0; j < k; j++) pivot -= u[j] * (column[j] + problem.shifted(i, F[j]) + residual[j]);
    }
    // Refine a candidate for features (corrected seminormal equations): the pivot is the squared norm of an explicit
    // residual vector, so it is accurate relative to the features, not to their squares.
    void by_residual_vector(int i) {
        if constexpr (Form::has_features) {
            auto &[column, row, u, pivot, refined] = candidate_;
            size_t k = F.size();
            Vector z(problem.Q.features(), 0.0), extra(problem.m, 0.0), r(k);
            problem.Q.add_sample(i, 1.0, z.data());
            auto part = [&](int s) { return std::sqrt(problem.weight[problem.group[s]]) * problem.kappa[s]; };
            if (problem.group[i] >= 0) extra[problem.group[i]] = part(i);
            std::fill(row.begin(), row.end(), 0.0);
            std::fill(u.begin(), u.end(), 0.0);
            for (int pass = 0; pass < 3; pass++) {
                for (size_t j = 0; j < k; j++) {
                    int g = problem.group[F[j]];
                    r[j] = problem.Q.times(F[j], z.data()) + (g >= 0 ? part(F[j]) * extra[g] : 0.0);
                }
                Vector half = r;
                factor.forward(half.data());
                if (precise) {
                    solve(r.data());
                } else {
                    r = half;
                    factor.backward(r.data());
                }
                for (size_t j = 0; j < k; j++) {
                    row[j] += half[j];
                    u[j] += r[j];
                    problem.Q.add_sample(F[j], -r[j], z.data());
                    int g = problem.group[F[j]];
                    if (g >= 0) extra[g] -= r[j] * part(F[j]);
                }
            }
            pivot = 0.0;
            for (double x : z) pivot += x * x;
            for (double x : extra) pivot += x * x;
        }
    }

    Candidate candidate_;
    mutable Vector zero_;
};

}  // namespace core
