// The body of the inline lane, {"filename": text, "content_b64": base64}, made while it is sent.
#pragma once
#include "core/client/storage_client.hpp"

namespace dash::client {

class InlineRequest {
 public:
  // `content` gives exactly `size` bytes.
  InlineRequest(const std::string& filename, std::uint64_t size, const Source& content);
  std::uint64_t size() const { return size_; }
  // The next bytes of the body into the front of `into`; 0 at its end.
  Result<std::size_t> next(std::span<char> into);

 private:
  Result<void> encode_more();
  const Source& content_;
  std::string pending_;
  std::size_t taken_ = 0;
  bool is_closed_ = false;
  std::uint64_t size_;
};

}  // namespace dash::client
