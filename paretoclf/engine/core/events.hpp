// What happens first after a point: ratio tests, in double with a verdict whether that suffices, and in twice the
// precision.
//
// A near tie is decided in twice the precision, never by a tolerance: where the margin system is ill-conditioned,
// stepping past an event by 1e-11 in the gradient moves the multipliers by 1e-11 over the pivot, which is visible.
// Exact ties take the fastest sample; with caution (after a run of steps of length zero) the lowest index. So do exits
// that nothing but rounding of the multipliers tells apart, lest the units of the data decide.
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

// The ratio test in double. Each time that it finds is an interval, from the earliest that rounding errors allow to the
// latest; the event is clear if its interval is before all others. Of samples that are on their margin up to rounding
// and move away from it the fastest enters, at once; the others there rest.
template <class Form>
class RatioTest {
  public:
    RatioTest(const Basis<Form> &B, const Solution<Form, double> &S, const Watch<Form> &watch, const Sizes &size,
              double horizon)
        : B_(B), S_(S), watch_(watch), size_(size), horizon_(horizon), margins_(watch.table[W::G]),
          rates_(watch.table[W::DG]), norms_(watch.table[W::NORM]), sides_(watch.table[W::SIDE]),
          exit_error_(FAST_EXIT * S.error_growth), slope_noise_(SLOPE_NOISE * S.error_growth),
          margin_error_(ROUNDING * size.total), rate_error_(ROUNDING * size.rate) {
        double eta = 0.0, deta = 0.0;
        for (int h = 0; h < B.problem.m; h++) {
            eta = std::max(eta, std::abs(S.eta[h]));
            deta = std::max(deta, std::abs(S.deta[h]));
        }
        fixed_margin_error_ = ROUNDING * (1.0 + eta);
        fixed_rate_error_ = ROUNDING * deta;
    }

    // Find the first event. `guess` is how long it probably takes at most, which only saves time.
    FastEvent find(double guess) {
        double within = std::min(guess, horizon_);
        while (true) {
            begin(within);
            for (int j = 0; j < B_.size(); j++) look_at_member(j);
            look_at_watched();
            if (tied_ >= 0) {
                bool clear = (best_.kind == TO_MARGIN || earliest_of_best_ > 0.0) && second_ > 0.0;
                return {tied_, TO_MARGIN, clear, 0.0};
            }
            bool more_counts = within < horizon_ && latest_of_best_ > within;
            if (!more_counts) return verdict();
            within = best_.who >= 0 ? std::min(latest_of_best_, horizon_) : horizon_;
        }
    }

  private:
    using W = Watch<Form>;
    static constexpr int CHUNK = 16;  // watched samples tested together

    void begin(double within) {
        limit_ = within;
        best_ = FastEvent();
        earliest_of_best_ = latest_of_best_ = second_ = INF;
        first_slack_ = INF;
        first_speed_ = 0.0;
        tied_ = -1;
        quickest_ = 0.0;
    }
    void found(int who, Kind kind, double dt, double earliest, double latest) {
        if (!(dt < best_.dt)) {
            second_ = std::min(second_, earliest);
            return;
        }
        second_ = std::min(second_, earliest_of_best_);
        best_.who = who;
        best_.kind = kind;
        best_.dt = dt;
        earliest_of_best_ = earliest;
        latest_of_best_ = latest;
        limit_ = std::min(limit_, latest);
    }

    // When the multiplier of member j reaches its bounds.
    void look_at_member(int j) {
        int i = B_.F[j];
        double cap = B_.line.cap(i, S_.right.cap);
        double rate = B_.line.cap_rate[i];
        double error = exit_error_ * (std::min(cap, size_.largest) + 0.1 * size_.largest);
        bool stays_above_zero = S_.a[j] - error > -S_.da[j] * limit_;
        if (stays_above_zero && (cap - S_.a[j]) - error > (S_.da[j] - rate) * limit_) return;
        for (Kind kind : {TO_ZERO, TO_CAP}) {
            double slack = kind == TO_CAP ? cap - S_.a[j] : S_.a[j];
            double speed = kind == TO_CAP ? S_.da[j] - rate : -S_.da[j];
            if (slack - error > speed * limit_) continue;
            double noise = slope_noise_ * (size_.fastest / B_.problem.Q.length[i] + std::abs(rate));
            if (speed <= 0.1 * noise) continue;
            double earliest = std::max(slack - error, 0.0) / speed;
            if (speed < 10.0 * noise) {  // it may move, or not
                second_ = std::min(second_, 0.0);
                continue;
            }
            // Of two members of one row of A the constraint fixes the sum or the difference: both may reach a bound at
            // once, always. Then either leaves, and the other stays, at its bound.
            bool together = std::abs(speed - first_speed_) <= noise && std::abs(slack - first_slack_) <= ROUNDING * cap;
            if (together && B_.size() == 2 && B_.problem.m == 1) continue;
            bool rests = slack <= error && speed * horizon_ <= exit_error_ * cap;  // its rate is rounding
            if (rests) continue;
            first_slack_ = slack;
            first_speed_ = speed;
            bool at_bound = -error <= slack && slack <= ROUNDING * cap;
            found(j, kind, at_bound ? 0.0 : slack / speed, earliest, (slack + error) / speed);
        }
    }
    void look_at_watched() {
        for (int start = 0; start < watch_.count; start += CHUNK) {
            int stop = std::min(start + CHUNK, watch_.count);
            int near = possible(margins_ + start, rates_ + start, norms_ + start, sides_ + start, stop - start,
                                fixed_margin_error_, margin_error_, fixed_rate_error_, rate_error_, limit_, ROUNDING);
            if (near == 0) continue;
            for (int c = start; c < stop; c++) look_at_sample(c);
        }
    }
    // When the watched sample c reaches its margin.
    void look_at_sample(int c) {
        double side = sides_[c];
        double noise = fixed_rate_error_ + norms_[c] * rate_error_;
        double speed = -side * rates_[c];
        double fastest = speed + noise;
        double slack = side * margins_[c];
        double error = fixed_margin_error_ + norms_[c] * margin_error_;
        if (slack - error - fastest * limit_ > 0.0 || side == 0.0 || fastest <= 0.0) return;
        if (slack <= error) {  // on its margin, as far as can be told: it enters at once, or rests there
            if (speed > std::max(noise, quickest_)) {
                tied_ = c;
                quickest_ = speed;
            }
            return;
        }
        double earliest = (slack - error) / fastest;
        if (speed <= noise) {
            second_ = std::min(second_, earliest);
            return;
        }
        if (best_.kind == TO_MARGIN && are_twins(watch_.near[c], watch_.near[best_.who])) return;
        found(c, TO_MARGIN, slack / speed, earliest, (slack + error) / (speed - noise));
    }
    // Whether two samples reach their margins together, always: the first that enters leaves the other resting there.
    bool are_twins(int i, int j) const {
        auto &P = B_.problem;
        bool same = P.group[i] == P.group[j] && P.kappa[i] == P.kappa[j] && P.p[i] == P.p[j];
        return same && P.Q.alike(i, j, TWINS);
    }
    FastEvent verdict() {
        double end = horizon_ - B_.line.end_tolerance;
        if (best_.who < 0 || best_.dt > horizon_) {
            return {-1, NONE, std::min(earliest_of_best_, second_) > end, horizon_};
        }
        best_.clear = best_.dt >= 0.0 && limit_ < second_ && limit_ < end;
        return best_;
    }

    const Basis<Form> &B_;
    const Solution<Form, double> &S_;
    const Watch<Form> &watch_;
    const Sizes &size_;
    const double horizon_;
    const double *margins_, *rates_, *norms_, *sides_;  // of the watched samples
    const double exit_error_, slope_noise_;
    // Errors of a margin and of its rate: fixed, and times the norm of the sample.
    double fixed_margin_error_, fixed_rate_error_;
    const double margin_error_, rate_error_;

    double limit_ = INF;  // nothing that cannot happen before this is looked at
    FastEvent best_;
    double earliest_of_best_ = INF, latest_of_best_ = INF, second_ = INF;  // second_: the earliest time of all others
    double first_slack_ = INF, first_speed_ = 0.0;                         // of the member found last
    int tied_ = -1;
    double quickest_ = 0.0;
};

// In twice the precision: to which member of the margin set, or which sample; who enters comes as a candidate.
struct Event {
    Kind kind = NONE;
    int who = -1;
    double dt = INF;
    bool dependent = false;  // the sample that enters depends on the margin set
    double g = 0;            // what is left of its gradient
};

// Find the first multiplier of the margin set to reach a bound within the horizon.
template <class Form>
Event first_exit(const Basis<Form> &B, const Solution<Form, Twice> &S, double horizon, bool cautious) {
    Event best;
    double merit = -INF, best_error = 0.0;
    auto norm = [&](int i) { return std::max(B.problem.norm[i], 1e-300); };
    double fastest = 0.0;
    for (int j = 0; j < B.size(); j++) fastest = std::max(fastest, std::abs(S.a[1].hi[j]) * norm(B.F[j]));
    // Where multipliers at their caps balance each other, all that is left of the rates of the margin set is rounding.
    double capped = 0.0;
    for (int i = 0; i < B.problem.n; i++)
        if (B.state[i] == LEFT) capped += std::abs(B.line.cap_rate[i]) * norm(i);
    fastest = std::max(fastest, STILL / SLOPE_NOISE * capped);
    for (int j = 0; j < B.size(); j++) {
        int i = B.F[j];
        double a = S.a[0].hi[j];
        double da = S.a[1].hi[j];
        double cap = S.cap[i];
        double rate = B.line.cap_rate[i];
        double noise = SLOPE_NOISE * fastest / norm(i);
        for (Kind kind : {TO_ZERO, TO_CAP}) {
            double slack = kind == TO_ZERO ? a : cap - a;
            double speed = kind == TO_ZERO ? -da : da - rate;
            double least = kind == TO_ZERO ? noise : noise + SLOPE_NOISE * std::abs(rate);
            if (speed <= least || slack > speed * horizon) continue;
            double dt = std::max(slack, 0.0) / speed;
            double worth = cautious ? -double(i) : speed / std::max(cap, 1e-300);
            double error = ROUNDING * (kind == TO_ZERO ? std::abs(a) : cap) / speed;
            bool better = dt < best.dt || (dt == best.dt && worth > merit);
            bool rounding_decides = best.who >= 0 && dt != best.dt && std::abs(dt - best.dt) <= error + best_error;
            if (rounding_decides) better = i < B.F[best.who];
            if (!better) continue;
            best.who = j;
            best.kind = kind;
            best.dt = dt;
            merit = worth;
            best_error = error;
        }
    }
    return best;
}

// The first sample to reach its margin no later than `before`, when sample `leaving` leaves it. One whose gradient does
// not move, or moves by no more than what "dependent" neglects, rests where it is; then the others are looked at again.
template <class Form>
class FirstArrival {
  public:
    FirstArrival(Basis<Form> &B, const Solution<Form, Twice> &S, double before, double horizon, bool cautious,
                 int leaving)
        : B_(B), S_(S), before_(before), horizon_(horizon), cautious_(cautious), leaving_(leaving),
          resting_(B.problem.n, 0), earliest_(B.problem.n) {
        for (int i = 0; i < B.problem.n; i++)
            if (B.state[i] == LEFT) fastest_ = std::max(fastest_, std::abs(B.line.cap_rate[i]));
        for (int j = 0; j < B.size(); j++) {
            fastest_ = std::max(fastest_, std::abs(S.a[1].hi[j]));
            terms_ += std::abs(S.a[1].hi[j]) * B.problem.norm[B.F[j]];
        }
    }
    Event find() {
        while (true) {
            double bound = bound_times();
            bool all_move = look_closely(bound);
            if (near_.empty() && all_move) return {};
            while (!near_.empty()) {
                auto [position, dt] = earliest_near();
                if (position < 0 || dt > before_) break;
                auto [i, g, dg] = near_[position];
                if (dt == before_ && !(cautious_ && i < leaving_)) break;
                double pivot = B_.sharp_candidate(i).pivot;
                double negligible = B_.negligible(i);
                bool moves = pivot > negligible || std::abs(dg) > 10 * negligible * fastest_;
                if (moves) return {TO_MARGIN, i, dt, pivot <= negligible, g + dt * dg};
                resting_[i] = 1;
                all_move = false;
                near_.erase(near_.begin() + position);
            }
            if (all_move) return {};
        }
    }

  private:
    struct Near {  // a sample that may be first: its gradient and the rate of that, rounded once
        int i;
        double g, dg;
    };
    double side_of(int i) const { return B_.state[i] == RIGHT ? 1.0 : -1.0; }  // on which its gradient has to be

    // Find the earliest time at which each sample may arrive; return the latest at which the first may: no later one
    // counts.
    double bound_times() {
        double bound = std::min(before_, horizon_);
        for (int i = 0; i < B_.problem.n; i++) {
            earliest_[i] = INF;
            if (B_.state[i] >= MARGIN || resting_[i]) continue;
            double slack = side_of(i) * S_.g[0][i];
            double speed = -side_of(i) * S_.g[1][i];
            double error = S_.g_error[0][i];
            double speed_error = S_.g_error[1][i];
            if (speed + speed_error <= 0.0) continue;
            earliest_[i] = std::max(slack - error, 0.0) / (speed + speed_error);
            if (speed - speed_error > 0.0)
                bound = std::min(bound, std::max(slack + error, 0.0) / (speed - speed_error));
        }
        return bound;
    }
    // Compute those that may be first precisely. Returns whether all of them move.
    bool look_closely(double bound) {
        bool all_move = true;
        near_.clear();
        for (int i = 0; i < B_.problem.n; i++) {
            if (!(earliest_[i] <= bound)) continue;
            double g, dg, size;
            S_.precisely(B_, i, g, dg, size);
            double towards = -side_of(i) * dg;
            if (towards > SLOPE_ZERO * (size + B_.problem.norm[i] * terms_)) {
                near_.push_back({i, g, dg});
            } else {
                resting_[i] = 1;
                all_move = false;
            }
        }
        return all_move;
    }
    // Find the position of the earliest of them, -1 for none, and its time. Of those that are tied the fastest goes
    // first, with caution the lowest index.
    std::pair<int, double> earliest_near() const {
        int best = -1;
        double best_dt = INF, merit = -INF;
        for (size_t c = 0; c < near_.size(); c++) {
            auto [i, g, dg] = near_[c];
            double slack = side_of(i) * g;
            double speed = -side_of(i) * dg;
            if (speed <= 0.0 || slack > speed * horizon_) continue;
            double dt = std::max(slack, 0.0) / speed;
            double worth = cautious_ ? -double(i) : speed;
            if (dt < best_dt || (dt == best_dt && worth > merit)) {
                best = int(c);
                best_dt = dt;
                merit = worth;
            }
        }
        return {best, best_dt};
    }

    Basis<Form> &B_;
    const Solution<Form, Twice> &S_;
    const double before_, horizon_;
    const bool cautious_;
    const int leaving_;
    double fastest_ = 0.0, terms_ = 0.0;  // the fastest multiplier; sizes of the terms of the rates of gradients
    std::vector<char> resting_;
    Vector earliest_;
    std::vector<Near> near_;
};

// A multiplier that reaches a bound when the margin set moves along v at fixed t: position (-1: none), and step.
struct Block {
    int position = -1;
    Set to = RIGHT;
    double step = INF;
};
// Find the first one; of those that are as good as first, the fastest: it has the largest pivot (Harris).
inline Block first_block(const double *a, const Vector &cap, const Vector &v, double tolerance) {
    double noise = 0.0, largest = 0.0;
    int k = int(v.size());
    for (int j = 0; j < k; j++) {
        noise = std::max(noise, 1e-8 * std::abs(v[j]));
        largest = std::max(largest, a[j]);
    }
    auto slack = [&](int j) { return std::max(v[j] < 0 ? a[j] : cap[j] - a[j], 0.0); };
    double longest = INF;
    for (int j = 0; j < k; j++) {
        if (std::abs(v[j]) <= noise) continue;
        double allowed = tolerance * std::min(cap[j], largest);
        longest = std::min(longest, (slack(j) + allowed) / std::abs(v[j]));
    }
    Block best;
    double fastest = 0.0;
    for (int j = 0; j < k; j++) {
        double speed = std::abs(v[j]);
        if (speed <= noise || slack(j) / speed > longest || speed <= fastest) continue;
        best = {j, v[j] < 0 ? RIGHT : LEFT, slack(j) / speed};
        fastest = speed;
    }
    return best;
}

}  // namespace core
