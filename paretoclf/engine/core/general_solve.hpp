// The solution on a basis and columns of the pivot transform, each with bounds on its rounding errors (part of
// general.hpp).
//
// Both are one system H_BB x = b and one product with H: x are the unknown u of the members, b is what the known u
// outside leave for them. The system is solved by the inverse of the basis and refined by residuals of H_BB itself;
// where too much is missed all the same, the inverse is recomputed.
#pragma once
#include "general.hpp"

namespace core {

// ---- the basis ----

template <class Real, class Basis>
bool Walk<Real, Basis>::factor() {
    Indices members;
    for (int i = 0; i < items_; i++)
        if (pieces.pins_value(i) != (i < n_)) members.push_back(i);
    return factor(std::move(members));
}
template <class Real, class Basis>
bool Walk<Real, Basis>::factor(Indices members) {
    exchanges_since_factor_ = 0;
    update_error_.basis_changed();
    factored_ = basis.factor(H_, std::move(members));
    return factored_ || refuse("the basis is singular");
}
// Recompute the inverse for the members that there are: in the midst of an exchange labels may say otherwise.
template <class Real, class Basis>
bool Walk<Real, Basis>::refactor() {
    return factor(sorted(basis.members));
}
// Exchange one item of the basis or two, by their columns; on a new inverse once more, where the pivot is 0 on this
// one.
template <class Real, class Basis>
bool Walk<Real, Basis>::change_basis(int i, int j) {
    resting_.clear();
    for (int attempt = 0; attempt < 2; attempt++) {
        if (attempt && !column(i, 0)) return false;  // at first it is there: `judge_pivot` needed it
        if (j >= 0 && !column(j, 1)) return false;
        int items[2] = {i, j};
        const Real *columns[2] = {column_[0].data(), column_[1].data()};
        if (basis.exchange(H_, items, j < 0 ? 1 : 2, columns)) {
            exchanges_since_factor_++;
            update_error_.basis_changed();
            return true;
        }
        if (exchanges_since_factor_ == 0) break;
        if (!refactor()) return false;
    }
    factored_ = false;
    return refuse("the basis is singular");
}

// ---- the solution ----

// Solve on the basis at some t; false if it is refused.
template <class Real, class Basis>
bool Walk<Real, Basis>::solve(Real at) {
    if (!factored_ && !factor()) return false;
    pieces.evaluate(at);
    if (!solve_members()) return false;
    bound_members();
    if (UPDATES) start_updates();
    return spread_members() || refuse("the solution is not finite");
}

// Solve for the members, now and for their rates.
template <class Real, class Basis>
bool Walk<Real, Basis>::solve_members() {
    for (int round = 0;; round++) {
        for (int r = 0; r < 2; r++) {
            std::fill(free_[r].begin(), free_[r].end(), Real(0.0));
            std::fill(error_[r].begin(), error_[r].end(), 0.0);
        }
        double largest_known = add_known();
        clear_members(2);
        for (int r = 0; r < 2; r++)
            for (int a = 0; a < basis.size(); a++) {
                int i = basis.members[a];
                residual_[r][a] = pieces.known.now[r][i] - free_[r][i];
                terms_[r][a] = error_[r][i] / Trust<Real>::rounding;
            }
        refine(2);
        double missed = largest_residual(2);
        double terms = add_block_sizes(2) + largest_known;
        bool last = exchanges_since_factor_ == 0 || round == 1;
        if (FINE && last && !(missed <= RESOLVED * terms)) return refuse("the basis is singular");
        if (last || missed <= Trust<Real>::drift * terms) return true;
        if (!refactor()) return false;
    }
}

// Bound what rounding can do to each member, from the sizes of the terms of its equation.
template <class Real, class Basis>
void Walk<Real, Basis>::bound_members() {
    for (int r = 0; r < 2; r++)
        for (int a = 0; a < basis.size(); a++) {
            sizes_[r][a] = Trust<Real>::rounding * (terms_[r][a] + pieces.term_sizes(r, basis.members[a]));
            if (FINE) sizes_[r][a] += magnitude(residual_[r][a]);
        }
}

// Compute the free one of value and multiplier of all items from the solution for the members; false if one is not
// finite.
template <class Real, class Basis>
bool Walk<Real, Basis>::spread_members() {
    int k = basis.size();
    add_inverse_sizes(2);
    for (int a = 0; a < k; a++) {
        Real x[2] = {solution_[0][a], solution_[1][a]};
        double error[2];
        for (int r = 0; r < 2; r++) error[r] = Trust<Real>::rounding * magnitude(x[r]) + solution_error_[r][a];
        H_.add_both(basis.members[a], x, error, free_, error_);
    }
    for (int i = 0; i < items_; i++) {
        error_[0][i] += Trust<Real>::rounding * pieces.sizes_now(0, i);
        error_[1][i] += Trust<Real>::rounding * pieces.line_terms(i);
    }
    double sum = 0.0;  // not a number if one of them is none
    for (int r = 0; r < 2; r++) {
        // Outside B, w = Hu + (q, 0) is minus what is free of a variable: its multiplier with the other sign.
        for (int i = 0; i < n_; i++) free_[r][i] = -(free_[r][i] + pieces.q.now[r][i]);
        for (int a = 0; a < k; a++) {
            free_[r][basis.members[a]] = solution_[r][a];
            error_[r][basis.members[a]] = solution_error_[r][a];
        }
        for (int i = 0; i < items_; i++) sum += 0.0 * rounded(free_[r][i]);
    }
    return sum == 0.0;
}

// ---- products with what is known ----

// Add H times what is known outside B to `free_`, and its sizes to `error_`. Return the largest of what is known.
template <class Real, class Basis>
double Walk<Real, Basis>::add_known() {
    static constexpr int CALL = 16;  // entries that take as long as beginning a column
    double largest = 0.0;
    int64_t entries_of_rows = 0;
    known_rows_.clear();
    known_variables_.clear();
    for (int i = 0; i < items_; i++) {
        double size[2] = {magnitude(pieces.known.now[0][i]), magnitude(pieces.known.now[1][i])};
        if (size[0] == 0.0 && size[1] == 0.0) continue;
        largest = std::max(largest, std::max(size[0], size[1]));
        if (basis.where[i] >= 0) continue;
        if (i < n_) {
            known_variables_.push_back(i);
        } else {
            known_rows_.push_back(i);
            entries_of_rows += H_.count(i) + CALL;
        }
    }
    bool by_factor = !Trust<Real>::twice && H_.rank > 0 && int(known_variables_.size()) >= 2 * H_.rank;
    if (!by_factor) {
        add_known_columns(known_variables_);
    } else if constexpr (std::is_same_v<Real, double>) {
        gather_known(known_variables_, 0, n_);
        H_.add_by_factor(known_, Trust<Real>::rounding, free_, error_);
    }
    bool few_rows = entries_of_rows < H_.all_of_rows() / 4;
    if (few_rows) {
        add_known_columns(known_rows_);
    } else if (!known_rows_.empty()) {
        gather_known(known_rows_, n_, items_);
        for (int j = 0; j < n_; j++) H_.add_products(j, known_, Trust<Real>::rounding, free_, error_);
    }
    return largest;
}
template <class Real, class Basis>
void Walk<Real, Basis>::add_known_columns(const Indices &some) {
    for (int i : some) {
        Real u[2];
        double size[2];
        for (int r = 0; r < 2; r++) {
            u[r] = pieces.known.now[r][i];
            size[r] = Trust<Real>::rounding * magnitude(u[r]);
        }
        H_.add_both(i, u, size, free_, error_);
    }
}
// Put what is known of some items into `known_`, and 0 for all others from one item to another.
template <class Real, class Basis>
void Walk<Real, Basis>::gather_known(const Indices &some, int from, int to) {
    for (int r = 0; r < 2; r++) {
        std::fill(known_[r].begin() + from, known_[r].begin() + to, Real(0.0));
        for (int i : some) known_[r][i] = pieces.known.now[r][i];
    }
}

// ---- one or two systems on the members ----

template <class Real, class Basis>
void Walk<Real, Basis>::clear_members(int count) {
    int room = basis.room();
    for (int r = 0; r < count; r++) {
        for (auto *each : {&solution_[r], &residual_[r]}) each->assign(room, Real(0.0));
        for (auto *each : {&terms_[r], &solution_error_[r]}) each->assign(room, 0.0);
        sizes_[r].resize(basis.size());
    }
}
// Solve H_BB x = b, with b in `residual_`: x into `solution_`, what is missed stays in `residual_`. A basis in doubles
// for solutions in twice the precision takes as many turns as help.
template <class Real, class Basis>
void Walk<Real, Basis>::refine(int count) {
    const Real *right[] = {residual_[0].data(), residual_[1].data()};
    Real *missed[] = {residual_[0].data(), residual_[1].data()};
    const Real *change[2];
    Real *to[2];
    for (int r = 0; r < count; r++) {
        correction_[r].resize(basis.room());
        change[r] = to[r] = correction_[r].data();
    }
    double before = INF;
    for (int turn = 0; turn < Basis::turns; turn++) {
        for (int r = 0; r < count; r++) std::fill(correction_[r].begin(), correction_[r].end(), Real(0.0));
        basis.add_inverse_times(count, right, to);
        for (int r = 0; r < count; r++)
            for (int a = 0; a < basis.size(); a++) solution_[r][a] += correction_[r][a];
        basis.subtract_block_times(count, change, missed);
        if (!FINE) continue;
        double correction = 0.0, size = 0.0;
        for (int r = 0; r < count; r++)
            for (int a = 0; a < basis.size(); a++) {
                correction = std::max(correction, magnitude(correction_[r][a]));
                size = std::max(size, magnitude(solution_[r][a]));
            }
        if (!(correction > Trust<Real>::zero * size && correction <= before / 4.0)) break;
        before = correction;
    }
}
template <class Real, class Basis>
double Walk<Real, Basis>::largest_residual(int count) const {
    double largest = 0.0;
    for (int r = 0; r < count; r++)
        for (int a = 0; a < basis.size(); a++) largest = std::max(largest, magnitude(residual_[r][a]));
    return largest;
}
// Add |H_BB| |x| to the sizes of the terms of each equation; return the largest.
template <class Real, class Basis>
double Walk<Real, Basis>::add_block_sizes(int count) {
    const double *from[] = {sizes_[0].data(), sizes_[1].data()};
    double *to[] = {terms_[0].data(), terms_[1].data()};
    for (int r = 0; r < count; r++)
        for (int a = 0; a < basis.size(); a++) sizes_[r][a] = magnitude(solution_[r][a]);
    basis.add_block_sizes(count, from, to);
    double largest = 0.0;
    for (int r = 0; r < count; r++)
        for (int a = 0; a < basis.size(); a++) largest = std::max(largest, terms_[r][a]);
    return largest;
}
// Bound the errors of x by |K| times those of the equations, which are in `sizes_`.
template <class Real, class Basis>
void Walk<Real, Basis>::add_inverse_sizes(int count) {
    const double *from[] = {sizes_[0].data(), sizes_[1].data()};
    double *to[] = {solution_error_[0].data(), solution_error_[1].data()};
    basis.add_inverse_sizes(count, from, to);
}

// ---- columns of the pivot transform ----

// Compute column i of the transform into `column_[which]`, with a bound on its errors; u of the members is
// `solution_[0]`.
template <class Real, class Basis>
bool Walk<Real, Basis>::column(int i, int which) {
    if constexpr (UPDATES)
        if (updatable_ && quick_column(i, which)) return true;
    if (!solve_column(i, which)) return false;
    spread_column(which);
    return true;
}
// Solve for the members when u (outside the basis) or w (in it) of item i is 1, and is 0 of all other items.
template <class Real, class Basis>
bool Walk<Real, Basis>::solve_column(int i, int which) {
    std::vector<Real> &out = column_[which];
    Vector &error = column_error_[which];
    for (int round = 0;; round++) {
        std::fill(out.begin(), out.end(), Real(0.0));
        std::fill(error.begin(), error.end(), 0.0);
        if (basis.where[i] < 0) H_.add_one(i, Real(1.0), Trust<Real>::rounding, out, error);
        clear_members(1);
        for (int a = 0; a < basis.size(); a++) {
            int j = basis.members[a];
            residual_[0][a] = (j == i ? Real(1.0) : Real(0.0)) - out[j];
            terms_[0][a] = error[j] / Trust<Real>::rounding;
        }
        if (which == 0) column_right_ = residual_[0];
        refine(1);
        double missed = largest_residual(1);
        double terms = add_block_sizes(1) + 1.0;
        bool last = exchanges_since_factor_ == 0 || round == 1;
        if (last || missed <= Trust<Real>::drift * terms) return true;
        if (!refactor()) return false;
    }
}
// Compute all other items of a column from its members.
template <class Real, class Basis>
void Walk<Real, Basis>::spread_column(int which) {
    std::vector<Real> &out = column_[which];
    Vector &error = column_error_[which];
    int k = basis.size();
    for (int a = 0; a < k; a++) sizes_[0][a] = Trust<Real>::rounding * terms_[0][a];
    add_inverse_sizes(1);
    for (int a = 0; a < k; a++) {
        double own = Trust<Real>::rounding * magnitude(solution_[0][a]) + solution_error_[0][a];
        H_.add_one(basis.members[a], solution_[0][a], own, out, error);
    }
    for (int a = 0; a < k; a++) {
        out[basis.members[a]] = solution_[0][a];
        error[basis.members[a]] = solution_error_[0][a];
    }
}

}  // namespace core
