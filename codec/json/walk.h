// Walk: from a text to nodes.
//
// Layer:   codec; used by the parser alone.
// Spec:    as document.h; for what is checked on the way, codec/schema/expectation.h.
// Threads: one at a time.

#pragma once

#include "codec/json/document.h"
#include "codec/json/faults.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace annals::json {

/// Checks the grammar of a text, which is padded with NUL, and builds its nodes.
///
/// A checked walk marks each resource that plainly has the structure FHIR R4 defines as Node::sound. Over a text without white
/// space it needs no tokens: where it knows which key comes next, it passes over that without searching for its end.
class Walk {
  public:
    explicit Walk(std::size_t depth_max);
    ~Walk();
    Walk(const Walk&) = delete;
    Walk& operator=(const Walk&) = delete;

    /// The most nodes that `tokens` of stage 1 can make, valid or not: valid text has two tokens per node, the node
    /// itself and a comma, a colon or a closing bracket.
    std::size_t nodes_max(std::size_t tokens) const noexcept;

    /// A checked walk over a text of any bytes. True if it is valid and has no white space between its tokens. False, and the text
    /// is left to run(), if it isn't so, or if something is unusual: it needs more nodes than `nodes` has room for, nests deeper
    /// than kJsonDepthMax, or a resource doesn't begin with its type.
    bool run_checked(std::string_view text, std::span<Node> nodes);

    /// Returns the first violation of the grammar, or builds the nodes: their offsets are those of the minified text.
    ///
    /// Requires: `tokens` are those of stage 1, which has found no fault, followed by the text's size and another number;
    ///           `nodes` has room for nodes_max().
    Fault run(std::string_view text, std::span<const std::uint32_t> tokens, bool checked,
              std::span<Node> nodes);

    /// The number of nodes that were made.
    std::size_t node_count() const noexcept { return node_count_; }

    /// White space between the tokens.
    std::size_t space_count() const noexcept { return space_count_; }

    /// True if the text nests deeper than kJsonDepthMax.
    bool is_deep() const noexcept { return deep_; }

    /// Objects that may have duplicate keys, inner ones first.
    const std::vector<std::uint32_t>& suspects() const noexcept { return suspects_; }

  private:
    struct Frame;

    /// What a walk goes by. Only one that counts white space says what is wrong; the others give up.
    enum class Mode : std::uint8_t {
        direct,   ///< a text without white space
        compact,  ///< the tokens of a text without white space
        spaced,   ///< tokens, and the white space between them
    };

    template <bool kChecked, Mode kMode>
    Fault run(std::string_view whole, std::span<const std::uint32_t> tokens, std::span<Node> room);

    std::vector<Frame> frames_;
    std::size_t depth_max_ = 0;  // of this walk
    std::vector<std::uint32_t> suspects_;
    std::size_t node_count_ = 0;
    std::size_t space_count_ = 0;
    bool deep_ = false;
};

}  // namespace annals::json
