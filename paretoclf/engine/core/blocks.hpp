// Which items block a move at a fixed t: those that it brings to an end of their piece, the first ones of them.
#pragma once
#include <limits>
#include <vector>

#include "program.hpp"

namespace core {

template <class Real>
class Blocks {
  public:
    struct Block {
        Real length;   // of the move, until the item is at the end of its piece
        double speed;  // of the item
        int item, side;
    };

    void clear() {
        blocks_.clear();
        any_ = false;
        shortest_ = 0.0;
        latest_ = std::numeric_limits<double>::infinity();
    }
    bool any() const { return any_; }

    // Add an item; it may go beyond its end by HARRIS of its scale.
    void add(const Block &block, double scale) {
        if (!any_ || less(block.length, shortest_)) shortest_ = block.length;
        any_ = true;
        latest_ = std::min(latest_, rounded(block.length) + HARRIS * scale / block.speed);
        if (rounded(block.length) <= longest()) blocks_.push_back(block);
    }
    // Find the fastest of all that may be first: it has the largest pivot. Null if lengths are not finite.
    const Block *fastest() const {
        const Block *found = nullptr;
        for (auto &block : blocks_)
            if (rounded(block.length) <= longest() && (!found || block.speed > found->speed)) found = &block;
        return found;
    }
    // Find the one with the lowest index of all that are first, which cannot cycle.
    const Block *lowest() const {
        const Block *found = nullptr;
        for (auto &block : blocks_)
            if (!less(shortest_, block.length) && (!found || block.item < found->item)) found = &block;
        return found;
    }

  private:
    // How long the move may be for who is first: no item is then beyond its end by more than is allowed.
    double longest() const { return std::max(latest_, rounded(shortest_) + TOGETHER * (1.0 + rounded(shortest_))); }

    std::vector<Block> blocks_;
    bool any_ = false;
    Real shortest_ = 0.0;
    double latest_ = std::numeric_limits<double>::infinity();
};

}  // namespace core
