// A client that sends exactly the given bytes, over TCP or a Unix socket, and reads responses one by one. A
// read without a byte for ten seconds gives up, so that a broken server fails a test instead of hanging it.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace dash::daemon {

struct RawResponse {
  int status = 0;                              // 0: the connection ended without an answer
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
  bool whole = false;  // the body ended as its framing demands
};

class RawClient {
 public:
  explicit RawClient(std::uint16_t port);
  explicit RawClient(const std::string& unix_socket);
  ~RawClient();
  RawClient(RawClient&& other) noexcept;
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  bool connected() const { return fd_ >= 0; }
  // False when the other side does not take it any more.
  bool send(std::string_view bytes);
  // What the kernel takes within a moment: the count stops growing when the server stops reading.
  std::size_t send_until_full(std::string_view bytes);
  void finish_sending();
  // `to_head`: an answer to HEAD has no body. 100 Continue is an answer like any other.
  RawResponse receive(bool to_head = false);
  // True when the server closes without a further byte.
  bool closed();
  void close();

  RawResponse ask(std::string_view bytes) {
    send(bytes);
    return receive();
  }

 private:
  bool more();
  bool read_body(RawResponse& answer);
  bool read_chunks(RawResponse& answer);
  std::optional<std::string> line();
  int fd_ = -1;
  std::string in_;
};

inline RawResponse ask(std::uint16_t port, std::string_view bytes) { return RawClient(port).ask(bytes); }
inline std::string get(std::string_view path) {
  return "GET " + std::string(path) + " HTTP/1.1\r\nHost: test\r\n\r\n";
}

}  // namespace dash::daemon
