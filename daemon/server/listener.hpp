// Listening sockets: TCP on a literal address, a Unix socket, or those of systemd. Private to the server; a
// file descriptor with its name, nothing of the I/O library.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/error.hpp"

namespace dash::daemon {

// Owns the descriptor (non-blocking, close-on-exec) and, for a Unix socket that it made, the name in the file
// system.
class Listener {
 public:
  Listener(int fd, std::string address, std::string socket_file)
      : fd_(fd), address_(std::move(address)), socket_file_(std::move(socket_file)) {}
  ~Listener();
  Listener(Listener&& other) noexcept;
  Listener& operator=(Listener&&) = delete;

  int fd() const { return fd_; }
  // Returns "127.0.0.1:8080" with the real port, "unix:/run/x.sock".
  const std::string& address() const { return address_; }
  std::uint16_t port() const;  // 0 for a Unix socket
  int release();               // the caller must close it

 private:
  int fd_;
  std::string address_;
  std::string socket_file_;
};

// Listens on "127.0.0.1:8080", "[::1]:0", "unix:/run/dashctl.sock" (0660; a socket without a listening
// process is replaced).
Result<Listener> listen_on(const std::string& address);
// Returns the sockets of LISTEN_FDS when LISTEN_PID is this process (sd_listen_fds(3)), and clears the
// variables. Empty when there are none.
Result<std::vector<Listener>> inherited_listeners();

struct AcceptResult {
  int fd;            // -1: no client waits, or the process is out of descriptors
  int family;        // AF_INET, AF_INET6, AF_UNIX
  std::string peer;  // canonical address, or "unix"
};
AcceptResult accept_from(int listener);

}  // namespace dash::daemon
