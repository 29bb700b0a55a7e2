#include "core/terminology/r4.h"

#include "codec/schema/tables.h"
#include "core/base/base64.h"
#include "core/base/parts.h"
#include "core/base/text_map.h"

#include <zlib.h>

#include <mutex>
#include <string>

namespace annals::terminology {

namespace {

namespace tables = schema::tables;

std::string unpacked() {
    std::string packed;
    Base64Decoder decoder;
    decoder.add({tables::kTerminology1, tables::kTerminology1Size}, packed);
    decoder.add({tables::kTerminology2, tables::kTerminology2Size}, packed);
    std::string text(tables::kTerminologySize, '\0');
    uLongf size = text.size();
    const int done =
        uncompress(reinterpret_cast<Bytef*>(text.data()), &size,
                   reinterpret_cast<const Bytef*>(packed.data()), uLong{packed.size()});
    ANNALS_CHECK(done == Z_OK && size == text.size());
    return text;
}

/// Judged by the text: only names and the like come before the concepts.
bool lists_codes(std::string_view text) {
    const std::size_t concepts = text.find(R"("concept":[)");
    return concepts != std::string_view::npos &&
           text.substr(0, concepts).find(R"("content":"supplement")") == std::string_view::npos;
}

class R4Definitions final : public Source {
  public:
    R4Definitions() : text_(unpacked()) {
        std::string_view rest = text_;
        while (!rest.empty()) {
            std::string_view line = take_until(rest, '\n');
            const std::string_view type = take_until(line, '\t');
            const std::string_view url = take_until(line, '\t');
            const std::string_view version = take_until(line, '\t');
            entries_.emplace(url, Entry{type, version, line, nullptr});
            if (type == "CodeSystem") {
                code_systems_.push_back(
                    {std::string(url), std::string(version), lists_codes(line)});
            }
        }
    }

    Result<Definition> find(std::string_view type, std::string_view url,
                            std::string_view version) const override {
        const auto [first, last] = entries_.equal_range(url);
        for (auto at = first; at != last; ++at) {
            Entry& entry = at->second;
            if (entry.type != type || (!version.empty() && version != entry.version)) {
                continue;
            }
            const std::lock_guard lock(mutex_);
            if (entry.parsed == nullptr) {
                json::Parser parser;
                ANNALS_TRY(json::Document document, parser.parse(entry.text));
                entry.parsed = std::make_shared<const json::Document>(std::move(document));
            }
            return entry.parsed;
        }
        return Definition();
    }

    const std::vector<ListedCodeSystem>& code_systems() const noexcept { return code_systems_; }

  private:
    struct Entry {
        std::string_view type;
        std::string_view version;
        std::string_view text;
        Definition parsed;  // guarded by mutex_
    };

    std::string text_;
    std::vector<ListedCodeSystem> code_systems_;
    mutable TextMultimap<Entry, std::string_view> entries_;
    mutable std::mutex mutex_;
};

const R4Definitions& all_definitions() {
    static const R4Definitions definitions;
    return definitions;
}

}  // namespace

const Source& r4_definitions() {
    return all_definitions();
}

const std::vector<ListedCodeSystem>& r4_code_systems() {
    return all_definitions().code_systems();
}

}  // namespace annals::terminology
