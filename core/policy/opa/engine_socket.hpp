// HTTP/1.1 over the engine's Unix socket. It is lean because every decision passes through it: kept
// connections, one write and few reads an exchange, only the necessary headers. The one server is Go's
// net/http (RFC 9112 with Content-Length or chunked bodies). Thread-safe: each exchange has a connection of
// its own.
#pragma once
#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.hpp"

namespace dash::policy {

struct Reply {
  int status = 0;
  std::string body;
};

class EngineSocket {
 public:
  explicit EngineSocket(std::string path) : path_(std::move(path)) {}
  ~EngineSocket();
  EngineSocket(const EngineSocket&) = delete;
  EngineSocket& operator=(const EngineSocket&) = delete;

  using Deadline = std::chrono::steady_clock::time_point;

  // Code::unreachable when the connection cannot be made or is lost (the engine is gone), Code::timeout past
  // the deadline or once `cancelled` is true, Code::upstream for a response that is no HTTP or too large. A
  // kept connection that is dead is replaced once, without an error. `counts` is called while the engine works;
  // Code::conflict when it returns false.
  Result<Reply> post(std::string_view target, std::string_view body, Deadline due,
                     const std::atomic<bool>& cancelled, const std::function<bool()>& counts = {});

 private:
  Result<int> connect(Deadline due, const std::atomic<bool>& cancelled) const;
  int acquire_idle();
  void release(int fd);
  bool may_spin();
  void note_spin(bool has_failed);
  const std::string path_;
  std::atomic<int> in_flight_ = 0;     // exchanges under way
  std::atomic<int> spin_backoff_ = 0;  // this many more exchanges block without spinning
  std::atomic<int> next_backoff_ = 0;  // what the last failure set it to
  std::mutex mutex_;
  std::vector<int> idle_;
};

}  // namespace dash::policy
