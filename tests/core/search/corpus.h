// Corpus: resources in memory, searched by plans and entries alone: each query looks at every resource.
//
// Threads: one.

#pragma once

#include "codec/json/document.h"
#include "core/search/extract.h"
#include "core/search/query.h"
#include "core/search/ranges.h"
#include "storage/index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace annals::core::search {

class Corpus final : public StoredResources {
  public:
    static constexpr std::uint64_t kSeed = 42;

    explicit Corpus(std::shared_ptr<const ParameterSet> parameters = ParameterSet::standard())
        : extractor_(std::move(parameters), kSeed, base_url_) {}

    /// Adds a resource with a resourceType and an id.
    void add(std::string_view text) {
        json::Parser parser;
        Stored stored;
        stored.document = std::make_shared<json::Document>(*parser.parse(text));
        const json::Value root = stored.document->root();
        stored.type = find_resource_type(root["resourceType"].string()).value();
        stored.id = root["id"].string();
        extractor_.extract(stored.type, root, stored.entries);
        if (const auto updated = date_range(root["meta"]["lastUpdated"].string(), nullptr)) {
            stored.entries.intervals.push_back(
                {column_of("_lastUpdated"), updated->low, updated->high});
        }
        stored.key = key(stored.type, stored.id);
        stored.entries.terms.push_back(identity(stored.key));
        std::sort(stored.entries.terms.begin(), stored.entries.terms.end());
        stored_.push_back(std::move(stored));
    }

    std::uint64_t seed() const override { return kSeed; }

    std::uint64_t key(TypeId type, std::string_view id) const override {
        return storage::resource_key(kSeed, type, id).low;
    }

    Result<StoredDocument> read(TypeId type, std::string_view id,
                                PutOff* /*put_off*/) const override {
        for (const Stored& stored : stored_) {
            if (stored.type == type && stored.id == id) {
                return StoredDocument(stored.document);
            }
        }
        return StoredDocument();
    }

    Result<StoredDocument> find(TypeId type, std::string_view url,
                                std::string_view version) const override {
        StoredDocument found;
        for (const Stored& stored : stored_) {
            const json::Value root = stored.document->root();
            if (stored.type == type && root["url"].equals(url) &&
                (version.empty() || root["version"].equals(version))) {
                found = stored.document;
            }
        }
        return found;
    }

    QueryContext context() const {
        return {*this, unrestricted(), extractor_.parameters(), base_url_, now_, false, false};
    }

    Result<Query> parse(std::string_view type, std::string_view query, bool strict = false) const {
        QueryContext context = this->context();
        context.strict = strict;
        std::vector<TypeId> types;
        if (!type.empty()) {
            types.push_back(find_resource_type(type).value());
        }
        const auto pairs = decode_pairs(query);
        if (!pairs) {
            return pairs.error();
        }
        return parse_query(context, types, *pairs);
    }

    /// The ids found, in the order they were added, separated by blanks; or the error: its code's
    /// name, a colon and the detail.
    std::string ask(std::string_view type, std::string_view query) const {
        const auto parsed = parse(type, query, true);
        if (!parsed) {
            return fault(parsed.error());
        }
        std::string ids;
        for (const Stored& stored : stored_) {
            for (const Query::TypePlan& of : parsed->types) {
                if (of.type == stored.type && matches(of.plan, stored)) {
                    ids.append(ids.empty() ? "" : " ").append(stored.id);
                }
            }
        }
        return ids;
    }

    static std::string fault(const Error& error) {
        return std::string(error.code == Errc::invalid         ? "invalid: "
                           : error.code == Errc::not_supported ? "not-supported: "
                           : error.code == Errc::too_costly    ? "too-costly: "
                                                               : "other: ") +
               error.detail;
    }

    void set_now(Instant now) { now_ = now; }

  private:
    struct Stored {
        TypeId type;
        std::string id;
        std::uint64_t key = 0;
        std::shared_ptr<const json::Document> document;
        storage::SearchEntries entries;
    };

    bool matches(const Plan& plan, const Stored& stored) const {
        return search::matches(
            plan, stored.entries, stored.document->root(),
            [&](const Plan& part, const storage::SearchEntries& entries) {
                const bool forwards = part.kind == Plan::Kind::chain;
                return std::any_of(stored_.begin(), stored_.end(), [&](const Stored& other) {
                    const storage::SearchEntries& from = forwards ? entries : other.entries;
                    const Stored& to = forwards ? other : stored;
                    return other.type == part.type &&
                           std::any_of(from.links.begin(), from.links.end(),
                                       [&](const auto& link) {
                                           return link.column == part.column &&
                                                  link.target == to.key;
                                       }) &&
                           matches(part.parts[0], other);
                });
            });
    }

    std::string base_url_ = "http://example.org/fhir";
    Instant now_ = parse_instant("2020-01-01T00:00:00Z").value();
    Extractor extractor_;
    std::vector<Stored> stored_;
};

/// A query, and what Corpus::ask() returns for it.
struct QueryCase {
    const char* query;
    const char* expected;
};

inline void check(const Corpus& corpus, const char* type, std::initializer_list<QueryCase> cases) {
    for (const QueryCase& c : cases) {
        EXPECT_EQ(corpus.ask(type, c.query), c.expected) << type << '?' << c.query;
    }
}

}  // namespace annals::core::search
