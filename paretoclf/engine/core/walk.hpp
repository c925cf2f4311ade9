// From event to event along a line: steps in double while these are clear, and the others in twice the precision.
#pragma once
#include <chrono>
#include <functional>

#include "exchange.hpp"

namespace core {

enum class Stop { END, PAUSE, LIMIT, STALL };

template <class Form>
class Tracker {
  public:
    Problem<Form> problem;
    Basis<Form> B;
    Counts counts;
    double t = 0, t_lo = 0;  // where the walk is; t_lo is the low part
    double ahead = 0;        // how far ahead of t the basis is known to hold: there the first solution is looked at
    bool doubles = true;     // whether steps may be taken in double
    bool loose_end = false;  // where lines end every margin is looked at by others: multipliers will do

    explicit Tracker(Problem<Form> given) : problem(std::move(given)), B(problem) {}
    Tracker(const Tracker &) = delete;

    void set_line(Line line, bool like_the_last = false) {  // then what was learnt there serves here, too
        B.set_line(std::move(line));
        t = t_lo = ahead = 0.0;
        count_ = stalled_ = 0;
        paused_ = false;
        if (!like_the_last) M_.watch.forget();
    }
    int64_t exchanges() const { return count_; }
    // |V|^2 and the time since the epoch began (see watch.hpp).
    std::pair<double, double> drift() const { return {M_.watch.V2, M_.watch.time}; }
    int watched() const { return M_.watch.count; }  // samples looked at in this epoch

    // Take steps until the end of the line, the limit of exchanges, or about so many seconds from now. Steps of length
    // zero are legitimate (ties). After PATIENCE of them in a row only steps in twice the precision are taken, the
    // lowest index first among all that are tied, which cannot cycle. That it stalls all the same after very many more
    // can only be due to rounding.
    Stop run(int64_t limit, double seconds) {
        deadline_ = std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::nanoseconds>(
                                                           std::chrono::duration<double>(seconds));
        while (count_ <= limit) {
            if (std::chrono::steady_clock::now() > deadline_) return Stop::PAUSE;
            double before = t;
            int64_t made = 0;
            bool finished = false;
            if (stalled_ <= PATIENCE) finished = in_double(limit + 1 - count_, made);
            count_ += made;
            stalled_ = t > before ? 0 : stalled_ + made;
            if (finished) return Stop::END;
            if (count_ > limit) break;
            if (paused_) continue;
            before = t;
            Event event = careful_step();
            stalled_ = t > before ? 0 : stalled_ + 1;
            if (event.kind == NONE || t >= 1.0) return Stop::END;
            if (stalled_ > 20 * problem.n + 1000) return Stop::STALL;
            exchange(B, T_, event, caps(t, t_lo), counts);
            count_++;
        }
        return Stop::LIMIT;
    }

    // The solution at some point, in twice the precision.
    const Solution<Form, Twice> &solution(double at, double at_lo) {
        T_.compute(B, at, at_lo);
        return T_;
    }
    // Whether there is no event on the line any more.
    bool quiet() {
        auto holds = [&] {
            T_.compute(B, 0.0, 0.0);
            return T_.violation(B) <= SETTLED;
        };
        if (!without_shifts(holds)) T_.compute(B, 0.0, 0.0);
        return next(false).kind == NONE;
    }
    Vector caps(double at, double at_lo) const {
        double phi[2] = {B.line.phi[0].at(at, at_lo).hi, B.line.phi[1].at(at, at_lo).hi};
        Vector out(problem.n);
        for (int i = 0; i < problem.n; i++) out[i] = B.line.cap(i, phi);
        return out;
    }

  private:
    static constexpr int PATIENCE = 50;   // steps of length zero before the lowest index goes first
    static constexpr double SHRUNK = 0.01;  // multipliers or rates this much smaller than before are recomputed
    static constexpr double GUESS = 4.0;    // steps are seldom longer than this times their recent mean

    // Whether a solution holds with the targets of the margin set where they belong; if not, their shifts stay. The
    // residual of a margin when its sample entered is too much where caps have vanished, and where w is constant at 0
    // it is all that w is made of.
    template <class Holds>
    bool without_shifts(Holds holds) {
        auto shifted = [](double x) { return x != 0.0; };
        if (std::none_of(B.targets.begin(), B.targets.end(), shifted)) return false;
        Vector shifts(B.targets.size(), 0.0);
        std::swap(B.targets, shifts);
        if (holds()) return true;
        std::swap(B.targets, shifts);
        return false;
    }

    // ---- twice the precision ----

    Event careful_step() {
        T_.compute(B, t, t_lo);
        double from = t;
        Event event = next(stalled_ > PATIENCE);
        double to = std::min(from + event.dt, 1.0);
        if (to > from) record(from, to);
        t = to;
        return event;
    }

    // Find the first event; t_lo becomes the low part of its time.
    Event next(bool cautious) {
        if (double worst = T_.violation(B); !(worst <= INFEASIBLE)) {
            char number[32];
            std::snprintf(number, sizeof number, "%.1e", worst);
            throw Refused(std::string("the solution left its sets by ") + number);
        }
        double horizon = 1.0 - t;
        Event exit = first_exit(B, T_, horizon, cautious), event = exit;
        int leaving = exit.who < 0 ? -1 : B.F[exit.who];
        Event arrival = FirstArrival(B, T_, exit.dt, horizon, cautious, leaving).find();
        if (arrival.kind == TO_MARGIN) event = arrival;
        if (B.line.to_zero) {
            double total = 0.0, speed = 0.0;
            for (int g = 0; g < problem.m; g++) {
                total += T_.eta[0].hi[g];
                speed += T_.eta[1].hi[g];
            }
            if (ends_at_zero(total, speed, std::min(event.dt, horizon))) {
                double dt = speed != 0.0 ? -total / speed : 0.0;
                // Where all multipliers vanish at the end of the line, this sum does.
                double tie = B.line.ends_empty ? END_TIE : B.line.end_tolerance;
                Event end;
                end.dt = dt < horizon - tie ? dt : INF;
                return end;
            }
        }
        if (event.kind == NONE || event.dt > horizon - B.line.end_tolerance) return {};
        if (event.dt == 0.0) counts.zero++;
        double to = t + event.dt, added = to - t;
        t_lo += (t - (to - added)) + (event.dt - added);  // exactly what the sum was rounded by
        if (event.kind != TO_MARGIN) t_lo += rest_of_exit(event, to);
        return event;
    }
    static bool ends_at_zero(double total, double speed, double dt) {  // or no later than rounding can tell
        return total == 0.0 || total * (total + (1.0 + END_TIE) * dt * speed) <= 0.0;
    }
    // Compute what dt misses of the time to an exit, where the rounding of a multiplier would show in the margins.
    double rest_of_exit(const Event &event, double to) const {
        int r = event.who, i = B.F[r];
        if (event.dt == 0.0 || EPSILON * T_.cap[i] * problem.norm[i] * problem.norm[i] < MARGIN_NOISE) return 0.0;
        Twice slack = -T_.a[0][r] - T_.a[1][r] * Twice(event.dt);
        double rate = T_.a[1].hi[r];
        if (event.kind == TO_CAP) {
            for (int b = 0; b < 2; b++) slack = add_product(slack, B.line.base[b][i], B.line.phi[b].at(to, t_lo));
            rate -= B.line.cap_rate[i];
        }
        double rest = rounded(slack) / rate;
        return std::abs(rest) < event.dt ? rest : 0.0;
    }

    void record(double from, double to) {
        Log &log = B.log;
        if (!log.keep) return;
        int k = B.size();
        const auto &S = T_;
        // The solution is known at t + t_lo, and kept at the doubles t; but where multipliers move so fast that this
        // takes them out of their box, as it was at the event itself.
        Twice step[2] = {Twice(-S.t_lo), two_sum(to, -from) - Twice(S.t_lo)};
        Vector cap[2] = {caps(from, 0.0), caps(to, 0.0)};
        auto inside = [&](Twice dt, const Vector &top) {
            for (int j = 0; j < k; j++) {
                double x = rounded(add_product(S.a[0][j], dt, S.a[1][j]));
                double c = top[B.F[j]];
                if (!(std::min(x, c - x) >= -ROUNDING * c)) return false;
            }
            return true;
        };
        if (!inside(step[0], cap[0])) step[0] = Twice();
        if (!inside(step[1], cap[1])) step[1] += Twice(t_lo);
        log.begin_segment(from, to);
        for (Twice dt : step) {
            for (int g = 0; g < problem.m; g++) log.eta.push_back(rounded(add_product(S.eta[0][g], dt, S.eta[1][g])));
            for (int c = 0; c < log.width; c++) log.w.push_back(rounded(add_product(S.w[0][c], dt, S.w[1][c])));
        }
        Vector full(problem.n, 0.0), change(problem.n, 0.0);
        for (int i = 0; i < problem.n; i++)
            if (B.state[i] == LEFT) {
                full[i] = cap[0][i];
                change[i] = cap[1][i] - cap[0][i];
            }
        for (int j = 0; j < k; j++) {
            int i = B.F[j];
            double a =
                rounded(add_product(S.a[0][j], step[0], S.a[1][j]));  // one that all but vanishes is a difference
            double b = rounded(add_product(S.a[0][j], step[1], S.a[1][j]));
            log.index.push_back(i);
            log.a_first.push_back(a);
            log.a_last.push_back(b);
            full[i] = a;
            change[i] = b - a;
        }
        log.ptr.push_back(int64_t(log.index.size()));
        Vector q, dq;
        double length = step[1].hi - step[0].hi;
        products(full, change, length, q, dq);
        double v0 = 0.0, v1 = 0.0, v2 = 0.0;
        for (int i = 0; i < problem.n; i++) {
            double at = q[i] + step[0].hi * dq[i];
            double slope = length * dq[i];
            v0 += full[i] * (problem.p[i] - 0.5 * at);
            v1 += problem.p[i] * change[i] - full[i] * slope;
            v2 -= 0.5 * change[i] * slope;
        }
        log.value.insert(log.value.end(), {v0, v1, v2});
        look();
    }
    // Note whether multipliers of the last segment are outside their boxes at its ends. The code that mends them has
    // the ends as the path stores them, and rounds caps otherwise: half of what shows is enough.
    void look() {
        Log &log = B.log;
        size_t k = B.size(), from = log.index.size() - k;
        bool outside = false;
        auto at = [&](double t, const double *a) {
            double phi[2] = {B.line.phi[0].at(t, 0.0).hi, B.line.phi[1].at(t, 0.0).hi};
            for (size_t j = 0; j < k; j++) {
                double cap = B.line.cap(B.F[j], phi);
                outside |= std::min(a[j], cap - a[j]) < -0.5 * SEEN_OUTSIDE * cap;
            }
        };
        at(log.first.back(), log.a_first.data() + from);
        at(log.last.back(), log.a_last.data() + from);
        int64_t last = log.segments() - 1;
        if (outside && (log.outside.empty() || log.outside.back() != last)) log.outside.push_back(last);
    }
    // Compute Q a and its derivative; in twice the precision where rounding would show in the optimal value at an end
    // of the segment. Out of the origin costs grow by any factor on one: what its beginning bears says nothing about
    // its end.
    void products(const Vector &full, const Vector &change, double length, Vector &q, Vector &dq) const {
        q = T_.q[0];
        dq = T_.q[1];
        double value[2] = {0.0, 0.0}, doubt[2] = {0.0, 0.0};
        for (int i = 0; i < problem.n; i++) {
            double last = full[i] + change[i];
            value[0] += full[i] * (problem.p[i] - 0.5 * q[i]);
            value[1] += last * (problem.p[i] - 0.5 * (q[i] + length * dq[i]));
            if (B.state[i] != LEFT) continue;
            doubt[0] += full[i] * T_.g_error[0][i];
            doubt[1] += last * (T_.g_error[0][i] + length * T_.g_error[1][i]);
        }
        if (doubt[0] <= VALUE_ERROR * std::abs(value[0]) && doubt[1] <= VALUE_ERROR * std::abs(value[1])) return;
        for (int i = 0; i < problem.n; i++) {
            double eta = T_.row_multiplier(B, i, 0), deta = T_.row_multiplier(B, i, 1);
            if (B.state[i] == LEFT) {
                double g, dg, size;
                T_.precisely(B, i, g, dg, size);
                q[i] = g + problem.p[i] - eta;
                dq[i] = dg - deta;
            } else if (B.state[i] == MARGIN) {
                q[i] = problem.p[i] - eta;
                dq[i] = -deta;
            }
        }
    }

    // ---- double ----

    // Take steps in double from t on, at most so many. Returns whether the end of the line is reached.
    bool in_double(int64_t limit, int64_t &made) {
        if (!paused_) {
            // Where care is needed again and again, this is tried less often.
            if (!doubles || B.precise || waited_ < (1 << std::min(std::max(idle_ - 1, 0), 5)) - 1) {
                waited_++;
                return false;
            }
            stretch_ = {};
        }
        paused_ = false;
        double here = t, here_lo = t_lo + ahead;
        bool finished = steps(here, here_lo, limit, made);
        if (here > t) {  // else the solution was looked at ahead of t only
            t = here;
            t_lo = here_lo;
        }
        ahead = 0.0;
        counts.regular += made;
        stretch_.made += made;
        if (!paused_) {
            idle_ = stretch_.made == 0 ? idle_ + 1 : 0;
            waited_ = 0;
        }
        return finished;
    }

    // Verdict on a step in double: take it; recompute the solution from nothing but the basis first, or only its rates
    // (SETTLE); or take it in twice the precision.
    enum Verdict { GO, RECOMPUTE, SETTLE, CARE };

    bool steps(double &t, double &t_lo, int64_t limit, int64_t &made) {
        for (Verdict verdict = RECOMPUTE; verdict != CARE;) {
            bool late = verdict == RECOMPUTE && std::chrono::steady_clock::now() > deadline_;
            if (made >= limit || late) {
                paused_ = true;
                return false;
            }
            if (verdict == RECOMPUTE && !begin(t, t_lo)) return false;
            verdict = measured();
            if (verdict == SETTLE) {
                if (!M_.settle(B, t, t_lo)) return false;
                epoch_.fastest = 0.0;
            }
            if (verdict != GO) continue;
            FastEvent event = RatioTest(B, M_.S, M_.watch, epoch_.size, (1.0 - t) - t_lo).find(GUESS * stretch_.pace);
            const Candidate *entering = nullptr;
            verdict = judged(event, t, t_lo, entering);
            if (verdict != GO) continue;
            if (event.who < 0) {
                finish(t, t_lo);
                return true;
            }
            if (event.dt > 0.0) walk(event.dt, t, t_lo);
            verdict = exchanged(event, entering);
            if (verdict != CARE) made++;
        }
        return false;
    }

    // Begin an epoch with a solution from nothing but the basis; false if double is not enough.
    bool begin(double t, double t_lo) {
        auto &S = M_.S;
        auto holds = [&] { return S.compute(B, t, t_lo, M_.watch.follows(problem.n), EPOCH + 2); };
        auto within = [&] { return holds() && S.outside <= EVENT_BOX; };
        if (!without_shifts(within) && !holds()) return false;
        M_.watch.begin(B, S, stretch_.whole, stretch_.widened);
        epoch_ = {};
        epoch_.size.total = S.total;
        stretch_.whole = false;
        return true;
    }

    // Measure how large numbers are. Where they have shrunk, rounding errors are those of larger ones before.
    Verdict measured() {
        auto &P = problem;
        const auto &S = M_.S;
        Sizes size;  // summed up here, where the compiler sees that nothing else changes it
        size.total = epoch_.size.total;
        for (int j = 0; j < B.size(); j++) {
            double norm = P.Q.norm[B.F[j]];
            double a = std::abs(S.a[j]);
            double da = std::abs(S.da[j]);
            size.rate += da * norm;
            size.now += a * norm;
            size.largest = std::max(size.largest, a);
            size.fastest = std::max(size.fastest, da * P.Q.length[B.F[j]]);
        }
        size.total = std::max(size.total, size.now);
        auto &[kept, most, fastest, at_first, best, bent] = epoch_;
        kept = size;
        most = std::max(most, size.now);
        fastest = std::max(fastest, size.rate);
        best = std::max(best, std::abs(S.value[0]));
        bent = std::max(bent, std::abs(S.value[2]));
        if (M_.watch.steps == 0) at_first = size.rate;
        if (size.now < SHRUNK * most || size.rate < SHRUNK * at_first || std::abs(S.value[0]) < 0.5 * best)
            return RECOMPUTE;
        // Those of the margins are still relative to the beginning of the epoch.
        return size.rate < SHRUNK * fastest ? SETTLE : GO;
    }

    // Judge whether the step to an event is safe; the sample that enters comes as a candidate.
    Verdict judged(const FastEvent &event, double t, double t_lo, const Candidate *&entering) {
        auto &P = problem;
        const auto &S = M_.S;
        auto &watch = M_.watch;
        double dt = event.dt;
        if (!event.clear || ROUNDING * P.Q.longest * (epoch_.size.now + dt * epoch_.size.rate) > FAST_ERROR)
            return CARE;
        // The rounding error of a larger bend adds up in the value over the whole of the step, however long.
        double value = S.value[0] + dt * (S.value[1] - 0.5 * dt * S.value[2]);
        if (watch.steps > 0 && ROUNDING * epoch_.bent * dt * dt > VALUE_ERROR * std::abs(value)) return RECOMPUTE;
        if (B.line.to_zero) {
            double total = 0.0, speed = 0.0;
            for (int g = 0; g < P.m; g++) {
                total += S.eta[g];
                speed += S.deta[g];
            }
            if (ends_at_zero(total, speed, dt)) return CARE;
        }
        if (!watch.holds(B, dt)) {
            stretch_.widened = watch.steps == 0 ? 2.0 * stretch_.widened : 1.0;
            return RECOMPUTE;
        }
        stretch_.widened = 1.0;
        stretch_.pace = watch.steps == 0 ? dt : stretch_.pace + MEMORY * (dt - stretch_.pace);
        if (event.who < 0) return GO;
        if (event.kind == TO_MARGIN) {
            int i = watch.near[event.who];
            entering = &B.candidate(i);
            if (entering->pivot < FAST_PIVOT * P.diagonal(i)) return CARE;
        } else if (!watch.everything && B.alone(event.who)) {  // any sample may take its place
            stretch_.whole = true;
            return RECOMPUTE;
        }
        if (dt != 0.0 && t + (t_lo + dt) <= t) return CARE;
        stretch_.in_place = dt == 0.0 ? stretch_.in_place + 1 : 0;
        return stretch_.in_place > PATIENCE ? CARE : GO;
    }

    void walk(double dt, double &t, double &t_lo) {
        double to = t + (t_lo + dt);
        keep(t, t_lo, to);
        t_lo += (t - to) + dt;
        t = to;
        for (int b = 0; b < 2; b++) M_.S.right.cap[b] = B.line.phi[b].at(t, t_lo).hi;
        M_.watch.step(dt);
        M_.S.step(dt, B.size());
    }
    // Finish the line: what was extrapolated to its end is recomputed there.
    void finish(double &t, double &t_lo) {
        keep(t, t_lo, 1.0);
        t = 1.0;
        t_lo = 0.0;
        if (loose_end && !Form::has_features ? M_.S.on_margin(B, t, t_lo) : M_.S.compute(B, t, t_lo, false, 0)) amend();
        else amend_carefully();
    }

    Verdict exchanged(const FastEvent &event, const Candidate *entering) {
        auto &watch = M_.watch;
        double total = epoch_.size.total;
        Set to = event.kind == TO_CAP ? LEFT : RIGHT;
        if (event.kind != TO_MARGIN && B.alone(event.who)) return M_.jump(B, event.who, to, total) ? RECOMPUTE : CARE;
        if (event.kind != TO_MARGIN) M_.leave(B, event.who, to);
        else if (!M_.enter(B, event.who, *entering, total)) return CARE;
        if (++watch.steps >= EPOCH) return RECOMPUTE;
        watch.update_rates(B, M_.S);
        return GO;
    }

    void keep(double t, double t_lo, double to) {
        Log &log = B.log;
        if (!log.keep) return;
        const auto &S = M_.S;
        double step[2] = {-t_lo, (to - t) - t_lo};
        double length = step[1] - step[0];
        log.begin_segment(t, to);
        for (double dt : step) {
            for (int g = 0; g < problem.m; g++) log.eta.push_back(S.eta[g] + dt * S.deta[g]);
            for (int c = 0; c < log.width; c++) log.w.push_back(S.w[W][c] + dt * S.w[DW][c]);
        }
        size_t k = B.size(), from = log.index.size();
        log.index.insert(log.index.end(), B.F.begin(), B.F.end());
        for (auto *a : {&log.a_first, &log.a_last}) a->insert(a->end(), S.a.begin(), S.a.begin() + k);
        advance(log.a_first.data() + from, S.da.data(), step[0], int(k));
        advance(log.a_last.data() + from, S.da.data(), step[1], int(k));
        log.ptr.push_back(int64_t(log.index.size()));
        log.value.insert(log.value.end(),
                         {S.value[0] + step[0] * (S.value[1] - 0.5 * step[0] * S.value[2]),
                          length * (S.value[1] - step[0] * S.value[2]), -0.5 * length * length * S.value[2]});
        look();
    }
    // Replace what the log has for the end of its last segment.
    void amend() {
        const auto &S = M_.S;
        amend([&](int j) { return S.a[j]; }, [&](int g) { return S.eta[g]; }, [&](int c) { return S.w[W][c]; },
              S.value[0], S.value[1] != 0.0 || S.value[2] != 0.0);
    }
    void amend_carefully() {
        if (!B.log.keep) return;
        try {
            T_.compute(B, 1.0, 0.0);
        } catch (const Refused &) {  // then what was extrapolated stays, and is judged
            return;
        }
        Vector full = caps(1.0, 0.0), q, dq;
        for (int i = 0; i < problem.n; i++)
            if (B.state[i] != LEFT) full[i] = 0.0;
        for (int j = 0; j < B.size(); j++) full[B.F[j]] = T_.a[0].at(j);
        products(full, Vector(problem.n, 0.0), 0.0, q, dq);
        double value = 0.0;
        for (int i = 0; i < problem.n; i++) value += full[i] * (problem.p[i] - 0.5 * q[i]);
        amend([&](int j) { return T_.a[0].at(j); }, [&](int g) { return T_.eta[0].at(g); },
              [&](int c) { return T_.w[0].at(c); }, value, true);
    }
    template <class A, class Eta, class Slope>
    void amend(A a, Eta eta, Slope slope, double value, bool moves) {
        Log &log = B.log;
        if (!log.keep) return;
        int k = B.size();
        for (int j = 0; j < k; j++) log.a_last[log.a_last.size() - k + j] = a(j);
        for (int g = 0; g < problem.m; g++) log.eta[log.eta.size() - problem.m + g] = eta(g);
        for (int c = 0; c < log.width; c++) log.w[log.w.size() - log.width + c] = slope(c);
        double *known = log.value.data() + log.value.size() - 3;
        if (moves) known[1] = (value - known[0]) - known[2];
        look();
    }

    Solution<Form, Twice> T_;
    Moving<Form> M_;
    int64_t count_ = 0, stalled_ = 0;
    int idle_ = 0, waited_ = 0;  // attempts in double in vain, and steps in twice the precision since the last
    bool paused_ = false;
    struct {
        double pace = INF, widened = 1.0;
        int in_place = 0;
        bool whole = false;
        int64_t made = 0;
    } stretch_;  // a run of steps in double: what a pause, which may come at any recomputation, must not change
    struct {
        Sizes size;
        double most = 0.0, fastest = 0.0, at_first = 0.0, best = 0.0,
               bent = 0.0;  // extremes of what `measured` looks at
    } epoch_;  // from one recomputation to the next
    std::chrono::steady_clock::time_point deadline_;
};

}  // namespace core
