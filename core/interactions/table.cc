#include "core/interactions/metadata.h"
#include "core/interactions/read.h"
#include "core/interactions/vread.h"
#include "core/service.h"

#include <array>

namespace annals::core {

namespace {

bool vread_on(const Config& config) {
    return config.interactions.instance_vread;
}

// One line a row: level, method, plain or awaiting handler, switch, name in the CapabilityStatement,
// docs/api page.
constexpr auto kTable = std::to_array<Interaction>({
    {Level::instance, HttpMethod::get, read, nullptr, nullptr, "read", "read"},
    {Level::version, HttpMethod::get, vread, nullptr, vread_on, "vread", "vread"},
    {Level::metadata, HttpMethod::get, metadata, nullptr, nullptr, "", "metadata"},
    {Level::root, HttpMethod::options, metadata, nullptr, nullptr, "", "metadata"},
});

}  // namespace

std::span<const Interaction> interactions() noexcept {
    return kTable;
}

}  // namespace annals::core
