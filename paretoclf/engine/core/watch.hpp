// Which samples are watched for events between two recomputations (an epoch, tens of steps in double).
//
// Let V be how far w has left the course that it was on when the epoch began, and D = V'. No margin is off its course
// by more than |V| times the distance of the sample from the centre of the margin set, but for what those that leave
// the margin set meanwhile move that centre. Only samples that this could bring to their margin are watched, within
// budgets of t, |V| and the centre that are learnt from the epochs before. docs/explanation/tracker.md, "Who need not
// be watched", has the proof, and what each budget can do at worst; tests/engine/test_watch.py the brute force. It
// takes kappa = +-1.
#pragma once
#include <cstring>

#include "solution.hpp"

namespace core {

constexpr int EPOCH = 64;       // steps between two recomputations, at most
constexpr int WATCH_ALL = 600;  // so many samples are watched always
constexpr double MEMORY = 0.3;  // weight of the last epoch, and of the last step, in what is learnt

template <class Form>
class Watch {
  public:
    // Rows of the table, a column each watched sample: margin and rate, now and when the epoch began; rate of the
    // multiplier when it began; what those at their cap add to the rate of the margin; sqrt(Q_ii); side on which the
    // margin is positive (0: in the margin set); sign; and from KAPPA on, for each row of A, kappa of its samples and 0
    // for the others.
    enum Row { G, DG, FIRST_G, FIRST_DG, FIRST_DA, CAP_DG, NORM, SIDE, SIGN, KAPPA };

    Table table;
    Indices near, where;  // the sample in a column; the column of a sample (-1: none)
    Slots slots;          // where rows of the margin set (or features) stand for the watched samples
    int count = 0;        // columns watched
    int base = 0;         // where the margin set of the beginning of the epoch has its columns
    bool everything = true;
    int steps = 0;
    double V2 = 0, VD = 0, D2 = 0, time = 0;  // |V|^2, V.D, |D|^2, time since the epoch began
    double away = 0;                          // how far the centre went

    bool follows(int n) const { return n > WATCH_ALL; }
    void forget() {
        t_step_ = w_step_ = centre_step_ = 0.0;
        steps = 0;
    }

    void begin(const Basis<Form> &B, const Solution<Form, double> &S, bool whole, double widened) {
        auto &P = B.problem;
        int n = P.n, m = P.m, k = B.size();
        learn(n);
        V2 = VD = D2 = time = away = 0.0;
        steps = 0;
        first_ = B.F;
        t_budget_ = w_budget_ = centre_budget_ = INF;
        near.resize(n + EPOCH + k);
        where.resize(n);
        while (true) {
            if (follows(n) && t_step_ > 0.0 && !whole) {
                double walk = wanted_ * std::sqrt(wanted_);
                t_budget_ = RESERVE * widened * wanted_ * t_step_;
                w_budget_ = RESERVE * widened * walk * w_step_;
                centre_budget_ = RESERVE * widened * walk * centre_step_;
            }
            choose(B, S);
            if (t_budget_ == INF || wanted_ <= 8.0 || count * wanted_ <= 8 * n) break;
            wanted_ *= 0.7;  // too many for so long
        }
        everything = count == n;
        base = everything ? n : count + EPOCH;
        if (everything) t_budget_ = w_budget_ = centre_budget_ = INF;
        table.resize(KAPPA + m, (everything ? n : base + k));
        if (everything) {
            P.Q.watch_all(B.F, slots, EPOCH + 1);
        } else {
            size_t size = P.Q.block(k + EPOCH + 1, base);
            if (block_.size() < size) block_.resize(size);
            P.Q.watch_some(B.F, near, count, base, EPOCH + 1, block_.data(), slots);
            for (int j = 0; j < k; j++) {
                near[base + j] = B.F[j];
                where[B.F[j]] = base + j;
            }
        }
        for (int c = 0; c < count; c++) fill(B, S, c);
        if (!everything)
            for (int j = 0; j < k; j++) fill(B, S, base + j);
        for (int j = 0; j < k; j++) table[FIRST_DA][where[B.F[j]]] = S.da[j];
        first_bend_ = S.value[2];
    }
    int last() const { return everything ? base : base + int(first_.size()); }
    double *block() { return block_.data(); }
    const double *row_of(int slot) const {  // of a kernel matrix
        if constexpr (Form::has_features) return nullptr;
        else return slots.flat + slots.start[slot];
    }

    // Whether the budgets, within which no sample that is not watched comes to its margin, still hold after a step.
    bool holds(const Basis<Form> &B, double dt) {
        time_then_ = time + dt;
        off_ = follows(B.problem.n) ? off_centre(B, dt) : 0.0;
        square_ = V2 + dt * (2.0 * VD + dt * D2);
        return !(time_then_ > t_budget_ || square_ > w_budget_ * w_budget_ || off_ > centre_budget_);
    }
    void step(double dt) {  // after `holds` was asked about this dt
        V2 = square_;
        VD += dt * D2;
        time = time_then_;
        away = std::max(away, off_);
        advance(table[G], table[DG], dt, count);
    }

    void update_rates(const Basis<Form> &B, Solution<Form, double> &S) {
        coef_.resize(std::max(B.size(), 1));
        B.problem.Q.rates(B.F, S.da.data(), coef_.data(), S.w, slots, near, count, table[SIGN], table[CAP_DG],
                          table[DG]);
        for (int h = 0; h < B.problem.m; h++) advance(table[DG], table[KAPPA + h], S.deta[h], count);
    }
    // Recompute D, and the bend |w'|^2 of the optimal value, from their definitions: by how much the rates of
    // multipliers have changed since the epoch began, times the changes of the rates of margins. (The shares of eta
    // cancel, for A a' = e' always.)
    void course(const Basis<Form> &B, Solution<Form, double> &S) {
        double turn = 0.0;
        auto add = [&](int c, double da, double dg) {
            double change = da - table[FIRST_DA][c];
            turn += change * table[FIRST_DG][c];
            D2 += change * (dg - table[FIRST_DG][c]);
            VD += change * (table[G][c] - table[FIRST_G][c] - time * table[FIRST_DG][c]);
        };
        D2 = VD = 0.0;
        for (int c = 0; c < count; c++)
            if (double side = table[SIDE][c]; side != 0.0)
                add(c, side < 0.0 ? B.line.cap_rate[near[c]] : 0.0, table[DG][c]);
        for (int j = 0; j < B.size(); j++) add(where[B.F[j]], S.da[j], 0.0);
        S.value[2] = first_bend_ + 2.0 * turn + D2;
    }
    // Watch a sample that has left the margin set of the beginning: it gets a column among the watched ones.
    void leaver(const Basis<Form> &B, int i) {
        int c = where[i];
        for (int r = 0; r < table.rows(); r++) table[r][count] = table[r][c];
        near[count] = i;
        where[i] = count;
        B.problem.Q.widen(i, B.F, count, block_.data(), slots);
        count++;
    }

  private:
    static constexpr double RESERVE = 1.5;  // budgets relative to what recent epochs needed

    // Learn from the last epoch: t goes with the steps, w and the centre like the integral of a random walk.
    void learn(int n) {
        if (steps >= 4) {
            double weight = t_step_ > 0.0 ? MEMORY : 1.0, walk = steps * std::sqrt(double(steps));
            t_step_ += weight * (time / steps - t_step_);
            w_step_ += weight * (std::sqrt(std::max(V2, 0.0)) / walk - w_step_);
            centre_step_ += weight * (away / walk - centre_step_);
        }
        if (steps > 0 && !everything)  // the fewer are watched the sooner all is recomputed: strike a balance
            wanted_ = std::min(std::max(wanted_ * (count * double(steps) > 4.0 * n ? 0.8 : 1.25), 8.0), double(EPOCH));
    }
    // Choose the samples to watch within the budgets.
    void choose(const Basis<Form> &B, const Solution<Form, double> &S) {
        auto &P = B.problem;
        const double *g = S.all[Solution<Form, double>::G];
        const double *dg = S.all[Solution<Form, double>::DG];
        count = 0;
        if (t_budget_ < INF) {
            marked_.resize(P.n + 8);
            Budget within{t_budget_, w_budget_, centre_budget_, 10 * ROUNDING, S.total};
            reachable(B.state.data(), P.group.data(), g, dg, P.Q.norm.data(), S.spread.data(), P.n, within,
                      marked_.data());
            std::fill(where.begin(), where.end(), -1);
            for (int from = 0; from < P.n; from += 8) {
                uint64_t eight;  // most samples are far from their margin
                std::memcpy(&eight, &marked_[from], 8);
                if (eight == 0) continue;
                for (int i = from; i < from + 8; i++)
                    if (marked_[i]) {
                        near[count] = i;
                        where[i] = count++;
                    }
            }
        }
        if (t_budget_ == INF || 10 * count > 9 * P.n)
            for (count = 0; count < P.n; count++) near[count] = where[count] = count;
    }
    // Fill the column of a sample.
    void fill(const Basis<Form> &B, const Solution<Form, double> &S, int c) {
        auto &P = B.problem;
        int i = near[c];
        table[G][c] = table[FIRST_G][c] = S.all[Solution<Form, double>::G][i];
        table[DG][c] = table[FIRST_DG][c] = S.all[Solution<Form, double>::DG][i];
        table[NORM][c] = P.Q.norm[i];
        table[SIGN][c] = P.Q.sign[i];
        table[SIDE][c] = B.state[i] == RIGHT ? 1.0 : B.state[i] == LEFT ? -1.0 : 0.0;
        for (int h = 0; h < P.m; h++) table[KAPPA + h][c] = P.group[i] == h ? P.kappa[i] : 0.0;
        table[FIRST_DA][c] = B.state[i] == LEFT ? B.line.cap_rate[i] : 0.0;
        double slope[2] = {B.line.phi[0].slope.hi, B.line.phi[1].slope.hi};
        table[CAP_DG][c] = P.Q.cap_rate(i, slope, B.sums);
    }
    // Measure how far the centre of the first margin set has left its margin after a step.
    double off_centre(const Basis<Form> &B, double dt) {
        auto &P = B.problem;
        sums_.assign(P.m, 0.0);
        sizes_.assign(P.m, 0.0);
        for (int i : first_) {
            int c = where[i], h = P.group[i];
            if (h >= 0) {
                sums_[h] += P.kappa[i] * (table[G][c] + dt * table[DG][c]);
                sizes_[h] += 1.0;
            }
        }
        double off = 0.0;
        for (int h = 0; h < P.m; h++) off = std::max(off, std::abs(sums_[h]) / std::max(sizes_[h], 1.0));
        return off;
    }

    std::vector<int8_t> marked_;  // whether a sample is to be watched; behind them 8 zeros, as they are read by eights
    Indices first_;  // the margin set when the epoch began
    Lines<double> block_;
    Vector coef_, sums_, sizes_;
    double wanted_ = 16.0, t_step_ = 0, w_step_ = 0, centre_step_ = 0;  // steps an epoch; how far t, w and centre go
    double t_budget_ = INF, w_budget_ = INF, centre_budget_ = INF;
    double time_then_ = 0, off_ = 0, square_ = 0, first_bend_ = 0;
};

}  // namespace core
