#include "tests/support/fault_proxy.hpp"

#include "core/base/json.hpp"
#include "core/crypto/hash.hpp"
#include "tests/support/must.hpp"

namespace dash {

FaultProxy::FaultProxy(net::HttpClient& http, std::string control_url, const std::string& upstream)
    : http_(http), control_url_(std::move(control_url)), name_("p" + crypto::random_hex(6)) {
  net::HttpRequest request;
  request.method = "POST";
  request.url = control_url_ + "/proxies";
  auto scheme = upstream.substr(0, upstream.find("://") + 3);
  auto at = upstream.substr(scheme.size());
  auto body =
      dump_json(OrderedJson{{"name", name_}, {"listen", "127.0.0.1:0"}, {"upstream", at}, {"enabled", true}});
  request.body = body;
  auto answer = must(http_.send(request));
  url_ = scheme + must(parse_json(answer.body)).at("listen").get<std::string>();
}

FaultProxy::~FaultProxy() { control("DELETE", "", ""); }

void FaultProxy::cut_after(std::uint64_t bytes, Direction direction) {
  add("limit_data", direction, "bytes", bytes);
}

void FaultProxy::swallow() { add("timeout", Direction::to_client, "timeout", 0); }

void FaultProxy::add(std::string_view type, Direction direction, std::string_view attribute,
                     std::uint64_t value) {
  toxic_ = type;
  control("POST", "/toxics",
          dump_json(OrderedJson{{"name", type},
                                {"type", type},
                                {"stream", direction == Direction::to_server ? "upstream" : "downstream"},
                                {"attributes", {{std::string(attribute), value}}}}));
}

void FaultProxy::heal() { control("DELETE", "/toxics/" + toxic_, ""); }

void FaultProxy::control(std::string_view method, std::string_view path, std::string_view body) {
  net::HttpRequest request;
  request.method = method;
  request.url = control_url_ + "/proxies/" + name_ + std::string(path);
  request.body = body;
  auto answer = must(http_.send(request));
  if (!answer.ok()) throw std::runtime_error("the fault proxy refused: " + answer.body);
}

}  // namespace dash
