// What happens first after a point: ratio tests, in double with a verdict whether that suffices, and in twice the
// precision.
//
// A near tie is decided in twice the precision, never by a tolerance: where the margin system is ill-conditioned,
// stepping past an event by 1e-11 in the gradient moves the multipliers by 1e-11 over the pivot, which is visible. Exact
// ties take the fastest sample; with caution (after a run of steps of length zero) the lowest index. So do exits that
// nothing but rounding of the multipliers tells apart, lest the units of the data decide.
#pragma once
#include "watch.hpp"

namespace core {

enum Kind { NONE, TO_ZERO, TO_CAP, TO_MARGIN };

// In double: to which member of the margin set, or (TO_MARGIN) which watched column; -1 for none before the end.
struct FastEvent {
    int who = -1;
    Kind kind = NONE;
    bool clear = false;  // the latest possible time of the first is before the earliest possible time of all others
    double dt = INF;
};

// What bounds rounding errors on the way: sums of |a| and |da| times sqrt(Q_ii), the largest |a|, and the largest |da|
// times the length of its sample.
struct Sizes {
    double total = 0, rate = 0, now = 0, largest = 0, fastest = 0;
};

// `guess` is how long it probably takes at most, which only saves time. Of samples that are on their margin up to rounding
// and move away from it the fastest enters, at once; the others there rest.
template <class Form>
FastEvent first_event(const Basis<Form> &B, const Solution<Form, double> &S, const Watch<Form> &watch, const Sizes &size,
                      double guess, double horizon) {
    using W = Watch<Form>;
    constexpr int CHUNK = 16;  // watched samples tested together
    auto &P = B.problem;
    const double *g = watch.table[W::G], *dg = watch.table[W::DG], *reach = watch.table[W::REACH], *sides = watch.table[W::SIDE];
    int k = B.size();
    double eta = 0.0, deta = 0.0;
    for (int h = 0; h < P.m; h++) eta = std::max(eta, std::abs(S.eta[h])), deta = std::max(deta, std::abs(S.deta[h]));
    double fixed = ROUNDING * (1.0 + eta), dfixed = ROUNDING * deta;
    double exit_error = FAST_EXIT * S.error_growth, slope_noise = SLOPE_NOISE * S.error_growth;
    double total = ROUNDING * size.total, dtotal = ROUNDING * size.rate, within = std::min(guess, horizon);
    while (true) {
        double limit = within;  // nothing that cannot happen before this is looked at
        FastEvent best;
        double early_best = INF, late_best = INF, second = INF;  // earliest possible time of all others
        double first_slack = INF, first_speed = 0.0;
        auto found = [&](int who, Kind kind, double dt, double early, double late) {
            if (dt < best.dt) {
                second = std::min(second, early_best);
                best.who = who, best.kind = kind, best.dt = dt, early_best = early, late_best = late;
                limit = std::min(limit, late);
            } else {
                second = std::min(second, early);
            }
        };
        for (int j = 0; j < k; j++) {
            int i = B.F[j];
            double cap = B.line.cap(i, S.right.cap), rate = B.line.cap_rate[i];
            double error = exit_error * (std::min(cap, size.largest) + 0.1 * size.largest);
            if (S.a[j] - error > -S.da[j] * limit && (cap - S.a[j]) - error > (S.da[j] - rate) * limit) continue;
            for (Kind kind : {TO_ZERO, TO_CAP}) {
                double slack = kind == TO_CAP ? cap - S.a[j] : S.a[j], speed = kind == TO_CAP ? S.da[j] - rate : -S.da[j];
                if (slack - error > speed * limit) continue;
                double noise = slope_noise * (size.fastest / P.Q.length[i] + std::abs(rate));
                if (speed <= 0.1 * noise) continue;
                double early = std::max(slack - error, 0.0) / speed;
                if (speed < 10.0 * noise) {
                    second = std::min(second, 0.0);
                    continue;
                }
                // Of two members of one row of A the constraint fixes the sum or the difference: both may reach a bound
                // at once, always. Then either leaves, and the other stays, at its bound.
                bool together = std::abs(speed - first_speed) <= noise && std::abs(slack - first_slack) <= ROUNDING * cap;
                if (together && k == 2 && P.m == 1) continue;
                if (slack <= error && speed * horizon <= exit_error * cap) continue;  // its rate is rounding: it rests there
                first_slack = slack, first_speed = speed;
                double dt = -error <= slack && slack <= ROUNDING * cap ? 0.0 : slack / speed;
                found(j, kind, dt, early, (slack + error) / speed);
            }
        }
        int tied = -1;
        double quickest = 0.0;
        for (int start = 0; start < watch.count; start += CHUNK) {
            int stop = std::min(start + CHUNK, watch.count);
            if (possible(g + start, dg + start, reach + start, sides + start, stop - start, fixed, total, dfixed, dtotal,
                         limit, ROUNDING) == 0)
                continue;
            for (int c = start; c < stop; c++) {
                double side = sides[c], noise = dfixed + reach[c] * dtotal, speed = -side * dg[c], fast = speed + noise;
                double slack = side * g[c], error = fixed + reach[c] * total;
                if (slack - error - fast * limit > 0.0 || side == 0.0 || fast <= 0.0) continue;
                if (slack <= error) {  // on its margin, as far as can be told: it enters at once, or rests there
                    if (speed > std::max(noise, quickest)) tied = c, quickest = speed;
                    continue;
                }
                double early = (slack - error) / fast;
                if (speed <= noise) {
                    second = std::min(second, early);
                    continue;
                }
                if (best.kind == TO_MARGIN) {  // twins reach it together, always: the first leaves the other resting there
                    int i = watch.near[c], j = watch.near[best.who];
                    if (P.group[i] == P.group[j] && P.kappa[i] == P.kappa[j] && P.p[i] == P.p[j] && P.Q.alike(i, j, TWINS))
                        continue;
                }
                found(c, TO_MARGIN, slack / speed, early, (slack + error) / (speed - noise));
            }
        }
        if (tied >= 0) {
            bool clear = (best.kind == TO_MARGIN || early_best > 0.0) && second > 0.0;
            return {tied, TO_MARGIN, clear, 0.0};
        }
        if (within < horizon && late_best > within) {  // what happens later counts too
            within = best.who >= 0 ? std::min(late_best, horizon) : horizon;
            continue;
        }
        double end = horizon - B.line.end_tolerance;
        if (best.who < 0 || best.dt > horizon) return {-1, NONE, std::min(early_best, second) > end, horizon};
        best.clear = best.dt >= 0.0 && limit < second && limit < end;
        return best;
    }
}

// In twice the precision: to which member of the margin set, or which sample; who enters comes as a candidate.
struct Event {
    Kind kind = NONE;
    int who = -1;
    double dt = INF;
    bool dependent = false;  // the sample that enters depends on the margin set
    double g = 0;            // what is left of its gradient
};

// First multiplier of the margin set to reach a bound within the horizon.
template <class Form>
Event first_exit(const Basis<Form> &B, const Solution<Form, Twice> &S, double horizon, bool cautious) {
    Event best;
    double merit = -INF, best_error = 0.0, size = 0.0, moved = 0.0;
    auto reach = [&](int i) { return std::max(B.problem.reach[i], 1e-300); };
    for (int j = 0; j < B.size(); j++) size = std::max(size, std::abs(S.a[1].hi[j]) * reach(B.F[j]));
    // Where multipliers at their caps balance each other, all that is left of the rates of the margin set is rounding.
    for (int i = 0; i < B.problem.n; i++)
        if (B.state[i] == LEFT) moved += std::abs(B.line.cap_rate[i]) * reach(i);
    size = std::max(size, STILL / SLOPE_NOISE * moved);
    for (int j = 0; j < B.size(); j++) {
        int i = B.F[j];
        double a = S.a[0].hi[j], da = S.a[1].hi[j], cap = S.cap[i], rate = B.line.cap_rate[i];
        double noise = SLOPE_NOISE * size / reach(i);
        for (Kind kind : {TO_ZERO, TO_CAP}) {
            double slack = kind == TO_ZERO ? a : cap - a, speed = kind == TO_ZERO ? -da : da - rate;
            if (speed <= (kind == TO_ZERO ? noise : noise + SLOPE_NOISE * std::abs(rate)) || slack > speed * horizon) continue;
            double dt = std::max(slack, 0.0) / speed, worth = cautious ? -double(i) : speed / std::max(cap, 1e-300);
            double error = ROUNDING * (kind == TO_ZERO ? std::abs(a) : cap) / speed;
            bool better = dt < best.dt || (dt == best.dt && worth > merit);
            if (best.who >= 0 && dt != best.dt && std::abs(dt - best.dt) <= error + best_error) better = i < B.F[best.who];
            if (better) best.who = j, best.kind = kind, best.dt = dt, merit = worth, best_error = error;
        }
    }
    return best;
}

// First sample to reach its margin no later than `before`, when sample `leaving` leaves it. One whose gradient does not
// move, or moves by no more than what "dependent" neglects, rests where it is; then the others are looked at again.
template <class Form>
Event first_arrival(Basis<Form> &B, const Solution<Form, Twice> &S, double before, double horizon, bool cautious, int leaving) {
    auto &P = B.problem;
    double fastest = 0.0, terms = 0.0;
    for (int i = 0; i < P.n; i++)
        if (B.state[i] == LEFT) fastest = std::max(fastest, std::abs(B.line.cap_rate[i]));
    for (int j = 0; j < B.size(); j++) {
        fastest = std::max(fastest, std::abs(S.a[1].hi[j]));
        terms += std::abs(S.a[1].hi[j]) * P.reach[B.F[j]];
    }
    std::vector<char> resting(P.n, 0);
    Vector earliest(P.n);
    struct Near {
        int i;
        double g, dg;
    };
    std::vector<Near> near;
    while (true) {
        // Who may be first: its earliest possible time is no later than the latest possible time of every other.
        double bound = std::min(before, horizon);
        for (int i = 0; i < P.n; i++) {
            earliest[i] = INF;
            if (B.state[i] >= MARGIN || resting[i]) continue;
            double side = B.state[i] == RIGHT ? 1.0 : -1.0, slack = side * S.g[0][i], speed = -side * S.g[1][i];
            if (speed + S.g_error[1][i] <= 0.0) continue;
            earliest[i] = std::max(slack - S.g_error[0][i], 0.0) / (speed + S.g_error[1][i]);
            if (speed - S.g_error[1][i] > 0.0)
                bound = std::min(bound, std::max(slack + S.g_error[0][i], 0.0) / (speed - S.g_error[1][i]));
        }
        near.clear();
        bool settled = true;
        for (int i = 0; i < P.n; i++) {
            if (!(earliest[i] <= bound)) continue;
            double g, dg, size;
            S.precisely(B, i, g, dg, size);
            double away = B.state[i] == RIGHT ? -dg : dg;
            if (away > SLOPE_ZERO * (size + P.reach[i] * terms)) near.push_back({i, g, dg});
            else resting[i] = 1, settled = false;
        }
        if (near.empty() && settled) return {};
        while (!near.empty()) {
            int best = -1;
            double best_dt = INF, merit = -INF;
            for (size_t c = 0; c < near.size(); c++) {
                double side = B.state[near[c].i] == RIGHT ? 1.0 : -1.0, slack = side * near[c].g, speed = -side * near[c].dg;
                if (speed <= 0.0 || slack > speed * horizon) continue;
                double dt = std::max(slack, 0.0) / speed, worth = cautious ? -double(near[c].i) : speed;
                if (dt < best_dt || (dt == best_dt && worth > merit)) best = int(c), best_dt = dt, merit = worth;
            }
            if (best < 0 || best_dt > before || (best_dt == before && !(cautious && near[best].i < leaving))) break;
            auto [i, g, dg] = near[best];
            double pivot = B.sharp_candidate(i).pivot, negligible = B.negligible(i);
            if (pivot > negligible || std::abs(dg) > 10 * negligible * fastest)
                return {TO_MARGIN, i, best_dt, pivot <= negligible, g + best_dt * dg};
            resting[i] = 1, settled = false;
            near.erase(near.begin() + best);
        }
        if (settled) return {};
    }
}

// First multiplier to reach a bound when the margin set moves along v at fixed t: position (-1: none), and step.
struct Block {
    int position = -1;
    Set to = RIGHT;
    double step = INF;
};
inline Block first_block(const double *a, const Vector &cap, const Vector &v, double tolerance) {
    double noise = 0.0, largest = 0.0, longest = INF, fastest = 0.0;
    int k = int(v.size());
    for (int j = 0; j < k; j++) noise = std::max(noise, 1e-8 * std::abs(v[j])), largest = std::max(largest, a[j]);
    auto room = [&](int j) { return std::max(v[j] < 0 ? a[j] : cap[j] - a[j], 0.0); };
    for (int j = 0; j < k; j++)
        if (std::abs(v[j]) > noise)
            longest = std::min(longest, (room(j) + tolerance * std::min(cap[j], largest)) / std::abs(v[j]));
    Block best;
    for (int j = 0; j < k; j++) {  // of those that are as good as first, the fastest: the largest pivot (Harris)
        double speed = std::abs(v[j]);
        if (speed <= noise || room(j) / speed > longest || speed <= fastest) continue;
        best = {j, v[j] < 0 ? RIGHT : LEFT, room(j) / speed}, fastest = speed;
    }
    return best;
}

}  // namespace core
