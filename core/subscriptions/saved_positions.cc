#include "core/subscriptions/saved_positions.h"

#include "codec/json/document.h"
#include "core/base/text.h"
#include "storage/whole_file.h"

#include <fmt/format.h>

namespace annals::core {

namespace {

constexpr std::string_view kFile = "positions.json";
constexpr std::uint64_t kPositionsBytesMax = 256 << 20;

}  // namespace

SavedPositions::SavedPositions(storage::FileSystem& files, std::string folder)
    : files_(files), folder_(std::move(folder)) {
}

Result<PositionMap> SavedPositions::read() const {
    const std::string path = fmt::format("{}/{}", folder_, kFile);
    PositionMap positions;
    if (!files_.exists(path)) {
        return positions;
    }
    ANNALS_TRY(const std::string text, storage::read_whole(files_, path, kPositionsBytesMax));
    json::Parser parser;
    const Result<json::Document> document = parser.parse(text);
    if (!document) {
        return Error{Errc::corrupt, fmt::format("{}: {}", path, document.error().detail)};
    }
    for (const auto [id, value] : document->root()["positions"].members()) {
        const std::string_view number = value.raw();
        const auto position = parse_number(number);
        if (!position) {
            return Error{Errc::corrupt,
                         fmt::format("{}: '{}' is not a position", path, number.substr(0, 100))};
        }
        positions.insert_or_assign(id.string(), Position{*position});
    }
    return positions;
}

Result<void> SavedPositions::write(const PositionMap& positions) {
    std::string text = R"({"positions":{)";
    bool first = true;
    for (const auto& [id, position] : positions) {
        text += first ? "" : ",";
        json::append_quoted(text, id);
        text += fmt::format(":{}", position.value);
        first = false;
    }
    text += "}}\n";
    ANNALS_TRY_VOID(files_.make_directory(folder_));
    return storage::replace_file(files_, fmt::format("{}/{}", folder_, kFile), text);
}

}  // namespace annals::core
