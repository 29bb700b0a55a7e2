#include "tests/support/archives.h"

#include "core/base/check.h"
#include "net/coding.h"

#include <archive.h>
#include <archive_entry.h>

namespace annals::test {

namespace {

la_ssize_t append(archive* /*writer*/, void* out, const void* bytes, std::size_t size) {
    static_cast<std::string*>(out)->append(static_cast<const char*>(bytes), size);
    return static_cast<la_ssize_t>(size);
}

}  // namespace

std::string gzipped(std::string_view text) {
    std::string out;
    net::take_encoder(net::Coding::gzip)->add(text, net::Encoder::Then::end, out);
    return out;
}

std::string make_archive(const std::vector<ArchiveEntry>& entries) {
    std::string out;
    archive* const writer = archive_write_new();
    archive_write_add_filter_gzip(writer);
    // Archives of the same entries are the same, also if made in different seconds.
    ANNALS_CHECK(archive_write_set_filter_option(writer, "gzip", "timestamp", nullptr) ==
                 ARCHIVE_OK);
    archive_write_set_format_pax_restricted(writer);
    archive_write_set_bytes_in_last_block(writer, 1);
    ANNALS_CHECK(archive_write_open(writer, &out, nullptr, append, nullptr) == ARCHIVE_OK);
    for (const ArchiveEntry& own : entries) {
        archive_entry* const entry = archive_entry_new();
        archive_entry_set_pathname(entry, own.path.c_str());
        archive_entry_set_perm(entry, 0644);
        archive_entry_set_filetype(entry, own.path.ends_with('/') ? AE_IFDIR : AE_IFREG);
        archive_entry_set_size(entry, static_cast<la_int64_t>(own.bytes.size()));
        if (!own.symlink.empty()) {
            archive_entry_set_filetype(entry, AE_IFLNK);
            archive_entry_set_symlink(entry, own.symlink.c_str());
        } else if (!own.hardlink.empty()) {
            archive_entry_set_hardlink(entry, own.hardlink.c_str());
        }
        ANNALS_CHECK(archive_write_header(writer, entry) >= ARCHIVE_WARN);
        archive_write_data(writer, own.bytes.data(), own.bytes.size());
        archive_entry_free(entry);
    }
    archive_write_close(writer);
    archive_write_free(writer);
    return out;
}

std::string make_package(std::string_view name, std::string_view version,
                         const std::vector<std::string>& resources, std::string_view dependencies) {
    std::vector<ArchiveEntry> entries{
        {"package/package.json", R"({"name":")" + std::string(name) + R"(","version":")" +
                                     std::string(version) + R"(","dependencies":)" +
                                     std::string(dependencies) + "}"}};
    for (std::size_t i = 0; i < resources.size(); ++i) {
        entries.push_back({"package/" + std::to_string(i) + ".json", resources[i]});
    }
    return make_archive(entries);
}

}  // namespace annals::test
