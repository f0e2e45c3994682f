// A small HTTP server for one child process: it listens on a port of 127.0.0.1 that the kernel chooses, and
// answers only kLoopbackUser with its password (Basic authentication, RFC 7617). One request a connection. The
// handler runs in threads of the server, several at once.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>

#include "core/base/error.hpp"
#include "core/base/fd.hpp"
#include "core/base/secret.hpp"

namespace dash::net {

struct LoopbackRequest {
  std::string method;
  std::string target;  // path and query, as sent
  std::string body;
};
struct LoopbackResponse {
  int status = 200;
  std::string body{};
};

inline constexpr std::string_view kLoopbackUser = "dashctl";

class LoopbackServer {
 public:
  using Handler = std::function<LoopbackResponse(const LoopbackRequest& request)>;  // must not throw

  // Requests without the password are 401, bodies above `max_body` bytes 413. Code::busy without a descriptor
  // or a port.
  static Result<std::unique_ptr<LoopbackServer>> start(const Secret& password, std::uint64_t max_body,
                                                       Handler handler);
  // Ends connections whose request has not arrived, and waits for the handler.
  ~LoopbackServer();
  LoopbackServer(const LoopbackServer&) = delete;
  LoopbackServer& operator=(const LoopbackServer&) = delete;

  std::uint16_t port() const { return port_; }

 private:
  LoopbackServer(const Secret& password, std::uint64_t max_body, Handler handler);
  Result<void> listen();
  void accept_all();
  void serve(int fd);

  const std::string authorization_;  // the header's value
  const std::uint64_t max_body_;
  const Handler handler_;
  std::uint16_t port_ = 0;
  Fd listener_, wake_;
  std::mutex mutex_;
  std::set<int> open_;  // sockets of the connections
  std::thread acceptor_;
};

}  // namespace dash::net
