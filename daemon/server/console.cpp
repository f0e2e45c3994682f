#include "daemon/server/console.hpp"

#include <array>
#include <utility>

#include "core/base/embedded.hpp"
#include "core/crypto/hash.hpp"

namespace dash::daemon {
namespace {

constexpr std::size_t kTagBytes = 16;

std::string etag_of(std::string_view bytes) {
  return fmt::format("\"{}\"", crypto::to_hex(crypto::sha256(bytes).substr(0, kTagBytes)));
}

// If-None-Match is a list, a weak tag is as good as a strong one, and `*` means any (RFC 9110 §13.1.2).
bool has_tag(std::string_view list, std::string_view tag) {
  return list == "*" || list.find(tag) != list.npos;
}

Result<Response> console_file(const Request& request, const std::string& name) {
  auto path = "daemon/console/" + name;
  auto bytes = embedded(path);
  if (!bytes) return fail(Code::not_found, "Not Found");
  auto tag = etag_of(*bytes);
  bool is_known = has_tag(request.header("If-None-Match").value_or(""), tag);
  auto response =
      is_known ? text_response(304, "", "") : text_response(200, content_type_of(path), std::string(*bytes));
  response.headers.add("ETag", tag);
  response.headers.add("Cache-Control", "no-cache");
  return response;
}

Result<Response> to_console(Request&) {
  auto response = text_response(307, "", "");
  response.headers.add("Location", "/console/");
  return response;
}

}  // namespace

std::string_view content_type_of(std::string_view path) {
  constexpr std::array kTypes = {
      std::pair<std::string_view, std::string_view>{".html", "text/html; charset=utf-8"},
      std::pair<std::string_view, std::string_view>{".js", "text/javascript; charset=utf-8"},
      std::pair<std::string_view, std::string_view>{".css", "text/css; charset=utf-8"},
      std::pair<std::string_view, std::string_view>{".svg", "image/svg+xml"},
      std::pair<std::string_view, std::string_view>{".yaml", "application/yaml"},
  };
  for (const auto& [ending, type] : kTypes)
    if (path.ends_with(ending)) return type;
  return "application/octet-stream";
}

void add_console_routes(std::vector<Route>& routes) {
  auto add = [&](std::string pattern, Handler handler) {
    routes.push_back({.pattern = std::move(pattern),
                      .auth = Auth::anybody,
                      .handler = std::move(handler),
                      .pool = Pool::io});
  };
  add("/", to_console);
  add("/console/", [](Request& request) { return console_file(request, "index.html"); });
  add("/console/{file...}", [](Request& request) { return console_file(request, request.param("file")); });
}

}  // namespace dash::daemon
