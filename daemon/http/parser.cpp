#include "daemon/http/parser.hpp"

#include <algorithm>
#include <boost/beast/core/buffers_prefix.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <cctype>
#include <limits>

namespace dash::daemon {
namespace {

namespace http = boost::beast::http;
using boost::beast::error_code;

constexpr std::size_t kSmallestChunkedBody = std::string_view("0\r\n\r\n").size();

Failure malformed_request(std::string_view what) { return fail(Code::invalid, "bad request: {}", what); }

// RFC 9112 §5.2: a line that starts with a blank continues the one before. Servers may refuse it.
bool has_folded_line(std::string_view head) {
  return head.find("\r\n ") != head.npos || head.find("\r\n\t") != head.npos;
}

std::size_t count(const http::fields& fields, http::field name) {
  auto [first, last] = fields.equal_range(name);
  return static_cast<std::size_t>(std::distance(first, last));
}

std::string text(boost::beast::string_view view) { return {view.data(), view.size()}; }

bool is_number(boost::beast::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

Result<void> check_framing(const http::request_parser<http::buffer_body>& parser) {
  const auto& message = parser.get();
  auto encodings = count(message, http::field::transfer_encoding);
  auto lengths = count(message, http::field::content_length);
  if (encodings > 0) {
    if (lengths > 0) return malformed_request("both Content-Length and Transfer-Encoding");
    if (message.version() < 11) return malformed_request("Transfer-Encoding in HTTP/1.0");
    bool plain = boost::beast::iequals(message[http::field::transfer_encoding], "chunked");
    if (encodings > 1 || !plain) return malformed_request("a Transfer-Encoding other than chunked");
  }
  if (lengths > 1) return malformed_request("more than one Content-Length");
  // Beast reads "5, 5" as 5; a proxy may read it as something else.
  if (lengths == 1 && !is_number(message[http::field::content_length]))
    return malformed_request("a Content-Length that is not a number");
  auto hosts = count(message, http::field::host);
  // The caller of a request must not depend on which of two headers a reader takes.
  if (count(message, http::field::authorization) > 1) return malformed_request("more than one Authorization");
  if (hosts > 1 || (hosts == 0 && message.version() >= 11))
    return malformed_request("exactly one Host is needed");
  return {};
}

}  // namespace

struct MessageParser::Beast {
  http::request_parser<http::buffer_body> parser;
  bool in_body = false;  // some of the body was consumed
};

Result<std::optional<std::size_t>> HeaderScanner::find(std::string_view bytes, std::size_t limit) {
  for (; seen_ < bytes.size(); ++seen_) {
    if (seen_ >= limit) return fail(Code::too_large, "bad request: the head is larger than {} bytes", limit);
    auto c = static_cast<unsigned char>(bytes[seen_]);
    char before = seen_ > 0 ? bytes[seen_ - 1] : '\0';
    if ((c == '\n') != (before == '\r')) return malformed_request("a line that does not end with CRLF");
    if ((c < 0x20 && c != '\t' && c != '\r' && c != '\n') || c == 0x7f)
      return malformed_request("a control character in the head");
    if (c == '\n' && seen_ >= 3 && bytes.substr(seen_ - 3, 4) == "\r\n\r\n") return ++seen_;
  }
  return std::nullopt;
}

MessageParser::MessageParser() : beast_(std::make_unique<Beast>()) {
  beast_->parser.header_limit(std::numeric_limits<std::uint32_t>::max());  // HeaderScanner enforces the limit
  beast_->parser.body_limit(boost::none);  // the connection enforces that of the body
}
MessageParser::~MessageParser() = default;
MessageParser::MessageParser(MessageParser&&) noexcept = default;
MessageParser& MessageParser::operator=(MessageParser&&) noexcept = default;

Result<RequestHead> MessageParser::head(std::string_view bytes) {
  if (has_folded_line(bytes)) return malformed_request("a folded header line");
  auto& parser = beast_->parser;
  error_code error;
  parser.put(boost::asio::buffer(bytes.data(), bytes.size()), error);
  if (error) return malformed_request(error.message());
  if (!parser.is_header_done()) return malformed_request("an incomplete head");
  TRY(check_framing(parser));
  const auto& message = parser.get();
  RequestHead head;
  head.method = text(message.method_string());
  head.target = text(message.target());
  for (const auto& field : message) head.headers.add(text(field.name_string()), text(field.value()));
  head.is_http_1_1 = message.version() >= 11;
  head.keep_alive = message.keep_alive();
  head.chunked = parser.chunked();
  if (auto length = parser.content_length()) head.content_length = *length;
  auto [expect, last] = message.equal_range(http::field::expect);
  for (; expect != last; ++expect) {
    bool is_continue = boost::beast::iequals(expect->value(), "100-continue");
    head.expects_continue |= is_continue && head.is_http_1_1;
    head.has_unknown_expectation |= !is_continue && !expect->value().empty();
  }
  return head;
}

Result<MessageParser::Step> MessageParser::chunked(std::string_view in, std::span<char> out) {
  auto& parser = beast_->parser;
  auto& body = parser.get().body();
  Step step;
  while (!parser.is_done() && step.produced < out.size()) {
    body.data = out.data() + step.produced;
    body.size = out.size() - step.produced;
    body.more = true;
    error_code error;
    auto rest = in.substr(step.consumed);
    if (!beast_->in_body && !rest.empty() && !std::isxdigit(static_cast<unsigned char>(rest.front())))
      return malformed_request("a chunk without a size");
    // Beast aborts the process when it gets an empty body ("0", CRLF, CRLF) in smaller pieces.
    if (!beast_->in_body && rest.size() < kSmallestChunkedBody) break;
    auto consumed = parser.put(boost::asio::buffer(rest.data(), rest.size()), error);
    step.consumed += consumed;
    beast_->in_body |= consumed > 0;
    step.produced = out.size() - body.size;
    if (error == http::error::need_more) break;
    if (error && error != http::error::need_buffer) return malformed_request(error.message());
    if (consumed == 0) break;
  }
  step.done = parser.is_done();
  return step;
}

}  // namespace dash::daemon
