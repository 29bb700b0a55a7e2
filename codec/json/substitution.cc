#include "codec/json/substitution.h"

namespace annals::json {

bool Substitution::replace(Value string, std::string_view quoted) {
    const Tree& tree = string.tree();
    if (tree.text_capacity_ - tree.text_size_ < quoted.size() + Tree::kPaddingBytes) {
        return false;
    }
    if (replaced_.empty()) {
        tree_ = &tree;
        text_size_ = tree.text_size_;
    }
    Node& node = tree.nodes_[string.index()];
    replaced_.emplace_back(string.index(), node);
    quoted.copy(tree.text_.get() + tree.text_size_, quoted.size());
    node.begin = static_cast<std::uint32_t>(tree.text_size_);
    node.end = static_cast<std::uint32_t>(tree.text_size_ + quoted.size());
    node.escaped = quoted.find('\\') != std::string_view::npos;
    tree.text_size_ += quoted.size();
    return true;
}

void Substitution::undo() noexcept {
    if (replaced_.empty()) {
        return;
    }
    // In reverse order, because a string may have been replaced twice.
    for (auto at = replaced_.rbegin(); at != replaced_.rend(); ++at) {
        tree_->nodes_[at->first] = at->second;
    }
    tree_->text_size_ = text_size_;
    replaced_.clear();
}

}  // namespace annals::json
