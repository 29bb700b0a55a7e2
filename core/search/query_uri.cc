#include "core/search/reading.h"
#include "core/search/values.h"

namespace annals::core::search {

namespace {

// Every uri above `uri`: without one or more of the last segments of its path, with and without the trailing slash, up
// to the length that can be found by a part. The scheme and the host remain.
std::vector<Term> above(Column column, std::string_view uri) {
    std::vector<Term> terms{exact(column, uri)};
    const std::size_t authority = uri.find("://");
    const std::size_t first = authority == std::string_view::npos ? 0 : authority + 3;
    for (std::size_t slash = uri.rfind('/', kUriBytesMax - 1);
         slash != std::string_view::npos && slash > first; slash = uri.rfind('/', slash - 1)) {
        terms.push_back(exact(column, uri.substr(0, slash)));
        terms.push_back(exact(column, uri.substr(0, slash + 1)));
    }
    return terms;
}

}  // namespace

// search.html#uri: the exact text; :above and :below are for URLs, not for URNs.
Result<Plan> uri_plan(const Asked& asked, std::string_view value) {
    // A '|' before a canonical's version needs no escape.
    const auto uri = unescape(value);
    if (!uri) {
        return asked.bad("unknown escape");
    }
    const Column column = asked.parameter.column;
    if (asked.modifier.empty()) {
        return carrying({exact(column, *uri)});
    }
    if (asked.modifier != "above" && asked.modifier != "below") {
        return asked.unsupported();
    }
    if (uri->starts_with("urn:")) {
        return asked.bad("a URN has nothing above or below it");
    }
    if (asked.modifier == "below") {
        return begins_with(column, *uri);
    }
    std::vector<Term> terms = above(column, *uri);
    ANNALS_TRY_VOID(asked.reading.spend(terms.size()));
    return carrying(std::move(terms));
}

}  // namespace annals::core::search
