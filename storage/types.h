// The values that go into the store and come out of it: writes, expectations, versions.
//
// Layer:   storage; depends on core/base only.
// Format:  docs/format.md says how each is kept on disk.
// Threads: plain values.

#pragma once

#include "core/base/body_piece.h"
#include "core/base/ids.h"
#include "core/base/instant.h"
#include "core/base/resource_types.h"
#include "storage/search_entries.h"

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace annals::storage {

/// Order of submission to one open store; never reused while it is open, never written to disk.
struct Ticket {
    std::uint64_t value = 0;  ///< 0: nothing to wait for

    auto operator<=>(const Ticket&) const = default;
};

/// How a version came to be. Written to disk: values are never reused.
enum class Method : std::uint8_t { post = 1, put = 2, patch = 3, deletion = 4, history = 5 };

/// What a write expects of the newest version of its resource, in log order: versions of commits
/// that are submitted but not yet durable count.
enum class Expect : std::uint8_t {
    anything,
    absent,   ///< no version at all (never written, or erased)
    exists,   ///< at least one version, live or deleted
    live,     ///< the newest version is not a deletion
    version,  ///< the newest version, deletion or not, is `expected_version`
    /// The newest version and every erased one have numbers below `version` or, without it, below the next number (history
    /// bundles).
    older,
};

/// The newest version of a resource as the log stands (submitted commits included).
struct Head {
    bool exists = false;  ///< false: absent; the other fields but erased_through are 0
    bool deletion = false;
    VersionNumber version;
    Instant instant;
    Position position;
    VersionNumber erased_through;  ///< highest version number ever erased of this resource, or 0
    Ticket ticket;                 ///< of the commit that wrote it if it is not durable yet, else 0

    bool is_live() const noexcept { return exists && !deletion; }
};

/// One version to append. `outcome` is filled by Store::submit.
///
/// Lifetime: what the views point at is read during submit() only.
struct VersionWrite {
    TypeId type;
    std::string_view id;
    Method method = Method::put;
    bool deletion = false;
    std::span<const BodyPiece> body;        ///< minified JSON; empty for a deletion
    const SearchEntries* search = nullptr;  ///< null: not searchable (a deletion); terms ascend
    Expect expect = Expect::anything;
    VersionNumber expected_version;        ///< for Expect::version
    std::optional<VersionNumber> version;  ///< keep this number (history bundle); else newest + 1
    std::optional<Instant> instant;  ///< keep this instant (history bundle); else the commit's
    std::string* stored = nullptr;   ///< receives the body as stored, if the commit is accepted

    struct Outcome {
        VersionNumber version;
        Instant instant;
        Position position;
        Head previous;  ///< the newest version before this write
    } outcome;
};

/// Versions to erase. History, reads and totals no longer show them; their numbers are never reused
/// while the resource has versions, and Expect::older refuses them for ever.
struct Erase {
    enum class Scope : std::uint8_t {
        version = 1,  ///< `version` alone; refused if it is the current one of a live resource
        all_but_current =
            2,           ///< of a live resource: all older versions; of a deleted one: everything
        everything = 3,  ///< hard delete: the resource is absent afterwards
        through = 4,     ///< `version` and those before it, but never the newest
    };
    TypeId type;
    std::string_view id;
    Scope scope = Scope::everything;
    VersionNumber version;
    Expect expect = Expect::exists;  ///< exists, live or version
    VersionNumber expected_version;
    /// Unless 0: `version` must exist at this position, since a resource that was erased may have started over with the same
    /// numbers.
    Position expected_position;

    struct Outcome {
        std::uint64_t versions_erased = 0;
        Head previous;
    } outcome;
};

class WriteWatch;  // storage/write_watch.h

/// "No version of `type` that carries any of `terms` was written after `as_of`": what makes conditional interactions
/// race-free. Versions in flight count.
///
/// A version carries the terms of its SearchEntries, the term of its resource's identity (SearchSetup::identity) and, as terms,
/// the targets of its links. Without terms the guard forbids every version of the type, deletions included. With `hard_deletes`
/// it also forbids hard deletes of live resources of the type: of those whose identity is among `terms`, or without terms of any.
///
/// Lifetime: `terms` is read during submit() only.
struct Guard {
    std::optional<TypeId> type;            ///< none: any
    std::span<const std::uint64_t> terms;  ///< ascending
    Position as_of;  ///< the position that the caller decided on: Store::last_position()
    std::optional<std::uint64_t> hard_deletes = {};  ///< Store::hard_deletes(), read before `as_of`
    /// For a guard with a type and without terms: of what was submitted since the watch began, only what it concerns counts.
    const WriteWatch* watch = nullptr;
};

/// "This resource must be live when the commit is decided" (referential integrity on write). With `version`, that version
/// must exist as well, neither erased nor a deletion. Versions in flight count.
struct Requirement {
    TypeId type;
    std::string_view id;
    std::optional<VersionNumber> version = {};
    /// The commit's own write of that resource, an index into Commit::writes: its version counts as existing.
    std::optional<std::size_t> writer = {};
};

/// The atomic unit: visible as a whole or not at all. No two entries name one resource, except erases of single versions.
struct Commit {
    std::span<VersionWrite> writes;
    std::span<Erase> erases;
    std::span<const Guard> guards;
    std::span<const Requirement> requirements;
    std::string_view request =
        {};  ///< kept with the versions (Store::request_of()); kRequestIdBytesMax at most
};

/// What Store::submit decided.
struct Submission {
    enum class Status : std::uint8_t {
        accepted,            ///< in the log's next batch; durable when `ticket` settles well
        expectation_failed,  ///< `failed` indexes writes, then erases; `head` says what is there
        requirement_failed,  ///< `failed` indexes requirements
        version_unknown,     ///< an Erase of Scope::version names no version; `failed` as above
        no_number,  ///< the newest version of that resource has kVersionNumberMax; `failed` as above
        busy,  ///< the caller must decide again on a newer snapshot once `ticket` has settled (0: now)
        overloaded,  ///< too much is gathered already; try again later
        too_large,   ///< the commit cannot be stored
        no_space,    ///< too little space, or too few descriptors; writing resumes by itself
        failed,      ///< a write or sync failed: no writes until the store is reopened
        read_only,
    };
    Status status = Status::failed;
    Ticket ticket;
    Instant instant;
    std::size_t failed = 0;
    Head head;
};

/// What the index knows of a version, without touching its bytes.
struct VersionInfo {
    Position position;
    VersionNumber version;
    Instant instant;
    TypeId type;
    bool deletion = false;
    std::uint32_t resource = 0;  ///< dense number of its resource; a handle, meaningless outside
};

/// Keeps the bytes that a view points at mapped.
using Pin = std::shared_ptr<const void>;

/// A version with its bytes, straight from the segment's mapping.
///
/// Lifetime: `id` and `body` live as long as `pin`.
struct StoredVersion {
    VersionInfo info;
    std::string_view id;
    std::string_view body;  ///< final minified JSON; empty for a deletion
    Pin pin;
    Method method = Method::put;  ///< how it came to be
    bool unread = false;          ///< load_resident(): it is not in memory; nothing else is set
};

/// The end of a commit in the log.
struct LogEnd {
    std::uint64_t segment = 0;  ///< number of the segment, the newest at that time
    std::uint64_t offset = 0;   ///< in its file: the end of its frames
    Position position;          ///< newest version
    Instant instant;            ///< of the newest commit
};

/// Counters of one type or of the whole store; maintained incrementally, so reading them is O(1).
struct Totals {
    std::uint64_t versions = 0;   ///< every version and deletion that history shows
    std::uint64_t live = 0;       ///< resources whose newest version is not a deletion
    std::uint64_t resources = 0;  ///< resources with any version
    std::uint64_t erased = 0;     ///< versions that history no longer shows; never decreases

    bool operator==(const Totals&) const = default;
};

}  // namespace annals::storage
