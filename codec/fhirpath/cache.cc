#include "codec/fhirpath/fhirpath.h"

#include <list>
#include <mutex>
#include <unordered_map>

namespace annals::fhirpath {

// Least recently used goes first. The views of the map point into the expressions' own texts.
struct ExpressionCache::Impl {
    explicit Impl(std::size_t most) : entries_max(most) {}

    const std::size_t entries_max;
    std::mutex mutex;
    std::list<Expression> entries;
    std::unordered_map<std::string_view, std::list<Expression>::iterator> by_text;
};

ExpressionCache::ExpressionCache(std::size_t entries_max)
    : impl_(std::make_unique<Impl>(entries_max)) {
}

ExpressionCache::~ExpressionCache() = default;

Result<Expression> ExpressionCache::get(std::string_view text) {
    {
        const std::scoped_lock lock(impl_->mutex);
        const auto found = impl_->by_text.find(text);
        if (found != impl_->by_text.end()) {
            impl_->entries.splice(impl_->entries.begin(), impl_->entries, found->second);
            return *found->second;
        }
    }
    ANNALS_TRY(Expression parsed, Expression::parse(text));
    const std::scoped_lock lock(impl_->mutex);
    if (impl_->entries_max == 0 || impl_->by_text.contains(text)) {
        return parsed;
    }
    if (impl_->entries.size() >= impl_->entries_max) {
        impl_->by_text.erase(impl_->entries.back().text());
        impl_->entries.pop_back();
    }
    impl_->entries.push_front(parsed);
    impl_->by_text.emplace(impl_->entries.front().text(), impl_->entries.begin());
    return parsed;
}

}  // namespace annals::fhirpath
