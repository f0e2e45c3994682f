#include "core/net/http/loopback_server.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/crypto/hash.hpp"
#include "core/net/ssh/tcp.hpp"
#include "tests/support/must.hpp"

namespace dash::net {
namespace {

class Loopback : public testing::Test {
 protected:
  static std::string credentials(std::string_view password) {
    return "Authorization: Basic " + crypto::to_base64("dashctl:" + std::string(password)) + "\r\n";
  }
  // Sends the text and returns everything that comes back.
  std::string exchange(const std::string& text) const {
    auto fd = must(connect_tcp("127.0.0.1", server_->port(), std::chrono::seconds(5)));
    (void)!::send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL);
    std::string out;
    for (auto due = std::chrono::steady_clock::now() + std::chrono::seconds(20);
         std::chrono::steady_clock::now() < due;) {
      poll_fd(fd.get(), 1, due);
      char buffer[4096];
      auto n = ::recv(fd.get(), buffer, sizeof buffer, 0);
      if (n == 0) break;
      if (n > 0) out.append(buffer, static_cast<std::size_t>(n));
    }
    return out;
  }
  static std::string head(std::string_view method, std::size_t size) {
    return std::string(method) +
           " /state?ID=1 HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(size) + "\r\n";
  }
  std::atomic<int> calls_ = 0;
  std::unique_ptr<LoopbackServer> server_ =
      must(LoopbackServer::start(Secret("right"), 100, [this](const LoopbackRequest& request) {
        ++calls_;
        return LoopbackResponse{200, request.method + " " + request.target + " " + request.body};
      }));
};

TEST_F(Loopback, PassesARequestWithThePasswordToTheHandler) {
  auto answer = exchange(head("LOCK", 5) + credentials("right") + "\r\nhello");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 OK\r\n")) << answer;
  EXPECT_TRUE(answer.ends_with("\r\n\r\nLOCK /state?ID=1 hello")) << answer;
  answer = exchange("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n" + credentials("right") +
                    "\r\n3\r\nabc\r\n0\r\n\r\n");
  EXPECT_TRUE(answer.ends_with("POST / abc")) << answer;
}

TEST_F(Loopback, AnswersNobodyElse) {
  EXPECT_TRUE(exchange(head("GET", 0) + "\r\n").starts_with("HTTP/1.1 401 "));
  EXPECT_TRUE(exchange(head("GET", 0) + credentials("wrong") + "\r\n").starts_with("HTTP/1.1 401 "));
  EXPECT_TRUE(exchange(head("POST", 5) + credentials("") + "\r\nhello").starts_with("HTTP/1.1 401 "));
  EXPECT_EQ(calls_, 0);
}

TEST_F(Loopback, BoundsWhatItReads) {
  EXPECT_TRUE(exchange(head("POST", 101) + credentials("right") + "\r\n").starts_with("HTTP/1.1 413 "));
  EXPECT_TRUE(exchange("GET / HTTP/1.1\r\nX: " + std::string(20'000, 'x')).starts_with("HTTP/1.1 400 "));
  EXPECT_TRUE(exchange("nonsense\r\n\r\n").starts_with("HTTP/1.1 400 "));
  EXPECT_EQ(calls_, 0);
}

TEST_F(Loopback, EndsWithoutWaitingForASilentPeer) {
  auto fd = must(connect_tcp("127.0.0.1", server_->port(), std::chrono::seconds(5)));
  auto began = std::chrono::steady_clock::now();
  server_.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(5));
}

}  // namespace
}  // namespace dash::net
