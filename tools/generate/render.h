// Render: the FHIR JSON of one item of a chart in one of its states.
//
// Layer:   tools/generate.
// Spec:    FHIR R4; required elements and required bindings are satisfied.
// Threads: any; appends to the caller's string.

#pragma once

#include "tools/generate/chart.h"

#include <string>

namespace annals::generate {

/// The context of an item, and how it refers to others.
struct Scene {
    const World& world;
    const Chart& chart;
    /// References within the chart use urn:uuid, else Type/id; those to the world always Type/id.
    bool urn = false;
};

/// Which of id and meta a resource has.
struct Identity {
    bool id = false;
    std::uint16_t version = 0;  ///< 0: neither versionId nor lastUpdated
    Instant updated{};
};

/// Appends the resource. Requires: state < item.states; `item` belongs to scene.chart.
void render(std::string& out, const Scene& scene, const Item& item, unsigned state,
            const Identity& identity);

}  // namespace annals::generate
