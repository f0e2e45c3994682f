// daemon/openapi.yaml, the description of the API, as JSON. Thread-safe.
#pragma once
#include "core/base/json.hpp"

namespace dash::daemon {

// Returns the whole document.
const OrderedJson& api_description();
// Returns it as text, for GET /api/openapi.json.
const std::string& api_description_text();

// Returns what `node` is: itself, or what its "$ref" names. A reference that leads nowhere is a bug.
const OrderedJson& resolve(const OrderedJson& node);

}  // namespace dash::daemon
