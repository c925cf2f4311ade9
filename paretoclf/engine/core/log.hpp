// The log of a tracker: its segments, one after the other.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace core {

// Sets of a sample: multiplier 0, at its cap, in the margin set; or without a cap all along, taking no part.
enum Set : int8_t { RIGHT, LEFT, MARGIN, OUT };

struct Change {
    int64_t segment, sample, old, now;  // before which segment
};

struct Log {
    bool keep = false;
    int width = 0;              // of the slopes w that are kept
    std::vector<double> at;     // increasing; if there are any, only segments with one of these t stay, and the last
    std::vector<int8_t> state;  // sets at the beginning
    std::vector<double> first, last;  // t at either end of a segment
    std::vector<int64_t> ptr{0}, index;
    std::vector<double> a_first, a_last;  // multipliers of the margin set of segment j: entries ptr[j] to ptr[j + 1]
    std::vector<double> eta, value, w;    // (s, 2, m); (s, 3): v0 + v1 f + v2 f^2 at the share f; (s, 2, width)
    std::vector<Change> changes;
    std::vector<int64_t> outside;  // segments with a multiplier that may be so far outside its box that it shows

    void clear() {
        first.clear();
        last.clear();
        ptr.assign(1, 0);
        index.clear();
        a_first.clear();
        a_last.clear();
        eta.clear();
        value.clear();
        w.clear();
        changes.clear();
        outside.clear();
    }
    int64_t segments() const { return int64_t(first.size()); }
    void begin_segment(double from, double to) {
        if (!at.empty() && !first.empty()) {
            auto next = std::lower_bound(at.begin(), at.end(), first.back());
            if (next == at.end() || *next > last.back()) drop_segment();
        }
        first.push_back(from);
        last.push_back(to);
    }
    void drop_segment() {  // drop the last one
        size_t s = first.size();
        if (!outside.empty() && outside.back() == int64_t(s) - 1) outside.pop_back();
        ptr.pop_back();
        index.resize(ptr.back());
        a_first.resize(ptr.back());
        a_last.resize(ptr.back());
        for (auto *x : {&first, &last, &eta, &value, &w}) x->resize(x->size() / s * (s - 1));
        for (auto x = changes.rbegin(); x != changes.rend() && x->segment == int64_t(s); ++x) x->segment--;
    }
    void mark(int sample, Set old, Set now) {
        if (keep) changes.push_back({segments(), sample, old, now});
    }
};

}  // namespace core
