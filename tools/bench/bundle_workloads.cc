// Conversations with bundles: transactions from files or generated, and histories.

#include "codec/json/document.h"
#include "tools/bench/workloads.h"
#include "tools/generate/generator.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace annals::bench {
namespace {

// Keeps responses short: what was stored is known.
constexpr std::string_view kMinimal = "Prefer: return=minimal\r\n";
constexpr std::uint64_t kVerifyBundleEvery = 16;

// Whether the response to a bundle of `entries` has at least as many successful entries.
bool all_done(std::string_view body, std::size_t entries) {
    std::size_t done = 0;
    for (std::size_t at = body.find(R"("status":"2)"); at != std::string_view::npos;
         at = body.find(R"("status":"2)", at + 10)) {
        ++done;
    }
    return done >= entries;
}

// Whether the response to a history bundle ignored versions that exist already, which applies nothing, and quickly.
bool any_ignored(std::string_view body) {
    return body.find(R"("code":"informational")") != std::string_view::npos;
}

// The numbers of entries of two bundles: one in progress, one made ahead.
class Entries {
  public:
    explicit Entries(bool history = false) : history_(history) {}

    void asked(std::uint32_t entries) { entries_[asked_++ % entries_.size()] = entries; }

    Verdict heard(const Answer& answer) {
        const std::uint32_t entries = entries_[heard_ % entries_.size()];
        bool ok = answer.status == 200;
        if (heard_++ % kVerifyBundleEvery == 0) {
            ok = ok && all_done(answer.body, entries) && !(history_ && any_ignored(answer.body));
        }
        return {.ok = ok, .units = entries};
    }

  private:
    bool history_;
    std::array<std::uint32_t, 2> entries_{};
    std::uint64_t asked_ = 0;
    std::uint64_t heard_ = 0;
};

class FileImports : public Conversation {
  public:
    FileImports(const Site& site, const std::vector<BundleText>& bundles,
                std::shared_ptr<std::atomic<std::size_t>> next, bool once)
        : site_(site), bundles_(bundles), next_(std::move(next)), once_(once) {}

    bool ask(std::string& out) override {
        const std::size_t number = next_->fetch_add(1);
        if (once_ && number >= bundles_.size()) {
            return false;
        }
        const BundleText& bundle = bundles_[number % bundles_.size()];
        entries_.asked(bundle.entries);
        put_request(out, "POST", site_, {}, bundle.text, kMinimal);
        return true;
    }

    Verdict hear(const Answer& answer) override { return entries_.heard(answer); }

  private:
    Site site_;
    const std::vector<BundleText>& bundles_;
    std::shared_ptr<std::atomic<std::size_t>> next_;
    bool once_;
    Entries entries_;
};

class Generated : public Conversation {
  public:
    Generated(const Site& site, const generate::Options& options)
        : site_(site), generator_(options), entries_(options.form == generate::Form::history) {}

    bool ask(std::string& out) override {
        const std::uint64_t before = generator_.counts().versions;
        if (!generator_.next(bundle_)) {
            return false;
        }
        entries_.asked(static_cast<std::uint32_t>(generator_.counts().versions - before));
        put_request(out, "POST", site_, {}, bundle_, kMinimal);
        return true;
    }

    Verdict hear(const Answer& answer) override { return entries_.heard(answer); }

  private:
    Site site_;
    generate::Generator generator_;
    std::string bundle_;
    Entries entries_;
};

Conversations generated(const Site& site, std::size_t count, std::uint64_t seed,
                        generate::Options options, std::uint64_t versions = 100'000'000) {
    options.versions = versions;
    options.from = Instant{1'420'070'400'000'000};   // 2015-01-01
    options.until = Instant{1'735'689'600'000'000};  // 2025-01-01
    Conversations all;
    for (std::size_t i = 0; i < count; ++i) {
        options.seed = seed * 1000 + i;
        all.push_back(std::make_unique<Generated>(site, options));
    }
    return all;
}

}  // namespace

Result<std::vector<BundleText>> read_bundles(const std::vector<std::string>& paths) {
    namespace fs = std::filesystem;
    std::vector<std::string> files;
    for (const std::string& path : paths) {
        std::error_code error;
        if (!fs::is_directory(path, error)) {
            files.push_back(path);
            continue;
        }
        for (auto at = fs::recursive_directory_iterator(path, error);
             !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
            if (at->path().extension() == ".json") {
                files.push_back(at->path().string());
            }
        }
        if (error) {
            return Error{Errc::usage, fmt::format("{}: {}", path, error.message())};
        }
    }
    std::sort(files.begin(), files.end());
    json::Parser parser;
    std::vector<BundleText> bundles;
    for (const std::string& file : files) {
        std::ifstream stream(file, std::ios::binary);
        std::stringstream text;
        text << stream.rdbuf();
        if (!stream) {
            return Error{Errc::usage, fmt::format("{}: cannot be read", file)};
        }
        Result<json::Document> document = parser.parse(text.view());
        if (!document) {
            return Error{Errc::usage, fmt::format("{}: {}", file, document.error().detail)};
        }
        const std::size_t entries = document->root()["entry"].size();
        if (!document->root()["resourceType"].equals("Bundle") || entries == 0) {
            return Error{Errc::usage, fmt::format("{}: is not a Bundle with entries", file)};
        }
        bundles.push_back({text.str(), static_cast<std::uint32_t>(entries)});
    }
    if (bundles.empty()) {
        return Error{Errc::usage, "--files contains no JSON file"};
    }
    return bundles;
}

Conversations file_imports(const Site& site, const std::vector<BundleText>& bundles,
                           std::size_t count) {
    const auto next = std::make_shared<std::atomic<std::size_t>>(0);
    Conversations all;
    for (std::size_t i = 0; i < count; ++i) {
        all.push_back(std::make_unique<FileImports>(site, bundles, next, false));
    }
    return all;
}

Conversations bundle_preload(const Site& site, const std::vector<BundleText>& bundles,
                             std::uint64_t resources, std::uint64_t seed) {
    if (bundles.empty()) {
        return generated(site, 1, seed, {}, resources);
    }
    Conversations all;
    all.push_back(std::make_unique<FileImports>(
        site, bundles, std::make_shared<std::atomic<std::size_t>>(0), true));
    return all;
}

Conversations generated_imports(const Site& site, std::size_t count, std::uint64_t seed) {
    return generated(site, count, seed, {});
}

Conversations history_applications(const Site& site, std::size_t count, std::uint64_t seed,
                                   std::uint64_t bundle_entries) {
    generate::Options options;
    options.form = generate::Form::history;
    options.bundle_entries = bundle_entries;
    return generated(site, count, seed, options);
}

}  // namespace annals::bench
