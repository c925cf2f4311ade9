// What the two faces for Python (module.cpp, general.cpp) share: arrays in and out, refusals, and one user at a time.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <stdexcept>
#include <utility>
#include <vector>

namespace core {

namespace nb = nanobind;

template <class T, int dimensions>
using In = nb::ndarray<const T, nb::ndim<dimensions>, nb::c_contig, nb::device::cpu>;

// Give an array to Python, which takes the values over.
template <class T, class Values>
nb::object array(Values values, std::vector<size_t> shape) {
    auto *kept = new Values(std::move(values));
    nb::capsule owner(kept, [](void *p) noexcept { delete static_cast<Values *>(p); });
    return nb::cast(nb::ndarray<nb::numpy, T>(kept->data(), shape.size(), shape.data(), owner));
}
template <class T>
nb::object array(std::vector<T> values, std::vector<size_t> shape) {
    return array<T, std::vector<T>>(std::move(values), std::move(shape));
}
template <class T>
nb::object array(std::vector<T> values) {
    size_t n = values.size();
    return array<T, std::vector<T>>(std::move(values), {n});
}

inline void require(bool fits, const char *what) {
    if (!fits) throw std::invalid_argument(what);
}
template <class Array>
bool finite(const Array &x) {
    return std::all_of(x.data(), x.data() + x.size(), [](double v) { return std::isfinite(v); });
}

// The use of an object by one call. Calls give the interpreter's lock away, so that another thread may come.
class OneUser {
  public:
    OneUser(std::atomic<bool> &taken, const char *refusal) : taken_(taken) {
        if (taken_.exchange(true)) throw std::runtime_error(refusal);
    }
    OneUser(const OneUser &) = delete;
    ~OneUser() { taken_ = false; }

  private:
    std::atomic<bool> &taken_;
};

}  // namespace core
