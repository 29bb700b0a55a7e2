// The writes of a ServiceSimulation.

#include "core/config/history_limits.h"
#include "storage/history_cleanup.h"
#include "tests/simulate/service_simulation.h"

#include <fmt/format.h>

#include <algorithm>

namespace annals::test {

using Change = Decision::Change;

namespace {

constexpr Instant kOld{1'546'300'800'000'000};  // 2019

}  // namespace

std::string ServiceSimulation::pick_name(const std::string& type) {
    if (one_in(4)) {
        std::vector<std::string> known;
        for (const std::string& name : model_.names()) {
            if (name.starts_with(type + '/')) {
                known.push_back(name);
            }
        }
        if (!known.empty()) {
            return pick_from(known);
        }
    }
    return type + '/' + pick_from(ids_);
}

Content ServiceSimulation::pick_content(const std::string& type) {
    Content content;
    content.text = pick_from<std::string>({"", "ab", "abc", "b", "bcd", "ca"});
    // An Observation must have one.
    content.code = type == "Patient" && one_in(4) ? "" : pick_from<std::string>({"x", "y", "z"});
    content.date = pick_from<std::string>({"", "2020-01", "2020-01-01", "2020-01-07", "2020-01-31",
                                           "2020-02-01", "2020-02", "2020-03-10"});
    content.target = type == "Patient" ? pick_from<std::string>({"", "Organization/o"})
                                       : pick_from<std::string>({"", pick_name("Patient")});
    if (type == "Observation" && one_in(3)) {
        content.focus = pick_name("Patient");
    }
    if (type == "Observation" && one_in(3)) {
        content.contained = pick_from<std::string>({"ab", "abc", "b", "ca"});
    }
    for (const char* tag : {"t", "u"}) {
        if (one_in(4)) {
            content.tags.push_back(tag);
        }
    }
    return content;
}

Condition ServiceSimulation::pick_criteria(const std::string& type) {
    if (one_in(3)) {
        const std::string text = pick_from<std::string>({"ab", "abc", "b", "bcd"});
        return {fmt::format("{}:exact={}", type == "Patient" ? "family" : "value-string", text),
                [text](const ServiceModel& model, const auto& version, Position) {
                    return model.content(version).text == text;
                }};
    }
    const std::string code = pick_from<std::string>({"x", "y", "z", "w"});
    return {fmt::format("{}=http://s%7C{}", type == "Patient" ? "identifier" : "code", code),
            [code](const ServiceModel& model, const auto& version, Position) {
                return model.content(version).code == code;
            }};
}

Write ServiceSimulation::pick_write() {
    Write write;
    write.type = pick_type();
    const std::uint64_t dice = pick(100);
    write.kind = dice < 12   ? Write::Kind::create
                 : dice < 55 ? Write::Kind::update
                 : dice < 70 ? Write::Kind::patch
                 : dice < 90 ? Write::Kind::remove
                 : dice < 95 ? Write::Kind::add_tag
                             : Write::Kind::remove_tag;
    const bool tags = write.concerns_tags();
    if (!tags && one_in(write.kind == Write::Kind::create ? 2 : 6)) {
        write.criteria = pick_criteria(write.type);
    }
    const std::string name = pick_name(write.type);
    if (write.kind != Write::Kind::create &&
        (!write.criteria || (write.kind == Write::Kind::update && one_in(3)))) {
        write.id = name.substr(write.type.size() + 1);
    }
    write.content = pick_content(write.type);
    if (write.kind == Write::Kind::patch) {
        write.with_fhirpath = one_in(2);
        write.fails_test = !write.with_fhirpath && one_in(10);
        write.content.text = pick_from<std::string>({"ab", "abc", "b", "bcd"});
    }
    if (tags) {
        write.content.tags = {pick_from<std::string>({"t", "u"})};
    }
    if (write.kind != Write::Kind::create && !write.criteria && one_in(3)) {
        const auto* head = model_.newest(name);
        const std::uint64_t number = head == nullptr ? 0 : head->info.version.value;
        write.if_match = one_in(5) ? "*" : std::to_string(number + (one_in(4) ? 1 : 0));
    } else if (write.kind == Write::Kind::update && !write.criteria && one_in(8)) {
        write.if_none_match = true;
    }
    return write;
}

std::string ServiceSimulation::assigned_in(const std::string& location) const {
    const std::size_t base = kBaseUrl.size() + 1;
    const std::string path = location.starts_with(kBaseUrl) ? location.substr(base) : location;
    std::string name = path.substr(0, path.find("/_history"));
    if (name.find('/') == std::string::npos || name.size() < 20 || model_.resource_of(name)) {
        fail("assigned: " + location);
    }
    return name;
}

void ServiceSimulation::write_one() {
    const Write write = pick_write();
    const WriteRequest request = request_of(write, filler_);
    write_done(write, exchange(request.method, request.target, request.body, request.headers));
}

void ServiceSimulation::write_done(const Write& write, const Answer& answer) {
    const Decision decision = model_.decide(write);
    if (answer.status != decision.status) {
        fail(fmt::format("{} instead of {}: {}", answer.status, decision.status, answer.body));
    }
    std::string assigned;
    if (decision.change != Change::nothing) {
        if (decision.names.empty()) {
            assigned = assigned_in(answer.location);
        }
        model_.apply(decision, assigned);
        model_.end_commit();
        expect_same(answer.position, model_.last(), "X-Annals-Position");
    }
    if (const auto* version = model_.shown_by(decision, assigned)) {
        expect_same(answer.etag, version->info.version.value, "ETag");
        expect_same(answer.last_modified.us, version->info.instant.us, "Last-Modified");
        check_result(write, answer.body, *version);
        if (write.kind == Write::Kind::create) {
            expect_same(answer.location,
                        fmt::format("{}/{}/_history/{}", kBaseUrl, model_.name_of(*version),
                                    version->info.version.value),
                        "Location");
        }
    }
}

void ServiceSimulation::check_result(const Write& write, const std::string& body,
                                     const ServiceModel::Version& version) {
    if (!write.concerns_tags()) {
        check_body(body, version);
        return;
    }
    const json::Document document = parse(body);
    for (const json::Value parameter : document.root()["parameter"].elements()) {
        const json::Value meta = parameter["valueMeta"];
        expect_same(meta["versionId"].string(), std::to_string(version.info.version.value),
                    "versionId of a meta");
        expect_same(meta["lastUpdated"].string(), format_instant(version.info.instant),
                    "lastUpdated of a meta");
        expect_same(tags_in(meta), model_.content(version).tags, "tags of a meta");
    }
    expect_same(document.root()["parameter"].size(), 1U, "parameters with a meta");
}

void ServiceSimulation::check_entry(const ReceivedEntry& entry, const Write& write,
                                    const ServiceModel::Version* version) {
    if (version == nullptr) {
        return;
    }
    if (!version->info.deletion && !write.concerns_tags()) {
        expect_same(entry.name, model_.name_of(*version), "the location of an entry");
    }
    expect_same(entry.version, std::to_string(version->info.version.value),
                "the version of an entry");
    expect_same(entry.last_modified, format_instant(version->info.instant), "lastModified");
    check_result(write, entry.body, *version);
}

void ServiceSimulation::take_in_order_of_feed(const ServiceModel& after) {
    const std::uint64_t before = model_.last();
    const auto entries =
        read_feed(exchange("GET", fmt::format("/_changes?after={}&wait=0&_count=1000", before)));
    expect_same(entries.size(), after.last() - before, "versions written by a batch");
    for (const ReceivedEntry& entry : entries) {
        const auto* version = after.labelled(entry.label());
        expect_same(version != nullptr && version->info.position.value > before, true,
                    entry.label() + " is of the batch");
        model_.add(entry.name, version->info.deletion, after.content(*version),
                   version->info.version.value);
        model_.end_commit();
    }
}

void ServiceSimulation::submit_batch() {
    std::vector<Write> writes;
    std::vector<std::string> entries;
    std::size_t creates = 0;
    bool has_criteria = false;
    for (std::uint64_t i = 1 + pick(6); i > 0; --i) {
        Write write = pick_write();
        // What conditional entries and creates see of each other is not determined, nor where erased versions were.
        const bool creates_one = write.kind == Write::Kind::create;
        if ((write.criteria && creates > 0) || (creates_one && has_criteria) ||
            (write.kind == Write::Kind::remove && (model_.hard_delete || write.criteria))) {
            continue;
        }
        has_criteria = has_criteria || write.criteria;
        creates += creates_one || write.criteria ? 1 : 0;
        entries.push_back(test::entry_of(write, filler_));
        writes.push_back(std::move(write));
    }
    const Answer answer = exchange("POST", "", bundle_of("batch", entries));
    const auto bundle = read_bundle(answer.body, kBaseUrl);
    expect_same(answer.status, 200, "batch");
    expect_same(bundle && bundle->entries.size() == entries.size(), true, "entries of a batch");
    ServiceModel after = model_;
    std::vector<std::string> labels;
    for (std::size_t i = 0; i < writes.size(); ++i) {
        const ReceivedEntry& entry = bundle->entries[i];
        const Decision decision = after.decide(writes[i]);
        expect_same(entry.status, std::to_string(decision.status),
                    fmt::format("entry {} of a batch", i));
        const bool assigns = decision.change == Change::version && decision.names.empty();
        const std::string assigned = assigns ? assigned_in(entry.location) : "";
        after.apply(decision, assigned);
        const auto* version = after.shown_by(decision, assigned);
        labels.push_back(version == nullptr ? "" : after.label(*version));
    }
    // Entries that don't concern the same resource need not be committed in their order.
    take_in_order_of_feed(after);
    for (std::size_t i = 0; i < writes.size(); ++i) {
        check_entry(bundle->entries[i], writes[i], model_.labelled(labels[i]));
    }
}

HistoryItem ServiceSimulation::pick_item() {
    HistoryItem item;
    const auto& all = model_.log().versions();
    if (!all.empty() && one_in(3)) {
        // What is here or was here, sent again; sometimes with something else in it.
        const auto& version = pick_from(all);
        item.name = model_.name_of(version);
        item.version = version.info.version.value;
        item.instant = version.info.instant;
        item.deletion = version.info.deletion;
        item.content = model_.content(version);
        if (one_in(5) && !item.deletion) {
            item.content.text = "other";
        }
        return item;
    }
    const std::string type = pick_type();
    item.name = pick_name(type);
    const auto* head = model_.newest(item.name);
    const std::uint64_t newest = head == nullptr ? 0 : head->info.version.value;
    if (!one_in(6)) {
        item.version = std::max<std::uint64_t>(1, newest + pick(4));
    }
    if (!one_in(4)) {
        item.instant = one_in(2) ? Instant{kOld.us + static_cast<std::int64_t>(pick(50)) * 1000}
                                 : pick_instant();
    }
    item.deletion = one_in(4);
    if (!item.deletion) {
        item.content = pick_content(type);
    }
    return item;
}

void ServiceSimulation::submit_history() {
    std::vector<HistoryItem> items;
    for (std::uint64_t i = 1 + pick(ids_.size() > 100 ? 100 : 8); i > 0; --i) {
        items.push_back(pick_item());
    }
    if (one_in(2)) {
        std::ranges::sort(items, {}, &HistoryItem::version);
    }
    std::vector<std::string> entries;
    for (const HistoryItem& item : items) {
        entries.push_back(test::entry_of(item, filler_));
    }
    const Answer answer = exchange("POST", "", bundle_of("history", entries));
    expect_same(answer.status, 200, "history bundle");
    const auto bundle = read_bundle(answer.body, kBaseUrl);
    expect_same(bundle && bundle->entries.size() == items.size(), true,
                "entries of a history bundle");
    for (std::size_t i = 0; i < items.size(); ++i) {
        const std::string what = fmt::format("entry {} of a history bundle", i);
        const ReceivedEntry& entry = bundle->entries[i];
        const HistoryFate fate = model_.take(items[i]);
        expect_same(entry.status, std::to_string(fate.status), what);
        std::vector<std::string> codes;
        if (!fate.code.empty()) {
            codes.push_back(fate.code);
        }
        if (fate.unknown) {
            codes.emplace_back("not-found");
        }
        expect_same(entry.codes, codes, what);
    }
}

void ServiceSimulation::delete_history() {
    const std::string name = pick_name(pick_type());
    const auto* head = model_.newest(name);
    const std::uint64_t number =
        one_in(3) ? 0 : 1 + pick(head == nullptr ? 2 : head->info.version.value);
    const Answer answer =
        exchange("DELETE", number == 0 ? fmt::format("/{}/_history", name)
                                       : fmt::format("/{}/_history/{}", name, number));
    expect_same(answer.status, model_.hard_delete ? model_.delete_history(name, number) : 405,
                "history deletion");
}

void ServiceSimulation::undo() {
    if (model_.last() == 0) {
        return;
    }
    const std::uint64_t position = model_.last() - pick(std::min<std::uint64_t>(6, model_.last()));
    ServiceModel after = model_;
    const std::optional<int> status = after.undo(position);
    if (!status) {
        return;
    }
    const Answer answer = exchange("POST", fmt::format("/$undo?position={}", position));
    expect_same(answer.status, *status, "$undo");
    after.end_commit();
    model_ = std::move(after);
}

void ServiceSimulation::purge() {
    const std::string name = pick_name("Patient");
    const Answer answer = exchange("POST", fmt::format("/{}/$purge", name));
    expect_same(answer.status, model_.purge(name), "$purge");
}

void ServiceSimulation::clean_history() {
    const std::uint64_t keep = 1 + pick(3);
    trace_.push_back(fmt::format("-- history cleanup keeps {}", keep));
    storage::HistoryLimits limits;
    limits.keep.fill(keep);
    if (!storage::clean_history(store(), limits, false, [](auto) { return false; })) {
        fail("history cleanup failed");
    }
    model_.clean(keep);
}

}  // namespace annals::test
