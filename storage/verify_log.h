// LogCheck: the part of verify that follows a log through its segments and knows what frames, records and footers may come
// next.
//
// Layer:   storage; for verify.cc only.
// Format:  docs/format.md.
// Threads: one.

#pragma once

#include "storage/format.h"
#include "storage/index.h"
#include "storage/segment.h"
#include "storage/segment_footer.h"
#include "storage/verify.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace annals::storage {

class LogCheck {
  public:
    /// Counts and notes damage in `report`. Lifetime: `report` outlives it.
    explicit LogCheck(VerifyReport& report) : report_(report) {}

    /// Attributes what is found from now on to the file of this name.
    void set_file(std::string name) { name_ = std::move(name); }

    /// Notes damage at `offset` of that file.
    void damage(std::uint64_t offset, std::string reason) {
        report_.damages.push_back({name_, offset, std::move(reason)});
    }

    /// Notes that the end of what comes before the next segment is not known.
    void lose_end() { lost_ = true; }

    /// Notes that nothing of the segment that was begun can be read.
    void lose_segment() { lost_ = incomplete_ = true; }

    /// Continues with the segment `number`, whose file has this header.
    void begin_segment(std::uint64_t number, const SegmentHeader& header);

    /// Verifies the frames, which must fill everything between the segment's header and the end of `bytes` without a gap.
    /// Errors: usage (a newer format).
    Result<void> verify_frames(std::string_view bytes);

    /// Verifies that the footer of `bytes`, the whole file, matches the records, hint by hint and in its counts. Requires: they
    /// were verified.
    void verify_footer(const FooterReader& footer, std::string_view bytes);

    /// Checks what needs all segments: which bodies are gone or left, and what the store holds.
    void finish();

    /// Of the segments so far; 0 if there was none.
    std::uint64_t store_id() const noexcept { return store_id_; }

    Position last_position() const noexcept { return {next_ - 1}; }

  private:
    struct Bodiless {
        Position position;  ///< in the index of this check
        std::uint64_t segment = 0;
        std::uint64_t offset = 0;
    };

    void damage_within_frame(std::string_view bytes, std::uint64_t at, const std::string& lost);
    Result<void> verify_frame(std::string_view bytes, const FrameAt& frame);
    void verify_record(const Record& record, std::uint64_t offset, std::uint64_t size);
    void verify_erase(const Record& record, const Hint& hint);
    void verify_version(const Record& record, const Hint& hint);

    VerifyReport& report_;
    std::string name_;
    Index index_;
    std::vector<Bodiless> bodiless_;
    std::vector<bool> has_body_;  ///< by position, from 1
    std::uint64_t store_id_ = 0;
    std::uint64_t next_ = 1;  ///< position that the next version must have
    Instant last_instant_;
    bool lost_ = false;        ///< the end of what came before this segment is not known
    bool incomplete_ = false;  ///< records are missing, so that others may seem to refer to nothing

    // Of the current segment.
    SegmentHeader header_;
    std::vector<Hint> hints_;
};

}  // namespace annals::storage
