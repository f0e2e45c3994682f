// Arrays of documents, as both implementations of a client return them.
#pragma once
#include <string_view>

#include "core/net/http/api_client.hpp"

namespace dash::client {

// Returns the array of the route's response. Code::upstream for anything else; `route` is the path without
// its query.
inline Result<OrderedJson> get_array(net::ApiClient& api, std::string_view path, std::string_view route) {
  auto answer = TRY(api.get(path));
  if (!answer.is_array()) return api.unexpected_response(route);
  return OrderedJson(answer);
}

// Returns the to_json() of each item.
template <typename List>
OrderedJson array_of(const List& items) {
  auto out = OrderedJson::array();
  for (const auto& item : items) out.push_back(to_json(item));
  return out;
}

}  // namespace dash::client
