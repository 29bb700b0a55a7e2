#include "core/transform.h"

#include "codec/json/bundle_parts.h"
#include "codec/json/document.h"
#include "codec/json/indent.h"
#include "codec/xml/writer.h"

#include <string>
#include <string_view>
#include <utility>

namespace annals::core {

namespace {

constexpr std::size_t kPortionBytes = 64 << 10;       // taken from the stored body at once
constexpr std::size_t kDrawnBytes = 1 << 20;          // taken between two writes
constexpr std::size_t kTransformedBytes = 256 << 10;  // made between two writes

// Converts the JSON of one answer, read portion by portion, to the representation asked for.
class Transform final : public BodySource {
  public:
    Transform(Look look, Body body, std::unique_ptr<BodySource> more)
        : look_(std::move(look)),
          is_xml_(look_.format == Format::xml),
          takes_apart_(is_xml_ || !look_.subset.whole()),
          body_(std::move(body)),
          more_(std::move(more)),
          writer_(look_.pretty) {}

    bool next(Body& slice) override {
        out_.clear();
        std::string_view portion;
        bool left = true;
        std::size_t drawn = 0;
        while (out_.size() < kTransformedBytes && drawn < kDrawnBytes && left) {
            left = draw(portion);
            drawn += portion.size();
            if (!left) {
                finish();
            } else if (!takes_apart_) {
                put(portion);
            } else if (look_.bundle) {
                parts_.add(portion);
                put_parts();
            } else {
                whole_.append(portion);
            }
        }
        slice.append(out_);
        return left;
    }

    std::vector<Position> unread() override {
        return more_ == nullptr ? std::vector<Position>() : more_->unread();
    }

    std::string_view unread_bytes() const noexcept override {
        return more_ == nullptr ? std::string_view() : more_->unread_bytes();
    }

  private:
    // Its buffers are reused for all answers of the thread.
    static json::Parser& parser() {
        thread_local json::Parser parser(kJsonWrappedDepthMax);
        return parser;
    }

    // Reads the next portion of the JSON; false at its end.
    bool draw(std::string_view& portion) {
        while (piece_ == body_.piece_count()) {
            if (more_ == nullptr) {
                return false;
            }
            body_.clear();
            piece_ = 0;
            if (!more_->next(body_)) {
                more_.reset();
            }
        }
        const std::string_view piece = body_.piece(piece_);
        portion = piece.substr(offset_, kPortionBytes);
        offset_ += portion.size();
        if (offset_ == piece.size()) {
            ++piece_;
            offset_ = 0;
        }
        return true;
    }

    void put(std::string_view text) {
        if (look_.pretty) {
            indenter_.add(text, out_);
        } else {
            out_.append(text);
        }
    }

    void put_parts() {
        json::BundlePart part;
        while (parts_.next(part)) {
            put_part(part);
        }
    }

    void put_part(const json::BundlePart& part) {
        if (part.kind == json::BundlePart::Kind::entry) {
            put_entry(part.text);
        } else if (!is_xml_) {
            put(part.text);
        } else if (part.kind == json::BundlePart::Kind::head) {
            put_xml_head(part.text);
        } else {
            // "]}" or "],...}"
            const Result<json::Document> parsed = parser().parse(
                std::string(R"({"resourceType":"Bundle")").append(part.text.substr(1)));
            writer_.write_tail(out_, parsed ? parsed->root() : json::Value());
        }
    }

    void put_xml_head(std::string_view text) {
        std::string head(text);
        if (head.ends_with('[')) {
            head.resize(head.rfind(R"("entry":[)"));
            if (head.ends_with(',')) {
                head.pop_back();
            }
            head += '}';
            const Result<json::Document> parsed = parser().parse(head);
            writer_.write_head(out_, parsed ? parsed->root() : json::Value());
        } else {
            put_value(head);
        }
    }

    void put_entry(std::string_view text) {
        if (std::exchange(entries_begun_, true) && !is_xml_) {
            put(",");
        }
        Result<json::Document> parsed = parser().parse(text);
        const json::Value entry = parsed ? parsed->root() : json::Value();
        const json::Value resource = entry["resource"];
        if (!look_.subset.whole() && resource && applies_to(entry)) {
            const std::string_view all = parsed->text();
            std::string changed(all.substr(0, resource.node().begin));
            append_subset(resource, look_.subset, changed);
            changed.append(all.substr(resource.node().end));
            put_entry_value(changed);
        } else if (is_xml_) {
            writer_.write_entry(out_, entry);
        } else {
            put(text);
        }
        if (parsed) {
            parser().recycle(*std::move(parsed));
        }
    }

    void put_entry_value(const std::string& text) {
        if (!is_xml_) {
            put(text);
            return;
        }
        const Result<json::Document> parsed = parser().parse(text);
        writer_.write_entry(out_, parsed ? parsed->root() : json::Value());
    }

    // `_elements` doesn't apply to included resources.
    bool applies_to(json::Value entry) const {
        return look_.subset.elements.empty() || !entry["search"]["mode"].equals("include");
    }

    void finish() {
        json::BundlePart rest;
        if (takes_apart_ && look_.bundle && parts_.rest(rest)) {
            put_part(rest);
        } else if (takes_apart_ && !look_.bundle) {
            put_whole();
        }
    }

    void put_whole() {
        const Result<json::Document> parsed = parser().parse(whole_);
        if (parsed && !look_.subset.whole()) {
            std::string changed;
            append_subset(parsed->root(), look_.subset, changed);
            put_value(changed);
        } else if (is_xml_) {
            writer_.write(out_, parsed ? parsed->root() : json::Value());
        } else {
            put(whole_);
        }
    }

    // Writes a resource in the format asked for.
    void put_value(const std::string& text) {
        if (!is_xml_) {
            put(text);
            return;
        }
        const Result<json::Document> parsed = parser().parse(text);
        writer_.write(out_, parsed ? parsed->root() : json::Value());
    }

    const Look look_;
    const bool is_xml_;
    const bool takes_apart_;

    Body body_;
    std::unique_ptr<BodySource> more_;
    std::size_t piece_ = 0;   // index into body_: earlier pieces have been consumed
    std::size_t offset_ = 0;  // in that piece

    json::BundleParts parts_;
    json::Indenter indenter_;
    xml::Writer writer_;
    bool entries_begun_ = false;
    std::string whole_;
    std::string out_;
};

}  // namespace

std::unique_ptr<BodySource> transform(Look look, Body body, std::unique_ptr<BodySource> more) {
    return std::make_unique<Transform>(std::move(look), std::move(body), std::move(more));
}

}  // namespace annals::core
