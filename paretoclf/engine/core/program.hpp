// A parametric program as its walk sees it (see general.hpp), and how far its numbers are trusted.
#pragma once
#include <cstdint>

#include "columns.hpp"

namespace core {

// What a number of either precision can be trusted with.
template <class Real>
struct Trust {
    static constexpr bool twice = !std::is_same_v<Real, double>;
    // Changes of this share of the terms of a sum cannot be told from rounding: 45 roundings, more than sums here take.
    static constexpr double rounding = twice ? 1e-29 : 1e-14;
    // Residuals above this share of their terms: the inverse has drifted too far, and is recomputed.
    static constexpr double drift = twice ? 1e-28 : 1e-13;
    // A pivot below this share of the largest entry of its column is what refinement left of a zero.
    static constexpr double zero = twice ? 1e-32 : 1e-17;
    // Events this close together are one, and the fastest item goes first. Numbers that are rounding of 0 in doubles have
    // an order of their own in twice the precision.
    static constexpr double tie = twice ? 1e-24 : 1e-14;
    // What happens this close to the end of the line is taken to happen at the end.
    static constexpr double last = twice ? 1e-24 : 1e-11;
};

// ---- the solution and its pieces ----

// A solution that leaves its pieces by more than this, beyond its error bound, is refused.
constexpr double OUTSIDE = 1e-6;
// By how much items may miss their bounds so that a larger pivot can be taken (Harris).
constexpr double HARRIS = 1e-12;
// What an item violates at the end of the line by no more than this, relative to its kind, needs no repair that does
// not exist.
constexpr double REST = 1e-10;
// A point that differs from the end of the segment before by no more than this, relative to its kind, is that end.
constexpr double JOINED = 1e-14;
// At the double next to an event, items may be outside their pieces by so many times what data move from here to there.
constexpr double BESIDE = 16.0;
// Events as they come out in doubles may be off by so much more than a tie.
constexpr double TIE_IN_DOUBLES = 2e-14, LATER = 1e-13;
// At a fixed t, items that block the way within this share of the first do so together with it.
constexpr double TOGETHER = 1e-13;
// In twice the precision, a solution may miss this share of its terms; else its basis, in doubles, is singular.
constexpr double RESOLVED = 1e-20;
// No double shows that a column is wrong by this share of its largest entry: it needs no further refinement.
constexpr double UNSEEN = 1e-20;

// ---- the basis and updates of the solution ----

// Exchanges after which the inverse is recomputed (as many as there are members, if these are more), and the solution.
constexpr int REFACTOR = 60, RECOMPUTE = 64;
// A pivot that is so many times its error bound is not 0, and needs no second look.
constexpr double PLAIN = 1e6;
// Where the pivot is not 0 a second way to compute it agrees to this share; its own errors count to the other share.
constexpr double AGREES = 1e-3, CURVATURE_ERROR = 1e-2;
// Updates do without recomputing where the time of the next event is known to this, and so are, relative to the largest
// of their kind, all values and multipliers.
constexpr double EVENT_ERROR = 1e-11, UPDATE_ERROR = 1e-11;
// A step that is shorter, after an update, is none: t itself is rounded by this.
constexpr double INSTANT = 4e-16;
// Numbers that are affine in t are rounded at t, by this share of the unit of rounding.
constexpr double MIXED = 0.05;

// The numbers of a program along its line, at t = 0 and at t = 1; zeros where a bound or slope is infinite.
struct Program {
    enum Side { LOW, UP, BELOW_SLOPE, ABOVE_SLOPE };
    Vector q[2], sides[4][2];
    std::vector<char> has_low, has_up, soft_low, soft_up, fixed;
    bool without_bounds(int i) const { return !has_low[i] && !has_up[i]; }
};

// A vector that is affine in t: at both ends of the line, now, and its rate.
template <class Real>
struct AffineVector {
    std::vector<Real> first, last, now[2];  // now[1] is the rate

    explicit AffineVector(int size) : first(size), last(size), now{std::vector<Real>(size), std::vector<Real>(size)} {}
    void set(int i, Real at_first, Real at_last) {
        first[i] = at_first;
        last[i] = at_last;
        now[1][i] = at_last - at_first;
    }
    Real at(int i, Real t) const { return (Real(1.0) - t) * first[i] + t * last[i]; }
    void evaluate(Real t) {
        if constexpr (std::is_same_v<Real, double>) {
            mix(first.data(), last.data(), t, int(first.size()), now[0].data());
        } else {
            for (size_t i = 0; i < first.size(); i++) now[0][i] = at(int(i), t);
        }
    }
    void step(Real by) { add(now[0].data(), now[1].data(), by, int(first.size())); }
};

}  // namespace core
