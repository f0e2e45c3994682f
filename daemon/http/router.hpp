// Finds the row of the route table for a request. Built once and const afterwards, so threads share it.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/http/route.hpp"

namespace dash::daemon {

struct Match {
  const Route* route = nullptr;  // null: see `allow`
  std::map<std::string, std::string, std::less<>> params;
  std::string allow;  // methods of the path when it exists without this method; empty: no such path
};

class Router {
 public:
  explicit Router(std::vector<Route> routes);
  // Finds the row. `path` is as sent (still percent-encoded), and parse_target() accepted it.
  Match match(std::string_view method, std::string_view path) const;
  const std::vector<Route>& routes() const { return routes_; }

 private:
  std::vector<Route> routes_;  // the more literal pattern first
  struct Row {
    std::vector<std::string> segments;
    std::size_t route;
  };
  std::vector<Row> rows_;
};

}  // namespace dash::daemon
