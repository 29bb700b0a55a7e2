#include "core/operations/closure.h"

#include "core/base/digest.h"
#include "core/definitions.h"
#include "core/interactions/submitted_resource.h"
#include "core/interactions/turns.h"
#include "core/operations/coded_input.h"
#include "core/operations/input.h"
#include "core/operations/terminology.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <compare>

namespace annals::core {

namespace {

constexpr std::size_t kConceptsMax = 2'000;  // of one table
constexpr int kTriesMax = 8;

struct Asked {
    std::string name;
    std::vector<GivenCode> concepts;
    std::optional<std::uint64_t> version;
};

/// One line of a table: a code, and one above it; of a code that was added alone none.
struct Row {
    std::string system;
    std::string code;
    std::string above;

    auto operator<=>(const Row&) const = default;
};

struct Table {
    std::uint64_t version = 0;  ///< of the stored ConceptMap; 0: none
    bool live = false;
    std::vector<Row> rows;
};

Result<Asked> read_asked(const Request& request) {
    ANNALS_TRY(const OperationInput input, OperationInput::read(request));
    ANNALS_TRY_VOID(input.only({"name", "concept", "version"}));
    Asked asked;
    ANNALS_TRY(const auto name, input.text("name"));
    if (!name || name->empty()) {
        return Error{Errc::required, "The parameter name is required", ""};
    }
    asked.name = *name;
    ANNALS_TRY(asked.version, input.number("version"));
    for (const json::Value part : input.parts("concept")) {
        asked.concepts.push_back(given_coding(value_of(part)));
        if (asked.concepts.back().code.empty() ||
            asked.concepts.back().system.value_or("").empty()) {
            return Error{Errc::required, "A concept has a system and a code", ""};
        }
    }
    if (asked.version && !asked.concepts.empty()) {
        return Error{Errc::invalid, "Either concepts are added or a version is asked for", ""};
    }
    return asked;
}

TypeId map_type() {
    return *find_resource_type("ConceptMap");
}

std::string id_of(std::string_view name) {
    return "closure-" + sha256_hex(name).substr(0, 32);
}

asio::awaitable<Result<Table>> read_table(const Service& service, const Request& request,
                                          std::optional<storage::VersionInfo> info) {
    Table table;
    if (!info) {
        co_return table;
    }
    table.version = info->version.value;
    if (info->deletion) {
        co_return table;
    }
    table.live = true;
    co_await request.loop->fetched(std::span(&*info, 1));
    const Result<storage::StoredVersion> stored = service.store().load(*info);
    if (!stored) {
        co_return stored.error();
    }
    const Result<json::Document> document = thread_parser().parse(stored->body);
    if (!document) {
        co_return document.error();
    }
    for (const json::Value group : document->root()["group"].elements()) {
        for (const json::Value element : group["element"].elements()) {
            const Row alone{group["source"].string(), element["code"].string(), ""};
            table.rows.push_back(alone);
            for (const json::Value target : element["target"].elements()) {
                table.rows.push_back({alone.system, alone.code, target["code"].string()});
            }
        }
    }
    std::sort(table.rows.begin(), table.rows.end());
    co_return table;
}

/// A ConceptMap of these rows, which ascend. Codes with none above them are left out unless `with_all`.
std::string map_json(const Asked& asked, std::uint64_t version, const std::vector<Row>& rows,
                     bool with_all, bool with_id) {
    std::string out = R"({"resourceType":"ConceptMap")";
    if (with_id) {
        out += fmt::format(R"(,"id":"{}")", id_of(asked.name));
    }
    out += fmt::format(R"(,"version":"{}","name":)", version);
    json::append_quoted(out, asked.name);
    out += R"(,"status":"active","experimental":true)";
    std::string groups;
    for (std::size_t i = 0; i < rows.size();) {
        const std::string& system = rows[i].system;
        std::string elements;
        while (i < rows.size() && rows[i].system == system) {
            const std::string& code = rows[i].code;
            std::string targets;
            for (; i < rows.size() && rows[i].system == system && rows[i].code == code; ++i) {
                if (!rows[i].above.empty()) {
                    targets += fmt::format(R"({}{{"code":{},"equivalence":"subsumes"}})",
                                           targets.empty() ? "" : ",", json::quoted(rows[i].above));
                }
            }
            if (targets.empty() && !with_all) {
                continue;
            }
            elements +=
                fmt::format(R"({}{{"code":{})", elements.empty() ? "" : ",", json::quoted(code));
            elements += targets.empty() ? "}" : fmt::format(R"(,"target":[{}]}})", targets);
        }
        if (!elements.empty()) {
            groups += fmt::format(R"({}{{"source":{},"target":{},"element":[{}]}})",
                                  groups.empty() ? "" : ",", json::quoted(system),
                                  json::quoted(system), elements);
        }
    }
    if (!groups.empty()) {
        out.append(R"(,"group":[)").append(groups).append("]");
    }
    return out + "}";
}

/// What the concepts add to the table; ascending.
Result<std::vector<Row>> added(const Service& service, const Asked& asked, const Table& table,
                               std::vector<Position>* unread) {
    terminology::Effort effort(10'000'000);
    const Definitions::Resident definitions(service.definitions(), unread);
    terminology::Session session(definitions.terminology(), effort);
    std::vector<Row> known;  // the codes alone
    for (const Row& row : table.rows) {
        if (row.above.empty()) {
            known.push_back(row);
        }
    }
    std::vector<Row> rows;
    for (const GivenCode& given : asked.concepts) {
        ANNALS_TRY(const auto system, session.code_system(*given.system, given.version));
        const auto number = system ? system->find(given.code) : std::nullopt;
        if (!number) {
            return Error{Errc::not_found, fmt::format("The code {} is not known", described(given)),
                         ""};
        }
        const Row own{*given.system, std::string(system->code(*number)), ""};
        if (std::find(known.begin(), known.end(), own) != known.end()) {
            continue;
        }
        for (const Row& other : known) {
            const auto other_number =
                other.system == own.system ? system->find(other.code) : std::nullopt;
            if (!other_number) {
                continue;
            }
            ANNALS_TRY(const bool below, system->is_below(*number, *other_number, effort));
            ANNALS_TRY(const bool above, system->is_below(*other_number, *number, effort));
            if (below) {
                rows.push_back({own.system, own.code, other.code});
            } else if (above) {
                rows.push_back({own.system, other.code, own.code});
            }
        }
        known.push_back(own);
        rows.push_back(own);
        if (known.size() > kConceptsMax) {
            return Error{Errc::answer_too_costly,
                         fmt::format("A closure table has at most {} concepts", kConceptsMax), ""};
        }
    }
    std::sort(rows.begin(), rows.end());
    return rows;
}

asio::awaitable<Response> write_table(const Service& service, const Request& request,
                                      const Table& before, const std::string& id,
                                      const std::string& body) {
    const std::string path = "/ConceptMap/" + id;
    const std::string tag = fmt::format(R"(W/"{}")", before.version);
    Request put = request;
    put.method = HttpMethod::put;
    put.path = path;
    put.query = {};
    put.body = body;
    put.headers = {{"Content-Type", "application/fhir+json"}, {"Prefer", "return=minimal"}};
    if (before.live) {
        put.headers.push_back({"If-Match", tag});
    }
    Response written = co_await handle(service, put);
    co_return written;
}

Response answer(std::string body) {
    Response response;
    response.body = Body(std::move(body));
    return response;
}

/// What was added after the version that is asked for.
asio::awaitable<Result<std::string>> since(const Service& service, const Request& request,
                                           const Asked& asked, const Table& table,
                                           const std::string& id) {
    std::vector<Row> rows = table.rows;
    const auto info = service.store().version(map_type(), id, VersionNumber{*asked.version});
    if (*asked.version != 0 && (!info || info->deletion)) {
        co_return Error{Errc::not_found,
                        fmt::format("The closure table has no version {}", *asked.version), ""};
    }
    if (*asked.version != 0) {
        const Result<Table> then = co_await read_table(service, request, info);
        if (!then) {
            co_return then.error();
        }
        std::erase_if(rows, [&](const Row& row) {
            return std::binary_search(then->rows.begin(), then->rows.end(), row);
        });
    }
    co_return map_json(asked, table.version, rows, false, false);
}

}  // namespace

asio::awaitable<Response> closure_operation(const Service& service, const Request& request,
                                            const Target& /*target*/) {
    const Result<Asked> asked = read_asked(request);
    if (!asked) {
        co_return asked.error();
    }
    const std::string id = id_of(asked->name);
    for (int tries = 0; tries < kTriesMax; ++tries) {
        const Result<Table> table =
            co_await read_table(service, request, service.store().current(map_type(), id));
        if (!table) {
            co_return table.error();
        }
        const bool begins = asked->concepts.empty() && !asked->version;
        if (!begins && !table->live) {
            co_return Error{Errc::not_found, "The closure table has not been begun", ""};
        }
        if (asked->version) {
            Result<std::string> body = co_await since(service, request, *asked, *table, id);
            if (!body) {
                co_return body.error();
            }
            co_return answer(*std::move(body));
        }
        const Result<std::vector<Row>> rows = co_await fetch_and_look(
            *request.loop,
            [&](std::vector<Position>* unread) { return added(service, *asked, *table, unread); });
        if (!rows) {
            co_return rows.error();
        }
        if (!begins && rows->empty()) {
            co_return answer(map_json(*asked, table->version, {}, false, false));
        }
        if (service.config().read_only) {
            co_return Error{Errc::no_store, "", ""};
        }
        std::vector<Row> all = begins ? std::vector<Row>() : table->rows;
        all.insert(all.end(), rows->begin(), rows->end());
        std::sort(all.begin(), all.end());
        const std::string body = map_json(*asked, table->version + 1, all, true, true);
        Response written = co_await write_table(service, request, *table, id, body);
        if (written.status == 412) {
            continue;  // another call was faster
        }
        if (written.status >= 300) {
            co_return written;
        }
        Response done = answer(map_json(
            *asked, written.etag ? written.etag->value : table->version + 1, *rows, false, false));
        done.position = written.position;
        co_return done;
    }
    co_return Error{Errc::overloaded, "", ""};
}

}  // namespace annals::core
