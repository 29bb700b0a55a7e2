// Walk: from tokens to nodes.
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
#include <vector>

namespace annals::json {

/// Checks the grammar of a text whose tokens are known, and builds its nodes.
class Walk {
  public:
    explicit Walk(std::size_t depth_max);
    ~Walk();
    Walk(const Walk&) = delete;
    Walk& operator=(const Walk&) = delete;

    /// The most nodes that `tokens` of stage 1 can make, valid or not: valid text has two tokens per node, the node
    /// itself and a comma, a colon or a closing bracket.
    std::size_t nodes_max(std::size_t tokens) const noexcept;

    /// Returns the first violation of the grammar, or builds the nodes: their offsets are those of the minified text.
    ///
    /// If `checked`, marks each resource that plainly has the structure FHIR R4 defines as Node::sound.
    ///
    /// Requires: `tokens` are followed by the text's size and another number; `nodes` has room for nodes_max();
    ///           `text` is padded with NUL.
    Fault run(const char* text, std::span<const std::uint32_t> tokens, bool checked, Node* nodes);

    /// The number of nodes that run() made.
    std::size_t node_count() const noexcept { return node_count_; }

    /// White space between the tokens.
    std::size_t space_count() const noexcept { return space_count_; }

    /// True if the text of the last run() nests deeper than kJsonDepthMax.
    bool is_deep() const noexcept { return deep_; }

    /// Objects that may have duplicate keys, inner ones first.
    const std::vector<std::uint32_t>& suspects() const noexcept { return suspects_; }

  private:
    struct Frame;

    /// `kSpaced`: white space is counted; otherwise a text that has some is left to the other walk.
    template <bool kChecked, bool kSpaced>
    Fault run(const char* text, std::span<const std::uint32_t> tokens, Node* nodes);

    std::vector<Frame> frames_;
    std::size_t depth_max_ = 0;  // of this walk
    std::vector<std::uint32_t> suspects_;
    std::size_t node_count_ = 0;
    std::size_t space_count_ = 0;
    bool deep_ = false;
};

}  // namespace annals::json
