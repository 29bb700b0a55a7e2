#include "core/interactions/patch_document.h"

#include "codec/patch/fhirpath_patch.h"
#include "codec/patch/json_patch.h"
#include "core/interactions/negotiation.h"
#include "core/interactions/submitted_resource.h"
#include "core/outcome.h"

#include <fmt/format.h>

namespace annals::core {

namespace {

Error not_patchable(std::string_view type, std::string_view element) {
    return {Errc::invalid, fmt::format("{} cannot be patched", element),
            fmt::format("{}.{}", type, element)};
}

/// Checks that what the server determines is unchanged. meta may be removed as a whole, including the server's members.
Result<void> check_kept(json::Value before, json::Value after) {
    const std::string type = before["resourceType"].string();
    for (const std::string_view name : {"resourceType", "id"}) {
        if (!after[name].equals(before[name].string())) {
            return not_patchable(type, name);
        }
    }
    const json::Value meta = after["meta"];
    if (!meta["versionId"] && !meta["lastUpdated"]) {
        return {};
    }
    for (const std::string_view name : {"versionId", "lastUpdated"}) {
        if (!meta[name].equals(before["meta"][name].string())) {
            return not_patchable(type, fmt::format("meta.{}", name));
        }
    }
    return {};
}

}  // namespace

Result<void> PatchDocument::read(const Request& request) {
    const std::optional<std::string_view> type = request.header("Content-Type");
    if (!type || type->empty()) {
        return Error{Errc::unsupported_media,
                     fmt::format("PATCH needs a Content-Type: {}", kPatchTypes)};
    }
    const MediaType media = read_media_type(*type);
    if (equal_ignoring_case(media.name, "application/json-patch+json")) {
        ANNALS_TRY_VOID(check_parameters(media));
        format_ = Format::json_patch;
    } else if (check_content_type(request)) {
        format_ = Format::fhirpath_patch;
    } else {
        return Error{Errc::unsupported_media, fmt::format("PATCH takes {}", kPatchTypes)};
    }
    ANNALS_TRY(json::Document document, thread_parser().parse(request.body));
    document_ = std::make_shared<const json::Document>(std::move(document));
    if (format_ == Format::fhirpath_patch &&
        !document_->root()["resourceType"].equals("Parameters")) {
        return Error{Errc::invalid,
                     "A FHIRPath Patch must be a Parameters resource; a JSON Patch is "
                     "application/json-patch+json"};
    }
    return {};
}

Result<std::string> PatchDocument::apply_to(json::Value before, const patch::Limits& limits) const {
    const auto apply_patch =
        format_ == Format::json_patch ? patch::apply_json_patch : patch::apply_fhirpath_patch;
    return apply_patch(before, document_->root(), limits);
}

Result<std::string> PatchDocument::patched(json::Value before, std::string_view body,
                                           patch::Limits limits, Unfinished& unfinished) const {
    const Unfinished::CostlyPatch* const costly = unfinished.patch.get();
    if (costly != nullptr && costly->patched && *costly->body == body) {
        return *costly->patched;
    }
    patch::Limits on_loop = limits;
    on_loop.evaluation_steps_max = kPatchStepsOnLoop;
    Result<std::string> text = apply_to(before, on_loop);
    if (!text && text.error().code == Errc::too_costly) {
        const auto owned = std::make_shared<const std::string>(body);
        const auto apply_all = [patch = *this, owned, limits]() -> Result<std::string> {
            ANNALS_TRY(const json::Document document, thread_parser().parse(*owned));
            return patch.apply_to(document.root(), limits);
        };
        unfinished.patch = std::make_unique<Unfinished::CostlyPatch>(
            Unfinished::CostlyPatch{owned, apply_all, std::nullopt});
    }
    return text;
}

Result<json::Document> PatchDocument::apply(const Config& config, std::string_view body,
                                            Unfinished& unfinished) const {
    patch::Limits limits;
    limits.bytes_max = config.limits.max_body;
    ANNALS_TRY(json::Document before, thread_parser().parse(body));
    ANNALS_TRY(const std::string text, patched(before.root(), body, limits, unfinished));
    ANNALS_TRY(json::Document after, parse_submitted(config, thread_parser(), text));
    ANNALS_TRY_VOID(check_kept(before.root(), after.root()));
    thread_parser().recycle(std::move(before));
    return after;
}

Error fault_of_patched(Error error) {
    if (meaning_of(error.code).status == 400) {
        error.code = Errc::business_rule;
        error.detail = fmt::format("The patched resource would not be valid: {}", error.detail);
        for (Error& other : error.others) {
            other.code = Errc::business_rule;
        }
    }
    return error;
}

}  // namespace annals::core
