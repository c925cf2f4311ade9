// The ends of many lines that leave from one basis, on each of which the cap of one sample moves and all others stay.
#pragma once
#include "walk.hpp"

namespace core {

// Of k lines: multipliers (k, n), eta (k, m), w (k, width), and which could not be followed.
struct LineEnds {
    Vector alpha, eta, w;
    std::vector<uint8_t> failed;
};

template <class Form>
class Ends {
  public:
    // Saved on a line whose first base are these caps and whose second base is 0, with phi = (1, 0).
    Ends(Tracker<Form> &tracker, const Sets &from, Vector caps, int width, int64_t limit)
        : T_(tracker), from_(from), caps_(std::move(caps)), width_(width), limit_(limit) {}

    LineEnds follow(const Indices &samples, const Vector &to) {
        size_t k = samples.size(), n = T_.problem.n, m = T_.problem.m;
        T_.loose_end = true;
        LineEnds out{Vector(k * n, 0.0), Vector(k * m, 0.0), Vector(k * width_, 0.0), std::vector<uint8_t>(k, 0)};
        for (size_t j = 0; j < k; j++) {
            try {
                set_out(samples[j], to[j]);
                out.failed[j] = T_.run(limit_, 1e6) != Stop::END || T_.B.log.segments() == 0;
            } catch (const Refused &) {
                out.failed[j] = 1;
            }
            if (!out.failed[j])
                read(samples[j], to[j], out.alpha.data() + j * n, out.eta.data() + j * m, out.w.data() + j * width_);
        }
        T_.B.log.clear();
        T_.B.log.keep = false;
        T_.B.log.at.clear();
        T_.loose_end = false;
        return out;
    }

  private:
    void set_out(int i, double to) {
        auto &B = T_.B;
        B.state = from_.state;
        B.F = from_.F;
        B.targets = from_.targets;
        B.factor.copy(from_.factor);
        B.changed();
        if (B.state[i] == OUT) B.state[i] = LEFT;  // comes from cap 0, inside its margin
        for (int b = 0; b < 2; b++) {
            B.sums[b] = from_.sums[b];
            B.fixed[b] = from_.fixed[b];
        }
        Line line;  // caps: those of the others, and t |-> the one that moves
        line.base[0] = caps_;
        line.base[0][i] = 0.0;
        line.base[1].assign(caps_.size(), 0.0);
        line.base[1][i] = 1.0;
        line.phi[0] = Affine::between(1.0, 1.0);
        line.phi[1] = Affine::between(caps_[i], to);
        line.cap_rate.assign(caps_.size(), 0.0);
        line.cap_rate[i] = to - caps_[i];
        line.e.assign(T_.problem.m, Affine::between(0.0, 0.0));
        line.end_tolerance = END_OF_LINE;
        if (B.state[i] == LEFT) {  // its own share of the sums goes from one base to the other
            B.line.base[0].assign(caps_.size(), 0.0);
            B.line.base[0][i] = caps_[i];
            B.line.base[1].assign(caps_.size(), 0.0);
            B.cap_changes(i, -1.0);
            B.line.base[0][i] = 0.0;
            B.line.base[1][i] = 1.0;
            B.cap_changes(i, 1.0);
        }
        for (int b = 0; b < 2; b++) B.base[b] = line.base[b];
        T_.set_line(std::move(line), like_the_last_);
        like_the_last_ = true;
        B.log.clear();
        B.log.keep = true;
        B.log.width = width_;
        B.log.at.assign(1, 1.0);  // its last segment will do
    }
    void read(int i, double to, double *alpha, double *eta, double *w) const {
        const Log &log = T_.B.log;
        for (size_t s = 0; s < caps_.size(); s++)
            if (T_.B.state[s] == LEFT) alpha[s] = int(s) == i ? to : caps_[s];
        for (size_t e = log.ptr[log.ptr.size() - 2]; e < size_t(log.ptr.back()); e++)
            alpha[log.index[e]] = log.a_last[e];
        std::copy(log.eta.end() - T_.problem.m, log.eta.end(), eta);
        std::copy(log.w.end() - width_, log.w.end(), w);
    }

    Tracker<Form> &T_;
    const Sets &from_;
    Vector caps_;
    int width_;
    int64_t limit_;
    bool like_the_last_ = false;  // all lines leave from one basis, and are about as long
};

}  // namespace core
