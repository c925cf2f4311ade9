// Arrays that begin at a line of the cache, so that few loads of vectors take two lines.
#pragma once
#include <cstddef>
#include <new>
#include <vector>

namespace core {

template <class T>
struct OnLine {
    using value_type = T;
    static constexpr std::align_val_t LINE{64};
    OnLine() = default;
    template <class U>
    OnLine(const OnLine<U> &) {}
    T *allocate(std::size_t n) { return static_cast<T *>(::operator new(n * sizeof(T), LINE)); }
    void deallocate(T *p, std::size_t) { ::operator delete(p, LINE); }
    friend bool operator==(OnLine, OnLine) { return true; }
    friend bool operator!=(OnLine, OnLine) { return false; }
};

template <class T>
using Lines = std::vector<T, OnLine<T>>;

// A table of doubles with rows that all begin at a line.
class Table {
  public:
    void resize(int rows, int width) {  // what was there before is lost where it grows
        if (rows == rows_ && width <= stride_) return;
        rows_ = rows;
        stride_ = (width + 7) / 8 * 8;
        values_.assign(size_t(rows_) * stride_, 0.0);
    }
    void widen(int width) {  // what was there stays
        if (width <= stride_) return;
        Table wider;
        wider.resize(rows_, width > 2 * stride_ ? width : 2 * stride_);
        for (int r = 0; r < rows_; r++)
            for (int c = 0; c < stride_; c++) wider[r][c] = (*this)[r][c];
        *this = std::move(wider);
    }
    double *operator[](int r) { return values_.data() + size_t(r) * stride_; }
    const double *operator[](int r) const { return values_.data() + size_t(r) * stride_; }
    int stride() const { return stride_; }
    int rows() const { return rows_; }

  private:
    int rows_ = 0, stride_ = 0;
    Lines<double> values_;
};

}  // namespace core
