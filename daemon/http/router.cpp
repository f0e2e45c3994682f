#include "daemon/http/router.hpp"

#include <algorithm>
#include <set>

namespace dash::daemon {
namespace {

using Params = std::map<std::string, std::string, std::less<>>;

std::vector<std::string> split(std::string_view path) {
  std::vector<std::string> segments;
  while (!path.empty()) {
    path.remove_prefix(1);  // '/'
    auto segment = path.substr(0, path.find('/'));
    segments.emplace_back(segment);
    path.remove_prefix(segment.size());
  }
  return segments;
}

bool is_name(std::string_view segment) { return segment.starts_with('{') && segment.ends_with('}'); }
bool is_rest(std::string_view segment) { return is_name(segment) && segment.ends_with("...}"); }

// The sort key: at the first segment where two patterns differ, a literal comes before a name and a name
// before a rest.
int wildcard_rank(std::string_view segment) { return is_rest(segment) ? 2 : is_name(segment) ? 1 : 0; }

bool more_literal(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return std::lexicographical_compare(
      a.begin(), a.end(), b.begin(), b.end(),
      [](const auto& x, const auto& y) { return wildcard_rank(x) < wildcard_rank(y); });
}

std::string decoded(std::string_view text) { return net::percent_decode(text).value_or(std::string(text)); }

// Returns the remaining path segments, joined. Each is decoded apart, so an escaped slash stays part of the
// name.
std::string rest_of(const std::vector<std::string>& path, std::size_t from) {
  std::string rest;
  for (auto i = from; i < path.size(); ++i) rest += (i > from ? "/" : "") + decoded(path[i]);
  return rest;
}

std::optional<Params> match_segments(const std::vector<std::string>& pattern,
                                     const std::vector<std::string>& path) {
  Params params;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const auto& wanted = pattern[i];
    if (i >= path.size()) return std::nullopt;
    if (is_rest(wanted)) {
      auto rest = rest_of(path, i);
      if (rest.empty()) return std::nullopt;
      params.emplace(wanted.substr(1, wanted.size() - 5), std::move(rest));
      return params;
    }
    if (is_name(wanted)) {
      if (path[i].empty()) return std::nullopt;
      params.emplace(wanted.substr(1, wanted.size() - 2), decoded(path[i]));
    } else if (wanted != path[i]) {
      return std::nullopt;
    }
  }
  if (path.size() != pattern.size()) return std::nullopt;
  return params;
}

}  // namespace

Router::Router(std::vector<Route> routes) : routes_(std::move(routes)) {
  for (std::size_t i = 0; i < routes_.size(); ++i) rows_.push_back({split(routes_[i].pattern), i});
  std::stable_sort(rows_.begin(), rows_.end(),
                   [](const Row& a, const Row& b) { return more_literal(a.segments, b.segments); });
}

Match Router::match(std::string_view method, std::string_view path) const {
  auto segments = split(path);
  std::set<std::string> methods;
  for (const auto& row : rows_) {
    auto params = match_segments(row.segments, segments);
    if (!params) continue;
    const auto& route = routes_[row.route];
    if (route.method == method || (method == "HEAD" && route.method == "GET"))
      return {&route, std::move(*params), {}};
    methods.insert(route.method);
    if (route.method == "GET") methods.insert("HEAD");
  }
  std::string allow;
  for (const auto& name : methods) allow += (allow.empty() ? "" : ", ") + name;
  return {nullptr, {}, std::move(allow)};
}

}  // namespace dash::daemon
