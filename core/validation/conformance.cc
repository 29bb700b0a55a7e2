#include "core/canonical.h"
#include "core/validation/context.h"
#include "core/validation/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace annals::validation {

namespace {

constexpr std::string_view kCurrencies = "urn:iso:std:iso:4217";

/// The rules of those profiles of Quantity that R4 lists as types.
void check_quantity(Context& context, const Spot& spot, std::string_view url) {
    const json::Value quantity = spot.value();
    const auto has = [&](std::string_view name) {
        return quantity[name] || quantity["_" + std::string(name)];
    };
    url = core::split_canonical(url).url;
    if (url.ends_with(kSimpleQuantity) && has("comparator")) {
        context.error("invariant", spot, "A SimpleQuantity must not have a comparator (sqty-1)");
    }
    if (url.ends_with(kMoneyQuantity) &&
        ((has("value") && !has("code")) ||
         (quantity["system"] && !quantity["system"].equals(kCurrencies)))) {
        context.error("invariant", spot,
                      fmt::format("A MoneyQuantity with a value must have a code of {} (mqty-1)",
                                  kCurrencies));
    }
}

}  // namespace

void check_profile(Context& context, const Frame& frame, const Spot& spot, std::string_view url,
                   Severity unknown) {
    if (const schema::Type own = own_type(url)) {
        if (spot.type && !spot.type.is_a(own)) {
            context.error(
                "structure", spot,
                fmt::format("This is of the type {}, not {}", spot.type.name(), own.name()));
        } else {
            check_quantity(context, spot, url);
        }
        return;
    }
    const Result<std::shared_ptr<const Profile>> profile = Profile::load(context, url);
    if (!profile && profile.error().code == Errc::too_costly) {
        return;  // that the steps ran out has been told
    }
    if (!profile) {
        context.tell(unknown, profile.error().code == Errc::not_found ? "not-found" : "structure",
                     spot, fmt::format("Not checked against {}: {}", url, profile.error().detail));
        return;
    }
    const Profile& known = **profile;
    if (!spot.type || !spot.type.is_a(known.type())) {
        context.error("structure", spot,
                      fmt::format("The profile {} is for {}, but this is of the type {}", url,
                                  known.type().name(), spot.type.name()));
        return;
    }
    const std::pair<const Profile*, std::uint32_t> key(&known, spot.node());
    if (context.open.size() >= kProfileDepthMax ||
        std::find(context.open.begin(), context.open.end(), key) != context.open.end()) {
        return;
    }
    context.open.push_back(key);
    check_node(context, frame, known, known.root(), spot);
    context.open.pop_back();
}

std::optional<bool> conforms(Context& context, const Frame& frame, const Spot& spot,
                             std::string_view url) {
    if (!own_type(url) && !Profile::load(context, url)) {
        return std::nullopt;
    }
    std::size_t faults = 0;
    std::size_t* const around = context.trial;
    context.trial = &faults;
    check_profile(context, frame, spot, url, Severity::information);
    context.trial = around;
    return faults == 0;
}

}  // namespace annals::validation
