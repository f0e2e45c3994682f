#include "daemon/routes/prefer.hpp"

#include "core/base/text.hpp"

namespace dash::daemon {
namespace {

// Takes the text before `end`, and removes it and the mark from `rest`.
std::string_view take_until(std::string_view& rest, char end) {
  auto at = rest.find(end);
  auto out = rest.substr(0, at);
  rest = at == rest.npos ? std::string_view() : rest.substr(at + 1);
  return out;
}

}  // namespace

bool prefers_async(const Request& request) {
  for (const auto& [name, value] : request.headers) {
    if (lower(name) != "prefer") continue;
    for (std::string_view rest = value; !rest.empty();) {
      auto preference = take_until(rest, ',');
      if (lower(trim(take_until(preference, ';'))) == "respond-async") return true;
    }
  }
  return false;
}

}  // namespace dash::daemon
