// Parses the bytes of a connection into a request's header section and body (RFC 9112). Only parser.cpp sees
// Boost.Beast, which does the parsing. Checks on top of it refuse what a proxy and this server could read
// differently, above all where a request ends. There is no socket here: the connection calls it, and so does
// the fuzzer. Every refusal means 400 and the end of the connection.
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
  bool has_unknown_expectation = false;  // an expectation other than 100-continue
  bool chunked = false;
  std::optional<std::uint64_t> content_length;  // also nullopt when there is no body
  bool has_body() const { return chunked || content_length.value_or(0) > 0; }
};

// Finds the end of a header section in a growing buffer.
class HeaderScanner {
 public:
  // Returns the size of the header section with its blank line; nullopt when more bytes are needed.
  // Code::invalid for a bare LF or CR, a control character or more than `limit` bytes.
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

  // Parses exactly the bytes that HeaderScanner found. Call it once.
  Result<RequestHead> head(std::string_view bytes);

  struct Step {
    std::size_t consumed = 0;  // of the input
    std::size_t produced = 0;  // of the output
    bool done = false;         // the body is complete, trailers included
  };
  // Decodes a chunked body. When nothing was consumed and nothing produced, it needs more input after what
  // was not consumed.
  Result<Step> chunked(std::string_view in, std::span<char> out);

 private:
  struct Beast;
  std::unique_ptr<Beast> beast_;
};

}  // namespace dash::daemon
