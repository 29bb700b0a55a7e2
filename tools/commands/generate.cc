// annals generate: realistic, seeded, linked clinical data of any size.

#include "core/base/text.h"
#include "core/config/units.h"
#include "tools/commands/arguments.h"
#include "tools/commands/commands.h"
#include "tools/commands/progress.h"
#include "tools/generate/generator.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <stdio_ext.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace annals::tools {
namespace {

struct Request {
    generate::Options options;
    std::string form = "transaction";
    std::string size;
    std::string from = "2015-01-01T00:00:00Z";
    std::string until = "2025-01-01T00:00:00Z";
    std::string to = "-";
    bool quiet = false;
};

std::string file_name(generate::Form form, std::uint64_t number) {
    switch (form) {
        case generate::Form::transaction:
            return number == 0 ? std::string("0000000-shared.json")
                               : fmt::format("{:07}-patient.json", number);
        case generate::Form::history:
            return fmt::format("{:07}-history.json", number);
        case generate::Form::resources:
            return "resources.ndjson";
    }
    return {};
}

// Larger than any disk.
constexpr std::uint64_t kSizeMax = 1ULL << 60;

// Writes bundles to stdout, one per line, or to files, which get their names once complete.
class Output {
  public:
    Output(const std::string& to, generate::Form form) : to_(to), form_(form) {}

    ~Output() {
        if (file_ != nullptr) {
            std::fclose(file_);
        }
        if (folder_ >= 0) {
            ::close(folder_);
        }
    }

    Output(const Output&) = delete;
    Output& operator=(const Output&) = delete;

    /// Creates the folder, and keeps other processes from writing into it as well. Errors: usage.
    Result<void> open_folder() {
        if (to_ == "-") {
            return {};
        }
        std::error_code error;
        std::filesystem::create_directories(to_, error);
        if (error) {
            return Error{Errc::usage, fmt::format("{}: {}", to_, error.message())};
        }
        folder_ = ::open(to_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (folder_ >= 0 && ::flock(folder_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
            return Error{Errc::usage, to_ + ": in use by another process"};
        }
        return {};
    }

    bool write(std::string& bundle, std::uint64_t number) {
        const bool lines = form_ == generate::Form::resources;
        if (to_ == "-") {
            if (!lines) {
                bundle.push_back('\n');
            }
            return std::fwrite(bundle.data(), 1, bundle.size(), stdout) == bundle.size();
        }
        if (file_ == nullptr) {
            path_ = to_ + "/" + file_name(form_, number);
            file_ = std::fopen(draft().c_str(), "wb");
            if (file_ == nullptr) {
                return false;
            }
            begun_ = true;
        }
        const bool written = std::fwrite(bundle.data(), 1, bundle.size(), file_) == bundle.size();
        return written && (lines || close());
    }

    /// Whether any output could be opened.
    bool has_begun() const noexcept { return begun_ || to_ == "-"; }

    /// False if something could not be written.
    bool close() {
        if (to_ == "-") {
            return std::fflush(stdout) == 0;
        }
        if (file_ == nullptr) {
            return true;
        }
        const bool closed = std::fclose(file_) == 0;
        file_ = nullptr;
        return closed && std::rename(draft().c_str(), path_.c_str()) == 0;
    }

  private:
    std::string draft() const { return path_ + ".partial"; }

    std::string to_;
    generate::Form form_;
    std::string path_;
    std::FILE* file_ = nullptr;
    int folder_ = -1;  ///< locked
    bool begun_ = false;
};

int tell_unwritten(const std::string& to, const Output& output) {
    const int code = fail(fmt::format("{}: {}", to == "-" ? "stdout" : to, std::strerror(errno)),
                          output.has_begun() ? kExitFaults : kExitUsage);
    // So that it is not reported again at the end.
    std::clearerr(stdout);
    ::__fpurge(stdout);
    return code;
}

int run(const Request& request) {
    Output output(request.to, request.options.form);
    if (const Result<void> opened = output.open_folder(); !opened) {
        return fail(opened.error().detail, kExitUsage);
    }
    generate::Generator generator(request.options);
    const generate::Counts& counts = generator.counts();
    const generate::Options& options = request.options;
    const std::uint64_t share_total = options.bytes != 0      ? options.bytes
                                      : options.versions != 0 ? options.versions
                                                              : options.patients;
    Progress progress("versions", share_total, request.quiet);
    std::string bundle;
    while (generator.next(bundle)) {
        if (!output.write(bundle, counts.bundles - 1)) {
            return tell_unwritten(request.to, output);
        }
        progress.update(counts.versions, options.bytes != 0      ? counts.bytes
                                         : options.versions != 0 ? counts.versions
                                                                 : counts.patients);
    }
    if (!output.close()) {
        return tell_unwritten(request.to, output);
    }
    progress.finish();
    if (progress.shown()) {
        say_line(fmt::format(
            "annals: {} versions of {} resources ({} deletions) of {} patients in {} {}, "
            "{:.1f} MB",
            counts.versions, counts.resources, counts.deletions, counts.patients, counts.bundles,
            options.form == generate::Form::resources ? "parts" : "bundles",
            static_cast<double>(counts.bytes) / 1e6));
    }
    return kExitDone;
}

void declare(Arguments& declared, Request& request) {
    declared.number("--patients", request.options.patients,
                    "stop after this many patients (default: 100 if there is no other limit)");
    declared.number("--versions", request.options.versions,
                    "stop after this many versions (with --form history) or resources");
    declared.text(
        "--size", request.size,
        "stop after this much output: bytes, or a number and kB, MB, GB, KiB, MiB or GiB");
    declared.number("--seed", request.options.seed, "seed; the same seed gives the same bytes");
    declared.text("--form", request.form,
                  "transaction: one bundle per patient; history: bundles of versions, oldest "
                  "first; ndjson: one resource per line");
    declared.number("--bundle-entries", request.options.bundle_entries,
                    "entries per history bundle");
    declared.text("--to", request.to,
                  "folder for the output, one file per bundle; -: stdout, one bundle per line");
    declared.text("--from", request.from,
                  "lastUpdated of the first version of a history, not before 1970");
    declared.text("--until", request.until,
                  "approximate lastUpdated of the last version, at most 9900-01-01T00:00:00Z");
    declared.flag("-q,--quiet", request.quiet, "show neither progress nor a summary");
    declared.footer("annals generate --patients 1000 | annals import --data DIR -");
}

/// Turns the command line's options into those of the generator. Errors: usage.
Result<void> settle(const Arguments& declared, Request& request) {
    generate::Options& options = request.options;
    if (request.form == "transaction") {
        options.form = generate::Form::transaction;
    } else if (request.form == "history") {
        options.form = generate::Form::history;
    } else if (request.form == "ndjson") {
        options.form = generate::Form::resources;
    } else {
        return Error{Errc::usage, "--form must be transaction, history or ndjson"};
    }
    if (!request.size.empty()) {
        std::optional<std::uint64_t> bytes = parse_number(request.size);
        bytes = bytes ? bytes : core::read_size(request.size);
        if (!bytes || *bytes == 0 || *bytes > kSizeMax) {
            return Error{
                Errc::usage,
                "--size must be a number of bytes, or a number and kB, MB, GB, KiB, MiB or GiB"};
        }
        options.bytes = *bytes;
    }
    const Result<Instant> first = parse_instant(request.from);
    const Result<Instant> last = parse_instant(request.until);
    // Dates in the data are up to some years later, and FHIR's years have four digits.
    const Instant latest = *parse_instant("9900-01-01T00:00:00Z");
    if (!first || !last || *last <= *first || *first < Instant{} || *last > latest) {
        return Error{
            Errc::usage,
            "--from and --until must be instants such as 2020-01-01T00:00:00Z, not before 1970 "
            "nor after 9900, and --from the earlier one"};
    }
    options.from = *first;
    options.until = *last;
    if (declared.given("--bundle-entries") && options.form != generate::Form::history) {
        return Error{Errc::usage, "--bundle-entries goes with --form history"};
    }
    if (options.bundle_entries == 0) {
        return Error{Errc::usage, "--bundle-entries must be at least 1"};
    }
    if (options.patients == 0 && options.versions == 0 && options.bytes == 0) {
        options.patients = 100;
    }
    return {};
}

}  // namespace

int run_generate(const ArgumentList& arguments) {
    Request request;
    Arguments declared("generate",
                       "Generates realistic, seeded, linked clinical data of any size.");
    declare(declared, request);
    if (const std::optional<int> code = declared.parse(arguments)) {
        return *code;
    }
    if (const Result<void> settled = settle(declared, request); !settled) {
        return declared.refuse(settled.error().detail);
    }
    return run(request);
}

}  // namespace annals::tools
