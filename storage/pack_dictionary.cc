#include "storage/pack_dictionary.h"

#include "core/base/bytes.h"
#include "core/base/sort_unique.h"

#include <zdict.h>

#include <algorithm>

namespace annals::storage {
namespace {

/// Bodies are compared by words of this many bytes.
constexpr std::size_t kWord = sizeof(std::uint64_t);
constexpr int kTableBits = 20;

/// Size of a piece of the dictionary: long enough to keep together what belongs together, short enough for all of it to be
/// useful.
constexpr std::size_t kPiece = 1024;

/// How many times the samples are searched.
constexpr int kTurnsMax = 4;

/// Less text is not worth a dictionary.
constexpr std::size_t kTextMin = 512;

std::size_t slot_of(const char* word) noexcept {
    constexpr std::uint64_t kPrime = 0xcf1b'bcdc'b7a5'6463;
    return (load_le<std::uint64_t>(word) * kPrime) >> (64 - kTableBits);
}

/// How often words occur in the samples; words that the dictionary contains no longer count.
class WordCounts {
  public:
    explicit WordCounts(std::span<const PackSample> samples)
        : counts_(std::size_t{1} << kTableBits), inside_(counts_.size()) {
        for (const PackSample& sample : samples) {
            for (std::size_t at = 0; at + kWord <= sample.body.size(); ++at) {
                ++counts_[slot_of(sample.body.data() + at)];
            }
        }
        // Words that occur once, like names or numbers, are of no use.
        for (std::uint32_t& count : counts_) {
            count = count < 2 ? 0 : count;
        }
    }

    struct Window {
        std::size_t from = 0;
        std::size_t bytes = 0;
        std::uint64_t score = 0;
    };

    /// The kPiece bytes of `body` whose words have the highest total count.
    Window best(std::string_view body) {
        if (body.size() < kWord) {
            return {};
        }
        const std::size_t words = body.size() - kWord + 1;
        const std::size_t width = std::min(words, kPiece - kWord + 1);
        Window found;
        std::uint64_t score = 0;
        for (std::size_t at = 0; at < words; ++at) {
            const std::size_t in = slot_of(body.data() + at);
            score += inside_[in]++ == 0 ? counts_[in] : 0;
            if (at + 1 >= width) {
                const std::size_t from = at + 1 - width;
                if (score > found.score) {
                    found = {from, width + kWord - 1, score};
                }
                const std::size_t out = slot_of(body.data() + from);
                score -= --inside_[out] == 0 ? counts_[out] : 0;
            }
        }
        for (std::size_t at = words + 1 - width; at < words; ++at) {
            inside_[slot_of(body.data() + at)] = 0;
        }
        return found;
    }

    /// Trims useless words at both ends of `window`, and marks the rest as contained.
    std::string_view take(std::string_view body, const Window& window) {
        std::size_t from = window.from;
        std::size_t last = window.from + window.bytes - kWord;
        while (from < last && counts_[slot_of(body.data() + from)] == 0) {
            ++from;
        }
        while (last > from && counts_[slot_of(body.data() + last)] == 0) {
            --last;
        }
        for (std::size_t at = from; at <= last; ++at) {
            counts_[slot_of(body.data() + at)] = 0;
        }
        return body.substr(from, last - from + kWord);
    }

  private:
    std::vector<std::uint32_t> counts_;
    std::vector<std::uint32_t> inside_;  ///< of the current window
};

}  // namespace

PackDictionary choose_dictionary(std::span<const PackSample> samples,
                                 std::span<const std::string> blocks, std::size_t bytes_max,
                                 int level) {
    PackDictionary dictionary;
    const std::size_t pieces = bytes_max / kPiece;
    if (pieces == 0 || samples.empty()) {
        return dictionary;
    }
    WordCounts counts(samples);
    // One piece from each group of samples, again and again until the dictionary is full or nothing is left to gain.
    const std::size_t stretch = std::max<std::size_t>(1, samples.size() / pieces);
    std::vector<std::string_view> chosen;
    std::size_t text_bytes = 0;
    bool gained = true;
    for (int turn = 0; turn < kTurnsMax && gained; ++turn) {
        gained = false;
        for (std::size_t begin = 0; begin < samples.size() && text_bytes < bytes_max;
             begin += stretch) {
            const std::size_t end = std::min(samples.size(), begin + stretch);
            WordCounts::Window best;
            std::size_t of = begin;
            for (std::size_t i = begin; i < end; ++i) {
                const WordCounts::Window window = counts.best(samples[i].body);
                if (window.score > best.score) {
                    best = window;
                    of = i;
                }
            }
            if (best.score == 0) {
                continue;
            }
            const std::string_view piece =
                counts.take(samples[of].body, best).substr(0, bytes_max - text_bytes);
            chosen.push_back(piece);
            text_bytes += piece.size();
            dictionary.sources.push_back(samples[of].record);
            gained = true;
        }
    }
    if (text_bytes < kTextMin) {
        return {};
    }
    // The most useful pieces go to the end, where they are nearest.
    std::string text;
    for (auto piece = chosen.rbegin(); piece != chosen.rend(); ++piece) {
        text += *piece;
    }
    std::string sampled;
    std::vector<std::size_t> sizes;
    for (const std::string& block : blocks) {
        sampled += block;
        sizes.push_back(block.size());
    }
    constexpr std::size_t kTables = 1024;  // for entropy, before the text
    dictionary.bytes.resize(text.size() + kTables);
    const std::size_t made = ZDICT_finalizeDictionary(
        dictionary.bytes.data(), dictionary.bytes.size(), text.data(), text.size(), sampled.data(),
        sizes.data(), static_cast<unsigned>(sizes.size()),
        ZDICT_params_t{.compressionLevel = level, .notificationLevel = 0, .dictID = 0});
    if (ZDICT_isError(made) != 0) {
        return {};
    }
    dictionary.bytes.resize(made);
    sort_unique(dictionary.sources);
    return dictionary;
}

}  // namespace annals::storage
