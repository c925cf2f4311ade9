// Many lines of caps, each from a basis of its own, and everything that happens on them.
#pragma once
#include "walk.hpp"

namespace core {

// Segments `lines[j]` to `lines[j + 1]` of the log are those of line j, and `states` (segments, n) the sets on each.
struct Followed {
    Log log;
    std::vector<int64_t> lines{0};
    std::vector<int8_t> states;
    std::vector<uint8_t> failed;
};

template <class Form>
class Many {
  public:
    Followed out;

    // Caps at t are (1 - t) first + t last; but 0 all along of samples that are OUT of a line.
    Many(Tracker<Form> &tracker, Vector first, Vector last, int width, int64_t limit)
        : T_(tracker), caps_{std::move(first), std::move(last)}, width_(width), limit_(limit) {}

    // Follow a line from one t to another, on the basis with these sets outside of this margin set.
    void follow(std::vector<int8_t> sets, Indices margin, double from, double to) {
        Log &log = T_.B.log;
        log = Log();
        log.keep = true, log.width = width_;
        bool found = false;
        try {
            found = set_out(sets, std::move(margin), from, to) && T_.run(limit_, 1e6) == Stop::END && log.segments() > 0;
        } catch (const Refused &) {
        }
        if (found) expand(std::move(sets), log), out.log.append(log);
        out.lines.push_back(out.log.segments()), out.failed.push_back(!found);
        log = Log();
    }
  private:
    bool set_out(std::vector<int8_t> &sets, Indices margin, double from, double to) {
        auto &B = T_.B;
        Line line;
        for (int b = 0; b < 2; b++) {
            line.base[b] = caps_[b];
            for (size_t i = 0; i < sets.size(); i++)
                if (sets[i] == OUT) line.base[b][i] = 0.0;
        }
        line.phi[0] = Affine::between(1.0 - from, 1.0 - to), line.phi[1] = Affine::between(from, to);
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
    void expand(std::vector<int8_t> sets, const Log &log) {
        auto change = log.changes.begin();
        for (int64_t s = 0; s < log.segments(); s++) {
            for (; change != log.changes.end() && change->segment <= s; ++change) sets[change->sample] = change->now;
            out.states.insert(out.states.end(), sets.begin(), sets.end());
        }
    }

    Tracker<Form> &T_;
    Vector caps_[2];
    int width_;
    int64_t limit_;
};

}  // namespace core
