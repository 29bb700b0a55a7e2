// XML as text, written at once.

#pragma once

#include "codec/json/document.h"
#include "codec/xml/writer.h"

#include <string>

namespace annals::test {

/// The XML of `resource`.
inline std::string xml_from_json(json::Value resource, bool pretty = false) {
    std::string xml;
    xml::Writer(pretty).write(xml, resource);
    return xml;
}

}  // namespace annals::test
