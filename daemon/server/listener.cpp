#include "daemon/server/listener.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <charconv>

#include "daemon/http/forwarded.hpp"

namespace dash::daemon {
namespace {

// Connections that the kernel completes while this process is busy; it clips to net.core.somaxconn.
constexpr int kBacklog = 1024;
constexpr int kFirstInheritedFd = 3;  // SD_LISTEN_FDS_START

struct SocketName {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  template <class T>
  const T& as() const {
    return reinterpret_cast<const T&>(storage);
  }
};

std::string host_of(const SocketName& name) {
  if (name.storage.ss_family == AF_UNIX) return "unix";
  char text[INET6_ADDRSTRLEN] = {};
  const void* source = name.storage.ss_family == AF_INET
                           ? static_cast<const void*>(&name.as<sockaddr_in>().sin_addr)
                           : &name.as<sockaddr_in6>().sin6_addr;
  ::inet_ntop(name.storage.ss_family, source, text, sizeof text);
  return canonical_address(text).value_or(text);
}

std::uint16_t port_of(const SocketName& name) {
  if (name.storage.ss_family == AF_INET) return ntohs(name.as<sockaddr_in>().sin_port);
  if (name.storage.ss_family == AF_INET6) return ntohs(name.as<sockaddr_in6>().sin6_port);
  return 0;
}

std::string address_of(const SocketName& name) {
  if (name.storage.ss_family == AF_UNIX) return fmt::format("unix:{}", name.as<sockaddr_un>().sun_path);
  auto shape = name.storage.ss_family == AF_INET6 ? "[{}]:{}" : "{}:{}";
  return fmt::format(fmt::runtime(shape), host_of(name), port_of(name));
}

Result<SocketName> local_name(int fd) {
  SocketName name;
  if (::getsockname(fd, name.get(), &name.size) != 0)
    return fail(Code::internal, "getsockname: {}", ::strerror(errno));
  return name;
}

Failure invalid_address(const std::string& address, std::string_view why) {
  return fail(Code::usage, "cannot listen on {}: {}", address, why);
}

// A well-formed address that is not available now is no mistake of the command line.
Failure listen_error(const std::string& address, std::string_view why) {
  return fail(Code::invalid, "cannot listen on {}: {}", address, why);
}

Result<SocketName> parse_tcp(const std::string& address) {
  auto colon = address.rfind(':');
  constexpr auto kShape = "give a literal address and a port (127.0.0.1:8080, [::1]:8080) or unix:PATH";
  if (colon == address.npos) return invalid_address(address, kShape);
  std::uint16_t port = 0;
  const char* end = address.data() + address.size();
  auto parsed = std::from_chars(address.data() + colon + 1, end, port);
  auto host = address.substr(0, colon);
  if (parsed.ec != std::errc{} || parsed.ptr != end) return invalid_address(address, kShape);
  SocketName name;
  auto& v4 = reinterpret_cast<sockaddr_in&>(name.storage);
  auto& v6 = reinterpret_cast<sockaddr_in6&>(name.storage);
  if (host.starts_with('[') && host.ends_with(']') &&
      ::inet_pton(AF_INET6, host.substr(1, host.size() - 2).c_str(), &v6.sin6_addr) == 1) {
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    name.size = sizeof v6;
  } else if (::inet_pton(AF_INET, host.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    name.size = sizeof v4;
  } else {
    return invalid_address(address, kShape);
  }
  return name;
}

Result<SocketName> parse_unix(const std::string& address, const std::string& path) {
  SocketName name;
  auto& local = reinterpret_cast<sockaddr_un&>(name.storage);
  if (path.empty() || path.size() >= sizeof local.sun_path)
    return invalid_address(address, "the path is empty or too long");
  local.sun_family = AF_UNIX;
  path.copy(local.sun_path, path.size());
  name.size = sizeof local;
  return name;
}

// A socket file outlives its process. It is stale only when it refuses connections.
Result<void> remove_stale(const std::string& address, const std::string& path, SocketName name) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return {};
  if (!S_ISSOCK(status.st_mode)) return listen_error(address, "a file that is not a socket is in the way");
  int probe = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  bool refused = ::connect(probe, name.get(), name.size) != 0 && errno == ECONNREFUSED;
  ::close(probe);
  if (!refused) return listen_error(address, "another process answers there");
  if (::unlink(path.c_str()) != 0) return listen_error(address, ::strerror(errno));
  return {};
}

}  // namespace

Listener::~Listener() {
  if (fd_ >= 0) ::close(fd_);
  if (!socket_file_.empty()) ::unlink(socket_file_.c_str());
}

Listener::Listener(Listener&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      address_(std::move(other.address_)),
      socket_file_(std::exchange(other.socket_file_, {})) {}

std::uint16_t Listener::port() const {
  auto colon = address_.rfind(':');
  return address_.starts_with("unix:") ? std::uint16_t{0}
                                       : static_cast<std::uint16_t>(std::stoul(address_.substr(colon + 1)));
}

int Listener::release() { return std::exchange(fd_, -1); }

Result<Listener> listen_on(const std::string& address) {
  constexpr std::string_view kUnix = "unix:";
  auto path = address.starts_with(kUnix) ? address.substr(kUnix.size()) : std::string();
  bool local = address.starts_with(kUnix);
  auto name = TRY(local ? parse_unix(address, path) : parse_tcp(address));
  if (local) TRY(remove_stale(address, path, name));
  int fd = ::socket(name.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return listen_error(address, ::strerror(errno));
  Listener listener(fd, address, "");
  int on = 1;
  if (!local) ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (name.storage.ss_family == AF_INET6) ::setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  if (::bind(fd, name.get(), name.size) != 0) return listen_error(address, ::strerror(errno));
  // No client can connect between bind and listen, so the mode is right before the first one.
  if (local && ::chmod(path.c_str(), 0660) != 0) return listen_error(address, ::strerror(errno));
  if (::listen(fd, kBacklog) != 0) return listen_error(address, ::strerror(errno));
  auto bound = TRY(local_name(fd));
  return Listener(listener.release(), local ? address : address_of(bound), path);
}

Result<std::vector<Listener>> inherited_listeners() {
  std::vector<Listener> listeners;
  const char* pid = ::getenv("LISTEN_PID");
  const char* count = ::getenv("LISTEN_FDS");
  if (!pid || !count || std::to_string(::getpid()) != pid) return listeners;
  int fds = ::atoi(count);
  ::unsetenv("LISTEN_PID");
  ::unsetenv("LISTEN_FDS");
  ::unsetenv("LISTEN_FDNAMES");
  for (int fd = kFirstInheritedFd; fd < kFirstInheritedFd + fds; ++fd) {
    ::fcntl(fd, F_SETFD, FD_CLOEXEC);
    ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
    auto name = TRY(local_name(fd));
    listeners.emplace_back(fd, address_of(name), "");
  }
  return listeners;
}

AcceptResult accept_from(int listener) {
  SocketName name;
  int fd = ::accept4(listener, name.get(), &name.size, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0) return {-1, 0, {}};
  int on = 1;
  // Responses are written whole: waiting for more only delays them.
  if (name.storage.ss_family != AF_UNIX) ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return {fd, name.storage.ss_family, host_of(name)};
}

}  // namespace dash::daemon
