// A number in twice the working precision: an unevaluated sum of two doubles (double-double), with its operators.
//
// Error-free transformations (Knuth's two-sum, the product by a fused multiply-add): about 32 digits. They are wrong
// under -ffast-math and under contraction of other products, so the build forbids both.
#pragma once
#include <cmath>
#include <cstddef>
#include <type_traits>
#include <vector>

namespace core {

struct Twice {
    double hi = 0, lo = 0;
    Twice() = default;
    Twice(double high, double low = 0) : hi(high), lo(low) {}
};

inline double rounded(double x) { return x; }
inline double rounded(Twice x) { return x.hi + x.lo; }

// x as a number of another precision: rounded, or as it is.
template <class Number>
Number narrowed(double x) {
    return x;
}
template <class Number>
Number narrowed(Twice x) {
    if constexpr (std::is_same_v<Number, double>) return rounded(x);
    else return x;
}

inline Twice two_sum(double a, double b) {
    double s = a + b, z = s - a;
    return {s, (a - (s - z)) + (b - z)};
}
inline Twice two_prod(double a, double b) {
    double p = a * b;
    return {p, std::fma(a, b, -p)};
}
inline Twice operator+(Twice a, Twice b) {
    Twice s = two_sum(a.hi, b.hi);
    return two_sum(s.hi, s.lo + (a.lo + b.lo));
}
inline Twice operator-(Twice a) { return {-a.hi, -a.lo}; }
inline Twice operator-(Twice a, Twice b) { return a + -b; }
inline Twice operator*(Twice a, Twice b) {
    Twice p = two_prod(a.hi, b.hi);
    return two_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}
inline Twice operator/(Twice a, Twice b) {
    double q = a.hi / b.hi;
    return two_sum(q, rounded(a - Twice(q) * b) / b.hi);
}
inline Twice &operator+=(Twice &a, Twice b) { return a = a + b; }
inline Twice &operator-=(Twice &a, Twice b) { return a = a - b; }

template <class Real>
double magnitude(Real x) {
    return std::abs(rounded(x));
}
template <class Real>
bool less(Real a, Real b) {
    return rounded(a - b) < 0.0;
}

// x + a b, for doubles a, b and for numbers in twice the precision.
inline Twice add_product(Twice x, double a, double b) {
    Twice p = two_prod(a, b), s = two_sum(x.hi, p.hi);
    return two_sum(s.hi, x.lo + (p.lo + s.lo));
}
inline Twice add_product(Twice x, double a, Twice b) {
    Twice r = add_product(x, a, b.hi);
    return {r.hi, r.lo + a * b.lo};
}
inline Twice add_product(Twice x, Twice a, Twice b) {
    Twice r = add_product(x, a.hi, b.hi);
    return two_sum(r.hi, r.lo + (a.hi * b.lo + a.lo * b.hi));
}

inline double root(double a) { return std::sqrt(a); }
inline Twice root(Twice a) {
    double r = std::sqrt(a.hi);
    return two_sum(r, rounded(a - two_prod(r, r)) / (2 * r));
}

// A vector of such numbers, their two parts apart, as the vector units want them.
struct Pair {
    std::vector<double> hi, lo;
    void assign(size_t size) {
        hi.assign(size, 0.0);
        lo.assign(size, 0.0);
    }
    size_t size() const { return hi.size(); }
    Twice operator[](size_t i) const { return {hi[i], lo[i]}; }
    void set(size_t i, Twice x) {
        hi[i] = x.hi;
        lo[i] = x.lo;
    }
    double at(size_t i) const { return hi[i] + lo[i]; }
};

}  // namespace core
