// Private to the connection files: Boost.Asio, one I/O loop, and a byte stream that is a TCP or Unix socket
// with or without TLS.
#pragma once
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "daemon/server/leader_followers.hpp"

namespace dash::daemon {

namespace asio = boost::asio;
using boost::system::error_code;
using Socket = asio::generic::stream_protocol::socket;

class Connection;

// One thread at a time leads it. Everything of its connections happens on that thread.
struct Loop {
  asio::io_context io;
  asio::executor_work_guard<asio::io_context::executor_type> stay{io.get_executor()};
  std::unordered_map<Connection*, std::shared_ptr<Connection>> connections;
  std::vector<std::vector<char>> spare_inputs;  // input buffers of connections that wait for a request
  LeaderFollowers threads{[this] { return io.run_one() > 0; }, [this] { io.stop(); }};
};

class Stream {
 public:
  Stream(Socket socket, asio::ssl::context* tls) : socket_(std::move(socket)) {
    if (tls) tls_.emplace(socket_, *tls);
  }
  bool is_tls() const { return tls_.has_value(); }
  Socket& socket() { return socket_; }

  template <class Handler>
  void handshake(Handler&& handler) {
    tls_->async_handshake(asio::ssl::stream_base::server, std::forward<Handler>(handler));
  }
  template <class Handler>
  void read_some(std::span<char> into, Handler&& handler) {
    auto buffer = asio::buffer(into.data(), into.size());
    tls_ ? tls_->async_read_some(buffer, std::forward<Handler>(handler))
         : socket_.async_read_some(buffer, std::forward<Handler>(handler));
  }
  template <class Handler>
  void write_some(const std::array<asio::const_buffer, 3>& buffers, Handler&& handler) {
    tls_ ? tls_->async_write_some(buffers, std::forward<Handler>(handler))
         : socket_.async_write_some(buffers, std::forward<Handler>(handler));
  }
  // Writes what the socket takes at once, from any thread. Returns 0 under TLS, whose state belongs to the
  // loop.
  std::size_t write_now(const std::array<iovec, 2>& pieces) {
    if (tls_) return 0;
    msghdr message{};
    message.msg_iov = const_cast<iovec*>(pieces.data());
    message.msg_iovlen = pieces.size();
    auto n = ::sendmsg(socket_.native_handle(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    return n > 0 ? static_cast<std::size_t>(n) : 0;  // the loop's own write will get the error
  }

  // Returns whether bytes have arrived that nobody read.
  bool has_input() {
    pollfd entry{.fd = socket_.native_handle(), .events = POLLIN, .revents = 0};
    return ::poll(&entry, 1, 0) > 0 && entry.revents == POLLIN;
  }

  // Returns whether the other end closed the connection, from any thread.
  bool is_closed_by_peer() {
    pollfd entry{.fd = socket_.native_handle(), .events = POLLRDHUP, .revents = 0};
    return ::poll(&entry, 1, 0) > 0;
  }

 private:
  Socket socket_;
  std::optional<asio::ssl::stream<Socket&>> tls_;
};

}  // namespace dash::daemon
