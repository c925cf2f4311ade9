// The path of any parametric program from event to event, in either precision: the algorithm that
// paretoclf/engine/textbook.py explains.
//
// With H = (P A'; A 0), u = (x, -y of rows) and w = Hu + (q, 0), each item (a variable or a row) is on a piece of its
// staircase (pieces.hpp), on which one of its value and multiplier is pinned, and the other one free. The basis B holds
// the variables with even and the rows with odd labels: u is known outside B, w in B, and H_BB gives the rest. All of
// these are affine in t: [0] is where they are now, [1] their rates.
//
// This file has the class and its loop. Its parts:
//
//   general_solve.hpp     the solution on a basis and columns of the pivot transform, with bounds on their errors
//   general_update.hpp    the solution updated from one basis to the next, and how far that may be trusted
//   general_events.hpp    which item comes to an end of its piece first
//   general_exchange.hpp  how the basis changes there
#pragma once
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>

#include "blocks.hpp"
#include "inverse.hpp"
#include "segments.hpp"
#include "update_error.hpp"

namespace core {

template <class Real, class Basis = Inverse<Real>>
class Walk {
  public:
    enum Status { PAUSED, END, INFEASIBLE, UNBOUNDED, LIMIT, REFUSED };

    Pieces<Real> pieces;
    Segments<Real> segments;
    Real t = 0.0;
    std::string why;  // the walk is refused
    int64_t exchanges = 0;
    int crossed = -1;       // the item whose two bounds cross, where the program is infeasible for that reason
    std::vector<Real> ray;  // where it is unbounded or infeasible: a direction of values, or of multipliers
    Basis basis;

    bool recompute_always = false;  // no solution is updated
    bool compare_updates = false;   // each updated solution is compared with one that is computed from the basis
    double worst_update = 0.0;      // the largest error of an update so found, in units of its bound
    int64_t solved = 0;             // solutions that were computed from the basis

    Walk(const Columns &H, Program program, std::vector<int8_t> labels, Basis begin = Basis())
        : pieces(std::move(program), std::move(labels), H.items, H.n), segments(H.items, H.n), basis(std::move(begin)),
          H_(H), items_(H.items), n_(H.n), update_error_(H.items), patience_(200 + 2 * int64_t(H.items)) {
        for (auto &side : reached_) side.resize(items_);
        for (int r = 0; r < 2; r++) {
            for (auto *each : {&free_[r], &known_[r], &column_[r]}) each->resize(items_);
            for (auto *each : {&error_[r], &column_error_[r]}) each->resize(items_);
        }
    }

    // Go on for so many steps, to the end of the line, or to where there is no optimum any more.
    Status run(int64_t limit, bool keep, int64_t steps) {
        Status found = or_forget([&] { return walk_on(limit, keep, steps); });
        if (found != PAUSED) updatable_ = false;
        return found;
    }
    // Solve on the basis at some t, for a caller who reads `value` and `multiplier`; false if it is refused.
    bool solve_at(Real at) {
        updatable_ = false;
        return or_forget([&] { return solve(at); });
    }
    Real value(int r, int i) const { return pieces.pins_value(i) ? pieces.pinned.now[r][i] : free_[r][i]; }
    Real multiplier(int r, int i) const { return pieces.pins_value(i) ? -free_[r][i] : pieces.pinned.now[r][i]; }

  private:
    static constexpr bool UPDATES = Basis::updates;
    // The solution is finer than the basis: whether a pivot is 0 is decided in the precision of the basis.
    static constexpr bool FINE = Basis::turns > 3;
    using Deciding = Trust<std::conditional_t<FINE, double, Real>>;
    static constexpr double INFINITE_ERROR = 1e300;  // relative to what is 0
    static constexpr double INF = std::numeric_limits<double>::infinity();

    struct Event {  // an item comes to the lower (0) or upper (1) end of its piece, or (CROSS) its bounds meet
        static constexpr int NO_ITEM = -1, CROSS = 2;
        Real when = 0.0;
        int item = NO_ITEM, side = 0;
        bool at_end_of_piece() const { return item != NO_ITEM && side != CROSS; }
    };
    enum Pivot { ZERO, NONZERO, UNCLEAR, FAILED };

    bool refuse(const char *reason) {
        why = reason;
        return false;
    }
    // Where work is broken off (the factor is made by a call that may throw), the next call makes the factor anew.
    template <class Work>
    auto or_forget(const Work &work) {
        try {
            return work();
        } catch (...) {
            factored_ = updatable_ = false;
            throw;
        }
    }
    // How fast the free one of item i goes to an end of its piece, and how far it is from there.
    Real speed_to(int i, int side) const {
        return side ? free_[1][i] - pieces.high.now[1][i] : pieces.low.now[1][i] - free_[1][i];
    }
    Real slack_to(int i, int side) const {
        return side ? pieces.high.now[0][i] - free_[0][i] : free_[0][i] - pieces.low.now[0][i];
    }
    double scale_of(int i) const { return 1.0 + magnitude(free_[0][i]) + magnitude(pieces.pinned.now[0][i]); }
    bool rests(int i) const { return std::find(resting_.begin(), resting_.end(), i) != resting_.end(); }
    bool inverse_is_old() const { return exchanges_since_factor_ >= std::max(REFACTOR, basis.size()); }

    // ---- from event to event, in this file ----
    Status walk_on(int64_t limit, bool keep, int64_t steps);
    bool recompute();
    void step_to_event();
    Status take_event();
    Status finish(Status status, bool keep);
    bool may_rest(double speed) const;

    // ---- general_solve.hpp ----
    bool factor();
    bool factor(Indices members);
    bool refactor();
    bool solve(Real at);
    bool solve_members();
    void bound_members();
    bool spread_members();
    double add_known();
    void add_known_columns(const Indices &some);
    void gather_known(const Indices &some, int from, int to);
    void refine(int count);
    void clear_members(int count);
    double largest_residual(int count) const;
    double add_block_sizes(int count);
    void add_inverse_sizes(int count);
    bool column(int i, int which);
    bool solve_column(int i, int which);
    void spread_column(int which);
    bool change_basis(int i, int j = -1);

    // ---- general_update.hpp ----
    bool update_decides();
    double relative_error(double step) const;
    bool no_other_event();
    bool compare_with_computed(bool keep_updated);
    double worst_difference(const std::vector<Real> *updated, const Vector *bound) const;
    void start_updates();
    void measure_terms();
    void add_multiple(int which, const Real *by);
    void release(int i, bool inside, const Real *by);
    Real change_to_end(int r, int i, int side, bool inside) const;
    void update(int i, int side, bool inside);
    void update(int i, int side, int j, int other_side, const bool *inside);
    bool quick_column(int i, int which);
    bool correct_column(int i, std::vector<Real> &out, Vector &bounds, bool first);
    // What the equation of member a misses of column i, which is 1 in the equation of item i itself.
    Real column_residual(int i, int a, const std::vector<Real> &out) const {
        return (basis.members[a] == i ? Real(1.0) : Real(0.0)) - out[basis.members[a]];
    }

    // ---- general_events.hpp ----
    bool next_event();
    void choose_event(Real last, Real first);
    void find_crossing(Real before);
    bool find_arrivals(Real last, Real &first);
    double arrivals_in_doubles(Real last, Real &first);
    double arrivals_in_twice(Real last, Real &first);
    bool inside_pieces();
    bool inside_pieces_at_end();
    bool refuse_outside(double violation);

    // ---- general_exchange.hpp ----
    Status exchange(int i, int side);
    void find_blocks(int i, int side, int next, int unit);
    Status no_way(int i, int unit);
    Status exchange_with(const typename Blocks<Real>::Block &block, int i, int side, int next);
    void put_on(int i, int label);
    Pivot judge_pivot(int i);
    bool may_curve(int i) const;
    Pivot judge_by_curvature(int i) const;

    const Columns &H_;
    const int items_, n_;

    // The free one of value and multiplier of each item, and a bound on its rounding error.
    std::vector<Real> free_[2];
    Vector error_[2];
    // Columns of the pivot transform for the one or two items of an exchange, with such bounds.
    std::vector<Real> column_[2];
    Vector column_error_[2];

    // Vectors over the members, of one or two equations H_BB x = b: x, what b is at first and what is missed of it
    // then, and the last correction; sizes of the terms of each equation, and a bound on the error of x; and what
    // products of sizes begin with.
    std::vector<Real> solution_[2], residual_[2], correction_[2];
    Vector terms_[2], solution_error_[2], sizes_[2];
    std::vector<Real> column_right_;  // b of the first column
    std::vector<Real> known_[2];      // u of some items, else 0
    Indices known_rows_, known_variables_;

    bool factored_ = false;
    int exchanges_since_factor_ = 0;

    bool updatable_ = false;  // whether the solution may be updated to the next basis
    int updates_ = 0;         // exchanges since the solution was computed from the basis
    UpdateError<Basis> update_error_;
    Vector zero_rate_;                                 // rates up to this are 0
    Vector term_rounding_;                             // of each equation
    double fixed_terms_[2][2], largest_terms_[2][2];  // now and of rates; equations of variables, and of rows

    std::vector<Real> reached_[2];  // when each item reaches the ends of its piece
    Event event_;
    int64_t steps_in_place_ = 0;
    const int64_t patience_;  // steps of length zero before the lowest index goes first, which cannot cycle
    Indices resting_;  // items whose end of the piece is passed by no more than rounding, where they cannot go on
    Blocks<Real> blocks_;
};

template <class Real, class Basis>
typename Walk<Real, Basis>::Status Walk<Real, Basis>::walk_on(int64_t limit, bool keep, int64_t steps) {
    for (; steps > 0; steps--) {
        if (!update_decides() && !recompute()) return REFUSED;
        Real length = event_.when - t;
        if (keep && rounded(event_.when) > rounded(t)) segments.record(pieces, free_, error_, t, event_.when);
        steps_in_place_ = rounded(length) == 0.0 ? steps_in_place_ + 1 : 0;
        if (steps_in_place_ > 20 * patience_) {
            refuse("no progress after very many exchanges at one point");
            return REFUSED;
        }
        double speed = event_.at_end_of_piece() ? rounded(speed_to(event_.item, event_.side)) : 0.0;
        step_to_event();
        if (event_.item == Event::NO_ITEM) return finish(END, keep);
        if (event_.side == Event::CROSS) {
            crossed = event_.item;
            return finish(INFEASIBLE, keep);
        }
        if (exchanges >= limit) return finish(LIMIT, keep);
        Status stopped = take_event();
        exchanges++;
        if (stopped == PAUSED) continue;
        if (stopped == REFUSED) return REFUSED;
        if (!may_rest(speed)) return finish(stopped, keep);
        resting_.push_back(event_.item);
    }
    return PAUSED;
}

// Compute the solution from the basis where it stands, and the next event; false if that is refused.
template <class Real, class Basis>
bool Walk<Real, Basis>::recompute() {
    if (inverse_is_old() && !factor()) return false;
    bool updated = updatable_ && updates_;
    if (!(updated ? compare_with_computed(false) : solve(t))) return false;
    updatable_ = UPDATES && !recompute_always;
    updates_ = 0;
    solved++;
    why.clear();
    zero_rate_ = error_[1];
    return next_event();
}

// Move t and the solution to the event.
template <class Real, class Basis>
void Walk<Real, Basis>::step_to_event() {
    Real length = event_.when - t;
    t = event_.when;
    if (rounded(length) != 0.0) {
        // An update lasts for many steps: its pieces are evaluated, lest their rounding adds up.
        if (updatable_ && !Trust<Real>::twice) pieces.evaluate_piece(t);
        else pieces.step_piece(length);
        add(free_[0].data(), free_[1].data(), length, items_);
    }
    if (updatable_) {
        update_error_.step(rounded(length));
        updates_++;
    }
}

// Take the item of the event into its next piece. That there is no way is not said after an update, whose columns come
// from one product with K, but on a new inverse.
template <class Real, class Basis>
typename Walk<Real, Basis>::Status Walk<Real, Basis>::take_event() {
    Status stopped = exchange(event_.item, event_.side);
    bool no_way = stopped == INFEASIBLE || stopped == UNBOUNDED;
    if (!updatable_ || !no_way) return stopped;
    updatable_ = false;
    return refactor() ? exchange(event_.item, event_.side) : REFUSED;
}

// End the walk where it is; refused if the solution there is not what updates have said, or not on its pieces.
template <class Real, class Basis>
typename Walk<Real, Basis>::Status Walk<Real, Basis>::finish(Status status, bool keep) {
    if (updates_ && !compare_with_computed(false)) return REFUSED;
    if (keep && !inside_pieces_at_end()) return REFUSED;
    return status;
}

// Whether the item of the event, which cannot go on, may rest where it is: to the end of the line it is violated by no
// more than rounding, next to the largest value or multiplier.
template <class Real, class Basis>
bool Walk<Real, Basis>::may_rest(double speed) const {
    bool of_values = !pieces.pins_value(event_.item);
    double largest = 0.0;
    for (int i = 0; i < items_; i++) largest = std::max(largest, magnitude(of_values ? value(0, i) : multiplier(0, i)));
    return !(speed * rounded(Real(1.0) - t) > REST * (1.0 + largest));
}

}  // namespace core

#include "general_events.hpp"
#include "general_exchange.hpp"
#include "general_solve.hpp"
#include "general_update.hpp"
