// The exchanges of a basis. Four cover every event; at a fixed t they are an active-set method for the small QP whose
// solution is the right derivative:
//
//   enter      a sample reaches its margin and joins the margin set;
//   replace    the same, but it depends on the margin set: the solution moves along the null direction at fixed t (the
//              objective and g do not change) until something reaches a bound and leaves instead, or the sample runs
//              through to its other bound;
//   leave      a member reaches a bound and leaves;
//   jump       the same, but it is the last of its row of A: eta jumps at fixed t until another sample of the row
//              reaches its margin and takes the place.
//
// In twice the precision they change the sets, and the solution is computed anew. In double `enter` and `leave` change
// the solution by the one direction in which the new basis differs from the old.
#pragma once
#include "events.hpp"

namespace core {

struct Counts {
    int64_t regular = 0, simple = 0, dependent = 0, jump = 0, zero = 0;
};

// ---- in twice the precision ----------------------------------------------------------------------------------------

// Find the first sample of a row of A to reach its margin when the row's multiplier moves in direction `sign`; -1 if
// none does.
template <class Form>
int successor(const Basis<Form> &B, const Vector &g, int row, double sign, int skip) {
    auto &P = B.problem;
    int best = -1;
    double least = INF;
    for (int i = 0; i < P.n; i++) {
        if (P.group[i] != row || i == skip || B.state[i] >= MARGIN) continue;
        if ((B.state[i] == LEFT) != (P.kappa[i] * sign > 0)) continue;
        double step = std::max(B.state[i] == LEFT ? -g[i] : g[i], 0.0) / std::abs(P.kappa[i]);
        if (step < least) {
            best = i;
            least = step;
        }
    }
    return best;
}

template <class Form>
void exchange(Basis<Form> &B, const Solution<Form, Twice> &S, const Event &event, const Vector &cap, Counts &counts) {
    auto &P = B.problem;
    if (event.kind == TO_MARGIN) {
        int i = event.who;
        Candidate entering = B.sharp_candidate(i);
        // The residual g_i (rounding of dt; for a sample that rested, what was neglected) becomes a shift of its
        // target: the solution then continues from where it is, instead of moving by g_i over the pivot.
        B.targets[i] += event.g;
        if (!event.dependent) {
            counts.simple++;
            return B.append(i, entering.row, entering.pivot);
        }
        counts.dependent++;
        double inwards = B.state[i] == RIGHT ? 1.0 : -1.0;
        Vector a(B.size()), of(B.size()), v(B.size());
        for (int j = 0; j < B.size(); j++) {
            a[j] = S.a[0].hi[j] + event.dt * S.a[1].hi[j];
            of[j] = cap[B.F[j]];
            v[j] = -inwards * entering.u[j];
        }
        Block block = first_block(a.data(), of, v, EVENT_BOX);
        if (block.position < 0 || block.step >= cap[i]) {
            B.targets[i] = 0.0;
            return B.flip(i);
        }
        B.targets[i] += inwards * block.step * entering.pivot;
        B.drop(block.position, block.to);
        const Candidate &again = B.sharp_candidate(i);
        if (again.pivot <= B.negligible(i))
            throw Refused("sample " + std::to_string(i) + " still depends on the margin set after an exchange");
        return B.append(i, Vector(again.row), again.pivot);
    }
    int r = event.who, i = B.F[r], row = P.group[i];
    Set to = event.kind == TO_CAP ? LEFT : RIGHT;
    if (!B.alone(r)) {
        counts.simple++;
        return B.drop(r, to);
    }
    counts.jump++;
    Vector g(P.n);
    for (int j = 0; j < P.n; j++) g[j] = S.g[0][j] + event.dt * S.g[1][j];
    int next = successor(B, g, row, to == RIGHT ? P.kappa[i] : -P.kappa[i], i);
    if (next < 0) throw Refused("no sample can balance the two classes");
    B.drop(r, to);
    const Candidate &found = B.sharp_candidate(next);
    if (found.pivot <= B.negligible(next))
        throw Refused("sample " + std::to_string(next) + " depends on the other group's margin set after a jump");
    B.append(next, Vector(found.row), found.pivot);
}

// ---- in double -----------------------------------------------------------------------------------------------------

// The solution in double with what is watched: changed in place by one exchange after another.
template <class Form>
class Moving {
  public:
    Solution<Form, double> S;
    Watch<Form> watch;

    // Recompute the rates from nothing but the basis; what is watched stays. False if double is not enough.
    bool settle(Basis<Form> &B, double t, double t_lo) {
        if (!S.on_margin(B, t, t_lo)) return false;
        watch.update_rates(B, S);
        watch.course(B, S);
        return true;
    }

    // Let the watched sample c join the margin set; `with` is its candidate. False if double is not enough.
    bool enter(Basis<Form> &B, int c, const Candidate &with, double total) {
        auto &P = B.problem;
        int m = P.m, k = B.size();
        int i = watch.near[c];
        int own = P.group[i];
        bool at_cap = B.state[i] == LEFT;
        const double *u = with.u.data(), *x = with.column.data();
        // The direction in which the new basis can move: the bordered solution for the column of i.
        step_.resize(m);
        Vector &r = side_;
        r.resize(m);
        for (int h = 0; h < m; h++) r[h] = step_[h] = dot(S.rows[h], u, k) - (own == h ? P.kappa[i] : 0.0);
        S.schur(k);
        S.S.solve(step_.data());
        double rho = P.Q.diagonal[i] - dot(x, u, k);
        double noise = ROUNDING * (1.0 + P.Q.norm[i] * total);
        for (int h = 0; h < m; h++) {
            rho += step_[h] * dot(x, S.U[h], k);
            noise += ROUNDING * std::abs(S.eta[h]);
        }
        if (own >= 0) rho -= P.kappa[i] * step_[own];
        // The error of its margin must not move the multipliers visibly.
        if (rho <= FAST_PIVOT * P.Q.diagonal[i] || noise * P.Q.diagonal[i] > FAST_ENTER * rho) return false;
        double rate = watch.table[W::DG][c], delta = -rate / rho;
        direction_.assign(u, u + k);
        for (int h = 0; h < m; h++) {
            advance(direction_.data(), S.U[h], -step_[h], k);
            advance(S.U[h], u, r[h] / with.pivot, k);
            S.U[h][k] = -r[h] / with.pivot;
            S.rows[h][k] = own == h ? P.kappa[i] : 0.0;
        }
        change_rates(B, delta);
        watch.D2 += 2.0 * delta * (rate - watch.table[W::FIRST_DG][c]) + std::abs(delta * rate);
        S.value[2] -= std::abs(delta * rate);
        watch.VD +=
            delta * (watch.table[W::G][c] - watch.table[W::FIRST_G][c] - watch.time * watch.table[W::FIRST_DG][c]);
        S.a[k] = at_cap ? B.line.cap(i, S.right.cap) : 0.0;
        S.da[k] = (at_cap ? B.line.cap_rate[i] : 0.0) + delta;
        watch.table[W::SIDE][c] = 0.0;
        P.Q.enters(i, k, watch.everything, watch.near, watch.count, watch.block(), watch.slots);
        if (at_cap) cap_changes(B, i, -1.0, k);
        B.targets[i] += watch.table[W::G][c];  // the residual of its margin, as in twice the precision
        B.append(i, with.row, with.pivot);
        return true;
    }

    // Let member r of the margin set leave for its bound.
    void leave(Basis<Form> &B, int r, Set to) {
        auto &P = B.problem;
        int m = P.m, k = B.size(), i = B.F[r];
        z_.assign(k, 0.0);
        z_[r] = 1.0;
        B.factor.solve(z_.data());
        double own = z_[r], bordered = own;
        step_.resize(m);
        side_.resize(m);
        for (int h = 0; h < m; h++) side_[h] = step_[h] = S.U[h][r];
        S.schur(k);
        S.S.solve(step_.data());
        direction_ = z_;
        for (int h = 0; h < m; h++) {
            bordered -= step_[h] * side_[h];
            advance(direction_.data(), S.U[h], -step_[h], k);
            advance(S.U[h], z_.data(), -side_[h] / own, k);
        }
        double over = S.da[r] - (to == LEFT ? B.line.cap_rate[i] : 0.0);
        double gain = over / bordered;
        change_rates(B, gain);
        watch.D2 += std::abs(over * gain);
        S.value[2] += std::abs(over * gain);
        auto shift = [&](double *x) { std::copy(x + r + 1, x + k, x + r); };
        shift(S.a.data());
        shift(S.da.data());
        for (int h = 0; h < m; h++) {
            shift(S.U[h]);
            shift(S.rows[h]);
        }
        int c = watch.where[i];
        watch.table[W::G][c] = B.targets[i];  // the residual that was neglected when it entered
        watch.table[W::SIDE][c] = to == LEFT ? -1.0 : 1.0;
        B.drop(r, to);
        P.Q.leaves(r, k - 1, watch.slots);
        if (!watch.everything && c >= watch.base) watch.leaver(B, i);
        if (to == LEFT) cap_changes(B, i, 1.0, k - 1);
    }

    // Let member r leave, the last of its row of A, and another take its place; all samples must be watched. False, and
    // nothing is changed, if it is not clear which; else the solution is to be recomputed on the new basis.
    bool jump(Basis<Form> &B, int r, Set to, double total) {
        auto &P = B.problem;
        int i = B.F[r], own = P.group[i], next = -1;
        double sign = to == LEFT ? -P.kappa[i] : P.kappa[i];
        double noise = 1.0;
        for (double h : S.eta) noise += std::abs(h);
        double first = INF, early = INF, late = INF;  // its step and bounds on it
        double second = INF;                          // the least of all others
        for (int c = 0; c < P.n; c++) {
            double side = watch.table[W::SIDE][c];
            double size = std::abs(P.kappa[c]);
            if (P.group[c] != own || !(side * P.kappa[c] * sign < 0.0)) continue;
            double error = ROUNDING * (noise + P.Q.norm[c] * total) / size;
            double step = std::max(side * watch.table[W::G][c], 0.0) / size;
            if (step < first) {
                second = std::min(second, early);
                next = c;
                first = step;
                early = step - error;
                late = step + error;
            } else {
                second = std::min(second, step - error);
            }
        }
        if (next < 0 || second <= late || B.candidate(next).pivot < FAST_PIVOT * P.diagonal(next)) return false;
        B.drop(r, to);
        const Candidate &with = B.candidate(next);  // without the leaver it depends on the margin set even less
        B.append(next, Vector(with.row), with.pivot);
        return true;
    }

  private:
    using W = Watch<Form>;

    // Subtract scale (direction, step) from the rates; follow V and D (watch.hpp).
    void change_rates(const Basis<Form> &B, double scale) {
        int k = B.size();
        for (int h = 0; h < B.problem.m; h++) S.deta[h] -= scale * step_[h];
        advance(S.da.data(), direction_.data(), -scale, k);
        if (!watch.follows(B.problem.n)) return;
        double turn = 0.0, shift = 0.0;
        const double *g = watch.table[W::G];
        const double *first = watch.table[W::FIRST_G];
        const double *first_dg = watch.table[W::FIRST_DG];
        for (int j = 0; j < k; j++) {
            int c = watch.where[B.F[j]];
            turn += direction_[j] * first_dg[c];
            shift += direction_[j] * (g[c] - first[c] - watch.time * first_dg[c]);
        }
        watch.D2 += 2.0 * scale * turn;
        watch.VD -= scale * shift;
    }
    // Add (or subtract) the share that sample i at its cap has in the rates of the watched samples.
    void cap_changes(Basis<Form> &B, int i, double sign, int slot) {
        B.problem.Q.cap_rate_changes(i, sign * B.line.cap_rate[i], watch.row_of(slot), watch.near, watch.count,
                                     watch.base, watch.last(), watch.table[W::SIGN], watch.table[W::CAP_DG], S.w);
    }

    Vector step_, side_, direction_, z_;
};

}  // namespace core
