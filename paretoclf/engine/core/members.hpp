// What both ways to keep K = H_BB^-1 share: the items of the basis B, and the pivot of an exchange.
#pragma once
#include <algorithm>

#include "columns.hpp"

namespace core {

// The items of a basis in some order, and the place of each in it.
class Members {
  public:
    Indices members, where;  // items of B; place of each item in `members`, -1 outside B

    int size() const { return int(members.size()); }

  protected:
    void set_members(Indices items, int all) {
        members = std::move(items);
        where.assign(all, -1);
        for (int a = 0; a < size(); a++) where[members[a]] = a;
    }
    void append_member(int item) {
        where[item] = size();
        members.push_back(item);
    }
    // Remove the member at place a. The last one takes its place, so that only one row of every table moves: the caller
    // moves its own rows from the returned place to a.
    int remove_member(int a) {
        int last = size() - 1;
        where[members[a]] = -1;
        if (a < last) {
            where[members[last]] = a;
            members[a] = members[last];
        }
        members.pop_back();
        return last;
    }
};

// Items in their order, in which a basis is factored: its factor does not depend on how its members came in.
inline Indices sorted(Indices items) {
    std::sort(items.begin(), items.end());
    return items;
}

// Invert the pivot block of an exchange: the rows of one or two items in their own columns T of the transform. False if
// it is singular. The determinant is a difference, so it is computed in the precision of the columns.
template <class Number, class Real>
bool invert_pivot(const int *items, int count, const Real *const *T, Number (*inverse)[2]) {
    Real a = T[0][items[0]];
    Real b = 0.0, c = 0.0, d = 1.0;
    if (count == 2) {
        b = T[1][items[0]];
        c = T[0][items[1]];
        d = T[1][items[1]];
    }
    Real determinant = a * d - b * c;
    if (rounded(determinant) == 0.0) return false;
    Number divisor = narrowed<Number>(determinant);
    inverse[0][0] = narrowed<Number>(d) / divisor;
    inverse[0][1] = -narrowed<Number>(b) / divisor;
    inverse[1][0] = -narrowed<Number>(c) / divisor;
    inverse[1][1] = narrowed<Number>(a) / divisor;
    return true;
}

}  // namespace core
