#include "core/net/http/loopback_server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cerrno>
#include <cstring>
#include <vector>

#include "core/crypto/hash.hpp"

namespace dash::net {
namespace {

namespace beast = boost::beast;

constexpr std::uint32_t kMaxHeadBytes = 16u << 10;
constexpr std::size_t kMaxLoopbackConnections = 64;
constexpr int kBacklog = 64;
constexpr timeval kReadTimeout{10, 0};  // of a piece of a request, or of its response
constexpr std::chrono::seconds kMaxRequestTime{60};

using RequestParser = beast::http::request_parser<beast::http::string_body>;

// Feeds the parser from the socket until `is_enough` holds. Returns false when the peer is gone, too slow, or
// sent no request; `ec` then has the parser's reason, if it had one.
bool read_until(int fd, RequestParser& parser, std::string& waiting, beast::error_code& ec,
                const std::function<bool()>& is_enough) {
  auto due = std::chrono::steady_clock::now() + kMaxRequestTime;
  std::array<char, 16384> buffer;
  for (;;) {
    auto used = waiting.empty() ? 0 : parser.put(boost::asio::buffer(waiting), ec);
    waiting.erase(0, used);
    if (is_enough()) return true;
    if (ec && ec != beast::http::error::need_more) return false;
    ec = {};
    if (used > 0 && !waiting.empty()) continue;
    auto n = ::recv(fd, buffer.data(), buffer.size(), 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0 || std::chrono::steady_clock::now() > due) return false;
    waiting.append(buffer.data(), static_cast<std::size_t>(n));
  }
}

std::string_view reason_of(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 404:
      return "Not Found";
    case 413:
      return "Content Too Large";
    case 423:
      return "Locked";
    default:
      return "Error";
  }
}

void send_response(int fd, const LoopbackResponse& response) {
  auto text = fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}",
      response.status, reason_of(response.status), response.body.size(), response.body);
  for (std::string_view rest = text; !rest.empty();) {
    auto n = ::send(fd, rest.data(), rest.size(), MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    rest.remove_prefix(static_cast<std::size_t>(n));
  }
  // A close with unread bytes would take the response from the peer.
  ::shutdown(fd, SHUT_WR);
  std::array<char, 4096> dropped;
  for (int i = 0; i<kBacklog&& ::recv(fd, dropped.data(), dropped.size(), 0)> 0; ++i) {
  }
}

// Reads one request; the response of a failure otherwise. No response at all when nobody listens any more.
std::optional<LoopbackResponse> read_request(int fd, std::string_view authorization, std::uint64_t max_body,
                                             LoopbackRequest& request) {
  RequestParser parser;
  parser.header_limit(kMaxHeadBytes);
  parser.body_limit(max_body);
  parser.eager(false);
  beast::error_code ec;
  std::string waiting;
  auto failed = [&]() -> std::optional<LoopbackResponse> {
    if (ec == beast::http::error::body_limit) return LoopbackResponse{413, {}};
    return LoopbackResponse{400, {}};
  };
  if (!read_until(fd, parser, waiting, ec, [&] { return parser.is_header_done(); })) return failed();
  auto given = parser.get()[beast::http::field::authorization];
  if (!crypto::equal_constant_time({given.data(), given.size()}, authorization))
    return LoopbackResponse{401, {}};
  parser.eager(true);
  if (!read_until(fd, parser, waiting, ec, [&] { return parser.is_done(); })) return failed();
  auto& message = parser.get();
  request.method = std::string(message.method_string());
  request.target = std::string(message.target());
  request.body = std::move(message.body());
  return std::nullopt;
}

// A connection and its thread.
struct LoopbackConnection {
  std::shared_ptr<std::atomic<bool>> is_done = std::make_shared<std::atomic<bool>>(false);
  std::jthread thread;
};

}  // namespace

LoopbackServer::LoopbackServer(const Secret& password, std::uint64_t max_body, Handler handler)
    : authorization_("Basic " + crypto::to_base64(std::string(kLoopbackUser) + ":" + password.expose())),
      max_body_(max_body),
      handler_(std::move(handler)) {}

Result<std::unique_ptr<LoopbackServer>> LoopbackServer::start(const Secret& password, std::uint64_t max_body,
                                                              Handler handler) {
  std::unique_ptr<LoopbackServer> server(new LoopbackServer(password, max_body, std::move(handler)));
  TRY(server->listen());
  server->acceptor_ = std::thread([raw = server.get()] { raw->accept_all(); });
  return server;
}

Result<void> LoopbackServer::listen() {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  listener_ = Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  wake_ = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  auto* name = reinterpret_cast<sockaddr*>(&address);
  if (listener_.get() < 0 || wake_.get() < 0 || ::bind(listener_.get(), name, size) != 0 ||
      ::listen(listener_.get(), kBacklog) != 0 || ::getsockname(listener_.get(), name, &size) != 0)
    return fail(Code::busy, "no port of the loopback address is to be had: {}", std::strerror(errno));
  port_ = ntohs(address.sin_port);
  return {};
}

LoopbackServer::~LoopbackServer() {
  std::uint64_t one = 1;
  if (wake_.get() >= 0) (void)!::write(wake_.get(), &one, sizeof one);
  if (acceptor_.joinable()) acceptor_.join();
}

void LoopbackServer::accept_all() {
  std::vector<LoopbackConnection> connections;
  for (;;) {
    std::array<pollfd, 2> fds{{{listener_.get(), POLLIN, 0}, {wake_.get(), POLLIN, 0}}};
    if (::poll(fds.data(), fds.size(), -1) < 0 && errno != EINTR) break;
    if (fds[1].revents != 0) break;
    int fd = ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) continue;
    std::erase_if(connections, [](const LoopbackConnection& one) { return one.is_done->load(); });
    if (connections.size() >= kMaxLoopbackConnections) {
      ::close(fd);
      continue;
    }
    {
      std::lock_guard lock(mutex_);
      open_.insert(fd);
    }
    LoopbackConnection connection;
    connection.thread = std::jthread([this, fd, is_done = connection.is_done] {
      serve(fd);
      *is_done = true;
    });
    connections.push_back(std::move(connection));
  }
  std::lock_guard lock(mutex_);
  for (int fd : open_) ::shutdown(fd, SHUT_RD);
}

void LoopbackServer::serve(int fd) {
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &kReadTimeout, sizeof kReadTimeout);
  ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &kReadTimeout, sizeof kReadTimeout);
  LoopbackRequest request;
  auto failed = read_request(fd, authorization_, max_body_, request);
  send_response(fd, failed ? *failed : handler_(request));
  std::lock_guard lock(mutex_);
  open_.erase(fd);
  ::close(fd);
}

}  // namespace dash::net
