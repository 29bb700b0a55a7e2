#include "core/interactions/transaction_names.h"

#include "core/interactions/answer.h"

#include <algorithm>
#include <string>

namespace annals::core {

TransactionNames::TransactionNames(const storage::Store& store,
                                   std::span<const TransactionEntry> entries,
                                   const TransactionState& state, std::string_view base_url)
    : store_(store), entries_(entries), state_(state), base_url_(base_url) {
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const bool writes =
            entries[i].kind == EntryKind::create || entries[i].kind == EntryKind::update;
        if (!writes || state.decision(i).action != EntryDecision::Action::write) {
            continue;
        }
        if (const json::Value url = state.resource(i).facts.resource["url"]; url.is_string()) {
            canonicals_.insert(url.string());
        }
    }
}

bool TransactionNames::concern(const TransactionEntry& read, const Error& refusal) const {
    if (read.target.level == Level::version) {
        return is_to_come(read.target);
    }
    if (is_one(refusal.lacks)) {
        return true;
    }
    const bool is_written = is_one(resource_name(read.target.type, read.target.id));
    if (read.target.operation.empty()) {
        return is_written && (refusal.code == Errc::not_found || refusal.code == Errc::deleted);
    }
    // Writing doesn't supply a missing parameter.
    if (refusal.code == Errc::required) {
        return false;
    }
    if (is_written) {
        return true;
    }
    const Result<Parameters> asked = parse_query(read.request.query);
    return asked && std::ranges::any_of(*asked, [&](const auto& parameter) {
               const auto& [name, value] = parameter;
               return are_in(value) ||
                      (name == "id" && is_one(resource_name(read.target.type, value)));
           });
}

/// Whether `version` is the one that the transaction writes: the next version of its resource.
bool TransactionNames::is_to_come(const Target& version) const {
    return is_one(resource_name(version.type, version.id)) &&
           version.version ==
               std::to_string(store_.head(version.type, version.id).version.value + 1);
}

bool TransactionNames::are_in(std::string_view text) const {
    constexpr std::string_view kBetweenWords = " '\",;()";
    while (!text.empty()) {
        const std::size_t end = std::min(text.find_first_of(kBetweenWords), text.size());
        if (is_one(text.substr(0, end))) {
            return true;
        }
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return false;
}

bool TransactionNames::is_one(std::string_view word) const {
    word = word.substr(0, std::min(word.find('|'), word.find("/_history/")));
    if (canonicals_.contains(word)) {
        return true;
    }
    if (word.starts_with(base_url_) && word.substr(base_url_.size()).starts_with('/')) {
        word.remove_prefix(base_url_.size() + 1);
    }
    const auto writer = state_.writer_of(word);
    return writer && entries_[*writer].kind != EntryKind::remove;
}

}  // namespace annals::core
