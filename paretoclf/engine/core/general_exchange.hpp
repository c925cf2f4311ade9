// How the basis changes at an event (part of general.hpp): an item goes to its next piece at a fixed t.
//
// Where its pivot is not 0 it changes its role alone. Else the solution may move along its column at this t, until
// another item comes to an end of its piece: then both change their roles. Where nothing blocks that move it is a ray,
// and there is no optimum at any later t.
#pragma once
#include "general.hpp"

namespace core {

// Take item i beyond an end of its piece. PAUSED if that is done; else why there is no way, with the ray.
template <class Real, class Basis>
typename Walk<Real, Basis>::Status Walk<Real, Basis>::exchange(int i, int side) {
    Pivot pivot = judge_pivot(i);
    while (pivot == UNCLEAR) {
        if (exchanges_since_factor_ == 0) {
            pivot = ZERO;
            break;
        }
        if (!refactor()) return REFUSED;
        pivot = judge_pivot(i);
    }
    if (pivot == FAILED) return REFUSED;
    int next = pieces.next(i, pieces.labels[i], side);
    if (pivot == NONZERO) {
        bool inside = basis.where[i] >= 0;
        if (!change_basis(i)) return REFUSED;
        if (updatable_) update(i, side, inside);
        put_on(i, next);
        return PAUSED;
    }
    bool moves_value = pieces.pins_value(i);  // then it is released from its bound; else its multiplier moves
    int forward = moves_value == bool(side) ? 1 : -1;  // the sign of that move
    int unit = moves_value || i < n_ ? forward : -forward;
    find_blocks(i, side, next, unit);
    if (!blocks_.any()) return no_way(i, unit);
    const auto *block = steps_in_place_ >= patience_ ? blocks_.lowest() : blocks_.fastest();
    if (!block) {
        refuse("the solution is not finite");
        return REFUSED;
    }
    return exchange_with(*block, i, side, next);
}

// Find which items block a move along the column of item i: du in the basis and dw outside, `unit` for i itself, when i
// goes on to the piece `next`.
template <class Real, class Basis>
void Walk<Real, Basis>::find_blocks(int i, int side, int next, int unit) {
    bool moves_value = pieces.pins_value(i);
    blocks_.clear();
    for (int j = 0; j < items_; j++) {
        // Where i moves its value, so do all with a free value, and multipliers are constant; and the other way round.
        if (j == i || pieces.pins_value(j) == moves_value) continue;
        if (!(magnitude(column_[0][j]) > column_error_[0][j])) continue;
        Real move = Real(double(unit)) * column_[0][j];
        if (j < n_ && !moves_value) move = -move;
        int end = rounded(move) > 0.0 ? 1 : 0;
        Real slack = slack_to(j, end);
        if (rounded(slack) > 0.5 * Pieces<Real>::NO_END) continue;
        double none = updates_ ? 0.0 : error_[0][j];
        if (rounded(slack) <= none) slack = 0.0;
        Real speed = rounded(move) < 0.0 ? -move : move;
        blocks_.add({slack / speed, magnitude(move), j, end}, scale_of(j));
    }
    if (pieces.without_bounds(i) || !pieces.has_end(i, next, side)) return;
    // Item i itself may come to the other end of its next piece.
    Real free = next % 2 ? -multiplier(0, i) : value(0, i);
    Real end = (Real(1.0) - t) * pieces.end_at(i, next, side, 0) + t * pieces.end_at(i, next, side, 1);
    Real slack = side ? end - free : free - end;
    if (!(rounded(slack) > 0.0)) slack = 0.0;
    blocks_.add({slack, 1.0, i, side}, scale_of(i));
}

// Say that there is no optimum beyond, with the ray: of values where it is unbounded, of multipliers where it is
// infeasible.
template <class Real, class Basis>
typename Walk<Real, Basis>::Status Walk<Real, Basis>::no_way(int i, int unit) {
    bool moves_value = pieces.pins_value(i);
    ray.assign(items_, Real(0.0));
    for (int j = 0; j < items_; j++) {
        Real move = j == i ? Real(double(unit)) : Real(double(unit)) * column_[0][j];
        bool moves_u = basis.where[j] >= 0;
        if (j == i) moves_u = !moves_u;  // its move is the one that is given
        Real u = moves_u ? move : Real(0.0);
        Real w = moves_u ? Real(0.0) : move;
        if (moves_value) ray[j] = j < n_ ? u : w;
        else ray[j] = j < n_ ? w : -u;
    }
    return moves_value ? UNBOUNDED : INFEASIBLE;
}

// Exchange item i and the one that blocks its way, both of which go to their next pieces.
template <class Real, class Basis>
typename Walk<Real, Basis>::Status Walk<Real, Basis>::exchange_with(const typename Blocks<Real>::Block &block, int i,
                                                                    int side, int next) {
    int j = block.item;
    int next_of_j = pieces.next(j, j == i ? next : pieces.labels[j], block.side);
    if (j != i) {
        bool inside[2] = {basis.where[i] >= 0, basis.where[j] >= 0};
        if (!change_basis(i, j)) return REFUSED;
        if (updatable_) update(i, side, j, block.side, inside);
        put_on(i, next);
    }
    Real by[2] = {-pieces.known.at(j, t), -pieces.known.now[1][j]};
    put_on(j, next_of_j);
    by[0] += pieces.known.at(j, t);
    by[1] += pieces.known.now[1][j];
    // Where i went through to the piece after the next the basis is the same.
    if (updatable_ && j == i) add_multiple(0, by);
    return PAUSED;
}
template <class Real, class Basis>
void Walk<Real, Basis>::put_on(int i, int label) {
    pieces.set(i, label);
    pieces.evaluate_item(i, t);
}

// ---- whether a pivot is 0 ----

// Compute the column of item i, and judge whether its pivot is 0.
template <class Real, class Basis>
typename Walk<Real, Basis>::Pivot Walk<Real, Basis>::judge_pivot(int i) {
    if (!column(i, 0)) return FAILED;
    Real own = column_[0][i];
    column_[0][i] = 1.0;  // how far it moves itself
    double largest = 1.0;
    if constexpr (std::is_same_v<Real, double>) {
        largest = largest_size(column_[0].data(), items_);
    } else {
        for (int j = 0; j < items_; j++) largest = std::max(largest, magnitude(column_[0][j]));
    }
    column_[0][i] = own;
    for (double &error : column_error_[0]) error = std::max(error, Deciding::zero * largest);
    if (!FINE && updatable_ && magnitude(own) > PLAIN * column_error_[0][i]) return NONZERO;
    if (updatable_ && !may_curve(i)) return ZERO;
    return judge_by_curvature(i);
}
// Whether the objective can be curved along the column of item i.
template <class Real, class Basis>
bool Walk<Real, Basis>::may_curve(int i) const {
    if (i < n_ && H_.diagonal(i) > 0.0) return true;
    for (int j : basis.members)
        if (j < n_ && H_.diagonal(j) > 0.0) return true;
    return false;
}
// Judge a pivot by the curvature dx'P dx along its column, which it is: a sum whose terms do not cancel. UNCLEAR if
// that is not 0, and not what the pivot is.
template <class Real, class Basis>
typename Walk<Real, Basis>::Pivot Walk<Real, Basis>::judge_by_curvature(int i) const {
    bool enters = basis.where[i] < 0 && i < n_;  // then its own dx is 1; else all of dx are members
    Real curvature = 0.0;
    double size = 0.0, error = 0.0;  // sizes of its terms, and what errors of dx do to it
    for (int a = 0; a < basis.size(); a++) {
        if (basis.members[a] >= n_) continue;
        Real x = solution_[0][a];
        double x_error = column_error_[0][basis.members[a]];
        basis.each_entry(a, [&](int b, double entry) {
            if (basis.members[b] >= n_) return;
            curvature += x * solution_[0][b] * Real(entry);
            size += magnitude(x) * magnitude(solution_[0][b]) * std::abs(entry);
            error += x_error * column_error_[0][basis.members[b]] * std::abs(entry);
        });
        if (enters) {  // the right-hand side is minus its column of H
            curvature -= Real(2.0) * x * column_right_[a];
            size += 2.0 * magnitude(x) * magnitude(column_right_[a]);
        }
    }
    if (enters) {
        curvature += Real(H_.diagonal(i));
        size += std::abs(H_.diagonal(i));
    }
    double found = rounded(curvature);
    if (found <= 3.0 * Deciding::rounding * size + CURVATURE_ERROR * error) return ZERO;
    return std::abs(magnitude(column_[0][i]) - found) <= AGREES * found ? NONZERO : UNCLEAR;
}

}  // namespace core
