// What a walk writes down of its path: the ends of its segments, changes of labels, and of each point the numbers that
// labels do not say.
//
// On its piece the value or the multiplier of an item is known: a bound, or a slope. The other one is a number of its
// own, but for values of rows, which are Ax. Numbers are told apart by their place in (x, y): the values of the n
// variables, then the multipliers of all items.
#pragma once
#include "pieces.hpp"

namespace core {

template <class Real>
class Segments {
  public:
    // Whether all of (x, y) is written down: in twice the precision numbers belong to a t that has more digits than a
    // double, so that what labels say at the double is not what others were solved with.
    bool whole_points = false;
    Vector times;                         // where the first segment begins, and each ends
    std::vector<int8_t> first_labels;     // of all items, on the first segment
    std::vector<int64_t> change_segment;  // before which segment an item changes its label
    Indices change_item;
    std::vector<int8_t> change_step;      // and by how much
    // Which segments begin where the one before ends, but for rounding. Then the two have that point in common: a
    // segment has two points of its own, or one and the last point of the segment before. A common point is kept by
    // the labels of the segment that begins there.
    std::vector<char> joined;
    std::vector<int64_t> counts;  // of numbers, point by point
    Indices places;               // of the numbers in (x, y)
    Vector numbers;

    Segments(int items, int n) : items_(items), n_(n) {}

    // Write down a segment, from the solution where it begins, with bounds on its errors.
    void record(const Pieces<Real> &pieces, const std::vector<Real> *free, const Vector *error, Real begin, Real end) {
        const std::vector<int8_t> &labels = pieces.labels;
        const Real length = end - begin;
        if (times.empty()) times.push_back(rounded(begin));
        times.push_back(rounded(end));
        point_at(pieces, free, begin, begin, begin_);
        bool same = continues(labels, error[0]);
        note_changes(labels);
        if (same) {
            join(labels);
            write(end_, labels);
        } else {
            write_last();
            write(begin_, labels);
        }
        joined.push_back(same);
        point_at(pieces, free, begin, end, end_);
        last_labels_ = labels;
        end_error_.resize(items_);
        for (int i = 0; i < items_; i++) end_error_[i] = error[0][i] + rounded(length) * error[1][i];
    }
    // Write down the end of the last segment, where no other begins.
    void write_last() {
        if (!joined.empty()) write(end_, last_labels_);
    }

  private:
    // Compute the point of a segment at t: as it is read at the double next to t, it is the solution there. Data that
    // come from far move by more than their own rounding from one double to the next.
    void point_at(const Pieces<Real> &pieces, const std::vector<Real> *free, Real begin, Real t, Vector *point) const {
        if constexpr (Trust<Real>::twice) {
            const Real there = rounded(t);
            points(pieces, free, there - begin, point);
            if (put_inside(pieces, free, there - begin, magnitude(t - there), point)) return;
        }
        points(pieces, free, t - begin, point);
    }
    // Put items that leave their pieces by a step back to the ends of these; false if that moves one by more than a few
    // times what data of its kind move in some time.
    bool put_inside(const Pieces<Real> &pieces, const std::vector<Real> *free, Real step, double time,
                    Vector *point) const {
        double allowed[2];
        for (int kind = 0; kind < 2; kind++) allowed[kind] = BESIDE * time * pieces.largest_rate(kind);
        for (int i = 0; i < items_; i++) {
            const bool pinned = pieces.pins_value(i);
            const Real now = add_product(free[0][i], free[1][i], step);
            for (int side = 0; side < 2; side++) {
                const AffineVector<Real> &ends = side ? pieces.high : pieces.low;
                const Real end = add_product(ends.now[0][i], ends.now[1][i], step);
                const double beyond = side ? rounded(now - end) : rounded(end - now);
                if (beyond <= 0.0) continue;
                if (!(beyond <= allowed[pinned])) return false;
                point[pinned][i] = pinned ? -rounded(end) : rounded(end);
            }
        }
        return true;
    }
    // Compute values and multipliers of all items a step on.
    void points(const Pieces<Real> &pieces, const std::vector<Real> *free, Real step, Vector *point) const {
        for (int kind = 0; kind < 2; kind++) point[kind].resize(items_);
        const Real *pinned[] = {pieces.pinned.now[0].data(), pieces.pinned.now[1].data()};
        const Real *moving[] = {free[0].data(), free[1].data()};
        two_ways(pieces.labels.data(), pinned, moving, step, items_, point[0].data(), point[1].data());
    }
    void note_changes(const std::vector<int8_t> &now) {
        if (joined.empty()) {
            first_labels = now;
            return;
        }
        for (int i = 0; i < items_; i++) {
            if (now[i] == last_labels_[i]) continue;
            change_segment.push_back(int64_t(joined.size()));
            change_item.push_back(i);
            change_step.push_back(int8_t(now[i] - last_labels_[i]));
        }
    }
    // Write down the numbers of a point: those that its labels do not say, or all.
    void write(const Vector *point, const std::vector<int8_t> &labels) {
        if (whole_points) {
            numbers.insert(numbers.end(), point[0].begin(), point[0].begin() + n_);
            numbers.insert(numbers.end(), point[1].begin(), point[1].end());
            counts.push_back(n_ + items_);
            return;
        }
        size_t before = places.size();
        for (int i = 0; i < items_; i++) {
            if (labels[i] & 1) {
                places.push_back(n_ + i);
                numbers.push_back(point[1][i]);
            } else if (i < n_) {
                places.push_back(i);
                numbers.push_back(point[0][i]);
            }
        }
        counts.push_back(int64_t(places.size() - before));
    }
    // Whether the new segment begins where the last one ends, but for rounding.
    bool continues(const std::vector<int8_t> &now, const Vector &error) const {
        if (joined.empty()) return false;
        for (int kind = 0; kind < 2; kind++)
            if (!close(end_[kind].data(), begin_[kind].data(), error.data(), end_error_.data(), items_)) return false;
        return may_keep(now);
    }
    // Whether items that leave a bound or a level may keep to it in the common point: by what it differs from where
    // they begin, the equations of others would be missed.
    bool may_keep(const std::vector<int8_t> &now) const {
        double allowed[2];
        for (int kind = 0; kind < 2; kind++) allowed[kind] = JOINED * largest_size(begin_[kind].data(), items_);
        for (int i = 0; i < items_; i++) {
            bool was_pinned = last_labels_[i] & 1;  // its value; else its multiplier
            bool is_pinned = now[i] & 1;
            if (was_pinned && !is_pinned && !(std::abs(end_[0][i] - begin_[0][i]) <= allowed[0])) return false;
            if (!was_pinned && is_pinned && !(std::abs(end_[1][i] - begin_[1][i]) <= allowed[1])) return false;
        }
        return true;
    }
    // Make the last point common to both segments: an item that leaves a bound, or a level, is where that is.
    void join(const std::vector<int8_t> &now) {
        for (int i = 0; i < items_; i++) {
            bool was_pinned = last_labels_[i] & 1;
            bool is_pinned = now[i] & 1;
            if (!was_pinned || is_pinned) end_[0][i] = begin_[0][i];
            if (was_pinned || !is_pinned) end_[1][i] = begin_[1][i];
        }
    }

    const int items_, n_;
    std::vector<int8_t> last_labels_;  // of the last segment
    Vector end_error_;                 // how wrong its end may be
    Vector begin_[2], end_[2];         // values and multipliers where a segment begins, and where the last one ends
};

}  // namespace core
