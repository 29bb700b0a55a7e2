#include "tests/simulate/service_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace annals::test {

using storage::Erase;
using Scope = Erase::Scope;
using Change = Decision::Change;

namespace {

TypeId type_of(std::string_view name) {
    return *find_resource_type(name.substr(0, name.find('/')));
}

}  // namespace

std::optional<std::uint64_t> ServiceModel::resource_of(std::string_view name) const {
    const auto found = numbers_.find(name);
    return found == numbers_.end() ? std::nullopt : std::optional(found->second);
}

const ServiceModel::Version* ServiceModel::newest(std::string_view name, Position bound) const {
    const auto resource = resource_of(name);
    return resource ? log_.standing(*resource, bound) : nullptr;
}

bool ServiceModel::is_live(std::string_view name, Position bound) const {
    const Version* head = newest(name, bound);
    return head != nullptr && !head->info.deletion;
}

bool ServiceModel::shows(const Version& version) const {
    if (patient.empty()) {
        return true;
    }
    const Version* judged = version.info.deletion ? nullptr : &version;
    if (judged == nullptr) {
        for (const Version& before : log_.versions()) {
            if (before.info.position < version.info.position &&
                before.resource == version.resource && !before.erased && !before.info.deletion) {
                judged = &before;
            }
        }
    }
    return judged != nullptr && (name_of(*judged) == patient || content(*judged).target == patient);
}

bool ServiceModel::shows_any(std::string_view name, Position bound) const {
    return newest(name, bound) != nullptr &&
           std::ranges::any_of(log_.chain(*resource_of(name), bound), [&](const Version* version) {
               return !version->erased && shows(*version);
           });
}

const ServiceModel::Version* ServiceModel::version_of(std::string_view name,
                                                      std::uint64_t number) const {
    const auto resource = resource_of(name);
    return resource ? log_.version(*resource, {number}) : nullptr;
}

const ServiceModel::Version* ServiceModel::labelled(std::string_view label) const {
    const std::size_t slash = std::min(label.rfind('/'), label.size());
    std::uint64_t number = 0;
    std::from_chars(label.data() + std::min(slash + 1, label.size()), label.data() + label.size(),
                    number);
    return version_of(label.substr(0, slash), number);
}

const ServiceModel::Version* ServiceModel::shown_by(const Decision& decision,
                                                    std::string_view assigned) const {
    if (decision.status >= 300 || decision.names.size() > 1) {
        return nullptr;
    }
    return newest(decision.names.empty() ? assigned : decision.names.front());
}

std::string ServiceModel::label(const Version& version) const {
    return fmt::format("{}/{}", name_of(version), version.info.version.value);
}

std::vector<std::string> ServiceModel::feed() const {
    std::vector<std::string> lines;
    for (std::uint64_t position = 1; position <= last(); ++position) {
        if (!at(position).erased) {
            lines.push_back(
                fmt::format("{} {} {}", position, commit_end(position), label(at(position))));
        }
    }
    return lines;
}

std::vector<const ServiceModel::Version*> ServiceModel::find(
    std::string_view type, const std::vector<Condition>& conditions, Position bound) const {
    std::vector<const Version*> found;
    for (std::uint64_t resource = 0; resource < names_.size(); ++resource) {
        if (!type.empty() && !names_[resource].starts_with(std::string(type) + '/')) {
            continue;
        }
        const Version* head = log_.standing(resource, bound);
        if (head != nullptr && !head->info.deletion && shows(*head) &&
            std::ranges::all_of(conditions, [&](const Condition& condition) {
                return condition.holds(*this, *head, bound);
            })) {
            found.push_back(head);
        }
    }
    std::ranges::sort(found, [](const Version* a, const Version* b) {
        return a->info.position > b->info.position;
    });
    return found;
}

void ServiceModel::sort_by_default(std::vector<const Version*>& found) {
    std::ranges::sort(found, [](const Version* a, const Version* b) {
        return std::pair(a->info.instant, a->info.position) >
               std::pair(b->info.instant, b->info.position);
    });
}

std::vector<std::uint64_t> ServiceModel::history(const storage::HistoryQuery& query,
                                                 std::string_view name,
                                                 std::optional<Instant> at) const {
    const auto resource = name.empty() ? std::nullopt : resource_of(name);
    storage::HistoryQuery whole = query;
    whole.count = log_.versions().size() + 1;
    std::vector<std::uint64_t> positions;
    for (const storage::VersionInfo& info : log_.history(whole, resource).versions) {
        const Version& version = log_.versions()[info.position.value - 1];
        // Of an instance, `at` shows the version that was current; otherwise only live ones.
        const bool is_asked =
            !at || (log_.standing(version.resource, query.bound, *at) == &version &&
                    (resource || !info.deletion));
        if (is_asked && shows(version)) {
            positions.push_back(info.position.value);
        }
    }
    return positions;
}

Position ServiceModel::bound_at(Instant instant) const {
    const auto later = [&](std::uint64_t position) { return at(position).info.instant > instant; };
    for (std::uint64_t first = 1; first <= last(); ++first) {
        if (at(first).erased || !later(first)) {
            continue;
        }
        // Nor is what erased versions before it replaced, or a part of its commit.
        while (first > 1 && ((at(first - 1).erased && later(first - 1)) ||
                             commit_end(first - 1) == commit_end(first))) {
            --first;
        }
        return {first - 1};
    }
    return log_.last_position();
}

// ---- writing ----

bool ServiceModel::meets_conditions(const Write& write, const std::string& name) const {
    const Version* head = newest(name);
    const bool live = is_live(name);
    if (write.if_none_match && live) {
        return false;
    }
    return write.if_match.empty() ||
           (write.if_match == "*"
                ? live
                : head != nullptr && std::to_string(head->info.version.value) == write.if_match);
}

Decision ServiceModel::decide(const Write& write) const {
    if (!write.criteria) {
        if (write.kind == Write::Kind::create) {
            return {201, Change::version, {}, write.content};
        }
        return decide_found(write, {write.name()});
    }
    std::vector<std::string> names;
    for (const Version* match : find(write.type, {*write.criteria}, {})) {
        names.push_back(name_of(*match));
    }
    if (names.size() > 1 && !(write.kind == Write::Kind::remove && deletes_several)) {
        return {412, Change::nothing, {}, {}};
    }
    return decide_found(write, std::move(names));
}

Decision ServiceModel::decide_found(const Write& write, std::vector<std::string> names) const {
    switch (write.kind) {
        case Write::Kind::create:
            return names.empty() ? Decision{201, Change::version, {}, write.content}
                                 : Decision{200, Change::nothing, std::move(names), {}};
        case Write::Kind::update:
            if (!names.empty()) {
                return !write.id.empty() && names.front() != write.name()
                           ? Decision{400, Change::nothing, {}, {}}
                           : decide_update(write, names.front());
            }
            if (write.id.empty()) {
                return {201, Change::version, {}, write.content};
            }
            return is_live(write.name()) ? Decision{409, Change::nothing, {}, {}}
                                         : decide_update(write, write.name());
        case Write::Kind::remove:
            if (names.size() == 1) {
                return decide_removal(write, names.front());
            }
            return names.empty() ? Decision{204, Change::nothing, {}, {}}
                                 : Decision{204,
                                            hard_delete ? Change::erasure : Change::deletion,
                                            std::move(names),
                                            {}};
        case Write::Kind::patch:
        case Write::Kind::add_tag:
        case Write::Kind::remove_tag:
            break;
    }
    return names.empty() ? Decision{404, Change::nothing, {}, {}}
                         : decide_change(write, names.front());
}

Decision ServiceModel::decide_update(const Write& write, const std::string& name) const {
    if (!meets_conditions(write, name)) {
        return {412, Change::nothing, {}, {}};
    }
    return {is_live(name) ? 200 : 201, Change::version, {name}, write.content};
}

Decision ServiceModel::decide_removal(const Write& write, const std::string& name) const {
    const Version* head = newest(name);
    if (head == nullptr) {
        return {404, Change::nothing, {}, {}};
    }
    if (head->info.deletion) {
        return {204, hard_delete ? Change::erasure : Change::nothing, {name}, {}};
    }
    if (!meets_conditions(write, name)) {
        return {412, Change::nothing, {}, {}};
    }
    return {204, hard_delete ? Change::erasure : Change::deletion, {name}, {}};
}

Decision ServiceModel::decide_change(const Write& write, const std::string& name) const {
    const Version* head = newest(name);
    if (head == nullptr) {
        return {404, Change::nothing, {}, {}};
    }
    if (head->info.deletion) {
        return {410, Change::nothing, {}, {}};
    }
    if (!meets_conditions(write, name)) {
        return {412, Change::nothing, {}, {}};
    }
    if (write.fails_test) {
        return {422, Change::nothing, {}, {}};
    }
    Decision decision{200, Change::version, {name}, content(*head)};
    if (write.kind == Write::Kind::patch) {
        decision.content.text = write.with_fhirpath ? "" : write.content.text;
        return decision;
    }
    for (const std::string& tag : write.content.tags) {
        std::vector<std::string>& tags = decision.content.tags;
        if (write.kind == Write::Kind::remove_tag) {
            std::erase(tags, tag);
        } else if (std::ranges::find(tags, tag) == tags.end()) {
            tags.push_back(tag);
        }
    }
    if (decision.content == content(*head)) {
        decision.change = Change::nothing;
    }
    return decision;
}

void ServiceModel::apply(const Decision& decision, std::string_view assigned) {
    std::vector<std::string> names = decision.names;
    if (names.empty()) {
        names.emplace_back(assigned);
    }
    for (const std::string& name : names) {
        switch (decision.change) {
            case Change::nothing:
                break;
            case Change::version:
                add(name, false, decision.content);
                break;
            case Change::deletion:
                add(name, true, {});
                break;
            case Change::erasure:
                erase(name, Scope::everything);
                break;
        }
    }
}

HistoryFate ServiceModel::take(const HistoryItem& item) {
    const Version* head = newest(item.name);
    const bool live = is_live(item.name);
    const std::uint64_t newest_number = head == nullptr ? 0 : head->info.version.value;
    const auto resource = resource_of(item.name);
    const std::uint64_t own = item.version.value_or(newest_number + 1);
    const bool newer =
        own > newest_number && own > (resource ? log_.erased_through(*resource).value : 0);
    HistoryFate fate;
    if (item.deletion ? (item.version ? newer : live) : newer) {
        fate.applied = true;
        fate.status = item.deletion ? 204 : live ? 200 : 201;
        add(item.name, item.deletion, item.content, own, item.instant);
        end_commit();
        if (item.deletion && hard_delete) {
            erase(item.name, Scope::everything);
        }
        return fate;
    }
    fate.status = item.deletion && !live ? 204 : 200;
    fate.code = "informational";
    if (head == nullptr) {
        fate.unknown = !item.deletion;  // it was erased
    } else if (item.deletion && !live && hard_delete && own >= newest_number) {
        erase(item.name, Scope::everything);
    } else if (item.version) {
        const Version* stored = version_of(item.name, own);
        fate.unknown = stored == nullptr;
        if (stored != nullptr &&
            (stored->info.deletion != item.deletion || content(*stored) != item.content ||
             (item.instant && stored->info.instant != *item.instant))) {
            fate.code = "conflict";
            fate.status = 200;
        }
    }
    return fate;
}

int ServiceModel::delete_history(std::string_view name, std::uint64_t number) {
    const Version* head = newest(name);
    if (head == nullptr) {
        return 404;
    }
    if (number == 0) {
        erase(name, Scope::all_but_current);
        return 204;
    }
    if (version_of(name, number) == nullptr) {
        return 404;
    }
    if (head->info.version.value == number) {
        if (!head->info.deletion) {
            return 409;
        }
        const auto all = log_.chain(*resource_of(name));
        if (std::ranges::count(all, false, &Version::erased) > 1) {
            add(name, true, {});
            end_commit();
        }
    }
    erase(name, Scope::version, number);
    return 204;
}

std::optional<int> ServiceModel::undo(std::uint64_t position) {
    const Version& written = at(position);
    const std::string name = name_of(written);
    if (written.erased) {
        return 200;
    }
    if (newest(name) != &written) {
        return 409;
    }
    // The chain begins with the oldest version that is not erased.
    const auto all = log_.chain(written.resource);
    const bool first = all.front() == &written;
    const bool lost =
        first ? log_.erased_through(written.resource).value != 0 && written.info.version.value != 1
              : all[all.size() - 2]->erased;
    if (lost) {
        // Of a deletion that was replaced, nothing says what was there.
        return first ? std::optional(409) : std::nullopt;
    }
    const Version* before = first ? nullptr : all[all.size() - 2];
    if (before != nullptr && before->info.deletion) {
        before = nullptr;
    }
    if (before != nullptr) {
        add(name, false, Content(content(*before)));
    } else if (!written.info.deletion && hard_delete) {
        erase(name, Scope::everything);
    } else if (!written.info.deletion) {
        add(name, true, {});
    }
    return 200;
}

int ServiceModel::purge(std::string_view name) {
    if (newest(name) == nullptr) {
        return 404;
    }
    for (std::uint64_t resource = 0; resource < names_.size(); ++resource) {
        const Version* last_content = nullptr;
        std::vector<std::uint64_t> his;
        for (const Version* version : log_.chain(resource)) {
            if (!version->erased && !version->info.deletion) {
                last_content = version;
                if (content(*version).target == name) {
                    his.push_back(version->info.version.value);
                }
            }
        }
        if (names_[resource] == name ||
            (last_content != nullptr && content(*last_content).target == name)) {
            erase(names_[resource], Scope::everything);
            continue;
        }
        for (const std::uint64_t version : his) {
            erase(names_[resource], Scope::version, version);
        }
    }
    return 200;
}

void ServiceModel::clean(std::uint64_t keep) {
    for (std::uint64_t resource = 0; resource < names_.size(); ++resource) {
        std::vector<std::uint64_t> stored;
        for (const Version* version : log_.chain(resource)) {
            if (!version->erased) {
                stored.push_back(version->info.version.value);
            }
        }
        if (stored.size() > keep) {
            erase(names_[resource], Scope::through, stored[stored.size() - keep - 1]);
        }
    }
}

void ServiceModel::add(std::string_view name, bool deletion, const Content& content,
                       std::optional<std::uint64_t> number, std::optional<Instant> instant) {
    const Version* head = newest(name);
    const auto [at, added] = numbers_.emplace(name, names_.size());
    if (added) {
        names_.emplace_back(name);
    }
    contents_[last() + 1] = deletion ? Content() : content;
    log_.add(at->second, type_of(name),
             {number.value_or(head == nullptr ? 1 : head->info.version.value + 1)},
             instant.value_or(now), deletion);
}

std::uint64_t ServiceModel::erase(std::string_view name, Scope scope, std::uint64_t number) {
    const auto resource = resource_of(name);
    const std::uint64_t count = resource ? log_.erase(*resource, scope, {number}) : 0;
    erasures_ += count;
    return count;
}

void ServiceModel::end_commit() {
    commit_ends_.resize(last(), last());
}

}  // namespace annals::test
