// Bytes of a connection into a request head and a body (RFC 9112). Boost.Beast does the parsing and is seen
// in parser.cpp alone; on top of it stands what a server behind a proxy must refuse, because the two could
// disagree about where a request ends. No socket in here: the connection feeds it, and so does the fuzzer.
// Every refusal means 400 and the end of the connection.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/error.hpp"
#include "daemon/http/http.hpp"

namespace dash::daemon {

struct RequestHead {
  std::string method;
  std::string target;
  Headers headers;
  bool is_http_1_1 = true;  // else HTTP/1.0
  bool keep_alive = true;
  bool expects_continue = false;
  bool has_unknown_expectation = false;  // than 100-continue: nothing that we know
  bool chunked = false;
  std::optional<std::uint64_t> content_length;  // also nullopt when there is no body at all
  bool has_body() const { return chunked || content_length.value_or(0) > 0; }
};

// Finds the end of a head in bytes that grow at their end.
class HeaderScanner {
 public:
  // Size of the head with its blank line; nullopt: more bytes are needed. Code::invalid for a bare LF or CR,
  // a control character or more than `limit` bytes.
  Result<std::optional<std::size_t>> find(std::string_view bytes, std::size_t limit);

 private:
  std::size_t seen_ = 0;
};

class MessageParser {
 public:
  MessageParser();
  ~MessageParser();
  MessageParser(MessageParser&&) noexcept;
  MessageParser& operator=(MessageParser&&) noexcept;

  // `bytes` is exactly what HeaderScanner found. Call once.
  Result<RequestHead> head(std::string_view bytes);

  struct Step {
    std::size_t consumed = 0;  // of the input
    std::size_t produced = 0;  // of the output
    bool done = false;         // the body is complete, trailers included
  };
  // Decodes a chunked body. Nothing consumed and nothing produced: more input is needed, behind what was not
  // consumed.
  Result<Step> chunked(std::string_view in, std::span<char> out);

 private:
  struct Beast;
  std::unique_ptr<Beast> beast_;
};

}  // namespace dash::daemon
