#include "core/search/expression_text.h"

#include "codec/schema/schema.h"
#include "core/base/text_map.h"

#include <fmt/format.h>

namespace annals::core::search {

namespace {

/// The options of choice elements by their JSON names ("valueDateTime").
const TextMap<schema::Element, std::string_view>& options_by_name() {
    static const auto options = [] {
        TextMap<schema::Element, std::string_view> all;
        for (const schema::Type type : schema::types()) {
            for (const schema::Element element : type.elements()) {
                if (element.is_choice()) {
                    all.emplace(element.name(), element);
                }
            }
        }
        return all;
    }();
    return options;
}

}  // namespace

std::string with_options_as_types(std::string_view expression) {
    std::string out;
    char quote = 0;
    for (std::size_t i = 0; i < expression.size();) {
        const char c = expression[i];
        std::size_t size = 1;
        if (quote != 0) {
            size = c == '\\' && i + 1 < expression.size() ? 2 : 1;
            quote = c == quote ? 0 : quote;
        } else if (c == '\'' || c == '`' || c == '"') {
            quote = c;
        } else if (is_identifier_char(c)) {
            while (i + size < expression.size() && is_identifier_char(expression[i + size])) {
                ++size;
            }
            const auto option = options_by_name().find(expression.substr(i, size));
            const bool named =
                i == 0 || std::string_view("%$").find(expression[i - 1]) == std::string_view::npos;
            if (named && option != options_by_name().end()) {
                out += fmt::format("{}.ofType({})", option->second.base_name(),
                                   option->second.type().name());
                i += size;
                continue;
            }
        }
        out += expression.substr(i, size);
        i += size;
    }
    return out;
}

}  // namespace annals::core::search
