#include "tests/daemon/raw_client.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

namespace dash::daemon {
namespace {

constexpr int kTimeoutMs = 10'000;

}  // namespace

RawClient::RawClient(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) close();
}

RawClient::RawClient(const std::string& unix_socket) : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  unix_socket.copy(address.sun_path, sizeof address.sun_path - 1);
  if (::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) close();
}

RawClient::RawClient(RawClient&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), in_(std::move(other.in_)) {}
RawClient::~RawClient() { close(); }

void RawClient::close() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

bool RawClient::send(std::string_view bytes) {
  while (!bytes.empty()) {
    pollfd ready{fd_, POLLOUT, 0};
    if (::poll(&ready, 1, kTimeoutMs) != 1) return false;
    auto n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

std::size_t RawClient::send_until_full(std::string_view bytes) {
  std::size_t sent = 0;
  pollfd ready{fd_, POLLOUT, 0};
  while (sent < bytes.size() && ::poll(&ready, 1, 200) == 1) {
    auto n = ::send(fd_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0) break;
    sent += static_cast<std::size_t>(n);
  }
  return sent;
}

void RawClient::finish_sending() { ::shutdown(fd_, SHUT_WR); }

bool RawClient::more() {
  pollfd ready{fd_, POLLIN, 0};
  if (fd_ < 0 || ::poll(&ready, 1, kTimeoutMs) != 1) return false;
  std::array<char, 65536> bytes;
  auto n = ::recv(fd_, bytes.data(), bytes.size(), 0);
  if (n <= 0) return false;
  in_.append(bytes.data(), static_cast<std::size_t>(n));
  return true;
}

std::optional<std::string> RawClient::line() {
  while (true) {
    auto end = in_.find("\r\n");
    if (end != in_.npos) {
      auto text = in_.substr(0, end);
      in_.erase(0, end + 2);
      return text;
    }
    if (!more()) return std::nullopt;
  }
}

bool RawClient::read_chunks(RawResponse& answer) {
  while (auto size_line = line()) {
    auto size = std::stoul(*size_line, nullptr, 16);
    while (in_.size() < size + 2)
      if (!more()) return false;
    answer.body += in_.substr(0, size);
    in_.erase(0, size + 2);
    if (size == 0) return true;
  }
  return false;
}

bool RawClient::read_body(RawResponse& answer) {
  if (answer.headers.contains("transfer-encoding")) return read_chunks(answer);
  auto length = answer.headers.find("content-length");
  bool to_the_end = length == answer.headers.end();
  auto size = to_the_end ? std::string::npos : std::stoul(length->second);
  while (in_.size() < size)
    if (!more()) break;
  answer.body = in_.substr(0, size);
  in_.erase(0, answer.body.size());
  return to_the_end || answer.body.size() == size;
}

RawResponse RawClient::receive(bool to_head) {
  RawResponse answer;
  auto status = line();
  if (!status || !status->starts_with("HTTP/1.1 ")) return answer;
  answer.status = std::stoi(status->substr(9));
  while (auto header = line()) {
    if (header->empty()) break;
    auto colon = header->find(": ");
    auto name = header->substr(0, colon);
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    answer.headers[name] = header->substr(colon + 2);
  }
  bool bodyless = to_head || answer.status < 200 || answer.status == 204 || answer.status == 304;
  answer.whole = bodyless || read_body(answer);
  return answer;
}

bool RawClient::closed() {
  pollfd ready{fd_, POLLIN, 0};
  if (!in_.empty() || ::poll(&ready, 1, kTimeoutMs) != 1) return false;
  char byte = 0;
  return ::recv(fd_, &byte, 1, 0) <= 0;
}

}  // namespace dash::daemon
