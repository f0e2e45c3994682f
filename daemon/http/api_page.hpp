// The description of the API as a page for people: GET /api/docs. One HTML document without scripts; its style is
// daemon/console/api.css.
#pragma once
#include <string>

#include "core/base/json.hpp"

namespace dash::daemon {

// Returns the page of an OpenAPI document. Everything of the document is shown as text.
std::string render_api_page(const OrderedJson& document);

}  // namespace dash::daemon
