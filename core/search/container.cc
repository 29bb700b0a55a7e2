#include "core/search/container.h"

#include "core/base/text_map.h"
#include "core/search/extract.h"

#include <algorithm>
#include <tuple>

namespace annals::core::search {

namespace {

/// What `use` makes of the text of a string; of anything else it is empty.
template <typename Use>
auto with_text(json::Value value, const Use& use) {
    return value.is_string() && value.node().escaped ? use(value.string())
                                                     : use(value.raw_string());
}

std::optional<TypeId> type_of(json::Value resource) {
    return with_text(resource["resourceType"],
                     [](std::string_view name) { return find_resource_type(name); });
}

}  // namespace

void Container::find() {
    if (known_) {
        return;
    }
    known_ = true;
    root_type_ = search::type_of(root_);
    array_ = root_["contained"];
    contained_.clear();
    for (const json::Value contained : array_.elements()) {
        if (contained_.size() == kContainedLooksMax) {
            break;
        }
        if (const json::Value id = contained["id"]; id.is_string()) {
            contained_.push_back({with_text(id, SeededHash()), id, search::type_of(contained)});
        }
    }
    std::ranges::sort(contained_, {},
                      [](const Contained& one) { return std::tuple(one.id_hash, one.id.index()); });
}

json::Value Container::contained() {
    find();
    return array_;
}

std::optional<TypeId> Container::type_of(std::string_view id) {
    find();
    if (id.empty()) {
        return root_type_;
    }
    const auto same_hash =
        std::ranges::equal_range(contained_, SeededHash()(id), {}, &Contained::id_hash);
    const auto found =
        std::ranges::find_if(same_hash, [&](const Contained& one) { return one.id.equals(id); });
    return found == same_hash.end() ? std::nullopt : found->type;
}

const storage::SearchEntries& Container::entries(TypeId type, json::Value contained,
                                                 Extractor& extractor) {
    const std::pair<const Extractor*, std::uint32_t> key(&extractor, contained.index());
    if (const auto known = entries_.find(key); known != entries_.end()) {
        return known->second;
    }
    storage::SearchEntries made;
    extractor.extract(type, contained, made, this);
    if (entries_bytes_ + made.bytes() > kContainedEntriesBytes) {
        entries_.clear();
        entries_bytes_ = 0;
    }
    entries_bytes_ += made.bytes();
    return entries_.emplace(key, std::move(made)).first->second;
}

}  // namespace annals::core::search
