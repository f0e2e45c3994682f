// The body of an inline upload, {"filename": text, "content_b64": base64}, made while it is sent.
#pragma once
#include "core/client/storage_client.hpp"

namespace dash::client {

class InlineRequest final : public Source {
 public:
  // `content` has exactly `size` bytes and outlives it.
  InlineRequest(const std::string& filename, std::uint64_t size, Source& content);
  std::uint64_t size() const { return size_; }
  Result<std::size_t> read(std::span<char> into) override;

 private:
  Result<void> encode_more();
  Source& content_;
  std::string pending_;
  std::size_t taken_ = 0;
  bool is_closed_ = false;
  std::uint64_t size_;
};

}  // namespace dash::client
