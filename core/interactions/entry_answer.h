// What an entry of a batch or transaction is answered with, held to what one response bundle may draw together.
//
// Layer:   core/interactions.
// Spec:    docs/api/batch.md, Room.
// Threads: on the loop of the bundle's request.

#pragma once

#include "core/config/config.h"
#include "core/exchange.h"
#include "core/interactions/turns.h"

#include <asio/awaitable.hpp>

#include <cstddef>
#include <cstdint>

namespace annals::core {

/// How many bytes the answers inside one response bundle may have together: so many times `limits.max_body`. What the
/// largest bundle of writes stores is told whole.
inline constexpr std::uint64_t kAnswerBodies = 4;

/// What is left of that for one bundle.
class AnswerBudget {
  public:
    explicit AnswerBudget(const Config& config) noexcept;

    /// False if there are not so many left: from then on there are none.
    bool take(std::size_t bytes) noexcept {
        spent_ = spent_ || bytes > left_;
        left_ -= spent_ ? 0 : bytes;
        return !spent_;
    }

    /// Whether something was too much for it. Then nothing more is worth drawing.
    bool is_spent() const noexcept { return spent_; }

    /// Why a read has no answer.
    Error error() const;

  private:
    std::uint64_t bytes_max_;
    std::uint64_t left_;
    bool spent_ = false;
};

/// What an entry's request is for: it decides what is told of it where there is no room for its answer.
enum class EntryUse : std::uint8_t {
    read,   ///< the answer is all that is wanted: an error takes its place
    write,  ///< what it did is done: the answer stays as it is, without a resource
};

/// Tells a failure, takes the body of `response` to `request`, an entry's, from `budget`, and drops what a bundle has no place for. An
/// error keeps its status, and its outcome too unless that is long.
/// Requires: nothing is to come (Response::more).
void fit_answer(const Request& request, EntryUse use, AnswerBudget& budget, Response& response);

/// Draws what is to come, as far as `budget` goes, with others' turns in between, then does the same.
/// Lifetime: everything outlives the await.
asio::awaitable<void> draw_answer(const Request& request, EntryUse use, AnswerBudget& budget,
                                  Turns& turns, Response& response);

}  // namespace annals::core
