// A server in this process on a free port, with the routes of a test.
#pragma once
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>

#include "daemon/routes/scraper.hpp"
#include "daemon/server/server.hpp"
#include "tests/daemon/raw_client.hpp"
#include "tests/support/captured_log.hpp"
#include "tests/support/must.hpp"

namespace dash::daemon {

struct Running {
  explicit Running(std::vector<Route> routes, ServerOptions options = {}, std::size_t buffer_count = 2)
      : buffers(buffer_count) {
    if (options.listen.empty()) options.listen = {"127.0.0.1:0"};
    if (!options.authenticate) options.authenticate = admit_scrapers({}, {});
    server = must(Server::start(std::move(options), std::move(routes), buffers));
  }
  std::uint16_t port() const { return server->port(); }

  CapturedLog log;
  BufferPool buffers;
  std::unique_ptr<Server> server;
};

// A gate at which handlers wait until the test opens it; it counts the waiting ones.
class Gate {
 public:
  void pass() {
    std::unique_lock lock(mutex_);
    ++arrived_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return open_; });
  }
  void open() {
    std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void await_arrivals(int count) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, std::chrono::minutes(1), [&] { return arrived_ >= count; }));
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
  int arrived_ = 0;
};

inline Route hello() {
  return {.pattern = "/api/hello", .auth = Auth::anybody, .handler = [](Request&) -> Result<Response> {
            return json_response(200, OrderedJson{{"hello", "world"}});
          }};
}

// POST /api/echo answers its body.
inline Route echo() {
  return {.method = "POST",
          .pattern = "/api/echo",
          .auth = Auth::anybody,
          .handler = [](Request& request) -> Result<Response> {
            return text_response(200, "text/plain", std::string(request.body));
          },
          .body = Body::small};
}

inline std::string post(std::string_view path, std::string_view body, std::string_view headers = "") {
  return "POST " + std::string(path) + " HTTP/1.1\r\nHost: test\r\n" + std::string(headers) +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}

}  // namespace dash::daemon
