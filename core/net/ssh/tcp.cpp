#include "core/net/ssh/tcp.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <memory>

namespace dash::net {
namespace {

using Steady = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kMoment{100};

struct FreeAddresses {
  void operator()(addrinfo* a) const { ::freeaddrinfo(a); }
};

// Returns an error number, 0 when connected.
int connect_one(const Fd& socket, const addrinfo& to, Steady::time_point due) {
  if (::connect(socket.get(), to.ai_addr, to.ai_addrlen) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  for (pollfd p{socket.get(), POLLOUT, 0}; ::poll(&p, 1, 0) <= 0;) {
    if (Steady::now() >= due) return ETIMEDOUT;
    poll_fd(socket.get(), POLLOUT, due);
  }
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}

}  // namespace

void poll_fd(int fd, short events, Steady::time_point due) {
  auto left = std::chrono::ceil<std::chrono::milliseconds>(due - Steady::now());
  pollfd p{fd, events, 0};
  ::poll(&p, 1, static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, kMoment.count())));
}

Result<Fd> connect_tcp(const std::string& host, int port, std::chrono::milliseconds deadline) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (int rc = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found); rc != 0)
    return fail(Code::unreachable, "Cannot reach {}: {}", host, ::gai_strerror(rc));
  std::unique_ptr<addrinfo, FreeAddresses> list(found);
  auto due = Steady::now() + deadline;
  int error = 0;
  for (const auto* a = list.get(); a; a = a->ai_next) {
    Fd socket(::socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    error = socket.get() < 0 ? errno : connect_one(socket, *a, due);
    int on = 1;
    if (error == 0 && ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0)
      return socket;
  }
  return fail(Code::unreachable, "Cannot reach {}:{}: {}", host, port, std::strerror(error));
}

}  // namespace dash::net
