// Texts as documents, for tests of patches.
//
// Threads: plain functions.

#pragma once

#include "codec/json/document.h"

#include <gtest/gtest.h>

#include <string_view>
#include <utility>

namespace annals::patch {

/// Fails the test if the text is not JSON.
inline json::Document parse(std::string_view text) {
    json::Parser parser;
    Result<json::Document> document = parser.parse(text);
    EXPECT_TRUE(document) << text;
    return *std::move(document);
}

}  // namespace annals::patch
