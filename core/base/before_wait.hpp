// Work tells its thread before it waits for something outside: an answer of a server, a durable commit. A thread that
// leads a loop of connections lets another one lead first (daemon/server/leader_followers.hpp). Elsewhere nothing happens.
#pragma once

namespace dash {

class WaitListener {
 public:
  virtual ~WaitListener() = default;
  virtual void on_wait() = 0;
};

inline constinit thread_local WaitListener* wait_listener = nullptr;  // of this thread

inline void before_wait() {
  if (wait_listener) wait_listener->on_wait();
}

}  // namespace dash
