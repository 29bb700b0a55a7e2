// A store on a disk whose mapped bytes are not in memory.

#pragma once

#include "tests/support/service_fixture.h"
#include "tests/support/sim_file_system.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <string_view>

namespace annals::test {

class Unread : public ServiceFixture {
  protected:
    Unread() {
        restart_on(disk_);
        for (const std::string id : {"1", "2", "3"}) {
            EXPECT_EQ(put_patient(id, "One"), 201);
            EXPECT_EQ(put_patient(id, "Two"), 200);
        }
        disk_->forget_all();
    }

    /// Sends the request twice: the second answer, from memory, must have the same status and ETag.
    Answer send_twice(std::string_view method, std::string_view target, std::string_view body = {},
                      const Headers& headers = {}) {
        const std::uint64_t looks = disk_->memory_looks();
        Answer first = send(method, target, body, headers);
        EXPECT_GT(disk_->memory_looks(), looks);
        const Answer second = send(method, target, body, headers);
        EXPECT_EQ(first.status, second.status);
        EXPECT_EQ(first.etag, second.etag);
        return first;
    }

    /// The first read waits: sets `reading_`, then waits for `go_on_`.
    void hold_first_read() {
        disk_->on_will_read([this] {
            if (!held_.exchange(true)) {
                reading_.set_value();
                go_on_.get_future().wait();
            }
        });
    }

    std::atomic<bool> held_ = false;  ///< several threads read
    std::promise<void> reading_;
    std::promise<void> go_on_;
    std::shared_ptr<SimFileSystem> disk_ = std::make_shared<SimFileSystem>();
};

/// Resources in pages of their own.
class UnreadApart : public Unread {
  protected:
    UnreadApart() {
        for (const std::string id : {"a", "b", "c"}) {
            EXPECT_EQ(
                send("PUT", "/Patient/" + id,
                     R"({"resourceType":"Patient","id":")" + id + R"(","gender":"other",)" +
                         kFiller + R"(,"managingOrganization":{"reference":"Organization/o"}})")
                    .status,
                201);
        }
        EXPECT_EQ(send("PUT", "/Organization/o",
                       R"({"resourceType":"Organization","id":"o",)" + kFiller + "}")
                      .status,
                  201);
        EXPECT_EQ(send("PUT", "/Observation/1",
                       R"({"resourceType":"Observation","id":"1","status":"final",)" + kFiller +
                           R"(,"code":{"text":"x"},"subject":{"reference":"Patient/a"}})")
                      .status,
                  201);
        restart_on(disk_);
    }

    const std::string kFiller =
        R"("language":"en","text":{"status":"generated","div":"<div xmlns=\"http://www.w3.org/1999/xhtml\">)" +
        std::string(3 * storage::kPageBytes, 'x') + R"(</div>"})";
};

}  // namespace annals::test
