// A connected TCP socket, for protocols that bring no connection of their own.
#pragma once
#include <chrono>
#include <string>

#include "core/base/error.hpp"
#include "core/base/fd.hpp"

namespace dash::net {

// Connects, non-blocking, to the first address of the host that answers. Code::unreachable with the reason.
Result<Fd> connect_tcp(const std::string& host, int port, std::chrono::milliseconds deadline);

// Waits for one of `events` (poll(2)) or `due`, and only for a moment: callers check again.
void poll_fd(int fd, short events, std::chrono::steady_clock::time_point due);

}  // namespace dash::net
