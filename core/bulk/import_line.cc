#include "core/bulk/import_line.h"

#include "core/base/digest.h"
#include "core/interactions/history_bundle_entry.h"
#include "core/interactions/submitted_resource.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

namespace annals::core {

namespace {

Error other_type(std::string_view type, std::string_view wanted) {
    return {Errc::invalid, fmt::format("The resource is of the type {}, not {}", type, wanted),
            "resourceType"};
}

}  // namespace

Result<ImportLine> read_import_line(const Config& config, std::string_view line,
                                    std::string_view type, bool keep_versions) {
    Result<json::Document> document = parse_submitted(config, thread_parser(), line);
    if (!document) {
        // Nests deeper than a single resource may: an entry of a history Bundle.
        json::Parser parser(kLineDepthMax);
        document = parse_submitted(config, parser, line);
    }
    if (!document) {
        return std::move(document.error());
    }
    ImportLine read;
    const json::Value root = document->root();
    if (is_history_entry(root)) {
        HistoryEntry entry;
        if (!type.empty() && read_history_entry(root, entry) &&
            resource_type_name(entry.type) != type) {
            return other_type(resource_type_name(entry.type), type);
        }
        read.entry = root.raw();
        return read;
    }
    const std::string name = root["resourceType"].string();
    const std::optional<TypeId> known = find_resource_type(name);
    if (!known || name == "Parameters") {
        return Error{
            Errc::value,
            fmt::format("'{}' is not a type of resource that can be stored", name.substr(0, 100)),
            "resourceType"};
    }
    if (!type.empty() && name != type) {
        return other_type(name, type);
    }
    if (keep_versions) {
        read.entry = fmt::format(R"({{"resource":{},"request":{{"method":"PUT","url":"{}/{}"}}}})",
                                 root.raw(), name, root["id"].raw_string());
        return read;
    }
    read.type = *known;
    read.resource = *std::move(document);
    return read;
}

std::string id_of_line(std::string_view job, std::size_t input, std::uint64_t line) {
    const Hash128 hash = hash128(fmt::format("{}/{}/{}", job, input, line));
    const std::string hex = fmt::format("{:016x}{:016x}", hash.high, hash.low);
    // A UUID of version 8, whose content is up to its maker (RFC 9562 section 5.8).
    return fmt::format("{}-{}-8{}-a{}-{}", hex.substr(0, 8), hex.substr(8, 4), hex.substr(13, 3),
                       hex.substr(17, 3), hex.substr(20, 12));
}

}  // namespace annals::core
