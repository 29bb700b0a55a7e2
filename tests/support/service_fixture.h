// ServiceFixture: a Service over a real store in a temporary directory, with its loop on its own thread.
//
// Threads: the test's; send() may be called from several threads at once.

#pragma once

#include "codec/json/document.h"
#include "core/config/config.h"
#include "core/exchange.h"
#include "core/loop.h"
#include "core/service.h"
#include "storage/file_system.h"
#include "storage/store.h"
#include "tests/support/temporary_directory.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace annals::test {

/// An answer as a client sees it.
struct Answer {
    int status = 0;
    std::string body;        ///< everything, slices joined
    std::size_t slices = 0;  ///< pulled from Response::more
    std::string content_type;
    std::uint64_t etag = 0;  ///< 0: none
    Instant last_modified;
    bool has_last_modified = false;
    std::uint64_t position = 0;  ///< 0: none
    std::string location;
    std::string content_location;
    std::string cache_control;
    std::string allow;
    std::vector<std::pair<std::string, std::string>> headers;
    std::vector<core::EntryTrace> entries;  ///< for the audit log

    /// The header with that name in `headers`; empty if there is none.
    std::string_view header(std::string_view name) const {
        for (const auto& [key, value] : headers) {
            if (key == name) {
                return value;
            }
        }
        return {};
    }

    bool says(std::string_view text) const { return body.find(text) != std::string::npos; }
};

class ServiceFixture : public ::testing::Test {
  public:
    static constexpr std::string_view kBaseUrl = "http://test/fhir";
    using Headers = std::vector<std::pair<std::string, std::string>>;

  protected:
    ServiceFixture();
    ~ServiceFixture() override;

    /// Reopens store and service with `config`'s interaction settings; the data stays.
    void restart(const core::Config& config);

    /// The same with a new store on `files`, which the fixture keeps.
    void restart_on(std::shared_ptr<storage::FileSystem> files,
                    const core::Config& config = core::Config());

    /// Sends a request; `target` is path and query below {base_url}: "/Patient/1?_format=json".
    Answer send(std::string_view method, std::string_view target, std::string_view body = {},
                const Headers& headers = {});

    /// Who sends the requests from now on; null: someone unauthenticated. Lifetime: until the next call.
    void send_as(const core::Principal* principal) { principal_ = principal; }

    /// Like send(), but on another loop of the store.
    Answer send_on(core::Loop& loop, std::string_view method, std::string_view target,
                   std::string_view body = {}, const Headers& headers = {});

    /// Like send_on(), as somebody else than send_as() says; also while others send.
    Answer send_for(const core::Principal* principal, core::Loop& loop, std::string_view method,
                    std::string_view target, std::string_view body = {},
                    const Headers& headers = {});

    /// Runs `work` on the loop's thread and waits until it is done.
    void on_loop(const std::function<void()>& work);

    /// PUTs a Patient with this id and family name; returns the answer's status.
    int put_patient(std::string_view id, std::string_view family = "Chalmers",
                    const Headers& headers = {});

    /// Installs the package in `archive` with $install-package.
    void install_package(std::string_view archive);

    /// The Bundle of `type` in `answer` if that has status 200, which caches must revalidate; none for other statuses. Expects
    /// it to be JSON.
    static std::optional<json::Document> bundle_in(const Answer& answer, std::string_view type);

    /// The targets of the links of `bundle`, below {base_url}, by relation.
    static std::map<std::string, std::string> links_of(json::Value bundle);

    storage::Store& store() noexcept { return *store_; }

    /// The data directory.
    const std::string& data() const noexcept { return directory_.path(); }

    const core::Service& service() const noexcept { return *service_; }

    /// The options of the store from the next restart on, except for those that come from the configuration.
    storage::StoreOptions store_options_;

    core::Loop& loop() noexcept { return *loop_; }

  private:
    void start(const core::Config& config);
    void stop();

    TemporaryDirectory directory_;
    std::shared_ptr<storage::FileSystem> files_;
    std::unique_ptr<storage::Store> store_;
    std::unique_ptr<core::Service> service_;
    std::unique_ptr<core::Loop> loop_;
    std::thread thread_;
    const core::Principal* principal_ = nullptr;
};

/// {"resourceType":"Patient","id":"1","name":[{"family":"Chalmers"}]}; without an id if `id` is empty.
std::string patient(std::string_view id, std::string_view family = "Chalmers");

/// The same with identifiers (system, value).
std::string patient_with(std::string_view id,
                         const std::vector<std::pair<std::string, std::string>>& identifiers);

}  // namespace annals::test
