// The solution updated from one basis to the next (part of general.hpp): what is known of an item of the exchange
// changes, and all other items follow its column of the transform.
//
// An update costs one product with the inverse instead of several, and a bound on its errors is carried along
// (update_error.hpp). An updated solution is used where it tells the next event beyond doubt; else the solution is
// computed from the basis.
#pragma once
#include "general.hpp"

namespace core {

// Whether the updated solution tells the next event, which is then in `event_`.
template <class Real, class Basis>
bool Walk<Real, Basis>::update_decides() {
    if (!updatable_ || updates_ >= RECOMPUTE || inverse_is_old() || steps_in_place_ >= patience_) return false;
    if (!resting_.empty()) return false;
    for (int r = 0; r < 2; r++) update_error_.bound(H_, basis, update_error_.residual[r], error_[r]);
    if (compare_updates && !compare_with_computed(true)) return false;
    if (!next_event()) return false;
    if (rounded(event_.when - t) <= INSTANT) event_.when = t;
    return no_other_event();
}

// How wrong a value may be after a step, next to the largest value, or a multiplier next to the largest multiplier.
template <class Real, class Basis>
double Walk<Real, Basis>::relative_error(double step) const {
    double size[2] = {}, error[2] = {};
    const double *errors[] = {error_[0].data(), error_[1].data()};
    of_kinds(pieces.labels.data(), free_[0].data(), pieces.pinned.now[0].data(), errors, step, items_, size, error);
    double worst = 0.0;
    for (int kind = 0; kind < 2; kind++)
        if (error[kind] > 0.0) worst = std::max(worst, size[kind] > 0.0 ? error[kind] / size[kind] : INFINITE_ERROR);
    return worst;
}

// Whether the event is known well enough, and no other item can come to an end of its piece before it.
template <class Real, class Basis>
bool Walk<Real, Basis>::no_other_event() {
    double span = rounded(event_.when - t);
    double event_error = 0.0;
    bool found = event_.at_end_of_piece();
    if (found) {
        double error = error_[0][event_.item] + span * error_[1][event_.item];
        event_error = error / rounded(speed_to(event_.item, event_.side));
    }
    if (!(event_error <= EVENT_ERROR && relative_error(span) <= UPDATE_ERROR)) {
        measure_terms();  // perhaps a solution that is computed would be no better
        if (!update_error_.is_small(basis, n_, largest_terms_)) return false;
    }
    const Real *free[] = {free_[0].data(), free_[1].data()};
    const Real *low[] = {pieces.low.now[0].data(), pieces.low.now[1].data()};
    const Real *high[] = {pieces.high.now[0].data(), pieces.high.now[1].data()};
    const double *error[] = {error_[0].data(), error_[1].data()};
    return due(free, low, high, error, zero_rate_.data(), span + event_error, items_) <= found;
}

// Compute the solution from the basis, and refuse where the updated one differs from it by more than its bound says.
// With `keep_updated` the updated one stays: a test of it changes nothing.
template <class Real, class Basis>
bool Walk<Real, Basis>::compare_with_computed(bool keep_updated) {
    for (int r = 0; r < 2; r++) update_error_.bound(H_, basis, update_error_.residual[r], error_[r]);
    std::vector<Real> updated[] = {free_[0], free_[1]};
    Vector bound[] = {error_[0], error_[1]};
    UpdateError<Basis> kept(0);
    if (keep_updated) kept = update_error_;
    if (!solve(t)) return false;
    double worst = worst_difference(updated, bound);
    worst_update = std::max(worst_update, worst);
    if (!(worst <= 1.0)) return refuse("the solution that was carried on is another one");
    if (!keep_updated) return true;
    kept.basis_changed();
    update_error_ = std::move(kept);
    for (int r = 0; r < 2; r++) {
        free_[r] = std::move(updated[r]);
        error_[r] = std::move(bound[r]);
    }
    return true;
}
// The largest difference between an updated solution and the present one, in units of the bounds on both.
template <class Real, class Basis>
double Walk<Real, Basis>::worst_difference(const std::vector<Real> *updated, const Vector *bound) const {
    double worst = 0.0;
    for (int r = 0; r < 2; r++)
        for (int i = 0; i < items_; i++) {
            double difference = magnitude(updated[r][i] - free_[r][i]);
            if (difference > 0.0) worst = std::max(worst, difference / (bound[r][i] + error_[r][i]));
        }
    return worst;
}

// ---- bounds on the residuals ----

// Bound the residuals of a solution that is just being computed: its members are known, `error_` has the sizes of what
// is known outside of them.
template <class Real, class Basis>
void Walk<Real, Basis>::start_updates() {
    term_rounding_.resize(items_);
    for (int r = 0; r < 2; r++) {
        Vector &residual = update_error_.residual[r];
        Vector sizes(basis.size());
        fixed_terms_[r][0] = fixed_terms_[r][1] = 0.0;
        for (int i = 0; i < items_; i++) {
            double mixed = r ? 0.0 : MIXED * pieces.line_terms(i);
            term_rounding_[i] = Trust<Real>::rounding * (pieces.sizes_now(r, i) + mixed);
            residual[i] = error_[r][i] + term_rounding_[i];
            fixed_terms_[r][i >= n_] = std::max(fixed_terms_[r][i >= n_], residual[i]);
        }
        for (int a = 0; a < basis.size(); a++) sizes[a] = Trust<Real>::rounding * magnitude(solution_[r][a]);
        H_.add_sizes(basis.members, sizes.data(), residual);
        for (int a = 0; a < basis.size(); a++) {
            int j = basis.members[a];
            residual[j] = Trust<Real>::rounding * terms_[r][a] + term_rounding_[j] + magnitude(residual_[r][a]);
            free_[r][j] = solution_[r][a];
        }
    }
    measure_terms();
    update_error_.begin(basis, n_, largest_terms_);
}
// Measure the largest terms of the equations of variables and of rows, now and of the rates.
template <class Real, class Basis>
void Walk<Real, Basis>::measure_terms() {
    for (int r = 0; r < 2; r++) {
        double largest[2] = {0.0, 0.0};
        for (int j : basis.members) {
            double size = magnitude(free_[r][j]);
            largest[0] = std::max(largest[0], size * (j < n_ ? H_.diagonal(j) : H_.largest_of_A(j)));
            if (j < n_) largest[1] = std::max(largest[1], size * H_.largest_of_A(j));
        }
        for (int kind = 0; kind < 2; kind++)
            largest_terms_[r][kind] = fixed_terms_[r][kind] + Trust<Real>::rounding * largest[kind];
    }
}

// ---- the update ----

// Add a multiple of a column to the solution (by[0]), and to its rates (by[1]).
template <class Real, class Basis>
void Walk<Real, Basis>::add_multiple(int which, const Real *by) {
    const std::vector<Real> &column = column_[which];
    for (int r = 0; r < 2; r++) {
        if (rounded(by[r]) == 0.0) continue;
        // The free one of a variable outside the basis is minus its w.
        outside(basis.where.data(), column.data(), by[r], n_, free_[r].data());
        advance(free_[r].data() + n_, column.data() + n_, by[r], items_ - n_);
        update_error_.add_column(r, which, magnitude(by[r]));
    }
}
// Make what was pinned of item i the free one from now on, changed by so much. `inside`: whether it was in the basis.
template <class Real, class Basis>
void Walk<Real, Basis>::release(int i, bool inside, const Real *by) {
    for (int r = 0; r < 2; r++) {
        Real was = pieces.pinned.now[r][i];
        free_[r][i] = ((i < n_) == inside ? -was : was) + (i < n_ && inside ? -by[r] : by[r]);
    }
    zero_rate_[i] = 0.0;
}
// By how much the free one of item i must change, as w or u, to be at that end of its piece and to stay there.
template <class Real, class Basis>
Real Walk<Real, Basis>::change_to_end(int r, int i, int side, bool inside) const {
    Real by = (side ? pieces.high : pieces.low).now[r][i] - free_[r][i];
    return i < n_ && !inside ? -by : by;
}
// Update the solution to the basis after an exchange of item i, which is at an end of its piece.
template <class Real, class Basis>
void Walk<Real, Basis>::update(int i, int side, bool inside) {
    Real by[2];
    for (int r = 0; r < 2; r++) by[r] = change_to_end(r, i, side, inside) / column_[0][i];
    add_multiple(0, by);
    release(i, inside, by);
}
// Update it after an exchange of items i and j, each of which comes to an end of its piece: a system of two equations.
template <class Real, class Basis>
void Walk<Real, Basis>::update(int i, int side, int j, int other_side, const bool *inside) {
    Real a = column_[0][i], b = column_[1][i];
    Real c = column_[0][j], d = column_[1][j];
    Real determinant = a * d - b * c;
    Real by[2][2];
    for (int r = 0; r < 2; r++) {
        Real x = change_to_end(r, i, side, inside[0]);
        Real y = change_to_end(r, j, other_side, inside[1]);
        by[0][r] = (d * x - b * y) / determinant;
        by[1][r] = (a * y - c * x) / determinant;
    }
    add_multiple(0, by[0]);
    add_multiple(1, by[1]);
    release(i, inside[0], by[0]);
    release(j, inside[1], by[1]);
}

// Compute a column by one product with K, or a few, until it is as good as its own equations can tell. False if it does
// not become so; then no update is made of it.
template <class Real, class Basis>
bool Walk<Real, Basis>::quick_column(int i, int which) {
    std::vector<Real> &out = column_[which];
    Vector &bounds = update_error_.column_residual[which];
    std::fill(out.begin(), out.end(), Real(0.0));
    std::fill(bounds.begin(), bounds.end(), 0.0);
    if (basis.where[i] < 0) H_.add_one(i, Real(1.0), Trust<Real>::rounding, out, bounds);
    int k = basis.size();
    for (auto *each : {&solution_[0], &residual_[0]}) each->assign(basis.room(), Real(0.0));
    sizes_[0].resize(k);
    correction_[0].resize(basis.room());
    for (int a = 0; a < k; a++) residual_[0][a] = column_residual(i, a, out);
    if (which == 0) column_right_ = residual_[0];
    for (int turn = 0; !correct_column(i, out, bounds, turn == 0); turn++)
        if (turn == Basis::turns - 1) {
            updatable_ = false;
            return false;
        }
    for (int a = 0; a < k; a++) {
        out[basis.members[a]] = solution_[0][a];
        bounds[basis.members[a]] += magnitude(residual_[0][a]);
    }
    update_error_.bound(H_, basis, bounds, column_error_[which]);
    return true;
}
// Correct a column by one product with K; whether its residuals are then no more than a few times what rounding leaves,
// or in twice the precision what K makes of them is next to nothing of the column.
template <class Real, class Basis>
bool Walk<Real, Basis>::correct_column(int i, std::vector<Real> &out, Vector &bounds, bool first) {
    constexpr double FEW = 4.0;
    int k = basis.size();
    const Real *right[] = {residual_[0].data()};
    Real *to[] = {correction_[0].data()};
    std::fill(correction_[0].begin(), correction_[0].end(), Real(0.0));
    basis.add_inverse_times(1, right, to);
    for (int a = 0; a < k; a++) solution_[0][a] += correction_[0][a];
    H_.add_all(basis.members, correction_[0].data(), out.data());
    if (first) {
        for (int a = 0; a < k; a++) sizes_[0][a] = Trust<Real>::rounding * magnitude(solution_[0][a]);
        H_.add_sizes(basis.members, sizes_[0].data(), bounds);
    }
    double missed[2] = {0.0, 0.0}, allowed[2];  // in equations of variables, and of rows
    for (int a = 0; a < k; a++) {
        residual_[0][a] = column_residual(i, a, out);
        double &largest = missed[basis.members[a] >= n_];
        largest = std::max(largest, magnitude(residual_[0][a]));
    }
    UpdateError<Basis>::largest_of_members(bounds, basis, n_, allowed);
    if (missed[0] <= FEW * allowed[0] && missed[1] <= FEW * allowed[1]) return true;
    if (!FINE) return false;
    double size = 0.0, wrong = 0.0;
    for (int a = 0; a < k; a++) {
        size = std::max(size, magnitude(solution_[0][a]));
        wrong = std::max(wrong, missed[0] * basis.sums(0)[a] + missed[1] * basis.sums(1)[a]);
    }
    return wrong <= UNSEEN * size;
}

}  // namespace core
