// ListedCodeSystem: a code system in a list.
//
// Layer:   core/terminology.
// Threads: plain values and functions.

#pragma once

#include "codec/json/document.h"

#include <string>

namespace annals::terminology {

struct ListedCodeSystem {
    std::string url;
    std::string version;  ///< empty: none given
    bool has_codes = false;
};

/// Whether a CodeSystem has codes of its own; those in a supplement belong to another code system.
inline bool has_codes(json::Value root) {
    return !root["content"].equals("supplement") && root["concept"].size() > 0;
}

}  // namespace annals::terminology
