// make_room: bounds a table whose entries are useful only for a while.
//
// Layer:   net.
// Threads: the caller's.

#pragma once

#include <cstddef>
#include <unordered_map>

namespace annals::net {

/// Makes room for one more entry in `map`, which has at most `max`: if it is full, drops those
/// that are over, or else all.
template <typename Map, typename IsOver>
void make_room(Map& map, std::size_t max, IsOver is_over) {
    if (map.size() < max) {
        return;
    }
    std::erase_if(map, is_over);
    if (map.size() >= max) {
        map.clear();
    }
}

}  // namespace annals::net
