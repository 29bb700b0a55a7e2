// Conversations with several kinds of requests: the mix, small transactions, and walks through a history.

#include "tools/bench/workloads.h"

#include <fmt/format.h>

namespace annals::bench {
namespace {

enum Operation : std::uint8_t { kCreate, kRead, kUpdate, kDelete };

class Mix : public Conversation {
  public:
    Mix(const Site& site, const std::vector<Body>& bodies, std::uint64_t seed)
        : site_(site), bodies_(bodies), dice_(seed) {}

    void owns(const Known& known) { own_.push_back({known, 1}); }

    bool ask(std::string& out) override {
        const std::uint64_t drawn = dice_.below(100);
        operation_ = own_.empty() || drawn < 10 ? kCreate
                     : drawn < 70               ? kRead
                     : drawn < 95               ? kUpdate
                                                : kDelete;
        if (operation_ == kCreate) {
            body_ = &bodies_[dice_.below(bodies_.size())];
            put_request(out, "POST", site_, fmt::format("/{}", body_->type), body_->text);
            return true;
        }
        which_ = dice_.below(own_.size());
        const Known& known = own_[which_].known;
        target_.assign("/").append(known.type).append("/").append(known.id);
        if (operation_ == kUpdate) {
            put_with_id(text_, body_of(known.type), known.id);
            put_request(out, "PUT", site_, target_, text_);
        } else {
            put_request(out, operation_ == kRead ? "GET" : "DELETE", site_, target_, {});
        }
        return true;
    }

    Verdict hear(const Answer& answer) override {
        constexpr std::array<int, 4> kExpected{201, 200, 200, 204};
        bool ok = answer.status == kExpected[operation_];
        if (operation_ == kCreate) {
            const std::string_view id = id_in_location(answer.header("location"));
            ok = ok && !id.empty();
            if (ok) {
                own_.push_back({{body_->type, std::string(id)}, 1});
            }
        } else if (operation_ == kDelete) {
            std::swap(own_[which_], own_.back());
            own_.pop_back();
        } else if (ok) {
            Own& own = own_[which_];
            own.version += operation_ == kUpdate ? 1 : 0;
            if (heard_++ % kVerifyEvery == 0) {
                ok = is_version(answer, own.known.id, own.version);
            }
        }
        return {.ok = ok, .operation = operation_};
    }

    bool asks_ahead() const override { return false; }

  private:
    struct Own {
        Known known;
        std::uint64_t version = 0;
    };

    const Body& body_of(std::string_view type) {
        const std::size_t first = dice_.below(bodies_.size());
        for (std::size_t i = 0; i < bodies_.size(); ++i) {
            const Body& body = bodies_[(first + i) % bodies_.size()];
            if (body.type == type) {
                return body;
            }
        }
        return bodies_[first];
    }

    Site site_;
    const std::vector<Body>& bodies_;
    generate::Dice dice_;
    std::vector<Own> own_;
    std::uint8_t operation_ = kCreate;
    const Body* body_ = nullptr;  // being created
    std::size_t which_ = 0;       // in own_, otherwise
    std::uint64_t heard_ = 0;
    std::string target_;
    std::string text_;
};

class SmallTransactions : public Conversation {
  public:
    SmallTransactions(const Site& site, std::uint64_t seed) : site_(site), dice_(seed) {}

    bool ask(std::string& out) override {
        constexpr std::string_view kPatient = "urn:uuid:8f1d2c1e-4f6a-4c1b-9d38-0c0f7e1c5a01";
        const std::uint64_t number = dice_.next();
        bundle_ = fmt::format(
            R"({{"resourceType":"Bundle","type":"transaction","entry":[{{"fullUrl":"{0}","resource":{{)"
            R"("resourceType":"Patient","identifier":[{{"system":"http://example.org/mrn","value":"{1:016x}"}}],)"
            R"("name":[{{"family":"Family{2}","given":["Given{3}"]}}],"gender":"{4}",)"
            R"("birthDate":"19{5:02}-0{6}-1{7}"}},"request":{{"method":"POST","url":"Patient"}}}},)"
            R"({{"resource":{{"resourceType":"Observation","status":"final","code":{{"coding":[{{)"
            R"("system":"http://loinc.org","code":"29463-7"}}]}},"subject":{{"reference":"{0}"}},)"
            R"("effectiveDateTime":"2024-0{6}-1{7}","valueQuantity":{{"value":{8}.{7},"unit":"kg",)"
            R"("system":"http://unitsofmeasure.org","code":"kg"}}}},)"
            R"("request":{{"method":"POST","url":"Observation"}}}}]}})",
            kPatient, number, dice_.below(2000), dice_.below(500),
            dice_.below(2) == 0 ? "female" : "male", dice_.below(100), dice_.below(9) + 1,
            dice_.below(10), dice_.below(80) + 40);
        put_request(out, "POST", site_, {}, bundle_);
        return true;
    }

    Verdict hear(const Answer& answer) override {
        bool ok = answer.status == 200;
        if (heard_++ % kVerifyEvery == 0) {
            const std::size_t first = answer.body.find(R"("status":"201)");
            ok = ok && first != std::string_view::npos &&
                 answer.body.find(R"("status":"201)", first + 1) != std::string_view::npos;
        }
        return {.ok = ok};
    }

  private:
    Site site_;
    generate::Dice dice_;
    std::string bundle_;
    std::uint64_t heard_ = 0;
};

class HistoryReads : public Conversation {
  public:
    HistoryReads(const Site& site, std::string first)
        : site_(site), first_(std::move(first)), target_(first_) {}

    bool ask(std::string& out) override {
        put_request(out, "GET", site_, target_, {});
        return true;
    }

    Verdict hear(const Answer& answer) override {
        constexpr std::string_view kEntry = R"("response":{"status":)";
        std::uint32_t entries = 0;
        for (std::size_t at = answer.body.find(kEntry); at != std::string_view::npos;
             at = answer.body.find(kEntry, at + kEntry.size())) {
            ++entries;
        }
        target_ = next_page(answer.body);
        return {.ok = answer.status == 200 && entries > 0, .units = entries};
    }

    bool asks_ahead() const override { return false; }

  private:
    // The target of the next page, below the server's base; after the last page, the first.
    std::string next_page(std::string_view body) const {
        constexpr std::string_view kNext = R"("relation":"next","url":")";
        const std::size_t at = body.find(kNext);
        if (at == std::string_view::npos) {
            return first_;
        }
        std::string_view url = body.substr(at + kNext.size());
        url = url.substr(0, url.find('"'));
        const std::size_t path = url.find(site_.base + "/", url.find("://") + 3);
        return path == std::string_view::npos ? first_
                                              : std::string(url.substr(path + site_.base.size()));
    }

    Site site_;
    std::string first_;
    std::string target_;
};

}  // namespace

Conversations mixes(const Site& site, const std::vector<Body>& bodies,
                    const std::vector<Known>& known, std::size_t count, std::uint64_t seed) {
    Conversations all;
    for (std::size_t i = 0; i < count; ++i) {
        auto mix = std::make_unique<Mix>(site, bodies, seed + i);
        for (std::size_t k = i; k < known.size(); k += count) {
            mix->owns(known[k]);
        }
        all.push_back(std::move(mix));
    }
    return all;
}

Conversations small_transactions(const Site& site, std::size_t count, std::uint64_t seed) {
    Conversations all;
    for (std::size_t i = 0; i < count; ++i) {
        all.push_back(std::make_unique<SmallTransactions>(site, seed * 1000 + i));
    }
    return all;
}

Conversations history_reads(const Site& site, std::string_view type, std::uint64_t page,
                            std::size_t count) {
    Conversations all;
    for (std::size_t i = 0; i < count; ++i) {
        all.push_back(std::make_unique<HistoryReads>(
            site, fmt::format("/{}/_history?_count={}", type, page)));
    }
    return all;
}

}  // namespace annals::bench
