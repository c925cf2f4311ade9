// The numerical tolerances of the tracker, each with its reason. All are relative unless a comment says not: a margin
// is measured against 1, a multiplier against its cap, t against the length 1 of its line. (Those of the rest of the
// package stand in tolerances.py; a test holds the few that stand in both against each other.)
#pragma once

namespace core {

constexpr double EPSILON = 2.3e-16;  // of a double

// Error bound of a gradient computed in double, relative to the terms that were summed. Samples whose events cannot be
// told apart within it are looked at in twice the precision.
constexpr double ROUNDING = 1e-14;

// ---- steps in twice the precision ----

// Distance of a multiplier from its bound, relative to its cap, that counts as "at the bound" in an exchange in place.
constexpr double EVENT_BOX = 1e-11;
// Refinement ends when a correction is below this share of the largest multiplier (both weighted by sqrt(Q_ii)).
constexpr double REFINED = 1e-18;
// Corrections that stay above this share even with a factor in twice the precision: numerically singular.
constexpr double UNREFINED = 1e-9;
// A slope of a gradient below this share of its terms is zero (multipliers are refined to 1e-18).
constexpr double SLOPE_ZERO = 1e-17;
// Slopes of multipliers below this share of the terms they are a difference of are rounding, not movement.
constexpr double SLOPE_NOISE = 1e-10;
// Slopes of multipliers below this share of those of all samples at their caps (both times sqrt(Q_ii)) are none.
constexpr double STILL = 1e-24;
// Where the rounding of a multiplier moves margins by more, the time of its exit is computed to twice the precision.
constexpr double MARGIN_NOISE = 1e-11;
// What rounding of the margins may make of a stored optimal value.
constexpr double VALUE_ERROR = 1e-10;
// A recomputed solution outside its sets by more than this is a numerical failure, never a tie.
constexpr double INFEASIBLE = 1e-6;
// What twice the precision leaves of terms that cancel, relative to them: 1e-32 a sum, and a hundred sums.
constexpr double LEFT_OF_TERMS = 1e-30;
// Like INFEASIBLE, a limit of violations, where shifted targets of the margin set are put back at the beginning of a line.
constexpr double SETTLED = 1e-10;
// An event this close to the end of a line of length 1 is the end of the line.
constexpr double END_OF_LINE = 1e-13;
// Where a line is left once w = 0, every margin is reached there at once: what is this close to it happens there.
constexpr double END_TIE = 1e-9;
// A sample depends on the margin set when its squared pivot is below this share of (sqrt(Q_ii) + sum |u_j|
// sqrt(Q_jj))^2, u the combination that reproduces it. Entries of a kernel matrix are rounded to 1e-16, so a smaller
// pivot cannot be told from zero; with features the pivot is the squared norm of a residual vector, itself known to
// 1e-15.
constexpr double DEPENDENT_KERNEL = 2e-15;
constexpr double DEPENDENT_FEATURES = 1e-30;
// A squared pivot below this share of the diagonal is a difference of numbers that cancel: it is computed once more.
constexpr double SHARPEN = 1e-4;

// ---- steps in double: beyond any of these a step is taken in twice the precision, and nothing is lost but time ----

constexpr double FAST_PIVOT = 1e-5;   // squared pivots of who enters, relative to the diagonal
constexpr double LEAST_PIVOT = 1e-7;  // of who has entered: rounding errors of multipliers are larger in proportion
constexpr double FAST_SUMS = 1e-9;    // these errors, relative to the sums of multipliers that must balance
constexpr double FAST_ERROR = 1e-10;  // bound on the rounding error of a margin, absolute
constexpr double FAST_SHIFT = 1e-9;   // the same, relative to what the typical sample at its cap adds to its own margin
// By how much a multiplier may be wrong, times Q_ii, when its sample enters. Next to its bound it may then be out of
// its box by as much, and what is stored is not: its own margin moves by this, of the 1e-8 that certificates allow.
constexpr double FAST_ENTER = 4e-9;
// A multiplier that is stored outside its box by more than this share of its cap shows in certificates.
constexpr double SEEN_OUTSIDE = 1e-9;
constexpr double FAST_EXIT = 1e-12;   // rounding error of a multiplier, relative to its cap
constexpr double FAST_VALUE = 3e-7;   // half the squared distance of two hulls, relative to the largest squared norm
constexpr double FAST_SCORES =
    1e-6;  // least sum of the terms of a score, against the target p: 10 digits are left of it
constexpr double FAST_GAP = 1e-8;     // what rounding errors of the margins cost, relative to the optimal value
constexpr double TWINS = 1e-15;       // kernel values of one sample next to those of another, as rounding leaves them

}  // namespace core
