#include "core/interactions/change_source.h"

#include "core/interactions/bundle_stream.h"
#include "core/interactions/history_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <span>

namespace annals::core {

namespace {

// A slice ends at this many versions or bytes: between slices, the loop serves other requests.
constexpr std::size_t kSliceVersionsMax = 64;
constexpr std::size_t kSliceBytesMax = 1 << 20;

/// How many versions a stream of events looks up at a time.
constexpr std::size_t kVersionsPerLook = 1024;

using Clock = std::chrono::steady_clock;

/// Writes one version, for both formats.
class ChangeWriter {
  public:
    ChangeWriter(const Service& service, std::string_view base_url)
        : service_(service), base_url_(escaped_base(base_url)) {}

    /// Appends a line that begins with `prefix`; nothing if the version was erased meanwhile.
    void append(Body& body, std::string_view prefix, const Change& change) {
        text_.assign(prefix).append(R"({"position":)");
        text_.append(std::to_string(change.info.position.value)).append(R"(,"commit":)");
        text_.append(std::to_string(change.commit.value)).append(",");
        if (append_history_entry(body, service_, base_url_, change.info, text_)) {
            body.append("\n");
        }
    }

  private:
    const Service& service_;
    std::string base_url_;  // escaped
    std::string text_;      // of the current version
};

/// Those of the next slice of `changes` that are only on the device.
std::vector<Position> unread_of(const storage::Store& store, std::span<const Change> changes) {
    std::vector<storage::VersionInfo> versions;
    for (const Change& change : changes.first(std::min(changes.size(), kSliceVersionsMax))) {
        versions.push_back(change.info);
    }
    return store.unread(versions);
}

class ChangeLines final : public BodySource {
  public:
    ChangeLines(const Service& service, std::string_view base_url, std::vector<Change> changes)
        : writer_(service, base_url), store_(service.store()), changes_(std::move(changes)) {}

    std::vector<Position> unread() override {
        return unread_of(store_, std::span(changes_).subspan(next_));
    }

    bool next(Body& slice) override {
        for (std::size_t count = 0;
             next_ < changes_.size() && count < kSliceVersionsMax && slice.size() < kSliceBytesMax;
             ++count, ++next_) {
            writer_.append(slice, {}, changes_[next_]);
        }
        return next_ < changes_.size();
    }

  private:
    ChangeWriter writer_;
    const storage::Store& store_;
    std::vector<Change> changes_;
    std::size_t next_ = 0;
};

class ChangeEvents final : public BodySource {
  public:
    ChangeEvents(const Service& service, std::string_view base_url, ChangeReader reader)
        : writer_(service, base_url),
          store_(service.store()),
          reader_(std::move(reader)),
          told_(reader_.reached()) {}

    std::vector<Position> unread() override {
        look();
        return unread_of(store_, std::span(changes_).subspan(next_));
    }

    bool next(Body& slice) override {
        look();
        waits_ = changes_.empty();
        if (waits_ && Clock::now() - last_output_ >= kSourcePauseMax / 2) {
            append_sign_of_life(slice);
        }
        for (std::size_t count = 0;
             next_ < changes_.size() && count < kSliceVersionsMax && slice.size() < kSliceBytesMax;
             ++count) {
            const Change& change = changes_[next_++];
            writer_.append(slice, "data: ", change);
            if (next_ == changes_.size() || changes_[next_].commit != change.commit) {
                slice.append(fmt::format("id: {}\n\n", change.commit.value));
                told_ = change.commit;
            }
        }
        if (!slice.empty()) {
            last_output_ = Clock::now();
        }
        return true;
    }

    std::optional<Position> waits_after() const noexcept override {
        return waits_ ? std::optional(reader_.reached()) : std::nullopt;
    }

    bool endless() const noexcept override { return true; }

  private:
    void look() {
        if (next_ == changes_.size()) {
            changes_ = reader_.read(kVersionsPerLook);
            next_ = 0;
        }
    }

    /// An event without data updates the client's Last-Event-ID without being dispatched.
    void append_sign_of_life(Body& slice) {
        if (reader_.reached() > told_) {
            told_ = reader_.reached();
            slice.append(fmt::format("id: {}\n\n", told_.value));
        } else {
            slice.append(":\n\n");
        }
    }

    ChangeWriter writer_;
    const storage::Store& store_;
    ChangeReader reader_;
    std::vector<Change> changes_;
    std::size_t next_ = 0;
    Position told_;  ///< the id that the client has
    bool waits_ = false;
    Clock::time_point last_output_ = Clock::now();
};

}  // namespace

std::unique_ptr<BodySource> change_lines(const Service& service, std::string_view base_url,
                                         std::vector<Change> changes) {
    return std::make_unique<ChangeLines>(service, base_url, std::move(changes));
}

std::unique_ptr<BodySource> change_events(const Service& service, std::string_view base_url,
                                          ChangeReader reader) {
    return std::make_unique<ChangeEvents>(service, base_url, std::move(reader));
}

}  // namespace annals::core
