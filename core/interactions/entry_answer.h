// The answers to the entries of a batch or transaction, and the budget that limits their size within one
// response bundle.
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

/// The bytes that all answers inside one response bundle may have together, as a multiple of `limits.max_body`:
/// enough to return everything that the largest bundle of writes stores.
inline constexpr std::uint64_t kAnswerBodies = 4;

/// What is left of this for one bundle.
class AnswerBudget {
  public:
    explicit AnswerBudget(const Config& config) noexcept;

    /// False if fewer than `bytes` are left; from then on nothing is.
    bool take(std::size_t bytes) noexcept {
        spent_ = spent_ || bytes > left_;
        left_ -= spent_ ? 0 : bytes;
        return !spent_;
    }

    /// How many bytes take() may still be given in all.
    std::uint64_t left() const noexcept { return left_; }

    /// Whether take() has failed. Then there is no point in producing further answers.
    bool is_spent() const noexcept { return spent_; }

    /// The error for a read whose answer did not fit.
    Error error() const;

  private:
    std::uint64_t bytes_max_;
    std::uint64_t left_;
    bool spent_ = false;
};

/// The purpose of an entry's request: decides what is returned if its answer does not fit.
enum class EntryUse : std::uint8_t {
    read,   ///< only the answer matters: an error replaces it
    write,  ///< it has been carried out: the answer is kept, without its body
};

/// Completes a failure (tell_failure()), takes the body of `response` from `budget`, and drops the body if it has no place in a
/// bundle. `request` is the entry's. An error keeps its status, and its outcome unless that is long.
/// Requires: the body is complete (no Response::more).
void fit_answer(const Request& request, EntryUse use, AnswerBudget& budget, Response& response);

/// Copies what Response::more has, as far as `budget` goes and in turns with other work, and applies the budget as
/// fit_answer() does. The body has no views then.
/// Lifetime: everything outlives the await.
asio::awaitable<void> draw_answer(const Request& request, EntryUse use, AnswerBudget& budget,
                                  Turns& turns, Response& response);

}  // namespace annals::core
