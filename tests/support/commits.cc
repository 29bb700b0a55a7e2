#include "tests/support/commits.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace annals::test {

TypeId type_of(std::string_view name) {
    const auto type = find_resource_type(name);
    ANNALS_CHECK(type.has_value(), name);
    return *type;
}

std::string expected_body(std::string_view type, std::string_view id, std::string_view text,
                          VersionNumber version, Instant instant) {
    std::string when(kInstantChars, ' ');
    write_instant(instant, when.data());
    return fmt::format("{}/{} v{} at {}: {}", type, id, version.value, when, text);
}

storage::VersionWrite& CommitBuilder::put(std::string_view type, std::string_view id,
                                          std::string_view text, std::vector<std::uint64_t> terms) {
    const std::string& name = texts_.emplace_back(id);
    const std::string& head = texts_.emplace_back(fmt::format("{}/{} v", type, id));
    const std::string& tail = texts_.emplace_back(fmt::format(": {}", text));
    storage::VersionWrite write;
    write.type = type_of(type);
    write.id = name;
    if (!terms.empty()) {
        std::ranges::sort(terms);
        entries_.emplace_back().terms = std::move(terms);
        write.search = &entries_.back();
    }
    write.body = bodies_.emplace_back(std::vector<BodyPiece>{{BodyPiece::Kind::text, head},
                                                             {BodyPiece::Kind::version, {}},
                                                             {BodyPiece::Kind::text, " at "},
                                                             {BodyPiece::Kind::instant, {}},
                                                             {BodyPiece::Kind::text, tail}});
    writes_.push_back(write);
    return writes_.back();
}

storage::VersionWrite& CommitBuilder::remove(std::string_view type, std::string_view id) {
    storage::VersionWrite write;
    write.type = type_of(type);
    write.id = texts_.emplace_back(id);
    write.method = storage::Method::deletion;
    write.deletion = true;
    write.expect = storage::Expect::live;
    writes_.push_back(write);
    return writes_.back();
}

storage::Erase& CommitBuilder::erase(std::string_view type, std::string_view id,
                                     storage::Erase::Scope scope, VersionNumber version) {
    storage::Erase erase;
    erase.type = type_of(type);
    erase.id = texts_.emplace_back(id);
    erase.scope = scope;
    erase.version = version;
    erases_.push_back(erase);
    return erases_.back();
}

CommitBuilder& CommitBuilder::guard(std::string_view type, std::uint64_t term, Position as_of) {
    return guard(
        {.type = type_of(type), .terms = {&guarded_.emplace_back(term), 1}, .as_of = as_of});
}

CommitBuilder& CommitBuilder::guard(const storage::Guard& guard) {
    guards_.push_back(guard);
    return *this;
}

CommitBuilder& CommitBuilder::require(std::string_view type, std::string_view id,
                                      std::optional<VersionNumber> version,
                                      std::optional<std::size_t> writer) {
    requirements_.push_back({type_of(type), texts_.emplace_back(id), version, writer});
    return *this;
}

CommitBuilder& CommitBuilder::request(std::string_view id) {
    request_ = texts_.emplace_back(id);
    return *this;
}

storage::Commit CommitBuilder::commit() {
    return {writes_, erases_, guards_, requirements_, request_};
}

storage::Submission put(storage::Store& store, std::string_view type, std::string_view id,
                        std::string_view text) {
    CommitBuilder builder;
    builder.put(type, id, text);
    const storage::Submission submission = store.submit(builder.commit());
    EXPECT_EQ(submission.status, storage::Submission::Status::accepted);
    EXPECT_TRUE(store.wait(submission.ticket));
    return submission;
}

Result<void> erase(storage::Store& store, std::string_view type, std::string_view id) {
    CommitBuilder builder;
    builder.erase(type, id);
    const storage::Ticket ticket = store.submit(builder.commit()).ticket;
    EXPECT_TRUE(store.wait(ticket));
    return store.wait_erased(ticket);
}

}  // namespace annals::test
