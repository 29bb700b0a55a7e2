// The entries of a composite for one element: each key of one component with each value of the other.

#include "core/search/container.h"
#include "core/search/layout.h"
#include "core/search/values.h"

#include <functional>

namespace annals::core::search {

void ValueWriter::key(Pairs& pairs, std::string_view system, std::string_view code,
                      TextHash system_hash, TextHash code_hash) {
    if (pairs.key_count == kPairedMax) {
        return;
    }
    if (pairs.key_count == pairs.keys.size()) {
        pairs.keys.emplace_back();
    }
    Pairs::Key& key = pairs.keys[pairs.key_count++];
    key.system_hash = system_hash;
    key.code_hash = code_hash;
    key.code = code;
    key.system = system;
    // Texts that point into the resource need no copy.
    const std::string_view all = container_->root().tree().text();
    const auto stays = [&](std::string_view text) {
        return text.empty() || (std::less_equal<>()(all.data(), text.data()) &&
                                std::less<>()(text.data(), all.data() + all.size()));
    };
    if (!stays(code) || !stays(system)) {
        key.copy.assign(code).append(system);
        key.code = std::string_view(key.copy).substr(0, code.size());
        key.system = std::string_view(key.copy).substr(code.size());
    }
}

void ValueWriter::write(Pairs& pairs) {
    if (pairs.has_key && pairs.has_value) {
        term(pairs.columns.present);
        for (std::size_t i = 0; i < pairs.key_count; ++i) {
            with_key(pairs.keys[i], pairs);
        }
    }
    if (pairs.has_value) {
        pairs.values.clear();
    }
    pairs.key_count = 0;
    pairs.has_key = false;
    pairs.has_value = false;
}

void ValueWriter::with_key(const Pairs::Key& key, Pairs& pairs) {
    const Column column = pairs.columns.column;
    const storage::SearchEntries& values = pairs.values;
    if (!values.terms.empty()) {
        const Term code = token(column, key.code_hash);
        const Term whole = token(column, key.system_hash, key.code_hash);
        for (const Term value : values.terms) {
            term(paired(code, value));
            term(paired(whole, value));
        }
    }
    // The parts of a text must not contain the separator.
    if ((values.intervals.empty() && values.texts.empty()) ||
        key.code.size() + key.system.size() > kUriBytesMax ||
        key.code.find(kPartEnd) != std::string_view::npos ||
        key.code.find(kAnySystem) != std::string_view::npos ||
        key.system.find(kPartEnd) != std::string_view::npos) {
        return;
    }
    const auto begin_with_key = [&] {
        unit_.assign(key.code) += kPartEnd;
        unit_.append(key.system) += kPartEnd;
    };
    const Use use{&pairs.columns, {}};
    for (const auto& interval : values.intervals) {
        begin_with_key();
        if (interval.column != 0) {
            unit_ += values.text(values.texts[interval.column - 1]);
        }
        in_unit(unit_, interval.low, interval.high, {&use, 1});
    }
    for (const auto& value : values.texts) {
        if (value.column != 0) {
            begin_with_key();
            text(column, unit_.append(values.text(value)));
            unit_.assign(key.code) += kAnySystem;
            text(column, unit_.append(values.text(value)));
        }
    }
}

}  // namespace annals::core::search
