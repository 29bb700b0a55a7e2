#include "core/interactions/transaction_names.h"

#include <algorithm>

namespace annals::core {

TransactionNames::TransactionNames(std::span<const TransactionEntry> entries,
                                   const TransactionState& state, std::string_view base_url)
    : entries_(entries), state_(state), base_url_(base_url) {
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

bool TransactionNames::are_in(const Error& refusal) const {
    constexpr std::string_view kBetweenWords = " '\",;()";
    std::string_view rest = refusal.detail;
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find_first_of(kBetweenWords), rest.size());
        if (is_one(rest.substr(0, end))) {
            return true;
        }
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return false;
}

bool TransactionNames::is_one(std::string_view word) const {
    word = word.substr(0, word.find('|'));
    if (canonicals_.contains(std::string(word))) {
        return true;
    }
    if (word.starts_with(base_url_) && word.substr(base_url_.size()).starts_with('/')) {
        word.remove_prefix(base_url_.size() + 1);
    }
    const auto writer = state_.writer_of(std::string(word));
    return writer && entries_[*writer].kind != EntryKind::remove;
}

}  // namespace annals::core
