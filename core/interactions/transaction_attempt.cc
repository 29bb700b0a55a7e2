#include "core/interactions/transaction_attempt.h"

#include "core/interactions/answer.h"
#include "core/interactions/references.h"
#include "core/interactions/submitted_resource.h"
#include "core/interactions/write.h"
#include "core/scoped_view.h"
#include "storage/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace annals::core {

namespace {

using Action = EntryDecision::Action;
using Status = storage::Submission::Status;

constexpr std::size_t kSpareEntriesMax = 2048;
constexpr std::size_t kSpareBytesMax = 16 << 10;  // of each

/// Entries left by earlier transactions on this thread, whose memory is reused.
std::vector<storage::SearchEntries>& spare_entries() {
    thread_local std::vector<storage::SearchEntries> spares;
    return spares;
}

Error refers_to_nothing(std::string_view name) {
    return {Errc::conflict, fmt::format("the resource refers to {}, which does not exist", name)};
}

}  // namespace

TransactionAttempt::~TransactionAttempt() {
    std::vector<storage::SearchEntries>& spares = spare_entries();
    for (std::size_t i = 0; i < search_entries_.size() && spares.size() < kSpareEntriesMax; ++i) {
        if (search_entries_[i].bytes() <= kSpareBytesMax) {
            spares.push_back(std::move(search_entries_[i]));
        }
    }
}

storage::SearchEntries& TransactionAttempt::add_entries() {
    std::vector<storage::SearchEntries>& spares = spare_entries();
    if (spares.empty()) {
        return search_entries_.emplace_back();
    }
    storage::SearchEntries& added = search_entries_.emplace_back(std::move(spares.back()));
    spares.pop_back();
    return added;
}

Result<void> TransactionAttempt::build(std::size_t index) {
    const TransactionEntry& entry = entries_[index];
    const EntryDecision& decision = state_.decision(index);
    if (decision.action == Action::none) {
        return {};
    }
    if (entry.kind == EntryKind::remove && !decision.head.deletion) {
        referrers_.add_deleted(entry.target.type, decision.id);
        deleted_.push_back(index);
    } else {
        referrers_.add_rewritten(entry.target.type, decision.id);
    }
    if (decision.action == Action::erase) {
        storage::Erase erase;
        erase.type = entry.target.type;
        erase.id = decision.id;
        erase.expect = decision.expect;
        erase.expected_version = decision.expected_version;
        write_of_entry_[index] = erases_.size();
        erases_.push_back(erase);
        return {};
    }
    storage::VersionWrite write;
    write.type = entry.target.type;
    write.id = decision.id;
    write.method = decision.method;
    write.expect = decision.expect;
    write.expected_version = decision.expected_version;
    write.deletion = entry.kind == EntryKind::remove;
    if (!write.deletion) {
        ANNALS_TRY_VOID(build_body(index, write));
    }
    pieces_end_.push_back(pieces_.size());
    write_of_entry_[index] = writes_.size();
    writes_.push_back(write);
    return {};
}

/// Builds the body's pieces and the search entries.
Result<void> TransactionAttempt::build_body(std::size_t index, storage::VersionWrite& write) {
    const EntryResource& resource = state_.resource(index);
    ANNALS_TRY(auto edits,
               links_.edits(resource, entries_[index].full_url, [&](std::string_view reference) {
                   return resolves_ ? state_.resolve(reference)
                                    : Result<std::string>(std::string(reference));
               }));
    edits_.push_back(std::move(edits));
    if (service_.config().integrity_on_write) {
        ANNALS_TRY_VOID(require_references(index, edits_.back()));
    }
    const json::BodyPlan plan(resource.facts, write.id, {}, edits_.back());
    pieces_.insert(pieces_.end(), plan.pieces().begin(), plan.pieces().end());
    if (service_.config().validation == "full" && !edits_.back().empty()) {
        ANNALS_TRY(const json::Document document, parse_planned(plan));
        ANNALS_TRY_VOID(
            check_resolved(document.root(), fmt::format("Bundle.entry[{}].resource", index)));
    }
    if (is_restricted(request_)) {
        ANNALS_TRY(const json::Document document, parse_planned(plan));
        ANNALS_TRY_VOID(check_written(service_, request_, write, document.root()));
    }
    ANNALS_TRY(write.search, extract(write.type, resource, plan));
    return {};
}

/// The search entries of the version that `plan` makes, as it will be stored, with links resolved.
Result<const storage::SearchEntries*> TransactionAttempt::extract(TypeId type,
                                                                  const EntryResource& resource,
                                                                  const json::BodyPlan& plan) {
    storage::SearchEntries& entries = add_entries();
    if (substitute_links(resource)) {
        epoch_->extract(type, resource.facts.resource, entries);
        substitution_.undo();
        return &entries;
    }
    ANNALS_TRY(json::Document document, parse_planned(plan));
    epoch_->extract(type, document.root(), entries);
    thread_parser().recycle(std::move(document));
    return &entries;
}

/// False, with nothing substituted, if there is no room for it.
bool TransactionAttempt::substitute_links(const EntryResource& resource) {
    auto edit = edits_.back().cbegin();
    const auto end = edits_.back().cend();
    for (auto site = resource.sites.begin(); edit != end; ++site) {
        if (site->value.node().begin != edit->begin) {
            continue;
        }
        if (!substitution_.replace(site->value, edit->text)) {
            substitution_.undo();
            return false;
        }
        ++edit;
    }
    return true;
}

/// Adds requirements for what the entry refers to, except for references without a version to what the transaction writes.
Result<void> TransactionAttempt::require_references(std::size_t index,
                                                    const std::vector<json::Edit>& edits) {
    // In a stored Bundle, a reference that is not Type/id may be to one of its own entries.
    const bool is_bundle = resource_type_name(entries_[index].target.type) == "Bundle";
    auto edit = edits.begin();
    for (const json::ReferenceSite& site : state_.resource(index).sites) {
        std::string text = site.value.string();
        while (edit != edits.end() && edit->begin < site.value.node().begin) {
            ++edit;
        }
        const bool edited = edit != edits.end() && edit->begin == site.value.node().begin;
        if (edited) {
            text = edit->text.substr(1, edit->text.size() - 2);
        }
        if (site.kind != json::ReferenceSite::Kind::reference) {
            continue;
        }
        const auto key = referred_resource(text, request_.base_url);
        if (!key && is_relative_reference(text) && !is_bundle) {
            return refers_to_nothing(text);
        }
        if (!key) {
            continue;
        }
        std::string name = resource_name(key->first, key->second);
        const auto writer = state_.writer_of(name);
        if ((writer && entries_[*writer].kind == EntryKind::remove) ||
            (!writer && !may_refer(service_, request_, key->first, key->second))) {
            return refers_to_nothing(name);
        }
        const std::string_view version = referred_version(text);
        if (!writer || !version.empty()) {
            const std::size_t id_at = name.size() - key->second.size();
            if (!version.empty()) {
                name.append(kHistoryMark).append(version);
            }
            const std::string& kept = required_names_.emplace_back(std::move(name));
            requirements_.push_back({.type = key->first,
                                     .id = std::string_view(kept).substr(id_at, key->second.size()),
                                     .version = required_version(version),
                                     .writer = writer});
            requirement_entries_.push_back(index);
            requirement_was_found_.push_back(edited && !writer && version.empty());
        }
    }
    return {};
}

void TransactionAttempt::end_building() {
    std::size_t begin = 0;
    for (std::size_t i = 0; i < writes_.size(); ++i) {
        const std::size_t end = pieces_end_[i];
        writes_[i].body = std::span(pieces_).subspan(begin, end - begin);
        begin = end;
    }
    for (storage::Requirement& requirement : requirements_) {
        if (requirement.writer) {
            requirement.writer = write_of_entry_[*requirement.writer];
        }
    }
}

asio::awaitable<std::optional<TransactionFault>> TransactionAttempt::check_referrers() {
    for (const storage::VersionWrite& write : writes_) {
        const auto held =
            write.search != nullptr ? referrers_.referred_to(*write.search) : std::nullopt;
        if (held) {
            co_return TransactionFault{
                deleted_[*held],
                {Errc::conflict, fmt::format("{}, which the transaction writes, refers to it",
                                             resource_name(write.type, write.id))}};
        }
    }
    Result<void> free = co_await referrers_.check();
    if (!free) {
        co_return TransactionFault{deleted_[referrers_.held()], std::move(free.error())};
    }
    guards_ = state_.guards();
    referrers_.guard(guards_);
    co_return std::nullopt;
}

bool TransactionAttempt::is_met(const storage::Requirement& requirement) const {
    const storage::Store& store = service_.store();
    const auto newest = store.current(requirement.type, requirement.id);
    if (!requirement.writer && (!newest || newest->deletion)) {
        return false;
    }
    if (!requirement.version) {
        return true;
    }
    if (requirement.writer &&
        requirement.version->value == (newest ? newest->version.value : 0) + 1) {
        return true;
    }
    const auto stored = store.version(requirement.type, requirement.id, *requirement.version);
    return stored && !stored->deletion;
}

std::optional<TransactionFault> TransactionAttempt::find_unmet() const {
    for (std::size_t i = 0; i < requirements_.size(); ++i) {
        if (!is_met(requirements_[i])) {
            return TransactionFault{requirement_entries_[i], refers_to_nothing(required_names_[i])};
        }
    }
    return std::nullopt;
}

storage::Submission TransactionAttempt::submit() {
    if (writes_.empty() && erases_.empty()) {
        // Only whether everything that was found still is, all of it at this moment.
        storage::Submission answer = state_.ask(guards_);
        answer.ticket = state_.seen();
        return answer;
    }
    storage::Commit commit;
    commit.writes = writes_;
    commit.erases = erases_;
    commit.guards = guards_;
    commit.requirements = requirements_;
    commit.request = request_.client_request_id;
    const storage::Submission submission = service_.store().submit(commit);
    search::Indexing::submitted(*epoch_, submission.ticket);
    return submission;
}

std::size_t TransactionAttempt::entry_of_write(std::size_t write) const {
    std::size_t index = 0;
    while (state_.decision(index).action != Action::write || write_of_entry_[index] != write) {
        ++index;
    }
    return index;
}

TransactionFault TransactionAttempt::fault_of(const storage::Submission& submission) const {
    switch (submission.status) {
        case Status::requirement_failed:
            return {requirement_entries_[submission.failed],
                    refers_to_nothing(required_names_[submission.failed])};
        case Status::too_large:
            return {0, {Errc::too_costly, "the transaction is too large to be stored"}};
        case Status::no_number:
            return {entry_of_write(submission.failed), submission_error(submission.status)};
        default:
            return {0, submission_error(submission.status)};
    }
}

bool TransactionAttempt::is_outdated_by(const storage::Submission& submission) const {
    return submission.status == Status::requirement_failed &&
           requirement_was_found_[submission.failed];
}

bool TransactionAttempt::erases_versions() const {
    return std::ranges::any_of(
        erases_, [](const storage::Erase& erase) { return erase.outcome.versions_erased > 0; });
}

bool TransactionAttempt::may_repeat_erasure(std::size_t index) const {
    const TransactionEntry& entry = entries_[index];
    const EntryDecision& decision = state_.decision(index);
    return service_.config().hard_delete && entry.kind == EntryKind::remove &&
           decision.action == EntryDecision::Action::none &&
           (entry.criteria || decision.head.erased_through.value != 0);
}

std::string TransactionAttempt::body_of(std::size_t index) const {
    const storage::VersionWrite& write = writes_[write_of_entry_[index]];
    std::string body;
    storage::append_body(write.body, write.outcome.version, write.outcome.instant, body);
    return body;
}

std::uint64_t TransactionAttempt::versions_erased(std::size_t index) const {
    return state_.decision(index).action == Action::erase
               ? erases_[write_of_entry_[index]].outcome.versions_erased
               : 0;
}

std::size_t TransactionAttempt::body_bytes() const noexcept {
    std::size_t bytes = 0;
    for (const BodyPiece& piece : pieces_) {
        bytes += piece.text.size();
    }
    return bytes;
}

}  // namespace annals::core
