// A whole store on a hostile disk: files made by a store are edited and given matching checksums, so that
// they are believed, and what can be opened is read, searched, verified, restored, written to, erased from,
// compacted and packed. Also single files: manifests of backups and of the search index, and runs of the search index.
//
// The first byte chooses what is tried; the rest are edits (or the file): 1 byte for the
// file, 1 for the operation, 4 for the place, 1 for the number of bytes, then the bytes.

#include "core/base/bytes.h"
#include "core/base/check.h"
#include "core/base/digest.h"
#include "core/base/log.h"
#include "storage/backup_manifest.h"
#include "storage/erasure_journal.h"
#include "storage/format.h"
#include "storage/restore.h"
#include "storage/search_checkpoint_reader.h"
#include "storage/search_run.h"
#include "storage/segment_footer.h"
#include "storage/store.h"
#include "storage/verify.h"
#include "tests/support/search_store.h"
#include "tests/support/sim_file_system.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace annals;           // NOLINT: a fuzzer is one function
using namespace annals::storage;  // NOLINT
using test::CommitBuilder;
using test::SearchableCommit;
using test::SimFileSystem;

using Files = std::map<std::string, std::string>;

const std::string kStore = "/data";
const std::vector<std::string> kWords = {"red", "green", "blue"};

// What is tried, as bits of the first byte.
constexpr unsigned kSingleFile = 1;
constexpr unsigned kAllowDamaged = 2;
constexpr unsigned kUnmended = 4;
constexpr unsigned kIndexedAnew = 8;
constexpr unsigned kVerified = 16;
constexpr unsigned kWritten = 32 | 64;  // both bits: takes ten times as long

StoreOptions options(unsigned what) {
    StoreOptions options;
    options.segment_bytes = 4 << 10;
    options.prepare_segments = false;
    options.read_only = (what & kWritten) != kWritten;
    options.allow_damaged = options.read_only && (what & kAllowDamaged) != 0;
    options.search = [what](const Store& store) {
        return test::word_setup(store, (what & kIndexedAnew) != 0 ? 2 : 1);
    };
    options.search_checkpoint_versions = 8;
    // The bit that asks for verify() decides this as well.
    options.pack_segments = !options.read_only && (what & kVerified) != 0;
    return options;
}

void write_some(Store& store, int first, int count) {
    Ticket last;
    for (int i = first; i < first + count; ++i) {
        SearchableCommit commit(store);
        commit.put("Patient", fmt::format("p{}", i % 7), fmt::format("red {} >p{}", i, i % 3));
        commit.put("Observation", fmt::format("o{}", i), "green blue >p1");
        commit.builder.request(fmt::format("request-{}", i));
        last = store.submit(commit.builder.commit()).ticket;
    }
    CommitBuilder others;
    others.remove("Patient", "p2");
    others.erase("Observation", fmt::format("o{}", first));
    last = store.submit(others.commit()).ticket;
    ANNALS_CHECK(store.wait(last).has_value() && store.wait_erased(last).has_value());
}

/// The files of a store with segments of all kinds, a checkpoint and a journal.
const Files& prototype() {
    static const Files files = [] {
        silence_log();
        SimFileSystem fs;
        StoreOptions packing = options(kWritten);
        packing.pack_segments = true;
        for (const bool pack : {true, false}) {
            auto store = Store::open(fs, kStore, pack ? packing : options(kWritten));
            ANNALS_CHECK(store.has_value());
            write_some(**store, pack ? 0 : 30, pack ? 30 : 12);
            if (pack) {
                (*store)->compact(true);
                ANNALS_CHECK((*store)->wait_compacted().has_value());
            }
        }
        Files made;
        for (const std::string& path : fs.paths()) {
            made[path] = fs.content(path);
        }
        return made;
    }();
    return files;
}

// ---- the checksums ----

void mend_segment(std::string& file) {
    if (file.size() < kSegmentHeaderBytes) {
        return;
    }
    store_le(file.data() + 56, hash64({file.data(), 56}));
    const auto salt = load_le<std::uint64_t>(file.data() + 40);
    restore_checksums(file.data(), kSegmentHeaderBytes, file.size(), salt);
    if (file.size() < kSegmentHeaderBytes + kTrailerBytes) {
        return;
    }
    const std::size_t trailer = file.size() - kTrailerBytes;
    const auto footer = load_le<std::uint64_t>(file.data() + trailer);
    if (file.compare(trailer + 8, 8, "ANNALEND") == 0 && footer < trailer) {
        const std::string_view checked(file.data() + footer, trailer + 16 - footer);
        store_le(file.data() + trailer + 16, hash64(checked, salt));
    }
}

void mend_journal(std::string& file) {
    if (file.size() < 48) {
        return;
    }
    const std::uint64_t end = 40 + std::uint64_t{load_le<std::uint32_t>(file.data() + 12)} * 56 +
                              std::uint64_t{load_le<std::uint32_t>(file.data() + 32)} * 16;
    if (end + 8 <= file.size()) {
        store_le(file.data() + end, hash64(std::string_view(file).substr(0, end)));
    }
}

void mend_end(std::string& manifest) {
    const auto seed = load_le<std::uint64_t>(manifest.data() + 16);
    const std::string_view checked(manifest.data(), manifest.size() - 8);
    store_le(manifest.data() + manifest.size() - 8, hash64(checked, seed));
}

/// Corrects the checksums in a manifest of the search index, also those of the runs in `files`.
void mend_manifest(std::string& file, const Files& files) {
    if (file.size() < 64) {
        return;
    }
    mend_end(file);
    auto manifest = decode_manifest(file);
    if (!manifest) {
        return;
    }
    for (SearchManifest::Type& type : manifest->types) {
        for (SearchManifest::Place& place : type.runs) {
            const auto found = files.find(kStore + "/search/" + search_file_name(place.file));
            if (found != files.end() && place.offset <= found->second.size()) {
                place.checksum =
                    hash64(std::string_view(found->second).substr(place.offset, place.bytes),
                           manifest->store_id);
            }
        }
    }
    file = encode_manifest(*manifest);
}

void mend(Files& files) {
    for (auto& [path, file] : files) {
        if (path.ends_with(".seg")) {
            mend_segment(file);
        } else if (path.ends_with(".journal")) {
            mend_journal(file);
        } else if (path.ends_with(kSearchManifestName)) {
            mend_manifest(file, files);
        }
    }
}

// ---- edits ----

std::uint64_t take(std::string_view& input, std::size_t bytes) {
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < bytes && !input.empty(); ++i) {
        number = number << 8 | static_cast<std::uint8_t>(input.front());
        input.remove_prefix(1);
    }
    return number;
}

Files edited(std::string_view input) {
    Files files = prototype();
    while (!input.empty()) {
        auto at = files.begin();
        std::advance(at, take(input, 1) % files.size());
        std::string& file = at->second;
        const auto action = take(input, 1) % 8;
        const auto where = take(input, 4) % (file.size() + 1);
        const std::string_view bytes = input.substr(0, take(input, 1));
        input.remove_prefix(std::min(bytes.size(), input.size()));
        if (action == 0) {
            file.resize(where);
        } else if (action == 1) {
            file.insert(where, bytes);
        } else {
            file.replace(where, std::min(bytes.size(), file.size() - where), bytes);
        }
    }
    return files;
}

// ---- use ----

void read_all(const Store& store) {
    const Position last = store.last_position();
    HistoryQuery query;
    query.count = 300;
    for (const VersionInfo& info : store.history(query).versions) {
        (void)store.load(info);
        (void)store.request_of(store.commit_end(info.position));
        (void)store.commit_begin(info.position);
    }
    Position after{};
    std::vector<VersionInfo> found;
    store.scan({.every_version = true}, after, 300, found);
    for (std::uint64_t i = 1; i <= std::min<std::uint64_t>(last.value, 200); ++i) {
        (void)store.at({i});
    }
    for (int i = 0; i < 7; ++i) {
        (void)store.current(test::type_of("Patient"), fmt::format("p{}", i));
    }
    (void)test::describe_search(store, kWords);
    (void)store.metrics();
    (void)store.measure_compaction();
}

void use(SimFileSystem& fs, unsigned what) {
    auto store = Store::open(fs, kStore, options(what));
    if (!store) {
        return;
    }
    read_all(**store);
    if ((what & kWritten) == kWritten) {
        // From segments of all kinds.
        for (const char* const erased : {"o3", "o12", "o33", "o41"}) {
            SearchableCommit commit(**store);
            commit.put("Patient", "p1", "blue");
            commit.builder.erase("Observation", erased);
            const Submission submission = (*store)->submit(commit.builder.commit());
            if (submission.status == Submission::Status::accepted) {
                (void)(*store)->wait(submission.ticket);
                (void)(*store)->wait_erased(submission.ticket);
            }
        }
        (*store)->compact(true);
        (void)(*store)->wait_compacted();
        read_all(**store);
    }
}

void fuzz_store(std::string_view input, unsigned what) {
    Files files = edited(input);
    if ((what & kUnmended) == 0) {
        mend(files);
    }
    SimFileSystem fs;
    for (const auto& [path, file] : files) {
        fs.set_content(path, file);
    }
    if ((what & kVerified) != 0) {
        (void)verify(fs, kStore);
        (void)restore(fs, kStore, "/restored", {});
    }
    use(fs, what);
}

void fuzz_run(std::string_view input) {
    const std::shared_ptr<char> memory(new char[input.size() + 1], std::default_delete<char[]>());
    std::memcpy(memory.get(), input.data(), input.size());
    const auto run = SearchRun::read({memory.get(), input.size()}, memory);
    if (!run) {
        return;
    }
    std::string written;
    (*run)->write([&](std::string_view part) { written += part; });
    ANNALS_CHECK(written.size() == input.size());
    const std::vector runs{*run};
    (void)SearchRun::merge(runs, {});
}

void fuzz_file(std::string_view input) {
    std::string backup(input);
    backup += fmt::format("checksum {:016x}\n", hash64(backup));
    if (const auto manifest = parse_backup_manifest(backup)) {
        const auto again = parse_backup_manifest(write_backup_manifest(*manifest));
        ANNALS_CHECK(again.has_value() && *again == *manifest);
    }
    std::string search(input);
    if (search.size() >= 64) {
        mend_end(search);
    }
    if (const auto manifest = decode_manifest(search)) {
        ANNALS_CHECK(decode_manifest(encode_manifest(*manifest)).has_value());
    }
    fuzz_run(input);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) {
        return 0;
    }
    const std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
    if ((data[0] & kSingleFile) != 0) {
        fuzz_file(input);
    } else {
        fuzz_store(input, data[0]);
    }
    return 0;
}
