// The bodies that the service's model test sends, and what it reads from those it gets.
//
// Threads: plain functions.

#pragma once

#include "codec/json/document.h"
#include "tests/simulate/service_model.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace annals::test {

/// A Patient or an Observation. `meta`: further members of meta; `filler`: a narrative of that many bytes.
std::string body_of(std::string_view type, std::string_view id, const Content& content,
                    std::string_view meta = {}, std::size_t filler = 0);

Content content_of(json::Value resource);

std::vector<std::string> tags_in(json::Value meta);

/// The method of a request for `write`, its target below {base_url}, its headers and its body.
struct WriteRequest {
    std::string method;
    std::string target;
    std::vector<std::pair<std::string, std::string>> headers;
    std::string body;
};

WriteRequest request_of(const Write& write, std::size_t filler);

/// The same as an entry of a batch or transaction.
std::string entry_of(const Write& write, std::size_t filler);

std::string entry_of(const HistoryItem& item, std::size_t filler);

std::string bundle_of(std::string_view type, const std::vector<std::string>& entries);

/// An entry of a Bundle that was received, or a line of the change feed.
struct ReceivedEntry {
    std::string name = {};     ///< "Patient/a"
    std::string version = {};  ///< "3"
    std::string method = {};
    std::string status = {};  ///< the digits alone
    std::string mode = {};    ///< of a search
    std::string location = {};
    std::string body = {};  ///< the resource as it is; empty: none
    std::string last_modified = {};
    std::vector<std::string> codes = {};  ///< of the outcome's issues
    std::uint64_t position = 0;           ///< of the feed
    std::uint64_t commit = 0;

    std::string label() const { return name + '/' + version; }
};

struct ReceivedBundle {
    std::string type;
    std::optional<std::uint64_t> total;
    std::map<std::string, std::string> links;  ///< below {base_url}, by relation
    std::vector<ReceivedEntry> entries;
};

/// None: `text` is no Bundle.
std::optional<ReceivedBundle> read_bundle(std::string_view text, std::string_view base_url);

ReceivedEntry read_entry(json::Value entry, std::string_view base_url);

}  // namespace annals::test
