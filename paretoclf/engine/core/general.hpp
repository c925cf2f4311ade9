// The path of any parametric program from event to event: what paretoclf/engine/general.py explains, in two precisions.
//
// An item (a variable or a row) has a label from BELOW to ABOVE; B are the variables with even and the rows with odd
// labels. u = (x, -y of rows) is known outside B, w = Hu + (q, 0) in B. Of each item one of value and multiplier stands
// still on its piece, or moves with the data: it is `pinned`; the other one is g, the value itself or minus the
// multiplier, which stays between low and high. All of these are affine in t: [0] where it is, [1] their rates.
#pragma once
#include <cstdint>
#include <cstdio>
#include <limits>
#include <numeric>
#include <string>

#include "carried.hpp"
#include "program.hpp"

namespace core {

template <class Real, class Basis = Inverse<Real>>
class Walk {
  public:
    enum Status { PAUSED, END, INFEASIBLE, UNBOUNDED, LIMIT, REFUSED };

    std::vector<int8_t> labels;
    std::string why;  // it is refused
    Real t = 0.0;
    int64_t exchanges = 0;
    int crossed = -1;
    std::vector<Real> ray;
    bool afresh = false;    // each solution is computed afresh, none carried on
    bool compared = false;  // each that is carried on is compared with one that is computed afresh
    double worst = 0.0;     // how far one was off then, in units of what it may be
    int64_t solved = 0;     // how many were computed afresh
    Vector times{0.0};  // ends of the segments
    // Their labels; which of them begin where the one before ends, but for rounding; and all items at the points between
    // which they lie: two of a segment, of which the first is the last of the one before where that is so.
    std::vector<int8_t> pieces;
    std::vector<char> joined;
    Vector values, multipliers;

    Walk(const Columns &H, Program program, std::vector<int8_t> begin, Basis basis = Basis())
        : labels(std::move(begin)), H_(H), p_(std::move(program)), N_(H.items), n_(H.n), K_(std::move(basis)), pinned_(N_),
          known_(N_), low_(N_), high_(N_), q_(n_), carried_(N_) {
        patience_ = 200 + 2 * int64_t(N_);
        terms_.assign(N_, 0.0), at_[0].resize(N_), at_[1].resize(N_);
        for (int r = 0; r < 2; r++) g_[r].resize(N_), u_[r].resize(N_), error_[r].resize(N_), T_[r].resize(N_), noise_[r].resize(N_);
        for (int i = 0; i < N_; i++) {
            for (int r = 0; r < 2; r++) {
                terms_[i] += std::abs(p_.q[r][i]);
                for (auto &side : p_.sides) terms_[i] += std::abs(side[r][i]);
            }
            if (i < n_) q_.set(i, p_.q[0][i], p_.q[1][i]);
            relabel(i, labels[i]);
            // Two bounds that come closer to each other
            if (!p_.has_low[i] || !p_.has_up[i] || p_.fixed[i]) continue;
            if (width(i, 1) < width(i, 0)) closing_.push_back(i);
        }
    }

    // Go on, for so many steps, to the end, or to where there is none.
    Status run(int64_t limit, bool keep, int64_t steps) {
        Status found = or_anew([&] { return go_on(limit, keep, steps); });
        if (found != PAUSED) valid_ = false;
        return found;
    }
    // The solution on the basis at t, for who asks; false if it is refused.
    bool show(Real at) {
        valid_ = false;
        return or_anew([&] { return solve(at); });
    }
    int members() const { return K_.size(); }
    Basis &basis() { return K_; }
    Real value(int r, int i) const { return labels[i] % 2 ? pinned_.now[r][i] : g_[r][i]; }
    Real multiplier(int r, int i) const { return labels[i] % 2 ? -g_[r][i] : pinned_.now[r][i]; }

  private:
    static constexpr double NONE = 1e300;  // no end on this side
    // The solution is finer than the basis: then what is 0 for the basis is 0.
    static constexpr bool FINE = Basis::turns > 3;
    static constexpr double RESOLVED = 1e-20;  // what a solution may miss of its terms, next to them
    using Deciding = Trust<std::conditional_t<FINE, double, Real>>;
    template <class Do>
    auto or_anew(const Do &what) {  // where it is broken off while a factor is made, the next call makes the basis anew
        try {
            return what();
        } catch (...) {
            made_ = valid_ = false;
            throw;
        }
    }
    static double absolute(Real x) { return std::abs(rounded(x)); }
    static bool less(Real a, Real b) { return rounded(a - b) < 0.0; }
    bool refuse(const char *reason) { return why = reason, false; }
    double width(int i, int end) const { return p_.sides[Program::UP][end][i] - p_.sides[Program::LOW][end][i]; }
    double more(int r, int i) const {  // sizes of the terms of item i that are no products
        if (r) return terms_[i];
        return absolute(known_.now[0][i]) + absolute(pinned_.now[0][i]) + (i < n_ ? absolute(q_.now[0][i]) : 0.0);
    }

    // The solution on the basis at t; false if it is refused.
    bool solve(Real at) {
        if (!made_ && !factor()) return false;
        for (auto *each : {&pinned_, &known_, &low_, &high_, &q_}) each->go(at);
        for (int round = 0;; round++) {
            for (int r = 0; r < 2; r++)
                std::fill(g_[r].begin(), g_[r].end(), Real(0.0)), std::fill(error_[r].begin(), error_[r].end(), 0.0);
            double missed = 0.0, size = 0.0, wanted = add_known();
            int k = K_.size();
            for (int r = 0; r < 2; r++) {
                x_[r].assign(K_.room(), Real(0.0)), right_[r].assign(K_.room(), Real(0.0));
                size_[r].assign(K_.room(), 0.0), each_[r].resize(k), moved_[r].assign(K_.room(), 0.0);
                for (int a = 0; a < k; a++) {
                    int i = K_.members[a];
                    right_[r][a] = known_.now[r][i] - g_[r][i], size_[r][a] = error_[r][i] / Trust<Real>::rounding;
                }
            }
            refine(2);
            for (int r = 0; r < 2; r++)
                for (int a = 0; a < k; a++) each_[r][a] = absolute(x_[r][a]), missed = std::max(missed, absolute(right_[r][a]));
            add_sizes(2, true);
            for (int r = 0; r < 2; r++)
                for (int a = 0; a < k; a++) size = std::max(size, size_[r][a]);
            bool last = since_ == 0 || round == 1;
            if (FINE && last && !(missed <= RESOLVED * (size + wanted))) return refuse("the basis is singular");
            if (last || missed <= Trust<Real>::drift * (size + wanted)) break;
            if (!again()) return false;
        }
        // What rounding can do to each item, from the sizes of its terms.
        int k = K_.size();
        for (int r = 0; r < 2; r++)
            for (int a = 0; a < k; a++) {
                each_[r][a] = Trust<Real>::rounding * (size_[r][a] + more(r, K_.members[a]));
                if (FINE) each_[r][a] += absolute(right_[r][a]);
            }
        if (CARRIES) note();
        add_sizes(2, false);
        for (int a = 0; a < k; a++) {
            Real x[2] = {x_[0][a], x_[1][a]};
            double off[2];
            for (int r = 0; r < 2; r++) off[r] = Trust<Real>::rounding * absolute(x[r]) + moved_[r][a];
            H_.add_both(K_.members[a], x, off, g_, error_);
        }
        for (int i = 0; i < N_; i++)
            error_[0][i] += Trust<Real>::rounding * more(0, i), error_[1][i] += Trust<Real>::rounding * terms_[i];
        double sum = 0.0;  // not a number if one of them is none
        for (int r = 0; r < 2; r++) {
            for (int i = 0; i < n_; i++) g_[r][i] = -(g_[r][i] + q_.now[r][i]);
            for (int a = 0; a < k; a++) g_[r][K_.members[a]] = x_[r][a], error_[r][K_.members[a]] = moved_[r][a];
            for (int i = 0; i < N_; i++) sum += 0.0 * rounded(g_[r][i]);
        }
        return sum == 0.0 || refuse("the solution is not finite");
    }

    Status go_on(int64_t limit, bool keep, int64_t steps) {
        if (keep && steps > 0)
            for (Vector *each : {&values, &multipliers}) each->reserve(each->size() + (std::min<int64_t>(steps, 50) + 2) * N_);
        for (; steps > 0; steps--) {
            if (!carried()) {
                if (since_ >= std::max(FRESH, K_.size()) && !factor()) return REFUSED;
                if (!(valid_ && age_ ? compare(false) : solve(t))) return REFUSED;
                valid_ = CARRIES && !afresh, age_ = 0, solved++, why.clear(), still_ = error_[1];
                if (!event()) return REFUSED;
            }
            Real step = when_ - t;
            bool stands = rounded(step) == 0.0;
            if (keep && rounded(when_) > rounded(t)) record(step);
            standing_ = stands ? standing_ + 1 : 0;
            if (standing_ > 20 * patience_) return refuse("no progress after very many exchanges at one point"), REFUSED;
            double speed = item_ >= 0 && side_ < 2 ? rounded(speed_of(item_, side_)) : 0.0;
            t = when_;
            if (!stands) {
                for (auto *each : {&pinned_, &low_, &high_}) valid_ && !Trust<Real>::twice ? each->go(t) : each->step(step);
                add(g_[0].data(), g_[1].data(), step, N_);
            }
            if (valid_) carried_.step(rounded(step)), age_++;
            auto ends = [&](Status status) { return (!age_ || compare(false)) && (!keep || kept()) ? status : REFUSED; };
            if (item_ < 0) return ends(END);
            if (side_ == 2) return crossed = item_, ends(INFEASIBLE);
            if (exchanges >= limit) return ends(LIMIT);
            Status stopped = exchange(item_, side_);
            if (valid_ && (stopped == INFEASIBLE || stopped == UNBOUNDED))  // one product with K is not enough for that
                valid_ = false, stopped = again() ? exchange(item_, side_) : REFUSED;
            exchanges++;
            if (stopped == PAUSED) continue;
            if (stopped == REFUSED) return REFUSED;
            bool of_values = labels[item_] % 2 == 0;
            double largest = 0.0;
            for (int i = 0; i < N_; i++) largest = std::max(largest, absolute(of_values ? value(0, i) : multiplier(0, i)));
            if (speed * rounded(Real(1.0) - t) > REST * (1.0 + largest)) return ends(stopped);
            resting_.push_back(item_);  // to the end it is violated by no more than rounding
        }
        return PAUSED;
    }

    // ---- pieces ----

    // The ends of a piece of item i: a side of the program, with a sign; 0 or none.
    struct Limit {
        int side;
        double sign;
    };
    static constexpr int ZERO = 4, NOWHERE = 5;
    Limit limit_of(int i, int label, int end) const {
        bool fixed = p_.fixed[i];
        auto given = [](bool has, int side, double sign = 1.0) { return has ? Limit{side, sign} : Limit{NOWHERE, 1.0}; };
        switch (label) {
            case PIECE_BELOW: return given(end && p_.has_low[i], Program::LOW);
            case PIECE_LOWER:
                if (p_.free(i)) return {ZERO, 1.0};
                if (!end) return given(p_.soft_low[i], Program::BELOW_SLOPE, -1.0);
                return fixed ? given(p_.soft_up[i], Program::ABOVE_SLOPE) : Limit{ZERO, 1.0};
            case PIECE_INSIDE: return end ? given(p_.has_up[i], Program::UP) : given(p_.has_low[i], Program::LOW);
            case PIECE_UPPER: return end ? given(p_.soft_up[i], Program::ABOVE_SLOPE) : given(!fixed, ZERO);
            default: return given(!end && p_.has_up[i], Program::UP);
        }
    }
    Real limit_at(int i, int label, int end, int r) const {
        Limit limit = limit_of(i, label, end);
        if (limit.side == NOWHERE) return end ? NONE : -NONE;
        return limit.side == ZERO ? 0.0 : limit.sign * p_.sides[limit.side][r][i];
    }
    void relabel(int i, int label) {
        labels[i] = int8_t(label);
        Real known[2];
        for (int r = 0; r < 2; r++) {
            Real level = label == PIECE_BELOW ? p_.sides[Program::BELOW_SLOPE][r][i]
                         : label == PIECE_ABOVE ? -p_.sides[Program::ABOVE_SLOPE][r][i] : 0.0;
            Real bound = p_.sides[label >= PIECE_UPPER ? Program::UP : Program::LOW][r][i];
            (r ? pinned_.last : pinned_.first)[i] = label % 2 ? bound : level;
            known[r] = label % 2 ? bound : i < n_ ? level - Real(p_.q[r][i]) : -level;
        }
        known_.set(i, known[0], known[1]), pinned_.set(i, pinned_.first[i], pinned_.last[i]);
        low_.set(i, limit_at(i, label, 0, 0), limit_at(i, label, 0, 1));
        high_.set(i, limit_at(i, label, 1, 0), limit_at(i, label, 1, 1));
    }
    int beyond(int i, int label, int side) const {  // the piece next to one of item i
        if (label == PIECE_LOWER && p_.free(i)) return PIECE_INSIDE;
        if (p_.fixed[i]) return label == PIECE_LOWER ? (side ? PIECE_ABOVE : PIECE_BELOW) : PIECE_LOWER;
        return label + (side ? 1 : -1);
    }
    Real speed_of(int i, int side) const {
        return side ? g_[1][i] - high_.now[1][i] : low_.now[1][i] - g_[1][i];
    }
    Real room_of(int i, int side) const {
        return side ? high_.now[0][i] - g_[0][i] : g_[0][i] - low_.now[0][i];
    }

    // ---- the transform ----

    bool factor() {
        Indices B;
        for (int i = 0; i < N_; i++)
            if ((labels[i] % 2 == 0) == (i < n_)) B.push_back(i);
        return whole(std::move(B));
    }
    bool whole(Indices B) {
        since_ = 0, carried_.forget(), made_ = K_.whole(H_, std::move(B));
        return made_ || refuse("the basis is singular");
    }
    bool again() {  // K afresh, of the members that there are: labels may be on their way
        Indices B = K_.members;
        std::sort(B.begin(), B.end());
        return whole(std::move(B));
    }

    // u_ from one item to another: what is known of some, else 0
    void only(const Indices &some, int from, int to) {
        for (int r = 0; r < 2; r++) {
            std::fill(u_[r].begin() + from, u_[r].begin() + to, Real(0.0));
            for (int i : some) u_[r][i] = known_.now[r][i];
        }
    }
    // H times what is known of some items, into g_, and its sizes: column by column
    void add_each(const Indices &some) {
        for (int i : some) {
            Real u[2] = {known_.now[0][i], known_.now[1][i]};
            double size[2] = {Trust<Real>::rounding * absolute(u[0]), Trust<Real>::rounding * absolute(u[1])};
            H_.add_both(i, u, size, g_, error_);
        }
    }
    // H times what is known outside B, into g_, and its sizes; the largest of what is known.
    double add_known() {
        double wanted = 0.0;
        int64_t direct = 0;
        rows_.clear(), variables_.clear();
        for (int i = 0; i < N_; i++) {
            Real u[2] = {known_.now[0][i], known_.now[1][i]};
            double size[2] = {absolute(u[0]), absolute(u[1])};
            if (size[0] == 0.0 && size[1] == 0.0) continue;
            wanted = std::max(wanted, std::max(size[0], size[1]));
            if (K_.where[i] >= 0) continue;
            if (i >= n_) {
                rows_.push_back(i), direct += H_.count(i) + 16;
                continue;
            }
            variables_.push_back(i);
        }
        bool squares = !Trust<Real>::twice && H_.rank > 0 && int(variables_.size()) >= 2 * H_.rank;
        if (!squares) add_each(variables_);
        else if constexpr (std::is_same_v<Real, double>) {
            only(variables_, 0, n_);
            H_.add_squares(u_, Trust<Real>::rounding, g_, error_);
        }
        if (direct < H_.below_all() / 4) {  // few rows
            add_each(rows_);
        } else if (!rows_.empty()) {
            only(rows_, n_, N_);
            for (int j = 0; j < n_; j++) H_.add_products(j, u_, Trust<Real>::rounding, g_, error_);
        }
        return wanted;
    }
    // Solve H_BB x = right for one row or two: into x_; what is missed stays in right_. A basis in doubles for solutions in
    // twice the precision takes as many turns as help.
    void refine(int count) {
        const Real *right[] = {right_[0].data(), right_[1].data()}, *change[2];
        Real *to[2], *rest[] = {right_[0].data(), right_[1].data()};
        for (int r = 0; r < count; r++) change_[r].resize(K_.room()), change[r] = to[r] = change_[r].data();
        double before = std::numeric_limits<double>::infinity();
        for (int turn = 0; turn < Basis::turns; turn++) {
            for (int r = 0; r < count; r++) std::fill(change_[r].begin(), change_[r].end(), Real(0.0));
            K_.add_times(count, right, to);
            for (int r = 0; r < count; r++)
                for (int a = 0; a < K_.size(); a++) x_[r][a] += change_[r][a];
            K_.take_off(count, change, rest);
            if (!FINE) continue;
            double most = 0.0, size = 0.0;
            for (int r = 0; r < count; r++)
                for (int a = 0; a < K_.size(); a++)
                    most = std::max(most, absolute(change_[r][a])), size = std::max(size, absolute(x_[r][a]));
            if (!(most > Trust<Real>::zero * size && most <= before / 4.0)) break;
            before = most;
        }
    }
    // size_ += |H_BB| each_, or moved_ += |K| each_
    void add_sizes(int count, bool block) {
        const double *from[] = {each_[0].data(), each_[1].data()};
        double *size[] = {size_[0].data(), size_[1].data()}, *moved[] = {moved_[0].data(), moved_[1].data()};
        if (block) K_.add_block_sizes(count, from, size);
        else K_.add_sizes(count, from, moved);
    }
    // Column i of the transform, into T_[which], and with what rounding can do to it in noise_[which]; u in B is x_[0].
    bool column(int i, int which) {
        bool member = K_.where[i] >= 0;
        if constexpr (CARRIES)
            if (valid_ && quick_column(i, which)) return true;
        std::vector<Real> &out = T_[which];
        Vector &noise = noise_[which];
        for (int round = 0;; round++) {
            std::fill(out.begin(), out.end(), Real(0.0)), std::fill(noise.begin(), noise.end(), 0.0);
            if (!member) H_.add_one(i, Real(1.0), Trust<Real>::rounding, out, noise);
            int k = K_.size();
            double missed = 0.0, size = 0.0;
            x_[0].assign(K_.room(), Real(0.0)), right_[0].assign(K_.room(), Real(0.0));
            size_[0].assign(K_.room(), 0.0), each_[0].resize(k), moved_[0].assign(K_.room(), 0.0);
            for (int a = 0; a < k; a++) {
                int j = K_.members[a];
                right_[0][a] = (j == i ? Real(1.0) : Real(0.0)) - out[j], size_[0][a] = noise[j] / Trust<Real>::rounding;
            }
            if (which == 0) first_ = right_[0];
            refine(1);
            for (int a = 0; a < k; a++) each_[0][a] = absolute(x_[0][a]), missed = std::max(missed, absolute(right_[0][a]));
            add_sizes(1, true);
            for (int a = 0; a < k; a++) size = std::max(size, size_[0][a]);
            if (since_ == 0 || round == 1 || missed <= Trust<Real>::drift * (size + 1.0)) break;
            if (!again()) return false;
        }
        int k = K_.size();
        for (int a = 0; a < k; a++) each_[0][a] = Trust<Real>::rounding * size_[0][a];
        add_sizes(1, false);
        for (int a = 0; a < k; a++)
            H_.add_one(K_.members[a], x_[0][a], Trust<Real>::rounding * absolute(x_[0][a]) + moved_[0][a], out, noise);
        for (int a = 0; a < k; a++) out[K_.members[a]] = x_[0][a], noise[K_.members[a]] = moved_[0][a];
        return true;
    }
    bool pivot(int i, int j = -1) {
        resting_.clear();
        for (int turn = 0; turn < 2; turn++) {
            if (turn && !column(i, 0)) return false;  // that of `response` is there
            if (j >= 0 && !column(j, 1)) return false;
            int items[2] = {i, j};
            const Real *T[2] = {T_[0].data(), T_[1].data()};
            if (K_.exchange(H_, items, j < 0 ? 1 : 2, T)) return since_++, carried_.forget(), true;
            if (since_ == 0) break;
            if (!again()) return false;
        }
        return made_ = false, refuse("the basis is singular");
    }

    // ---- events ----

    // When each item leaves its piece on either side, into at_, and the first of all, before `last`; false if one has left.
    bool arrive(Real last, Real &first) {
        const Real NEVER = std::numeric_limits<double>::infinity();
        double least;
        first = last;
        if constexpr (std::is_same_v<Real, double>) {
            const double *g[] = {g_[0].data(), g_[1].data()}, *low[] = {low_.now[0].data(), low_.now[1].data()};
            const double *high[] = {high_.now[0].data(), high_.now[1].data()};
            const double *error[] = {error_[0].data(), error_[1].data()};
            first = arrivals(g, low, high, error, age_ ? 0.0 : 1.0, t, last, N_, at_[0].data(), at_[1].data(), &least);
        } else {
            least = NONE;
            double soon = rounded(last), now = rounded(t);
            for (int i = 0; i < N_; i++)  // in doubles first: what comes much later is not looked at
                for (int s = 0; s < 2; s++) {
                    double room = rounded(room_of(i, s)), speed = rounded(speed_of(i, s));
                    least = std::min(least, room + error_[0][i]);
                    bool comes = speed > error_[1][i];
                    double at = now + (room <= error_[0][i] ? 0.0 : room) / speed;
                    at_[s][i] = comes ? Real(at) : NEVER;
                    if (comes && at < soon) soon = at;
                }
            for (int s = 0; s < 2; s++)
                for (int i = 0; i < N_; i++) {
                    if (!(rounded(at_[s][i]) <= soon + 1e-13)) continue;
                    Real room = room_of(i, s);
                    if (rounded(room) <= error_[0][i]) room = 0.0;
                    at_[s][i] = t + room / speed_of(i, s);
                    if (less(at_[s][i], first)) first = at_[s][i];
                }
        }
        if (!resting_.empty()) {
            for (int i : resting_) at_[0][i] = at_[1][i] = NEVER;
            first = last;
            for (auto &side : at_)
                for (Real at : side)
                    if (rounded(at) <= 1.0 && less(at, first)) first = at;
        }
        if (least >= 0.0) return true;
        double outside = 0.0, most = 0.0;
        for (int i = 0; i < N_; i++)
            for (int s = 0; s < 2; s++) {
                double room = rounded(room_of(i, s));
                if (std::find(resting_.begin(), resting_.end(), i) != resting_.end()) continue;
                double size = 1.0 + absolute(g_[0][i]) + absolute(pinned_.now[0][i]);
                outside = std::max(outside, -room - error_[0][i] - OUTSIDE * size), most = std::max(most, -room);
            }
        if (outside <= 0.0) return true;
        return left_by(most);
    }
    bool left_by(double most) {
        char text[80];
        std::snprintf(text, sizeof text, "the solution left its sets by %.1e", most);
        return refuse(text);
    }

    // Whether all items are still on their pieces where it ends: a rate within its error was taken for 0, however far it led.
    bool kept() {
        double most[2] = {0.0, 0.0}, outside = 0.0;  // the largest value, and the largest multiplier, that is not pinned
        for (int i = 0; i < N_; i++) most[labels[i] & 1] = std::max(most[labels[i] & 1], absolute(g_[0][i]));
        for (int i = 0; i < N_; i++) {
            if (std::find(resting_.begin(), resting_.end(), i) != resting_.end()) continue;
            double allowed = OUTSIDE * (1.0 + absolute(g_[0][i]) + absolute(pinned_.now[0][i])) + REST * most[labels[i] & 1];
            for (int s = 0; s < 2; s++)
                if (-rounded(room_of(i, s)) > allowed) outside = std::max(outside, -rounded(room_of(i, s)));
        }
        return outside == 0.0 || left_by(outside);
    }

    // The first item to leave its piece, into when_, item_ (-1: none) and side_ (2: its bounds cross).
    bool event() {
        Real one = 1.0, last = one - Real(Trust<Real>::last), first;
        if (less(last, t)) last = one;
        if (!arrive(last, first)) return false;
        when_ = one, item_ = -1, side_ = 0;
        double fastest = -1.0, until = rounded(first) + 2e-14;
        int lowest = N_;
        for (int s = 0; s < 2; s++)
            for (int i = 0; i < N_; i++) {
                Real at = at_[s][i];
                if (!(rounded(at) <= until) || !less(at, last)) continue;
                if (standing_ >= patience_) {
                    if (less(first, at) || i >= lowest) continue;
                    lowest = i;
                } else {
                    if (rounded(at - first) > 1e-14) continue;
                    double speed = rounded(speed_of(i, s)) / (error_[1][i] + 1e-300);
                    if (speed <= fastest) continue;
                    fastest = speed;
                }
                when_ = at, item_ = i, side_ = s;
            }
        Real before = item_ < 0 ? last : when_;
        for (int i : closing_) {
            Real room = Real(1.0) - t, closing = Real(width(i, 0)) - Real(width(i, 1));
            room = room * Real(width(i, 0)) + t * Real(width(i, 1));
            Real crossing = t + (rounded(room) > 0.0 ? room : Real(0.0)) / closing;
            if (less(crossing, before)) before = when_ = crossing, item_ = i, side_ = 2;
        }
        return true;
    }

    struct Step {  // how far until an item is at an end of its piece, and how fast it moves
        Real length;
        double size;
        int item, end;
    };
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
            bool inside = K_.where[i] >= 0;
            if (!pivot(i)) return REFUSED;
            if (valid_) carry(i, side, inside);
            relabel(i, to), here(i);
            return PAUSED;
        }
        // du in B and dw outside, unit for i itself
        // Who may be the first, of all that come to an end; how far that is, and how far the first may go beyond its end.
        std::vector<Step> &steps = steps_;
        bool blocked = false;
        Real least = 0.0;
        double late = std::numeric_limits<double>::infinity();
        steps.clear();
        auto most = [&] { return std::max(late, rounded(least) + 1e-13 * (1.0 + rounded(least))); };
        auto stop = [&](Real length, double size, int item, int end) {
            if (!blocked || less(length, least)) least = length;
            double beside = HARRIS * (1.0 + absolute(g_[0][item]) + absolute(pinned_.now[0][item])) / size;
            late = std::min(late, rounded(length) + beside), blocked = true;
            if (rounded(length) <= most()) steps.push_back({length, size, item, end});
        };
        auto moved = [&](int j) { return j == i ? Real(double(unit)) : Real(double(unit)) * T_[0][j]; };
        for (int j = 0; j < N_; j++) {
            // Its known part stands still: an even item moves its value, an odd one its multiplier.
            if (j == i || (labels[j] % 2 == 0) != released || !(absolute(T_[0][j]) > noise_[0][j])) continue;
            Real move = moved(j);
            if (j < n_ && !released) move = -move;
            int end = rounded(move) > 0.0 ? 1 : 0;
            Real room = room_of(j, end);
            if (rounded(room) > 0.5 * NONE) continue;
            if (rounded(room) <= (age_ ? 0.0 : error_[0][j])) room = 0.0;
            stop(room / (rounded(move) < 0.0 ? -move : move), absolute(move), j, end);
        }
        if (!p_.free(i) && limit_of(i, to, side).side != NOWHERE) {
            Real g = to % 2 ? -multiplier(0, i) : value(0, i);
            Real end = (Real(1.0) - t) * limit_at(i, to, side, 0) + t * limit_at(i, to, side, 1), room = side ? end - g : g - end;
            stop(rounded(room) > 0.0 ? room : Real(0.0), 1.0, i, side);
        }
        if (!blocked) {
            ray.assign(N_, Real(0.0));  // of values where it is unbounded, of multipliers where it is infeasible
            for (int j = 0; j < N_; j++) {
                bool inside = K_.where[j] >= 0;
                if (j == i) inside = !inside;  // what is given of it is not what is known
                Real u = inside ? moved(j) : Real(0.0), w = inside ? Real(0.0) : moved(j);
                ray[j] = released ? (j < n_ ? u : w) : (j < n_ ? w : -u);
            }
            return released ? UNBOUNDED : INFEASIBLE;
        }
        const Step *found = nullptr;
        if (standing_ >= patience_) {
            for (auto &step : steps)
                if (!less(least, step.length) && (!found || step.item < found->item)) found = &step;
        } else {
            for (auto &step : steps)
                if (rounded(step.length) <= most() && (!found || step.size > found->size)) found = &step;
        }
        if (!found) return refuse("the solution is not finite"), REFUSED;
        int j = found->item, label = beyond(j, j == i ? to : labels[j], found->end);
        if (j != i) {
            bool inside[2] = {K_.where[i] >= 0, K_.where[j] >= 0};
            if (!pivot(i, j)) return REFUSED;
            if (valid_) carry(i, side, j, found->end, inside);
            relabel(i, to), here(i);
        }
        Real by[2] = {-known_.at(j, t), -known_.now[1][j]};
        relabel(j, label), here(j);
        by[0] += known_.at(j, t), by[1] += known_.now[1][j];
        if (valid_ && j == i) spread(0, by);
        return PAUSED;
    }

    // ---- the solution, carried to the next basis: what is known of an item changes, and all others follow its column ----

    static constexpr bool CARRIES = Basis::carries;

    // Whether a solution that was carried here tells what comes first, and item_, side_ and when_ say what that is.
    bool carried() {
        if (!valid_ || age_ >= EPOCH || since_ >= std::max(FRESH, K_.size()) || standing_ >= patience_) return false;
        if (!resting_.empty()) return false;
        for (int r = 0; r < 2; r++) carried_.bound(H_, K_, carried_.left[r], error_[r]);
        if (compared && !compare(true)) return false;
        if (!event()) return false;
        if (rounded(when_ - t) <= INSTANT) when_ = t;
        return clear();
    }
    // How wrong a value may be after a step, next to the largest value, and a multiplier.
    double off(double step) const {
        double size[2] = {}, most[2] = {};
        const double *error[] = {error_[0].data(), error_[1].data()};
        of_kinds(labels.data(), g_[0].data(), pinned_.now[0].data(), error, step, N_, size, most);
        double worst = 0.0;
        for (int kind = 0; kind < 2; kind++)
            if (most[kind] > 0.0) worst = std::max(worst, size[kind] > 0.0 ? most[kind] / size[kind] : NONE);
        return worst;
    }
    // Whether no other item can come to an end of its piece before the one that was found.
    bool clear() {
        Real step = when_ - t;
        double span = rounded(step), own = 0.0;
        bool found = item_ >= 0 && side_ < 2;
        if (found) own = (error_[0][item_] + span * error_[1][item_]) / rounded(speed_of(item_, side_));
        if (!(own <= WHEN && off(span) <= ALL)) {
            largest_terms();
            if (!carried_.fits(K_, n_, most_)) return false;
        }
        const Real *g[] = {g_[0].data(), g_[1].data()}, *low[] = {low_.now[0].data(), low_.now[1].data()};
        const Real *high[] = {high_.now[0].data(), high_.now[1].data()};
        const double *error[] = {error_[0].data(), error_[1].data()};
        return due(g, low, high, error, still_.data(), span + own, N_) <= found;
    }
    // Compute it afresh, and see whether the one that was carried here is that one but for what it may be wrong by; false
    // where it is not. `back`: which changes nothing.
    bool compare(bool back) {
        for (int r = 0; r < 2; r++) carried_.bound(H_, K_, carried_.left[r], error_[r]);
        std::vector<Real> g[] = {g_[0], g_[1]};
        Vector error[] = {error_[0], error_[1]};
        Carried<Basis> kept(0);
        if (back) kept = carried_;
        if (!solve(t)) return false;
        double most = 0.0;
        for (int r = 0; r < 2; r++)
            for (int i = 0; i < N_; i++) {
                double off = absolute(g[r][i] - g_[r][i]);
                if (off > 0.0) most = std::max(most, off / (error[r][i] + error_[r][i]));
            }
        worst = std::max(worst, most);
        if (!(most <= 1.0)) return refuse("the solution that was carried on is another one");
        if (!back) return true;
        kept.forget(), carried_ = std::move(kept);
        for (int r = 0; r < 2; r++) g_[r] = std::move(g[r]), error_[r] = std::move(error[r]);
        return true;
    }
    // What is left of the equations of a solution that has just been computed; each_ has it for members.
    void note() {
        for (int r = 0; r < 2; r++) {
            Vector &left = carried_.left[r], sizes(K_.size());
            sizes_.resize(N_);
            fixed_[r][0] = fixed_[r][1] = 0.0;
            for (int i = 0; i < N_; i++) {
                double size = absolute(known_.now[r][i]) + absolute(pinned_.now[r][i]) + (i < n_ ? absolute(q_.now[r][i]) : 0.0);
                sizes_[i] = Trust<Real>::rounding * (size + (r ? 0.0 : MIXED * terms_[i]));
                left[i] = error_[r][i] + sizes_[i];
                fixed_[r][i >= n_] = std::max(fixed_[r][i >= n_], left[i]);
            }
            for (int a = 0; a < K_.size(); a++) sizes[a] = Trust<Real>::rounding * absolute(x_[r][a]);
            H_.add_sizes(K_.members, sizes.data(), left);
            for (int a = 0; a < K_.size(); a++) {
                int j = K_.members[a];
                left[j] = Trust<Real>::rounding * size_[r][a] + sizes_[j] + absolute(right_[r][a]);
                g_[r][j] = x_[r][a];
            }
        }
        largest_terms();
        carried_.begin(K_, n_, most_);
    }
    // The largest terms of equations of variables and rows, where it is and of the rates, into most_.
    void largest_terms() {
        for (int r = 0; r < 2; r++) {
            double most[2] = {0.0, 0.0};
            for (int j : K_.members) {
                double size = absolute(g_[r][j]);
                most[0] = std::max(most[0], size * (j < n_ ? H_.diagonal(j) : H_.top(j)));
                if (j < n_) most[1] = std::max(most[1], size * H_.top(j));
            }
            for (int kind = 0; kind < 2; kind++) most_[r][kind] = fixed_[r][kind] + Trust<Real>::rounding * most[kind];
        }
    }
    void here(int i) {  // of a new piece
        for (auto *each : {&pinned_, &low_, &high_}) each->now[0][i] = each->at(i, t);
    }
    // What is known of the item of a column changes by so much, and by so much in its rate.
    void spread(int which, const Real *by) {
        const std::vector<Real> &T = T_[which];
        for (int r = 0; r < 2; r++) {
            if (rounded(by[r]) == 0.0) continue;
            outside(K_.where.data(), T.data(), by[r], n_, g_[r].data());
            advance(g_[r].data() + n_, T.data() + n_, by[r], N_ - n_);
            carried_.add(r, which, absolute(by[r]));
        }
    }
    // What was known of it is g from now on, changed by so much.
    void release(int i, bool inside, const Real *by) {
        for (int r = 0; r < 2; r++) {
            Real was = pinned_.now[r][i];
            g_[r][i] = ((i < n_) == inside ? -was : was) + (i < n_ && inside ? -by[r] : by[r]);
        }
        still_[i] = 0.0;
    }
    // By how much g of item i must change to be at that end of its piece, and to stay there; as w or u
    Real wanted(int r, int i, int end, bool inside) const {
        Real by = (end ? high_ : low_).now[r][i] - g_[r][i];
        return i < n_ && !inside ? -by : by;
    }
    void carry(int i, int side, bool inside) {
        Real by[2];
        for (int r = 0; r < 2; r++) by[r] = wanted(r, i, side, inside) / T_[0][i];
        spread(0, by), release(i, inside, by);
    }
    void carry(int i, int side, int j, int end, const bool *inside) {
        Real a = T_[0][i], b = T_[1][i], c = T_[0][j], d = T_[1][j], determinant = a * d - b * c, by[2][2];
        for (int r = 0; r < 2; r++) {
            Real x = wanted(r, i, side, inside[0]), y = wanted(r, j, end, inside[1]);
            by[0][r] = (d * x - b * y) / determinant, by[1][r] = (a * y - c * x) / determinant;
        }
        spread(0, by[0]), spread(1, by[1]);
        release(i, inside[0], by[0]), release(j, inside[1], by[1]);
    }
    // A column by one product with K, as well as its own equations say; false if that is not well.
    bool quick_column(int i, int which) {
        std::vector<Real> &out = T_[which];
        Vector &left = carried_.column[which];
        std::fill(out.begin(), out.end(), Real(0.0)), std::fill(left.begin(), left.end(), 0.0);
        if (K_.where[i] < 0) H_.add_one(i, Real(1.0), Trust<Real>::rounding, out, left);
        int k = K_.size();
        x_[0].assign(K_.room(), Real(0.0)), right_[0].assign(K_.room(), Real(0.0)), each_[0].resize(k);
        change_[0].resize(K_.room());
        const Real *right[] = {right_[0].data()};
        Real *to[] = {change_[0].data()};
        auto missing = [&](int a) { return (K_.members[a] == i ? Real(1.0) : Real(0.0)) - out[K_.members[a]]; };
        for (int a = 0; a < k; a++) right_[0][a] = missing(a);
        if (which == 0) first_ = right_[0];
        for (int turn = 0;; turn++) {
            std::fill(change_[0].begin(), change_[0].end(), Real(0.0));
            K_.add_times(1, right, to);
            for (int a = 0; a < k; a++) x_[0][a] += change_[0][a];
            H_.add_all(K_.members, change_[0].data(), out.data());
            if (turn == 0) {
                for (int a = 0; a < k; a++) each_[0][a] = Trust<Real>::rounding * absolute(x_[0][a]);
                H_.add_sizes(K_.members, each_[0].data(), left);
            }
            double missed[2] = {0.0, 0.0}, size[2];
            for (int a = 0; a < k; a++) {
                right_[0][a] = missing(a);
                double &most = missed[K_.members[a] >= n_];
                most = std::max(most, absolute(right_[0][a]));
            }
            Carried<Basis>::largest(left, K_, n_, size);
            if (missed[0] <= 4.0 * size[0] && missed[1] <= 4.0 * size[1]) break;
            if (turn == Basis::turns - 1) return valid_ = false;
        }
        for (int a = 0; a < k; a++) out[K_.members[a]] = x_[0][a], left[K_.members[a]] += absolute(right_[0][a]);
        carried_.bound(H_, K_, left, noise_[which]);
        return true;
    }
    bool curved(int i) const {  // whether the objective can be curved along its column
        bool found = i < n_ && H_.diagonal(i) > 0.0;
        for (int a = 0; a < K_.size() && !found; a++) found = K_.members[a] < n_ && H_.diagonal(K_.members[a]) > 0.0;
        return found;
    }

    // T_[0] and noise_[0] for item i; whether its pivot is not 0: 1, 0, or -1 where that is unclear; 2 if refused.
    int response(int i) {
        if (!column(i, 0)) return 2;
        int k = K_.size(), place = K_.where[i];
        double largest = 1.0;
        Real own = T_[0][i];
        T_[0][i] = 1.0;
        if constexpr (std::is_same_v<Real, double>) largest = largest_size(T_[0].data(), N_);
        else for (int j = 0; j < N_; j++) largest = std::max(largest, absolute(T_[0][j]));
        T_[0][i] = own;
        for (double &noise : noise_[0]) noise = std::max(noise, Deciding::zero * largest);
        if (!FINE && valid_ && absolute(own) > PLAIN * noise_[0][i]) return 1;
        if (valid_ && !curved(i)) return 0;
        // The pivot dx'P dx, by terms that do not cancel; its size, and what errors of dx do to it.
        Real energy = 0.0;
        double size = 0.0, wrong = 0.0;
        for (int a = 0; a < k; a++) {
            if (K_.members[a] >= n_) continue;
            Real x = x_[0][a];
            double off = noise_[0][K_.members[a]];
            K_.each_entry(a, [&](int b, double entry) {
                if (K_.members[b] >= n_) return;
                energy += x * x_[0][b] * Real(entry);
                size += absolute(x) * absolute(x_[0][b]) * std::abs(entry), wrong += off * noise_[0][K_.members[b]] * std::abs(entry);
            });
            if (place < 0 && i < n_) {  // first_ is minus the column of H
                energy -= Real(2.0) * x * first_[a], size += 2.0 * absolute(x) * absolute(first_[a]);
            }
        }
        if (place < 0 && i < n_) energy += Real(H_.diagonal(i)), size += std::abs(H_.diagonal(i));
        double found = rounded(energy);
        if (found <= 3.0 * Deciding::rounding * size + 1e-2 * wrong) return 0;
        return std::abs(absolute(T_[0][i]) - found) <= 1e-3 * found ? 1 : -1;
    }

    // A segment: its two points, of which the first is the last one's end where both are the same but for rounding.
    void record(Real step) {
        times.push_back(rounded(when_));
        size_t last = values.size() - N_;
        bool begun = !recorded_.empty() && !values.empty();
        for (Vector &each : point_) each.resize(N_);
        points(0.0, point_[0].data(), point_[1].data());
        bool same = begun && close(values.data() + last, point_[0].data(), error_[0].data(), apart_.data(), N_) &&
                    close(multipliers.data() + last, point_[1].data(), error_[0].data(), apart_.data(), N_) && joins(last);
        joined.push_back(same);
        if (same) {
            for (int i = 0; i < N_; i++) {
                bool was = recorded_[i] & 1, is = labels[i] & 1;  // it leaves a bound, or a level, where that is
                values[last + i] = was && !is ? values[last + i] : point_[0][i];
                multipliers[last + i] = !was && is ? multipliers[last + i] : point_[1][i];
            }
        } else {
            values.insert(values.end(), point_[0].begin(), point_[0].end());
            multipliers.insert(multipliers.end(), point_[1].begin(), point_[1].end());
        }
        values.resize(values.size() + N_), multipliers.resize(values.size());
        points(step, values.data() + values.size() - N_, multipliers.data() + values.size() - N_);
        pieces.insert(pieces.end(), labels.begin(), labels.end());
        recorded_ = labels, apart_.resize(N_);
        for (int i = 0; i < N_; i++) apart_[i] = error_[0][i] + rounded(step) * error_[1][i];
    }
    // Whether who leaves a bound or a level may keep to it: by what it would differ, rows of others would be missed.
    bool joins(size_t last) const {
        double most[2] = {JOINED * largest_size(point_[0].data(), N_), JOINED * largest_size(point_[1].data(), N_)};
        for (int i = 0; i < N_; i++) {
            bool was = recorded_[i] & 1, is = labels[i] & 1;
            if (was && !is && !(std::abs(values[last + i] - point_[0][i]) <= most[0])) return false;
            if (!was && is && !(std::abs(multipliers[last + i] - point_[1][i]) <= most[1])) return false;
        }
        return true;
    }
    void points(Real step, double *v, double *y) const {
        const Real *pinned[] = {pinned_.now[0].data(), pinned_.now[1].data()}, *g[] = {g_[0].data(), g_[1].data()};
        two_ways(labels.data(), pinned, g, step, N_, v, y);
    }

    const Columns &H_;
    const Program p_;
    const int N_, n_;
    Basis K_;
    bool made_ = false, valid_ = false;  // whether the solution may be carried on
    double fixed_[2][2], most_[2][2];
    Vector still_, sizes_;  // rates that are 0
    int age_ = 0;   // exchanges since it was computed
    int since_ = 0;  // exchanges since K is made afresh
    int64_t standing_ = 0, patience_ = 0;
    Indices resting_, closing_, rows_, variables_;
    std::vector<Step> steps_;
    Vector terms_;

    Affine<Real> pinned_, known_, low_, high_, q_;
    Carried<Basis> carried_;
    std::vector<Real> g_[2], u_[2], x_[2], T_[2], right_[2], change_[2], first_, at_[2];
    Vector error_[2], noise_[2], size_[2], each_[2], moved_[2];

    std::vector<int8_t> recorded_;  // labels of the last segment, and how far its end may be off
    Vector apart_, point_[2];

    Real when_ = 0.0;
    int item_ = -1, side_ = 0;
};

}  // namespace core
