#include "storage/search_manifest.h"

#include "core/base/bytes.h"
#include "core/base/digest.h"

namespace annals::storage {
namespace {

constexpr std::string_view kMagic = "ANNALSCP";
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kHeaderBytes = 56;
constexpr std::size_t kTypeBytes = 32;
constexpr std::size_t kRunBytes = 40;
constexpr std::size_t kChecksumBytes = 8;

constexpr std::uint64_t aligned(std::uint64_t bytes) {
    return (bytes + kSearchFileAligned - 1) / kSearchFileAligned * kSearchFileAligned;
}

}  // namespace

std::string encode_manifest(const SearchManifest& manifest) {
    std::string out(kMagic);
    append_le(out, kVersion);
    append_le(out, static_cast<std::uint32_t>(kResourceTypeCount));
    append_le(out, manifest.store_id);
    append_le(out, manifest.witness.position.value);
    append_le(out, manifest.witness.version.value);
    append_le(out, manifest.witness.instant.us);
    append_le(out, manifest.witness.key);
    for (std::size_t t = 0; t < kResourceTypeCount; ++t) {
        const SearchManifest::Type& type = manifest.types[t];
        const std::string_view name = resource_type_names()[t];
        append_le(out, type.fingerprint);
        append_le(out, type.covered.value);
        append_le(out, type.vacuumed_through.value);
        append_le(out, static_cast<std::uint32_t>(type.runs.size()));
        append_le(out, static_cast<std::uint32_t>(name.size()));
        out += name;
        out.resize(aligned(out.size()), '\0');
        for (const SearchManifest::Place& place : type.runs) {
            append_le(out, place.file);
            append_le(out, place.offset);
            append_le(out, place.bytes);
            append_le(out, place.checksum);
            append_le(out, std::uint64_t{place.documents});
        }
    }
    append_le(out, hash64(out, manifest.store_id));
    return out;
}

Result<SearchManifest> decode_manifest(std::string_view bytes) {
    if (bytes.size() < kHeaderBytes + kChecksumBytes || !bytes.starts_with(kMagic)) {
        return unfit("no manifest");
    }
    std::string_view left =
        bytes.substr(kMagic.size(), bytes.size() - kMagic.size() - kChecksumBytes);
    const auto version = take_le<std::uint32_t>(left);
    SearchManifest manifest;
    const auto types = take_le<std::uint32_t>(left);
    manifest.store_id = take_le<std::uint64_t>(left);
    if (load_le<std::uint64_t>(bytes.data() + bytes.size() - kChecksumBytes) !=
        hash64(bytes.substr(0, bytes.size() - kChecksumBytes), manifest.store_id)) {
        return unfit("damaged");
    }
    if (version != kVersion) {
        return Error{Errc::usage, "another version of the format"};
    }
    // What follows was written by encode_manifest(); the checks are for other programs' versions of it.
    manifest.witness.position = {take_le<std::uint64_t>(left)};
    manifest.witness.version = {take_le<std::uint64_t>(left)};
    manifest.witness.instant = {take_le<std::int64_t>(left)};
    manifest.witness.key = take_le<std::uint64_t>(left);
    for (std::uint32_t t = 0; t < types; ++t) {
        if (left.size() < kTypeBytes) {
            return unfit("cut");
        }
        SearchManifest::Type entry;
        entry.fingerprint = take_le<std::uint64_t>(left);
        entry.covered = {take_le<std::uint64_t>(left)};
        entry.vacuumed_through = {take_le<std::uint64_t>(left)};
        const auto runs = take_le<std::uint32_t>(left);
        const auto name_bytes = take_le<std::uint32_t>(left);
        const std::uint64_t padded = aligned(name_bytes);
        if (left.size() < padded + std::uint64_t{runs} * kRunBytes) {
            return unfit("cut");
        }
        const auto type = find_resource_type(left.substr(0, name_bytes));
        if (!type || entry.covered > manifest.witness.position) {
            return unfit("not made by this program");
        }
        left.remove_prefix(padded);
        for (std::uint32_t r = 0; r < runs; ++r) {
            SearchManifest::Place place;
            place.file = take_le<std::uint64_t>(left);
            place.offset = take_le<std::uint64_t>(left);
            place.bytes = take_le<std::uint64_t>(left);
            place.checksum = take_le<std::uint64_t>(left);
            place.documents = static_cast<std::uint32_t>(take_le<std::uint64_t>(left));
            entry.runs.push_back(place);
        }
        manifest.types[type->value] = std::move(entry);
    }
    return manifest;
}

}  // namespace annals::storage
