// Which item comes to an end of its piece first (part of general.hpp), and whether all items are on their pieces.
#pragma once
#include "general.hpp"

namespace core {

// Find the first event before the end of the line, into `event_`; false if the solution has left its pieces.
template <class Real, class Basis>
bool Walk<Real, Basis>::next_event() {
    Real end = 1.0;
    Real last = end - Real(Trust<Real>::last);
    if (less(last, t)) last = end;
    Real first;
    if (!find_arrivals(last, first)) return false;
    event_ = Event();
    event_.when = end;
    choose_event(last, first);
    find_crossing(event_.item == Event::NO_ITEM ? last : event_.when);
    return true;
}

// Choose among the items that arrive together with the first: the one that is fastest next to the error of its speed;
// after very many steps of length zero the lowest index.
template <class Real, class Basis>
void Walk<Real, Basis>::choose_event(Real last, Real first) {
    constexpr double SMALLEST = 1e-300;  // no division by 0
    bool by_index = steps_in_place_ >= patience_;
    double fastest = -1.0;
    double until = rounded(first) + TIE_IN_DOUBLES;
    int lowest = items_;
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < items_; i++) {
            Real at = reached_[side][i];
            if (!(rounded(at) <= until) || !less(at, last)) continue;
            if (by_index) {
                if (less(first, at) || i >= lowest) continue;
                lowest = i;
            } else {
                if (rounded(at - first) > Trust<Real>::tie) continue;
                double speed = rounded(speed_to(i, side)) / (error_[1][i] + SMALLEST);
                if (speed <= fastest) continue;
                fastest = speed;
            }
            event_.when = at;
            event_.item = i;
            event_.side = side;
        }
}
// Look for an item whose two bounds cross before some time: from there on the program is infeasible.
template <class Real, class Basis>
void Walk<Real, Basis>::find_crossing(Real before) {
    for (int i : pieces.closing) {
        Real first = pieces.width(i, 0), last = pieces.width(i, 1);
        Real width = (Real(1.0) - t) * first + t * last;
        if (!(rounded(width) > 0.0)) width = 0.0;
        Real crossing = t + width / (first - last);
        if (!less(crossing, before)) continue;
        before = event_.when = crossing;
        event_.item = i;
        event_.side = Event::CROSS;
    }
}

// ---- when items arrive ----

// Find when each item comes to either end of its piece, into `reached_`, and the first of all, no later than `last`;
// false if one is beyond its piece already.
template <class Real, class Basis>
bool Walk<Real, Basis>::find_arrivals(Real last, Real &first) {
    first = last;
    double least_slack;
    if constexpr (std::is_same_v<Real, double>) least_slack = arrivals_in_doubles(last, first);
    else least_slack = arrivals_in_twice(last, first);
    if (!resting_.empty()) {
        for (int i : resting_) reached_[0][i] = reached_[1][i] = INF;
        first = last;
        for (auto &side : reached_)
            for (Real at : side)
                if (rounded(at) <= 1.0 && less(at, first)) first = at;
    }
    return least_slack >= 0.0 || inside_pieces();
}
// Find arrivals in doubles. Returns the least slack of all, each with its error added.
template <class Real, class Basis>
double Walk<Real, Basis>::arrivals_in_doubles(Real last, Real &first) {
    const double *free[] = {free_[0].data(), free_[1].data()};
    const double *low[] = {pieces.low.now[0].data(), pieces.low.now[1].data()};
    const double *high[] = {pieces.high.now[0].data(), pieces.high.now[1].data()};
    const double *error[] = {error_[0].data(), error_[1].data()};
    double *at_low = reached_[0].data();
    double *at_high = reached_[1].data();
    // A slack that is less than its error is 0; but not after updates, whose bounds are wide.
    double within_error = updates_ ? 0.0 : 1.0;
    double least;
    first = arrivals(free, low, high, error, within_error, t, last, items_, at_low, at_high, &least);
    return least;
}
// Find arrivals in twice the precision: in doubles first, as what comes much later than the first needs no more digits.
template <class Real, class Basis>
double Walk<Real, Basis>::arrivals_in_twice(Real last, Real &first) {
    double least = Pieces<Real>::NO_END;
    double soonest = rounded(last);
    double now = rounded(t);
    for (int i = 0; i < items_; i++)
        for (int side = 0; side < 2; side++) {
            double slack = rounded(slack_to(i, side));
            double speed = rounded(speed_to(i, side));
            least = std::min(least, slack + error_[0][i]);
            bool comes = speed > error_[1][i];
            double at = now + (slack <= error_[0][i] ? 0.0 : slack) / speed;
            reached_[side][i] = comes ? Real(at) : Real(INF);
            if (comes && at < soonest) soonest = at;
        }
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < items_; i++) {
            if (!(rounded(reached_[side][i]) <= soonest + LATER)) continue;
            Real slack = slack_to(i, side);
            if (rounded(slack) <= error_[0][i]) slack = 0.0;
            reached_[side][i] = t + slack / speed_to(i, side);
            if (less(reached_[side][i], first)) first = reached_[side][i];
        }
    return least;
}

// ---- whether all items are on their pieces ----

// Whether no item is beyond its piece by more than its error and a share of its scale.
template <class Real, class Basis>
bool Walk<Real, Basis>::inside_pieces() {
    double outside = 0.0, violation = 0.0;
    for (int i = 0; i < items_; i++) {
        if (rests(i)) continue;
        for (int side = 0; side < 2; side++) {
            double slack = rounded(slack_to(i, side));
            outside = std::max(outside, -slack - error_[0][i] - OUTSIDE * scale_of(i));
            violation = std::max(violation, -slack);
        }
    }
    return outside <= 0.0 || refuse_outside(violation);
}
// Whether no item is beyond its piece where the walk ends: a rate within its error was taken for 0, however far it led.
template <class Real, class Basis>
bool Walk<Real, Basis>::inside_pieces_at_end() {
    double largest[2] = {0.0, 0.0};  // value, and multiplier, of those that are free
    for (int i = 0; i < items_; i++) {
        double &own = largest[pieces.labels[i] & 1];
        own = std::max(own, magnitude(free_[0][i]));
    }
    double violation = 0.0;
    for (int i = 0; i < items_; i++) {
        if (rests(i)) continue;
        double allowed = OUTSIDE * scale_of(i) + REST * largest[pieces.labels[i] & 1];
        for (int side = 0; side < 2; side++) {
            double beyond = -rounded(slack_to(i, side));
            if (beyond > allowed) violation = std::max(violation, beyond);
        }
    }
    return violation == 0.0 || refuse_outside(violation);
}
template <class Real, class Basis>
bool Walk<Real, Basis>::refuse_outside(double violation) {
    char text[80];
    std::snprintf(text, sizeof text, "the solution left its sets by %.1e", violation);
    return refuse(text);
}

}  // namespace core
