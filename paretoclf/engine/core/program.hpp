// A parametric program as its walk sees it (see general.hpp): pieces, numbers along the line, and how far they are trusted.
#pragma once
#include <cstdint>

#include "columns.hpp"

namespace core {

enum Piece : int8_t { PIECE_BELOW = -2, PIECE_LOWER, PIECE_INSIDE, PIECE_UPPER, PIECE_ABOVE };

// What each number of two precisions can be trusted with; paretoclf/engine/general.py has the reasons.
template <class Real>
struct Trust {
    static constexpr bool twice = !std::is_same_v<Real, double>;
    static constexpr double rounding = twice ? 1e-29 : 1e-14, drift = twice ? 1e-28 : 1e-13, zero = twice ? 1e-32 : 1e-17;
    static constexpr double last = twice ? 1e-24 : 1e-11;  // what happens so close to the end is not looked at
};
constexpr double OUTSIDE = 1e-6, HARRIS = 1e-12, REST = 1e-10, JOINED = 1e-14;
constexpr int FRESH = 60, EPOCH = 64;  // exchanges after which K, and the solution, are made afresh
constexpr double PLAIN = 1e6;  // a pivot so many times as large as what it may be wrong by is not 0
// How well a step must know when it ends, and how well all values and multipliers, next to the largest one: else it is
// computed afresh, where that would say it better.
constexpr double INSTANT = 4e-16;  // a step that is shorter is none
constexpr double MIXED = 0.05;  // what is affine in t is rounded at t, of that unit
constexpr double WHEN = 1e-11, ALL = 1e-11;

// The numbers of a program along its line, at t = 0 and at t = 1; zeros where a bound or slope is infinite.
struct Program {
    enum Side { LOW, UP, BELOW_SLOPE, ABOVE_SLOPE };
    Vector q[2], sides[4][2];
    std::vector<char> has_low, has_up, soft_low, soft_up, fixed;
    bool free(int i) const { return !has_low[i] && !has_up[i]; }
};

// What is affine in t: at both ends of the line, now, and its rate.
template <class Real>
struct Affine {
    std::vector<Real> first, last, now[2];
    explicit Affine(int size) : first(size), last(size), now{std::vector<Real>(size), std::vector<Real>(size)} {}
    void set(int i, Real a, Real b) { first[i] = a, last[i] = b, now[1][i] = b - a; }
    Real at(int i, Real t) const { return (Real(1.0) - t) * first[i] + t * last[i]; }
    void go(Real t) {
        if constexpr (std::is_same_v<Real, double>) mix(first.data(), last.data(), t, int(first.size()), now[0].data());
        else for (size_t i = 0; i < first.size(); i++) now[0][i] = at(int(i), t);
    }
    void step(Real by) { add(now[0].data(), now[1].data(), by, int(first.size())); }
};

}  // namespace core
