#include "core/base/stream.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

namespace dash {
namespace {

constexpr std::size_t kCopyPiece = 256u << 10;

}  // namespace

Result<std::size_t> read_full(Source& source, std::span<char> into) {
  std::size_t filled = 0;
  while (filled < into.size()) {
    auto n = TRY(source.read(into.subspan(filled)));
    if (n == 0) break;
    filled += n;
  }
  return filled;
}

Result<std::uint64_t> copy_all(Source& source, Sink& sink) {
  auto piece = std::make_unique_for_overwrite<char[]>(kCopyPiece);
  std::uint64_t copied = 0;
  while (auto n = TRY(source.read({piece.get(), kCopyPiece}))) {
    TRY(sink.write({piece.get(), n}));
    copied += n;
  }
  return copied;
}

Result<std::size_t> StringSource::read(std::span<char> into) {
  auto n = rest_.copy(into.data(), into.size());
  rest_.remove_prefix(n);
  return n;
}

Result<void> StringSink::write(std::string_view bytes) {
  if (bytes.size() > max_bytes_ - text_.size())
    return fail(Code::too_large, "there are more than {} bytes", max_bytes_);
  text_ += bytes;
  return {};
}

Result<void> SpanWriter::write(std::uint64_t offset, std::string_view bytes) {
  if (bytes.empty()) return {};
  auto place = memory({offset, bytes.size()});
  if (place.empty()) return fail(Code::too_large, "there are more than {} bytes", memory_.size());
  std::memcpy(place.data(), bytes.data(), bytes.size());
  return {};
}

std::span<char> SpanWriter::memory(ByteRange range) {
  if (range.offset > memory_.size() || range.size > memory_.size() - range.offset) return {};
  return memory_.subspan(static_cast<std::size_t>(range.offset), static_cast<std::size_t>(range.size));
}

}  // namespace dash
