// Conversations that search.

#include "tools/bench/workloads.h"

#include <array>
#include <charconv>

namespace annals::bench {
namespace {

constexpr std::uint64_t kPage = 20;

std::uint64_t occurrences(std::string_view text, std::string_view what) {
    std::uint64_t count = 0;
    for (std::size_t at = text.find(what); at != std::string_view::npos;
         at = text.find(what, at + what.size())) {
        ++count;
    }
    return count;
}

class Searches : public Conversation {
  public:
    Searches(const Site& site, const SearchMix& mix, bool counts, std::uint64_t seed,
             SearchSums& sums)
        : site_(site), mix_(mix), counts_(counts), sums_(sums), dice_(seed) {}

    bool ask(std::string& out) override {
        const SearchParameter& parameter = mix_[dice_.below(mix_.size())];
        asked_[asked_count_++ % asked_.size()] = parameter.type;
        target_.clear();
        put_search(target_, parameter, dice_);
        target_.append(counts_ ? "&_summary=count" : "&_count=20");
        put_request(out, "GET", site_, target_, {});
        return true;
    }

    Verdict hear(const Answer& answer) override {
        const ParameterType type = asked_[heard_count_ % asked_.size()];
        bool ok = answer.status == 200;
        if (heard_count_++ % kVerifyEvery == 0) {
            ok = ok && look_into(answer.body);
        }
        return {.ok = ok, .operation = static_cast<std::uint8_t>(type)};
    }

  private:
    // Accepts a searchset with a total and no entry, or with no more matches than fit on a page.
    bool look_into(std::string_view body) {
        const std::uint64_t entries = occurrences(body, R"("mode":"match")");
        std::uint64_t matches = entries;
        bool ok = body.find(R"("type":"searchset")") != std::string_view::npos;
        if (counts_) {
            constexpr std::string_view kTotal = R"("total":)";
            const std::size_t at = body.find(kTotal);
            ok = ok && entries == 0 && at != std::string_view::npos &&
                 std::from_chars(body.data() + at + kTotal.size(), body.data() + body.size(),
                                 matches)
                         .ec == std::errc();
        } else {
            ok = ok && entries <= kPage;
        }
        sums_.answers.fetch_add(1, std::memory_order_relaxed);
        sums_.matches.fetch_add(matches, std::memory_order_relaxed);
        sums_.bytes.fetch_add(body.size(), std::memory_order_relaxed);
        return ok;
    }

    Site site_;
    const SearchMix& mix_;
    bool counts_;
    SearchSums& sums_;
    generate::Dice dice_;
    std::array<ParameterType, 2> asked_{};  // one in progress, one made ahead
    std::uint64_t asked_count_ = 0;
    std::uint64_t heard_count_ = 0;
    std::string target_;
};

}  // namespace

Conversations searches(const Site& site, const SearchMix& mix, bool counts, std::size_t count,
                       std::uint64_t seed, SearchSums& sums) {
    Conversations all;
    for (std::size_t i = 0; i < count; ++i) {
        all.push_back(std::make_unique<Searches>(site, mix, counts, seed + i, sums));
    }
    return all;
}

}  // namespace annals::bench
