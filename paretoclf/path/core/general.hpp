// The path of any parametric program from event to event: what paretoclf/path/general.py explains, in two precisions.
//
// An item (a variable or a row) has a label from BELOW to ABOVE; B are the variables with even and the rows with odd
// labels. u = (x, -y of rows) is known outside B, w = Hu + (q, 0) in B.
#pragma once
#include <cstdint>
#include <cstdio>
#include <limits>
#include <numeric>
#include <string>

#include "inverse.hpp"

namespace core {

enum Piece : int8_t { PIECE_BELOW = -2, PIECE_LOWER, PIECE_INSIDE, PIECE_UPPER, PIECE_ABOVE };

// What each number of two precisions can be trusted with; paretoclf/path/general.py has the reasons.
template <class Real>
struct Trust {
    static constexpr bool twice = !std::is_same_v<Real, double>;
    static constexpr double rounding = twice ? 1e-29 : 1e-14, drift = twice ? 1e-28 : 1e-13, zero = twice ? 1e-32 : 1e-17;
};
constexpr double LAST = 1e-11, OUTSIDE = 1e-6, HARRIS = 1e-12, REST = 1e-10;
constexpr int FRESH = 60;

// The numbers of a program along its line, at t = 0 and at t = 1; zeros where a bound or slope is infinite.
struct Program {
    enum Side { LOW, UP, BELOW_SLOPE, ABOVE_SLOPE };
    Vector q[2], sides[4][2];
    std::vector<char> has_low, has_up, soft_low, soft_up, fixed;
    bool free(int i) const { return !has_low[i] && !has_up[i]; }
};

template <class Real>
class Walk {
  public:
    enum Status { PAUSED, END, INFEASIBLE, UNBOUNDED, LIMIT, REFUSED };

    std::vector<int8_t> labels;
    std::string why;  // it is refused
    Real t = 0.0;
    int64_t exchanges = 0;
    int crossed = -1;
    std::vector<Real> ray;
    Vector times{0.0}, values, multipliers;  // of the segments: ends, and at both ends all items
    std::vector<int8_t> pieces;              // and their labels
    std::vector<Real> v[2], y[2];            // now, and their rates

    Walk(const Columns &H, Program program, std::vector<int8_t> begin)
        : labels(std::move(begin)), H_(H), p_(std::move(program)), N_(H.items), n_(H.n) {
        patience_ = 200 + 2 * int64_t(N_);
        resting_.assign(N_, 0), terms_.assign(N_, 0.0), noise_.resize(N_);
        for (auto *each : {&v[0], &v[1], &y[0], &y[1]}) each->resize(N_);
        for (int r = 0; r < 2; r++) {
            w_[r].resize(N_), known_[r].resize(N_), bound_[r].resize(N_), h_[r].resize(N_), level_[r].resize(N_);
            size_[r].resize(N_), error_[r].resize(N_), speed_[r].resize(N_), slack_[r].resize(N_), asked_[r].resize(N_);
            for (auto &side : now_) side[r].resize(N_);
            for (int i = 0; i < N_; i++) {
                terms_[i] += std::abs(p_.q[r][i]);
                for (auto &side : p_.sides) terms_[i] += std::abs(side[r][i]);
            }
        }
    }

    // The solution on the basis at t; false if it is refused.
    bool solve(Real at) {
        if (!made_ && !factor()) return false;
        for (int s = 0; s < 4; s++) along(p_.sides[s], at, now_[s]);
        along(p_.q, at, h_);
        for (int r = 0; r < 2; r++)
            for (int i = 0; i < N_; i++) {
                int8_t label = labels[i];
                Real bound = now_[label >= PIECE_UPPER ? Program::UP : Program::LOW][r][i];
                Real level = label == PIECE_BELOW ? now_[Program::BELOW_SLOPE][r][i]
                             : label == PIECE_ABOVE ? -now_[Program::ABOVE_SLOPE][r][i] : Real(0.0);
                bound_[r][i] = bound, level_[r][i] = level;
                if (label % 2 == 0) known_[r][i] = i < n_ ? level - h_[r][i] : -level;
                else known_[r][i] = bound;
            }
        if (!complete(2)) return false;
        int k = K_.size();
        for (int i = 0; i < N_; i++) {
            size_[0][i] += absolute(h_[0][i]) + absolute(known_[0][i]) + absolute(bound_[0][i]);
            size_[1][i] += terms_[i];
        }
        for (int r = 0; r < 2; r++) {
            for (int i = 0; i < N_; i++) w_[r][i] += h_[r][i];
            errors(size_[r], error_[r]);
            for (int i = 0; i < N_; i++) {
                bool odd = labels[i] % 2 != 0;
                int place = K_.where[i];
                Real u = place >= 0 ? x_[r][place] : known_[r][i];
                v[r][i] = odd ? bound_[r][i] : i < n_ ? u : w_[r][i];
                y[r][i] = !odd ? level_[r][i] : i < n_ ? w_[r][i] : -u;
                if (!std::isfinite(rounded(v[r][i])) || !std::isfinite(rounded(y[r][i]))) return refuse("the solution is not finite");
            }
            for (int a = 0; a < k; a++)
                if (!std::isfinite(rounded(x_[r][a]))) return refuse("the solution is not finite");
        }
        return true;
    }

    // Go on, for so many steps, to the end, or to where there is none.
    Status run(int64_t limit, bool keep, int64_t steps) {
        for (; steps > 0; steps--) {
            if (since_ >= std::max(FRESH, K_.size()) && !factor()) return REFUSED;
            if (!solve(t)) return REFUSED;
            if (!event()) return REFUSED;
            Real step = when_ - t;
            bool stands = rounded(step) == 0.0;
            if (keep && rounded(when_) > rounded(t)) record(step);
            standing_ = stands ? standing_ + 1 : 0;
            if (standing_ > 20 * patience_) return refuse("no progress after very many exchanges at one point"), REFUSED;
            double speed = item_ >= 0 && side_ < 2 ? rounded(speed_[side_][item_]) : 0.0;
            t = when_;
            if (item_ < 0) return END;
            if (side_ == 2) return crossed = item_, INFEASIBLE;
            if (exchanges >= limit) return LIMIT;
            for (auto &side : now_)
                for (int i = 0; i < N_; i++) side[0][i] += step * side[1][i];
            for (int i = 0; i < N_; i++) v[0][i] += step * v[1][i], y[0][i] += step * y[1][i];
            Status stopped = exchange(item_, side_);
            exchanges++;
            if (stopped == PAUSED) continue;
            if (stopped == REFUSED) return REFUSED;
            auto &kind = labels[item_] % 2 ? y[0] : v[0];
            double largest = 0.0;
            for (Real x : kind) largest = std::max(largest, absolute(x));
            if (speed * rounded(Real(1.0) - t) > REST * (1.0 + largest)) return stopped;
            resting_[item_] = 1;  // to the end it is violated by no more than rounding
        }
        return PAUSED;
    }

    int members() const { return K_.size(); }

  private:
    static double absolute(Real x) { return std::abs(rounded(x)); }
    static bool less(Real a, Real b) { return rounded(a - b) < 0.0; }
    bool refuse(const char *reason) { return why = reason, false; }
    void along(const Vector *ends, Real at, std::vector<Real> *out) const {
        for (int i = 0; i < N_; i++) {
            Real first = ends[0][i], last = ends[1][i];
            out[0][i] = (Real(1.0) - at) * first + at * last, out[1][i] = last - first;
        }
    }

    // ---- the transform ----

    bool factor() {
        Indices B;
        for (int i = 0; i < N_; i++)
            if ((labels[i] % 2 == 0) == (i < n_)) B.push_back(i);
        made_ = true, since_ = 0;
        return K_.whole(H_, std::move(B)) || refuse("the basis is singular");
    }
    bool again() {  // K afresh, of the members that there are: labels may be on their way
        Indices B = K_.members;
        std::sort(B.begin(), B.end());
        since_ = 0;
        return K_.whole(H_, std::move(B)) || refuse("the basis is singular");
    }

    // w = Hu and size = |H| |u| from what is known_ outside B (of u) and in B (of w), for one row or two; u in B is x_.
    bool complete(int rows) {
        for (int round = 0; round < 2; round++) {
            int k = K_.size();
            double missed = 0.0, size = 0.0, wanted = 0.0;
            for (int r = 0; r < rows; r++) {
                std::fill(w_[r].begin(), w_[r].end(), Real(0.0)), std::fill(size_[r].begin(), size_[r].end(), 0.0);
                for (int i = 0; i < N_; i++) {
                    double known = absolute(known_[r][i]);
                    if (known == 0.0) continue;
                    wanted = std::max(wanted, known);
                    if (K_.where[i] < 0) H_.add_to(i, known_[r][i], w_[r].data()), H_.add_sizes_to(i, known, size_[r].data());
                }
                x_[r].assign(k, Real(0.0)), right_.resize(k), change_.resize(k);
                for (int a = 0; a < k; a++) right_[a] = known_[r][K_.members[a]] - w_[r][K_.members[a]];
                if (rows == 1) first_ = right_;
                for (int turn = 0; turn < 3; turn++) {
                    K_.times(right_.data(), change_.data());
                    for (int a = 0; a < k; a++) x_[r][a] += change_[a];
                    K_.take_off(change_.data(), right_.data());
                }
                for (int a = 0; a < k; a++) {
                    int i = K_.members[a];
                    missed = std::max(missed, absolute(right_[a]));
                    if (rounded(x_[r][a]) == 0.0) continue;
                    H_.add_to(i, x_[r][a], w_[r].data()), H_.add_sizes_to(i, absolute(x_[r][a]), size_[r].data());
                }
                for (int i : K_.members) size = std::max(size, size_[r][i]);
            }
            if (since_ == 0 || round == 1 || missed <= Trust<Real>::drift * (size + wanted)) break;
            if (!again()) return false;
        }
        return true;
    }
    // What rounding can do to each item, from the sizes of its terms.
    void errors(const Vector &size, Vector &out) {
        int k = K_.size();
        each_.resize(k), moved_.resize(k);
        for (int a = 0; a < k; a++) each_[a] = Trust<Real>::rounding * size[K_.members[a]];
        K_.sizes_times(each_.data(), moved_.data());
        for (int i = 0; i < N_; i++) out[i] = Trust<Real>::rounding * size[i];
        for (int a = 0; a < k; a++) H_.add_sizes_to(K_.members[a], moved_[a], out.data());
        for (int a = 0; a < k; a++) out[K_.members[a]] = moved_[a];
    }
    // Column i of the transform, into T_[which]; w_[0], size_[0] and x_[0] are used.
    bool column(int i, int which) {
        std::fill(known_[0].begin(), known_[0].end(), Real(0.0));
        known_[0][i] = 1.0;
        if (!complete(1)) return false;
        T_[which] = w_[0];
        for (int a = 0; a < K_.size(); a++) T_[which][K_.members[a]] = x_[0][a];
        return true;
    }
    bool pivot(int i, int j = -1) {
        std::fill(resting_.begin(), resting_.end(), 0);
        for (int turn = 0; turn < 2; turn++) {
            if (turn && !column(i, 0)) return false;  // that of `response` is there
            if (j >= 0 && !column(j, 1)) return false;
            int items[2] = {i, j};
            const Real *T[2] = {T_[0].data(), T_[1].data()};
            if (K_.exchange(H_, items, j < 0 ? 1 : 2, T)) return since_++, true;
            if (since_ == 0) break;
            if (!again()) return false;
        }
        return refuse("the basis is singular");
    }

    // ---- events ----

    // How far the two ends of item i's piece are (row 1: the rates of that), and whether there are such.
    struct Ends {
        Real room[2];
        bool has[2];
    };
    Ends ends(int i, int label, int row) const {
        Real value = v[row][i], multiplier = y[row][i], zero = 0.0;
        bool fixed = p_.fixed[i], free = p_.free(i);
        switch (label) {
            case PIECE_BELOW: return {{zero, now_[Program::LOW][row][i] - value}, {false, bool(p_.has_low[i])}};
            case PIECE_LOWER:
                if (free) return {{-multiplier, multiplier}, {true, true}};
                return {{now_[Program::BELOW_SLOPE][row][i] - multiplier,
                         fixed ? multiplier + now_[Program::ABOVE_SLOPE][row][i] : multiplier},
                        {bool(p_.soft_low[i]), !fixed || p_.soft_up[i]}};
            case PIECE_INSIDE:
                return {{value - now_[Program::LOW][row][i], now_[Program::UP][row][i] - value},
                        {bool(p_.has_low[i]), bool(p_.has_up[i])}};
            case PIECE_UPPER:
                return {{-multiplier, multiplier + now_[Program::ABOVE_SLOPE][row][i]}, {!fixed, bool(p_.soft_up[i])}};
            default: return {{value - now_[Program::UP][row][i], zero}, {bool(p_.has_up[i]), false}};
        }
    }
    int beyond(int i, int label, int side) const {  // the piece next to one of item i
        if (label == PIECE_LOWER && p_.free(i)) return PIECE_INSIDE;
        if (p_.fixed[i]) return label == PIECE_LOWER ? (side ? PIECE_ABOVE : PIECE_BELOW) : PIECE_LOWER;
        return label + (side ? 1 : -1);
    }

    // The first item to leave its piece, into when_, item_ (-1: none) and side_ (2: its bounds cross).
    bool event() {
        double outside = 0.0, least = std::numeric_limits<double>::infinity();
        for (int i = 0; i < N_; i++) {
            Ends here = ends(i, labels[i], 0), rate = ends(i, labels[i], 1);
            for (int s = 0; s < 2; s++) {
                bool asked = here.has[s] && !resting_[i];
                asked_[s][i] = asked, speed_[s][i] = -rate.room[s];
                Real slack = here.room[s];
                if (asked) {
                    double room = rounded(slack);
                    outside = std::max(outside, -room - error_[0][i] - OUTSIDE * (1.0 + absolute(v[0][i]) + absolute(y[0][i])));
                    least = std::min(least, room);
                }
                slack_[s][i] = rounded(slack) <= error_[0][i] ? Real(0.0) : slack;
            }
        }
        if (outside > 0.0) {
            char text[80];
            std::snprintf(text, sizeof text, "the solution left its sets by %.1e", -least);
            return refuse(text);
        }
        Real one = 1.0, last = rounded(t) > 1.0 - LAST ? 1.0 : 1.0 - LAST;
        when_ = one, item_ = -1, side_ = 0;
        near_.clear();
        Real first = last;
        for (int s = 0; s < 2; s++)
            for (int i = 0; i < N_; i++)
                if (asked_[s][i] && rounded(speed_[s][i]) > error_[1][i]) {
                    Real at = t + slack_[s][i] / speed_[s][i];
                    if (!less(at, last)) continue;
                    near_.push_back({at, i, s});
                    if (less(at, first)) first = at;
                }
        double fastest = -1.0;
        int lowest = N_;
        for (auto &[at, i, s] : near_) {
            if (standing_ >= patience_) {
                if (less(first, at) || i >= lowest) continue;
                lowest = i;
            } else {
                if (rounded(at - first) > 1e-14) continue;
                double speed = rounded(speed_[s][i]) / (error_[1][i] + 1e-300);
                if (speed <= fastest) continue;
                fastest = speed;
            }
            when_ = at, item_ = i, side_ = s;
        }
        Real before = item_ < 0 ? last : when_;
        for (int i = 0; i < N_; i++) {
            if (!p_.has_low[i] || !p_.has_up[i] || p_.fixed[i]) continue;
            Real closing = now_[Program::LOW][1][i] - now_[Program::UP][1][i];
            if (!(rounded(closing) > 0.0)) continue;
            Real room = now_[Program::UP][0][i] - now_[Program::LOW][0][i];
            Real crossing = t + (rounded(room) > 0.0 ? room : Real(0.0)) / closing;
            if (less(crossing, before)) before = when_ = crossing, item_ = i, side_ = 2;
        }
        return true;
    }

    // Take item i into its next piece, at a fixed t; PAUSED if that is done, else how there is no way, with the ray.
    Status exchange(int i, int side) {
        bool released = labels[i] % 2 != 0, variable = i < n_;
        int to = beyond(i, labels[i], side);
        int forward = released ? (side ? 1 : -1) : (side ? -1 : 1);  // the sign of its dv, or of its dy
        int unit = released || variable ? forward : -forward, moves = 0;
        while ((moves = response(i)) < 0) {
            if (since_ == 0) {
                moves = 0;
                break;
            }
            if (!again()) return REFUSED;
        }
        if (moves > 1) return REFUSED;
        if (moves) {
            if (!pivot(i)) return REFUSED;
            labels[i] = int8_t(to);
            return PAUSED;
        }
        // du in B and dw outside, unit for i itself
        struct Step {
            Real length;
            double size;
            int item, label;
        };
        std::vector<Step> steps;
        auto moved = [&](int j) { return j == i ? Real(double(unit)) : Real(double(unit)) * T_[0][j]; };
        int parity = released ? 0 : 1;
        for (int j = 0; j < N_; j++) {
            if (j == i || (labels[j] % 2 != 0) != (parity == 1)) continue;
            // Its known part stands still: an even item moves its value, an odd one its multiplier.
            Real move = moved(j);
            if (j >= n_ && parity == 1) move = -move;  // y = -u of a row
            if (!released) move = -move;
            if (!(absolute(move) > noise_[j])) continue;
            int end = rounded(move) > 0.0 ? 1 : 0;
            Ends here = ends(j, labels[j], 0);
            if (!here.has[end]) continue;
            Real room = rounded(here.room[end]) > error_[0][j] ? here.room[end] : Real(0.0);
            steps.push_back({room / (rounded(move) < 0.0 ? -move : move), absolute(move), j, beyond(j, labels[j], end)});
        }
        Ends own = ends(i, to, 0);
        if (own.has[side] && !p_.free(i))
            steps.push_back({rounded(own.room[side]) > 0.0 ? own.room[side] : Real(0.0), 1.0, i, beyond(i, to, side)});
        if (steps.empty()) {
            ray.assign(N_, Real(0.0));  // of values where it is unbounded, of multipliers where it is infeasible
            for (int j = 0; j < N_; j++) {
                bool inside = K_.where[j] >= 0;
                if (j == i) inside = !inside;  // what is given of it is not what is known
                Real u = inside ? moved(j) : Real(0.0), w = inside ? Real(0.0) : moved(j);
                ray[j] = released ? (j < n_ ? u : w) : (j < n_ ? w : -u);
            }
            return released ? UNBOUNDED : INFEASIBLE;
        }
        Real least = steps[0].length;
        for (auto &step : steps)
            if (less(step.length, least)) least = step.length;
        const Step *found = nullptr;
        if (standing_ >= patience_) {
            for (auto &step : steps)
                if (!less(least, step.length) && (!found || step.item < found->item)) found = &step;
        } else {
            double late = std::numeric_limits<double>::infinity(), first = rounded(least);
            for (auto &step : steps)
                late = std::min(late, rounded(step.length) +
                                          HARRIS * (1.0 + absolute(v[0][step.item]) + absolute(y[0][step.item])) / step.size);
            late = std::max(late, first + 1e-13 * (1.0 + first));
            for (auto &step : steps)
                if (rounded(step.length) <= late && (!found || step.size > found->size)) found = &step;
        }
        if (!found) return refuse("the solution is not finite"), REFUSED;
        int j = found->item, label = found->label;
        if (j != i) {
            if (!pivot(i, j)) return REFUSED;
            labels[i] = int8_t(to);
        }
        labels[j] = int8_t(label);
        return PAUSED;
    }

    // T_[0] and noise_ for item i; whether its pivot is not 0: 1, 0, or -1 where that is unclear; 2 if refused.
    int response(int i) {
        if (!column(i, 0)) return 2;
        errors(size_[0], noise_);
        int k = K_.size(), place = K_.where[i];
        double largest = 1.0;
        for (int j = 0; j < N_; j++) largest = std::max(largest, j == i ? 1.0 : absolute(T_[0][j]));
        for (double &noise : noise_) noise = std::max(noise, Trust<Real>::zero * largest);
        // The pivot dx'P dx, by terms that do not cancel; its size, and what errors of dx do to it.
        Real energy = 0.0;
        double size = 0.0, wrong = 0.0;
        for (int a = 0; a < k; a++) {
            if (K_.members[a] >= n_) continue;
            Real x = x_[0][a];
            double off = noise_[K_.members[a]];
            for (int b = 0; b < k; b++) {
                if (K_.members[b] >= n_) continue;
                double entry = K_.block(a)[b];
                energy += x * x_[0][b] * Real(entry);
                size += absolute(x) * absolute(x_[0][b]) * std::abs(entry), wrong += off * noise_[K_.members[b]] * std::abs(entry);
            }
            if (place < 0 && i < n_) {  // first_ is minus the column of H
                energy -= Real(2.0) * x * first_[a], size += 2.0 * absolute(x) * absolute(first_[a]);
            }
        }
        if (place < 0 && i < n_) energy += Real(H_.diagonal(i)), size += std::abs(H_.diagonal(i));
        double found = rounded(energy);
        if (found <= 3.0 * Trust<Real>::rounding * size + 1e-2 * wrong) return 0;
        return std::abs(absolute(T_[0][i]) - found) <= 1e-3 * found ? 1 : -1;
    }

    void record(Real step) {
        times.push_back(rounded(when_));
        pieces.insert(pieces.end(), labels.begin(), labels.end());
        for (auto *each : {&v[0], &y[0]}) {
            Vector &out = each == &v[0] ? values : multipliers;
            const auto &rate = each == &v[0] ? v[1] : y[1];
            for (int i = 0; i < N_; i++) out.push_back(rounded((*each)[i]));
            for (int i = 0; i < N_; i++) out.push_back(rounded((*each)[i] + step * rate[i]));
        }
    }

    const Columns &H_;
    const Program p_;
    const int N_, n_;
    Inverse<Real> K_;
    bool made_ = false;
    int since_ = 0;  // exchanges since K is made afresh
    int64_t standing_ = 0, patience_ = 0;
    std::vector<char> resting_;
    Vector terms_;

    std::vector<Real> now_[4][2], h_[2], known_[2], bound_[2], level_[2], w_[2], x_[2], T_[2], right_, change_, first_;
    std::vector<Real> slack_[2], speed_[2];
    std::vector<char> asked_[2];
    Vector size_[2], error_[2], noise_, each_, moved_;

    struct Near {
        Real at;
        int item, side;
    };
    std::vector<Near> near_;
    Real when_ = 0.0;
    int item_ = -1, side_ = 0;
};

}  // namespace core
