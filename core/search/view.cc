#include "core/search/view.h"

#include "core/search/extract.h"

#include <algorithm>
#include <utility>

namespace annals::core::search {

namespace {

class Unrestricted final : public View {
  public:
    const Plan& of(TypeId /*type*/) const override { return everything_; }

  private:
    Plan everything_;
};

}  // namespace

const View& unrestricted() noexcept {
    static const Unrestricted view;
    return view;
}

Plan seen_of(const View& view, TypeId type, Plan plan) {
    const Plan& seen = view.of(type);
    return seen.kind == Plan::Kind::everything ? std::move(plan) : all_of(seen, std::move(plan));
}

bool is_match(const Plan& plan, Extractor& extractor, TypeId type, std::uint64_t key,
              Instant written, json::Value resource, const Related& related) {
    thread_local storage::SearchEntries entries;  // keeps its memory
    extractor.extract(type, resource, entries);
    const Term own = identity(key);
    entries.terms.insert(std::lower_bound(entries.terms.begin(), entries.terms.end(), own), own);
    entries.intervals.push_back({column_of("_lastUpdated"), written.us, written.us});
    return matches(plan, entries, resource, related);
}

}  // namespace annals::core::search
