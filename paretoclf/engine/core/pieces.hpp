// The piece of its staircase that each item is on, and the numbers of that piece along the line.
//
// An item is a variable or a row. Its value and its multiplier lie on a staircase of five pieces:
//
//   BELOW   beyond a soft lower bound: the multiplier is its slope       (even: the multiplier is pinned)
//   LOWER   at the lower bound                                           (odd: the value is pinned)
//   INSIDE  between the bounds: the multiplier is 0                      (even)
//   UPPER   at the upper bound                                           (odd)
//   ABOVE   beyond a soft upper bound                                    (even)
//
// The pinned one of the two is constant or affine in t. The other one is free between the ends of the piece: `free` is
// the value itself, or minus the multiplier, which both increase along the staircase.
#pragma once
#include "program.hpp"

namespace core {

enum Piece : int8_t { PIECE_BELOW = -2, PIECE_LOWER, PIECE_INSIDE, PIECE_UPPER, PIECE_ABOVE };

template <class Real>
class Pieces {
  public:
    static constexpr double NO_END = 1e300;  // an end of a piece where it goes on for ever

    const int items, n;  // n of the items are variables
    std::vector<int8_t> labels;
    AffineVector<Real> pinned, low, high;  // the pinned one of value and multiplier; ends of the piece for the free one
    AffineVector<Real> known;              // of items outside the basis u is known, of its members w: this is it
    AffineVector<Real> q;
    Indices closing;  // items whose two bounds come closer to each other

    Pieces(Program program, std::vector<int8_t> begin, int items, int n)
        : items(items), n(n), labels(std::move(begin)), pinned(items), low(items), high(items), known(items), q(n),
          program_(std::move(program)), terms_(items, 0.0) {
        for (int i = 0; i < items; i++) {
            for (int r = 0; r < 2; r++) {
                terms_[i] += std::abs(program_.q[r][i]);
                for (auto &side : program_.sides) terms_[i] += std::abs(side[r][i]);
            }
            if (i < n) q.set(i, program_.q[0][i], program_.q[1][i]);
            set(i, labels[i]);
            bool between = program_.has_low[i] && program_.has_up[i] && !program_.fixed[i];
            if (between && width(i, 1) < width(i, 0)) closing.push_back(i);
        }
    }

    bool pins_value(int i) const { return labels[i] % 2; }
    bool without_bounds(int i) const { return program_.without_bounds(i); }
    double width(int i, int end) const {
        return program_.sides[Program::UP][end][i] - program_.sides[Program::LOW][end][i];
    }

    // Put an item on a piece; its numbers at the present t are not known before `evaluate` or `evaluate_item`.
    void set(int i, int label) {
        labels[i] = int8_t(label);
        bool odd = label % 2;
        Real at[2], known_at[2];
        for (int r = 0; r < 2; r++) {
            Real level = 0.0;
            if (label == PIECE_BELOW) level = program_.sides[Program::BELOW_SLOPE][r][i];
            if (label == PIECE_ABOVE) level = -program_.sides[Program::ABOVE_SLOPE][r][i];
            Real bound = program_.sides[label >= PIECE_UPPER ? Program::UP : Program::LOW][r][i];
            at[r] = odd ? bound : level;
            known_at[r] = i < n ? level - Real(program_.q[r][i]) : -level;
            if (odd) known_at[r] = bound;
        }
        pinned.set(i, at[0], at[1]);
        known.set(i, known_at[0], known_at[1]);
        low.set(i, end_at(i, label, 0, 0), end_at(i, label, 0, 1));
        high.set(i, end_at(i, label, 1, 0), end_at(i, label, 1, 1));
    }
    // Find the piece next to one of item i, on its lower (0) or upper (1) side. Where both bounds are equal there is
    // one piece for the two, and without bounds there is none but INSIDE.
    int next(int i, int label, int side) const {
        if (label == PIECE_LOWER && without_bounds(i)) return PIECE_INSIDE;
        if (!program_.fixed[i]) return label + (side ? 1 : -1);
        if (label != PIECE_LOWER) return PIECE_LOWER;
        return side ? PIECE_ABOVE : PIECE_BELOW;
    }
    // Whether a piece of item i ends on its lower (0) or upper (1) side.
    bool has_end(int i, int label, int side) const { return end_of(i, label, side).kind != Number::NONE; }
    // The end of a piece of item i on a side, at t = 0 (r = 0) or t = 1.
    Real end_at(int i, int label, int side, int r) const {
        Number end = end_of(i, label, side);
        if (end.kind == Number::NONE) return side ? NO_END : -NO_END;
        if (end.kind == Number::ZERO) return 0.0;
        return end.sign * program_.sides[end.kind][r][i];
    }

    // Evaluate all numbers at t.
    void evaluate(Real t) {
        for (auto *each : {&pinned, &known, &low, &high, &q}) each->evaluate(t);
    }
    // Evaluate those at t that follow a solution from step to step; or let them make the step themselves.
    void evaluate_piece(Real t) {
        for (auto *each : {&pinned, &low, &high}) each->evaluate(t);
    }
    void step_piece(Real by) {
        for (auto *each : {&pinned, &low, &high}) each->step(by);
    }
    // Evaluate those of one item at t, after it was put on another piece.
    void evaluate_item(int i, Real t) {
        for (auto *each : {&pinned, &low, &high}) each->now[0][i] = each->at(i, t);
    }

    // Sizes of the terms of item i's equation that are no products: now, and of the whole line for the rate.
    double term_sizes(int r, int i) const { return r ? terms_[i] : sizes_now(0, i); }
    double line_terms(int i) const { return terms_[i]; }
    double sizes_now(int r, int i) const {
        double linear = i < n ? magnitude(q.now[r][i]) : 0.0;
        return magnitude(known.now[r][i]) + magnitude(pinned.now[r][i]) + linear;
    }

    // Find the largest rate of bounds (0), or of slopes and q (1), on the pieces there are.
    double largest_rate(int kind) const {
        double largest = 0.0;
        for (int i = 0; i < items; i++) {
            const AffineVector<Real> *own[] = {&pinned, &low, &high};
            for (int which = 0; which < 3; which++)
                if ((which == 0) == (pins_value(i) == (kind == 0)))
                    largest = std::max(largest, magnitude(own[which]->now[1][i]));
            if (kind == 1 && i < n) largest = std::max(largest, magnitude(q.now[1][i]));
        }
        return largest;
    }

  private:
    // A number that ends a piece: a side of the program with a sign, 0, or none.
    struct Number {
        static constexpr int ZERO = 4, NONE = 5;
        int kind;
        double sign;
    };
    Number end_of(int i, int label, int side) const {
        const Program &p = program_;
        bool fixed = p.fixed[i];
        auto given = [](bool has, int kind, double sign = 1.0) {
            return has ? Number{kind, sign} : Number{Number::NONE, 1.0};
        };
        switch (label) {
            case PIECE_BELOW: return given(side && p.has_low[i], Program::LOW);
            case PIECE_LOWER:
                if (p.without_bounds(i)) return {Number::ZERO, 1.0};
                if (!side) return given(p.soft_low[i], Program::BELOW_SLOPE, -1.0);
                return fixed ? given(p.soft_up[i], Program::ABOVE_SLOPE) : Number{Number::ZERO, 1.0};
            case PIECE_INSIDE: return side ? given(p.has_up[i], Program::UP) : given(p.has_low[i], Program::LOW);
            case PIECE_UPPER: return side ? given(p.soft_up[i], Program::ABOVE_SLOPE) : given(!fixed, Number::ZERO);
            default: return given(!side && p.has_up[i], Program::UP);
        }
    }

    const Program program_;
    Vector terms_;
};

}  // namespace core
