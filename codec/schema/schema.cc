#include "codec/schema/schema.h"

namespace annals::schema {

using namespace tables;

ValueSet::Coding ValueSet::operator[](std::size_t i) const noexcept {
    const CodeRow& code = kCodes[row().first + i];
    const SystemRow& system = kSystems[code.system];
    return {{kCodeText + system.url, system.url_size}, {kCodeText + code.code, code.code_size}};
}

bool ValueSet::contains(std::string_view code,
                        std::optional<std::string_view> system) const noexcept {
    std::size_t low = 0;
    std::size_t high = size();
    while (low < high) {
        const std::size_t middle = (low + high) / 2;
        if ((*this)[middle].code < code) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    for (; low < size() && (*this)[low].code == code; ++low) {
        if (!system || (*this)[low].system == *system) {
            return true;
        }
    }
    return false;
}

ValueSet find_value_set(std::string_view url) noexcept {
    url = url.substr(0, url.find('|'));
    for (std::uint16_t i = 1; i < kValueSetCount; ++i) {
        if (ValueSet(i).url() == url) {
            return ValueSet(i);
        }
    }
    return {};
}

Range<Element> Type::find_base(std::string_view base_name) const noexcept {
    const TypeRow& type = row();
    const std::uint64_t hash = hash_of(name_of(base_name));
    const std::uint8_t place = kSlots[type.slots + (hash * type.seed >> type.shift)];
    if (place == 0) {
        return {};
    }
    const auto first = static_cast<std::uint16_t>(type.first + place - 1);
    if (Element(first).base_name() != base_name) {
        return {};
    }
    const int last = type.first + type.count;
    std::uint16_t count = 1;
    while (first + count < last && kElements[first].mark != 0 && Element(first).is_choice() &&
           kElements[first + count].mark == kElements[first].mark) {
        ++count;
    }
    return {first, count};
}

Type find_type(std::string_view name) noexcept {
    std::size_t slot = hash_of(name_of(name)) % kTypeSlotCount;
    while (kTypeSlots[slot] != 0 && Type(kTypeSlots[slot]).name() != name) {
        slot = (slot + 1) % kTypeSlotCount;
    }
    return Type(kTypeSlots[slot]);
}

Range<Type> types() noexcept {
    return {1, kTypeCount - std::size_t{1}};
}

SearchParameter::Component SearchParameter::component(std::size_t i) const noexcept {
    const SearchComponentRow& component = kSearchComponents[row().first_component + i];
    return {SearchParameter(component.parameter),
            {kSearchText + component.expression, component.expression_size}};
}

Range<SearchParameter> search_parameters() noexcept {
    return {1, kSearchParameterCount - std::size_t{1}};
}

List<SearchParameter> search_parameters(Type type) noexcept {
    return List<SearchParameter>(kSearchLists + kSearchParametersOfType[type.index()]);
}

}  // namespace annals::schema
