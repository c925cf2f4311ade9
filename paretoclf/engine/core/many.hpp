// Many lines of caps, each from a basis of its own, and everything that happens on them.
#pragma once
#include "walk.hpp"

namespace core {

// Segments `lines[j]` to `lines[j + 1]` are those of line j. Each goes from the knot `first` of it to the one behind.
// Of all knots: where they are (0 to 1 along their line), sets, multipliers of all n samples, eta and w.
struct Followed {
    std::vector<int64_t> lines{0}, first;
    Vector u, alpha, eta, w;
    std::vector<int8_t> sets;
    std::vector<uint8_t> free, failed;  // whether a multiplier of the segment is off both of its bounds
};

template <class Form>
class Many {
  public:
    Followed out;

    // Caps at t are (1 - t) first + t last; but 0 all along of samples that are OUT of a line. Where eta jumps by no
    // more than `apart` a segment ends at the knot where the next begins; multipliers are at a bound up to `at_bound`
    // of a cap.
    Many(Tracker<Form> &tracker, Vector first, Vector last, int width, int64_t limit, double apart, double at_bound)
        : T_(tracker), caps_{std::move(first), std::move(last)}, width_(width), limit_(limit), apart_(apart),
          at_bound_(at_bound) {}

    // Follow a line from one t to another, on the basis with these sets outside of this margin set.
    void follow(std::vector<int8_t> sets, Indices margin, double from, double to) {
        Log &log = T_.B.log;
        log = Log();
        log.keep = true;
        log.width = width_;
        bool found = false;
        try {
            bool taken = set_out(sets, std::move(margin), from, to);
            found = taken && T_.run(limit_, 1e6) == Stop::END && log.segments() > 0;
        } catch (const Refused &) {
        }
        lines_.push_back({found ? std::move(log) : Log(), std::move(sets), from, to});
        out.failed.push_back(!found);
        log = Log();
    }
    // Write all lines down into `out`; memory is asked for once.
    void finish() {
        size_t n = caps_[0].size(), knots = 0;
        for (const auto &line : lines_)
            for (int64_t s = 0; s < line.log.segments(); s++) knots += ends(line.log, s) ? 2 : 1;
        out.alpha.reserve(knots * n);
        out.sets.reserve(knots * n);
        for (auto &line : lines_) {
            expand(line);
            out.lines.push_back(int64_t(out.first.size()));
            line = {};
        }
    }

  private:
    struct Kept {
        Log log;
        std::vector<int8_t> sets;
        double from = 0, to = 0;
    };
    bool set_out(std::vector<int8_t> &sets, Indices margin, double from, double to) {
        auto &B = T_.B;
        Line line;
        for (int b = 0; b < 2; b++) {
            line.base[b] = caps_[b];
            for (size_t i = 0; i < sets.size(); i++)
                if (sets[i] == OUT) line.base[b][i] = 0.0;
        }
        line.phi[0] = Affine::between(1.0 - from, 1.0 - to);
        line.phi[1] = Affine::between(from, to);
        line.cap_rate.resize(sets.size());
        for (size_t i = 0; i < sets.size(); i++) line.cap_rate[i] = (to - from) * (line.base[1][i] - line.base[0][i]);
        line.e.assign(T_.problem.m, Affine::between(0.0, 0.0));
        line.end_tolerance = END_OF_LINE;
        B.start(sets);
        T_.set_line(std::move(line));
        bool taken = B.take(std::move(margin));
        sets = B.state;
        return taken;
    }
    void expand(const Kept &line) {
        const Log &log = line.log;
        auto sets = line.sets;
        auto change = log.changes.begin();
        auto at = [&](double u) { return u == 1.0 ? line.to : line.from + u * (line.to - line.from); };
        for (int64_t s = 0; s < log.segments(); s++) {
            for (; change != log.changes.end() && change->segment <= s; ++change) sets[change->sample] = change->now;
            double t[2] = {at(log.first[s]), at(log.last[s])};
            out.first.push_back(int64_t(out.u.size()));
            out.free.push_back(is_free(log, s, 0.5 * (t[0] + t[1])));
            knot(sets, log, s, 0, t[0]);
            if (ends(log, s)) knot(sets, log, s, 1, t[1]);
        }
    }
    double cap(int64_t i, double t) const { return (1.0 - t) * caps_[0][i] + t * caps_[1][i]; }
    bool ends(const Log &log, int64_t s) const {  // with a knot of its own
        if (s + 1 == log.segments()) return true;
        double most = 0.0;
        int64_t m = T_.problem.m;
        for (int64_t g = 0; g < m; g++)
            most = std::max(most, std::abs(log.eta[(2 * s + 1) * m + g] - log.eta[(2 * s + 2) * m + g]));
        return !(most <= apart_);
    }
    bool is_free(const Log &log, int64_t s, double t) const {
        for (int64_t e = log.ptr[s]; e < log.ptr[s + 1]; e++) {
            double a = 0.5 * (log.a_first[e] + log.a_last[e]);
            double top = cap(log.index[e], t);
            if (std::min(a, top - a) > at_bound_ * top) return true;
        }
        return false;
    }
    void knot(const std::vector<int8_t> &sets, const Log &log, int64_t s, int end, double t) {
        size_t n = sets.size(), m = T_.problem.m, before = out.alpha.size();
        const Vector &a = end ? log.a_last : log.a_first;
        out.u.push_back(end ? log.last[s] : log.first[s]);
        out.eta.insert(out.eta.end(), log.eta.begin() + (2 * s + end) * m, log.eta.begin() + (2 * s + end + 1) * m);
        out.w.insert(out.w.end(), log.w.begin() + (2 * s + end) * width_, log.w.begin() + (2 * s + end + 1) * width_);
        out.sets.insert(out.sets.end(), sets.begin(), sets.end());
        out.alpha.resize(before + n);
        double *all = out.alpha.data() + before;
        for (size_t i = 0; i < n; i++) all[i] = sets[i] == LEFT ? cap(i, t) : 0.0;
        for (int64_t e = log.ptr[s]; e < log.ptr[s + 1]; e++)
            all[log.index[e]] = std::min(std::max(a[e], 0.0), cap(log.index[e], t));
    }

    Tracker<Form> &T_;
    std::vector<Kept> lines_;
    Vector caps_[2];
    int width_;
    int64_t limit_;
    double apart_, at_bound_;
};

}  // namespace core
