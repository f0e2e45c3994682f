// A proxy in front of a test server, made through the control API of toxiproxy (TOXIPROXY_URL), that can cut
// connections in the middle. Its destructor removes it.
#pragma once
#include <cstdint>
#include <string>

#include "core/net/http/http_client.hpp"

namespace dash {

class FaultProxy {
 public:
  // `upstream`: http://host:port of the server.
  FaultProxy(net::HttpClient& http, std::string control_url, const std::string& upstream);
  ~FaultProxy();
  FaultProxy(const FaultProxy&) = delete;
  FaultProxy& operator=(const FaultProxy&) = delete;

  const std::string& url() const { return url_; }  // use it instead of `upstream`

  enum class Direction { to_server, to_client };
  // Closes each connection after that many bytes in that direction.
  void cut_after(std::uint64_t bytes, Direction direction);
  // Keeps connections open and forwards nothing.
  void swallow();
  void heal();  // ends cut_after() and swallow()

 private:
  void add(std::string_view type, Direction direction, std::string_view attribute, std::uint64_t value);
  void control(std::string_view method, std::string_view path, std::string_view body);
  net::HttpClient& http_;
  std::string control_url_;
  std::string name_;
  std::string url_;
  std::string toxic_;
};

}  // namespace dash
