#include "core/operations/closure.h"

#include "core/base/digest.h"
#include "core/interactions/submitted_resource.h"
#include "core/operations/coded_input.h"
#include "core/operations/input.h"
#include "core/operations/terminology.h"
#include "core/terminology/grammar.h"

#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <memory>

namespace annals::core {

namespace {

constexpr std::size_t kConceptsMax = 2'000;  // of one table
constexpr int kTriesMax = 8;
constexpr std::uint64_t kStepsPerRow = 20;

/// What all texts of a table's rows may take, each of which repeats its system.
constexpr std::size_t kRowBytesMax = 128 << 20;
constexpr std::size_t kRowBytesPerStep = 64;

struct ClosureAsked {
    std::string name;
    std::vector<GivenCode> concepts;
    std::optional<std::uint64_t> version;
};

/// One row of a table: a code and one that subsumes it; none for a code added alone.
struct Row {
    std::string system;
    std::string code;
    std::string above;

    auto operator<=>(const Row&) const = default;

    std::size_t bytes() const noexcept { return system.size() + code.size() + above.size(); }
};

/// Collects rows. Errors of its functions: answer_too_costly (steps, or more than kRowBytesMax); timeout.
class Rows {
  public:
    explicit Rows(terminology::Effort& effort) : effort_(effort) {}

    Result<void> add(Row row) {
        bytes_ += row.bytes();
        if (bytes_ > kRowBytesMax) {
            return Error{Errc::answer_too_costly, "The codes of a closure table are too long"};
        }
        ANNALS_TRY_VOID(effort_.spend(row.bytes() / kRowBytesPerStep));
        rows_.push_back(std::move(row));
        return {};
    }

    /// In ascending order.
    std::vector<Row> take() && {
        std::sort(rows_.begin(), rows_.end());
        return std::move(rows_);
    }

  private:
    terminology::Effort& effort_;
    std::vector<Row> rows_;
    std::size_t bytes_ = 0;
};

/// A stored version of a table.
struct Table {
    std::uint64_t version = 0;  ///< of the stored ConceptMap; 0: none
    /// None if it is deleted or never existed. Copied: an erasure doesn't wait until the worker has read it.
    std::optional<std::string> body;
};

Result<ClosureAsked> read_closure_asked(const Request& request) {
    ANNALS_TRY(const OperationInput input, OperationInput::read(request));
    ANNALS_TRY_VOID(input.only({"name", "concept", "version"}));
    ClosureAsked asked;
    ANNALS_TRY(asked.name, input.required_text("name"));
    ANNALS_TRY(asked.version, input.number("version"));
    ANNALS_TRY(const std::vector<json::Value> concepts, input.parts("concept"));
    for (const json::Value part : concepts) {
        asked.concepts.push_back(given_coding(value_of(part)));
        if (asked.concepts.back().code.empty() ||
            asked.concepts.back().system.value_or("").empty()) {
            return Error{Errc::required, "A concept needs a system and a code"};
        }
    }
    if (asked.version && !asked.concepts.empty()) {
        return Error{Errc::invalid, "concept and version cannot be combined"};
    }
    return asked;
}

TypeId map_type() {
    return *find_resource_type("ConceptMap");
}

std::string id_of(std::string_view name) {
    return "closure-" + sha256_hex(name).substr(0, 32);
}

asio::awaitable<Result<std::shared_ptr<const Table>>> load_table(
    const Service& service, const Request& request, std::optional<storage::VersionInfo> info) {
    const auto table = std::make_shared<Table>();
    table->version = info ? info->version.value : 0;
    if (info && !info->deletion) {
        co_await request.loop->fetched(std::span(&*info, 1));
        const Result<storage::StoredVersion> stored = service.store().load(*info);
        if (!stored) {
            co_return stored.error();
        }
        table->body.emplace(stored->body);
    }
    co_return std::shared_ptr<const Table>(table);
}

/// The rows of a table, in ascending order. Errors: of `effort`.
Result<std::vector<Row>> rows_of(const Table& table, terminology::Effort& effort) {
    if (!table.body) {
        return std::vector<Row>();
    }
    ANNALS_TRY_VOID(effort.spend(table.body->size()));
    Rows rows(effort);
    ANNALS_TRY(const json::Document document, thread_parser().parse(*table.body));
    for (const json::Value group : document.root()["group"].elements()) {
        for (const json::Value element : group["element"].elements()) {
            const Row alone{group["source"].string(), element["code"].string(), ""};
            ANNALS_TRY_VOID(rows.add(alone));
            for (const json::Value target : element["target"].elements()) {
                ANNALS_TRY_VOID(rows.add({alone.system, alone.code, target["code"].string()}));
            }
        }
    }
    return std::move(rows).take();
}

/// A ConceptMap of these rows, which are in ascending order. The one to be stored has an id, and also contains codes
/// without subsuming ones.
std::string map_json(const ClosureAsked& asked, std::uint64_t version, const std::vector<Row>& rows,
                     bool to_be_stored) {
    std::string out = R"({"resourceType":"ConceptMap")";
    if (to_be_stored) {
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
            if (targets.empty() && !to_be_stored) {
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

/// Whether a code that `listed` lacks follows a grammar by which no code of its system subsumes another.
bool is_apart(const terminology::CodeSystem* listed, const GivenCode& given) {
    const terminology::Grammar* const grammar = terminology::grammar_of(*given.system);
    return grammar != nullptr && grammar->is_flat &&
           terminology::judge_code(listed, *given.system, given.code) == terminology::Member::yes;
}

/// The rows that the concepts add to the existing ones, in ascending order.
Result<std::vector<Row>> added(terminology::Session& session, const ClosureAsked& asked,
                               const std::vector<Row>& there) {
    terminology::Effort& effort = session.effort();
    std::vector<Row> known;  // only the codes
    for (const Row& row : there) {
        if (row.above.empty()) {
            known.push_back(row);
        }
    }
    Rows rows(effort);
    const auto add = [&](const Row& code, const Row& above) -> Result<void> {
        ANNALS_TRY_VOID(rows.add({code.system, code.code, above.code}));
        return effort.spend(kStepsPerRow);
    };
    for (const GivenCode& given : asked.concepts) {
        ANNALS_TRY(const auto system, session.code_system(*given.system, given.version));
        const auto number = system ? system->find(given.code) : std::nullopt;
        if (!number && !is_apart(system.get(), given)) {
            return Error{Errc::not_found,
                         fmt::format("The code {} is not known", described(given))};
        }
        const Row own{*given.system, number ? std::string(system->code(*number)) : given.code, ""};
        ANNALS_TRY_VOID(effort.spend(known.size()));
        if (std::find(known.begin(), known.end(), own) != known.end()) {
            continue;
        }
        std::vector<terminology::CodeSystem::Number> above;
        std::vector<terminology::CodeSystem::Number> below;
        if (number) {
            ANNALS_TRY(above, system->reached(*number, true, effort));
            ANNALS_TRY(below, system->reached(*number, false, effort));
        }
        for (const Row& other : known) {
            const auto other_number =
                number && other.system == own.system ? system->find(other.code) : std::nullopt;
            if (!other_number) {
                continue;
            }
            if (std::ranges::binary_search(above, *other_number)) {
                ANNALS_TRY_VOID(add(own, other));
            } else if (std::ranges::binary_search(below, *other_number)) {
                ANNALS_TRY_VOID(add(other, own));
            }
        }
        known.push_back(own);
        ANNALS_TRY_VOID(rows.add(own));
        if (known.size() > kConceptsMax) {
            return Error{Errc::answer_too_costly,
                         fmt::format("A closure table has at most {} concepts", kConceptsMax)};
        }
    }
    return std::move(rows).take();
}

/// The response to concepts. `body` is set to what must be stored; empty if nothing is new.
Result<std::string> grown(terminology::Session& session, const ClosureAsked& asked,
                          const Table& table, std::string& body) {
    ANNALS_TRY(std::vector<Row> all, rows_of(table, session.effort()));
    ANNALS_TRY(const std::vector<Row> rows, added(session, asked, all));
    if (rows.empty()) {
        return map_json(asked, table.version, {}, false);
    }
    all.insert(all.end(), rows.begin(), rows.end());
    std::sort(all.begin(), all.end());
    body = map_json(asked, table.version + 1, all, true);
    return map_json(asked, table.version + 1, rows, false);
}

/// The response to a version: what was added after it.
Result<std::string> since(terminology::Session& session, const ClosureAsked& asked,
                          const Table& table, const Table& then) {
    ANNALS_TRY(std::vector<Row> rows, rows_of(table, session.effort()));
    ANNALS_TRY(const std::vector<Row> before, rows_of(then, session.effort()));
    std::erase_if(rows, [&](const Row& row) {
        return std::binary_search(before.begin(), before.end(), row);
    });
    return map_json(asked, table.version, rows, false);
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
    if (before.body) {
        put.headers.push_back({"If-Match", tag});
    }
    Response written = co_await handle(service, put);
    co_return written;
}

asio::awaitable<Response> answer_version(const Service& service, const Request& request,
                                         std::shared_ptr<const ClosureAsked> asked,
                                         std::shared_ptr<const Table> table, const std::string& id,
                                         terminology::Worker::Clock::time_point end) {
    const VersionNumber version{*asked->version};
    const auto info = service.store().version(map_type(), id, version);
    if (version.value != 0 && (!info || info->deletion)) {
        co_return Error{Errc::not_found,
                        fmt::format("The closure table has no version {}", version.value)};
    }
    const auto then = co_await load_table(service, request, info);
    if (!then) {
        co_return then.error();
    }
    Response response = co_await make_answer(
        service, request,
        [asked, table, then = *then](terminology::Session& session) {
            return since(session, *asked, *table, *then);
        },
        end);
    co_return response;
}

}  // namespace

asio::awaitable<Response> closure_operation(const Service& service, const Request& request,
                                            const Target& /*target*/) {
    Result<ClosureAsked> read = read_closure_asked(request);
    if (!read) {
        co_return read.error();
    }
    const auto asked = std::make_shared<const ClosureAsked>(*std::move(read));
    const std::string id = id_of(asked->name);
    const auto end = service.request_end();
    for (int tries = 0; tries < kTriesMax; ++tries) {
        const auto loaded =
            co_await load_table(service, request, service.store().current(map_type(), id));
        if (!loaded) {
            co_return loaded.error();
        }
        const std::shared_ptr<const Table>& table = *loaded;
        const bool begins = asked->concepts.empty() && !asked->version;
        if (!begins && !table->body) {
            co_return Error{Errc::not_found, "The closure table has not been created"};
        }
        if (asked->version) {
            Response response = co_await answer_version(service, request, asked, table, id, end);
            co_return response;
        }
        Response done;
        const auto body = std::make_shared<std::string>();
        if (begins) {
            *body = map_json(*asked, table->version + 1, {}, true);
        } else {
            done = co_await make_answer(
                service, request,
                [asked, table, body](terminology::Session& session) {
                    return grown(session, *asked, *table, *body);
                },
                end);
            if (done.status != 200 || body->empty()) {
                co_return done;
            }
        }
        if (service.config().read_only) {
            co_return Error{Errc::no_store};
        }
        Response written = co_await write_table(service, request, *table, id, *body);
        if (written.status == 412) {
            continue;  // another call was faster
        }
        if (written.status >= 300) {
            co_return written;
        }
        if (begins) {
            done.body = Body(map_json(
                *asked, written.etag ? written.etag->value : table->version + 1, {}, false));
        }
        done.position = written.position;
        co_return done;
    }
    co_return Error{Errc::overloaded};
}

}  // namespace annals::core
