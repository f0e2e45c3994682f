#include "core/client/inline_request.hpp"

#include "core/crypto/hash.hpp"

namespace dash::client {
namespace {

// A multiple of three, so that every piece but the last encodes without padding.
constexpr std::size_t kPieceBytes = 48u << 10;
constexpr std::string_view kTail = "\"}";

}  // namespace

InlineRequest::InlineRequest(const std::string& filename, std::uint64_t size, Source& content)
    : content_(content),
      pending_(fmt::format(R"({{"filename":{},"content_b64":")", dump_json(Json(filename)))),
      size_(pending_.size() + (size + 2) / 3 * 4 + kTail.size()) {}

Result<std::size_t> InlineRequest::read(std::span<char> into) {
  if (taken_ == pending_.size() && !is_closed_) TRY(encode_more());
  auto n = pending_.copy(into.data(), into.size(), taken_);
  taken_ += n;
  return n;
}

Result<void> InlineRequest::encode_more() {
  std::string bytes(kPieceBytes, '\0');
  auto filled = TRY(read_full(content_, bytes));
  taken_ = 0;
  pending_ = crypto::to_base64(std::string_view(bytes).substr(0, filled));
  is_closed_ = filled < bytes.size();
  if (is_closed_) pending_ += kTail;
  return {};
}

}  // namespace dash::client
