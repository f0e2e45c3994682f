// Private to the connection files: Boost.Asio, one I/O loop, and a byte stream that is a TCP or Unix socket
// with or without TLS.
#pragma once
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

namespace dash::daemon {

namespace asio = boost::asio;
using boost::system::error_code;
using Socket = asio::generic::stream_protocol::socket;

class Connection;

// One thread runs it; everything of its connections happens on that thread.
struct Loop {
  asio::io_context io{1};
  std::unordered_map<Connection*, std::shared_ptr<Connection>> connections;
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

 private:
  Socket socket_;
  std::optional<asio::ssl::stream<Socket&>> tls_;
};

}  // namespace dash::daemon
