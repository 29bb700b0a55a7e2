// Conversations about one resource at a time: fixed GETs, creates, reads, and the CRUD mix.

#include "tools/bench/workloads.h"
#include "tools/generate/dice.h"

#include <fmt/format.h>

#include <array>

namespace annals::bench {
namespace {

class FixedGets : public Conversation {
  public:
    FixedGets(const Site& site, std::string_view target) {
        put_request(request_, "GET", site, target, {});
    }

    bool ask(std::string& out) override {
        out.append(request_);
        return true;
    }

    Verdict hear(const Answer& answer) override { return {.ok = answer.status == 200}; }

  private:
    std::string request_;
};

class Creates : public Conversation {
  public:
    Creates(const Site& site, const std::vector<Body>& bodies, std::size_t first, bool verify)
        : site_(site), bodies_(bodies), next_(first), verify_(verify) {}

    bool ask(std::string& out) override {
        const Body& body = bodies_[next_++ % bodies_.size()];
        target_.assign("/").append(body.type);
        put_request(out, "POST", site_, target_, body.text);
        return true;
    }

    Verdict hear(const Answer& answer) override {
        bool ok = answer.status == 201;
        if (verify_ && heard_++ % kVerifyEvery == 0) {
            ok = ok && is_version(answer, id_in_location(answer.header("location")), 1);
        }
        return {.ok = ok};
    }

  private:
    Site site_;
    const std::vector<Body>& bodies_;
    std::size_t next_;
    bool verify_;
    std::uint64_t heard_ = 0;
    std::string target_;
};

class Preloads : public Conversation {
  public:
    Preloads(const Site& site, const std::vector<Body>& bodies, std::size_t first, std::size_t step,
             std::size_t total, std::vector<Known>& known)
        : site_(site), bodies_(bodies), next_(first), step_(step), total_(total), known_(known) {}

    bool ask(std::string& out) override {
        if (next_ >= total_) {
            return false;
        }
        const Body& body = bodies_[next_ % bodies_.size()];
        next_ += step_;
        type_ = body.type;
        put_request(out, "POST", site_, fmt::format("/{}", body.type), body.text);
        return true;
    }

    Verdict hear(const Answer& answer) override {
        const std::string_view id = id_in_location(answer.header("location"));
        if (answer.status != 201 || id.empty()) {
            return {.ok = false};
        }
        known_.push_back({type_, std::string(id)});
        return {};
    }

    bool asks_ahead() const override { return false; }

  private:
    Site site_;
    const std::vector<Body>& bodies_;
    std::size_t next_;
    std::size_t step_;
    std::size_t total_;
    std::vector<Known>& known_;
    std::string_view type_;
};

class Reads : public Conversation {
  public:
    Reads(const Site& site, const std::vector<Known>& known, std::string_view version,
          std::uint64_t seed)
        : site_(site), known_(known), version_(version), dice_(seed) {}

    bool ask(std::string& out) override {
        const std::size_t which = dice_.below(known_.size());
        asked_[asked_count_++ % asked_.size()] = which;
        const Known& known = known_[which];
        target_.assign("/").append(known.type).append("/").append(known.id).append(version_);
        put_request(out, "GET", site_, target_, {});
        return true;
    }

    Verdict hear(const Answer& answer) override {
        const std::size_t which = asked_[heard_count_ % asked_.size()];
        bool ok = answer.status == 200;
        if (heard_count_++ % kVerifyEvery == 0) {
            ok = ok && is_version(answer, known_[which].id, 1);
        }
        return {.ok = ok};
    }

  private:
    Site site_;
    const std::vector<Known>& known_;
    std::string_view version_;
    generate::Dice dice_;
    std::array<std::size_t, 2> asked_{};  // one in progress, one made ahead
    std::uint64_t asked_count_ = 0;
    std::uint64_t heard_count_ = 0;
    std::string target_;
};

class Cruds : public Conversation {
  public:
    Cruds(const Site& site, const std::vector<std::vector<Body>>& bodies, std::size_t first)
        : site_(site), bodies_(bodies), round_(first) {}

    bool ask(std::string& out) override {
        const std::vector<Body>& of_type = bodies_[round_ % bodies_.size()];
        const Body& body = of_type[round_ / bodies_.size() % of_type.size()];
        target_.assign("/").append(body.type);
        if (operation_ > 0) {
            target_.append("/").append(id_);
        }
        switch (operation_) {
            case 0:
                put_request(out, "POST", site_, target_, body.text);
                break;
            case 1:
                put_request(out, "GET", site_, target_, {});
                break;
            case 2:
                put_with_id(body_, body, id_);
                put_request(out, "PUT", site_, target_, body_);
                break;
            default:
                put_request(out, "DELETE", site_, target_, {});
                break;
        }
        return true;
    }

    Verdict hear(const Answer& answer) override {
        constexpr std::array<int, 4> kExpected{201, 200, 200, 204};
        const std::uint8_t operation = operation_;
        bool ok = answer.status == kExpected[operation];
        if (operation == 0) {
            id_ = id_in_location(answer.header("location"));
            ok = ok && !id_.empty();
        } else if (operation < 3 && ok && round_ % kVerifyEvery == 0) {
            ok = is_version(answer, id_, operation == 1 ? 1 : 2);
        }
        operation_ = (operation + 1) % kExpected.size();
        if (operation_ == 0 || !ok) {
            operation_ = 0;
            ++round_;
        }
        return {.ok = ok, .operation = operation};
    }

    bool asks_ahead() const override { return false; }

  private:
    Site site_;
    const std::vector<std::vector<Body>>& bodies_;
    std::size_t round_;
    std::uint8_t operation_ = 0;
    std::string id_;
    std::string body_;
    std::string target_;
};

}  // namespace

Conversations fixed_gets(const Site& site, std::string_view target, std::size_t count) {
    Conversations all;
    for (std::size_t i = 0; i < count; ++i) {
        all.push_back(std::make_unique<FixedGets>(site, target));
    }
    return all;
}

Conversations creates(const Site& site, const std::vector<Body>& bodies, std::size_t count,
                      bool verify) {
    Conversations all;
    for (std::size_t i = 0; i < count; ++i) {
        all.push_back(std::make_unique<Creates>(site, bodies, i * 7, verify));
    }
    return all;
}

Conversations preloads(const Site& site, const std::vector<Body>& bodies, std::size_t total,
                       std::size_t count, std::vector<Known>& known) {
    Conversations all;
    for (std::size_t i = 0; i < count; ++i) {
        all.push_back(std::make_unique<Preloads>(site, bodies, i, count, total, known));
    }
    return all;
}

Conversations reads(const Site& site, const std::vector<Known>& known, std::string_view version,
                    std::size_t count, std::uint64_t seed) {
    Conversations all;
    for (std::size_t i = 0; i < count; ++i) {
        all.push_back(std::make_unique<Reads>(site, known, version, seed + i));
    }
    return all;
}

Conversations cruds(const Site& site, const std::vector<std::vector<Body>>& bodies,
                    std::size_t count) {
    Conversations all;
    for (std::size_t i = 0; i < count; ++i) {
        all.push_back(std::make_unique<Cruds>(site, bodies, i));
    }
    return all;
}

}  // namespace annals::bench
