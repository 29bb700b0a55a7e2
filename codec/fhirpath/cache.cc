#include "codec/fhirpath/program.h"
#include "core/base/text_map.h"

#include <list>
#include <mutex>

namespace annals::fhirpath {

namespace {

// A compiled regular expression can take up to a megabyte, a thousand times the rest of an expression.
std::size_t weight(const Expression& expression) {
    return 1 + 16 * expression.program().patterns.size();
}

}  // namespace

// Evicts the least recently used first. The map's keys are views into the expressions' own texts.
struct ExpressionCache::Impl {
    explicit Impl(std::size_t most) : weight_max(most) {}

    const std::size_t weight_max;
    std::size_t weight_now = 0;
    std::mutex mutex;
    std::list<Expression> entries;
    TextMap<std::list<Expression>::iterator, std::string_view> by_text;
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
    const std::size_t more = weight(parsed);
    if (more > impl_->weight_max || impl_->by_text.contains(text)) {
        return parsed;
    }
    while (impl_->weight_now + more > impl_->weight_max) {
        impl_->weight_now -= weight(impl_->entries.back());
        impl_->by_text.erase(impl_->entries.back().text());
        impl_->entries.pop_back();
    }
    impl_->weight_now += more;
    impl_->entries.push_front(parsed);
    impl_->by_text.emplace(impl_->entries.front().text(), impl_->entries.begin());
    return parsed;
}

}  // namespace annals::fhirpath
