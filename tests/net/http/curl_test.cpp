#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <thread>

#include "core/base/fd.hpp"
#include "core/net/http/http_client.hpp"
#include "tests/support/scratch.hpp"

namespace dash::net {
namespace {

// Answers one request with `answer`, byte for byte, and closes the connection.
class OneAnswer {
 public:
  OneAnswer(const std::string& path, std::string answer)
      : listener_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(listener_.get(), 1), 0);
    thread_ = std::jthread([this, answer = std::move(answer)] {
      Fd peer(::accept(listener_.get(), nullptr, nullptr));
      std::string request(4096, '\0');
      EXPECT_GT(::recv(peer.get(), request.data(), request.size(), 0), 0);
      EXPECT_EQ(::send(peer.get(), answer.data(), answer.size(), 0), static_cast<ssize_t>(answer.size()));
    });
  }

 private:
  Fd listener_;
  std::jthread thread_;
};

Result<HttpResponse> ask(const std::string& answer) {
  Scratch scratch;
  auto path = scratch / "peer.sock";
  OneAnswer peer(path, answer);
  HttpRequest request;
  request.url = "http://peer/";
  request.unix_socket = path;
  return make_curl_client()->send(request);
}

TEST(HttpClient, TakesAnAnswerThatIsWhole) {
  auto answer = ask("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->body, "ok");
}

TEST(HttpClient, NeverTakesACutAnswerForOneWithoutABody) {
  const std::string whole = "HTTP/1.1 200 OK\r\nX-A: b\r\nContent-Length: 2\r\n\r\nok";
  for (std::size_t cut = 1; cut < whole.size(); ++cut) {
    auto answer = ask(whole.substr(0, cut));
    ASSERT_FALSE(answer) << "cut after " << cut;
    EXPECT_TRUE(answer.error().code == Code::unreachable || answer.error().code == Code::upstream) << cut;
  }
}

}  // namespace
}  // namespace dash::net
