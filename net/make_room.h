// make_room: the bound of a table whose entries are of use for a while only.
//
// Layer:   net.
// Threads: the caller's.

#pragma once

#include <cstddef>
#include <unordered_map>

namespace annals::net {

/// Before one more comes into `map`, which has `max` at most: if it is full, those that are over go; if none is, all.
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
