#include "core/storage/assets/asset_reader.hpp"

#include <algorithm>

namespace dash::storage {
namespace {

constexpr std::size_t kSmallBuffer = 256u << 10;
constexpr double kSlowBytesPerSecond = 1.6 * (1u << 20);  // a slower client holds no buffer
// A client that was slow must read this much fast first. Otherwise a client that reads in bursts would cause
// an 8 MiB read for each burst.
constexpr std::uint64_t kUnbufferedBytes = kPartBytes;

}  // namespace

AssetReader::AssetReader(FindResult found, std::uint64_t first, std::uint64_t end, BufferPool& buffers,
                         const Clock& clock, Prefetched front, Holder holder)
    : found_(std::move(found)),
      next_(first),
      end_(end),
      buffers_(buffers),
      clock_(clock),
      holder_(std::move(holder)) {
  if (first != 0 || !front.buffer) return;
  buffer_ = std::move(front.buffer);
  next_ = std::min<std::uint64_t>(front.size, end);
  filled_ = static_cast<std::size_t>(next_);
  ready_ = buffer_.span().first(filled_);
  if (ready_.empty()) buffer_ = Buffer();
  filled_at_ = clock_.steady_now();
}

Result<void> AssetReader::prefetch() { return ready_.empty() ? refill() : Result<void>(); }

Result<std::size_t> AssetReader::read(std::span<char> into) {
  if (ready_.empty()) measure_speed();
  if (ready_.empty() && unbuffered_left_ > 0) {
    auto n = TRY(read_store(into.first(std::min(into.size(), kSmallBuffer))));
    unbuffered_left_ -= std::min<std::uint64_t>(unbuffered_left_, n);
    return n;
  }
  if (ready_.empty()) TRY(refill());
  auto n = std::min(into.size(), ready_.size());
  std::copy_n(ready_.data(), n, into.data());
  ready_ = ready_.subspan(n);
  if (ready_.empty()) buffer_ = Buffer();
  return n;
}

void AssetReader::release() {
  next_ -= ready_.size();
  ready_ = {};
  buffer_ = Buffer();
  small_.reset();
  filled_ = 0;
  unbuffered_left_ = kUnbufferedBytes;
}

// Measures how long the client took to drain the last read.
void AssetReader::measure_speed() {
  auto seconds = std::chrono::duration<double>(clock_.steady_now() - filled_at_).count();
  if (filled_ > 0 && static_cast<double>(filled_) < seconds * kSlowBytesPerSecond) release();
}

Result<void> AssetReader::refill() {
  if (next_ == end_) return {};
  buffer_ = buffers_.try_acquire({holder_});
  if (!buffer_ && !small_) small_ = std::make_unique<char[]>(kSmallBuffer);
  auto buffer = buffer_ ? buffer_.span() : std::span(small_.get(), kSmallBuffer);
  ready_ = buffer.first(TRY(read_store(buffer)));
  return {};
}

Result<std::size_t> AssetReader::read_store(std::span<char> into) {
  auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), end_ - next_));
  if (wanted == 0) return wanted;
  auto got = TRY(found_.store->read(found_.key, next_, found_.object.etag, into.first(wanted)));
  if (got != wanted)
    return fail(Code::integrity, "the store ended '{}' early; fetch it again", found_.asset.name);
  next_ += got;
  filled_ = wanted;
  filled_at_ = clock_.steady_now();
  return wanted;
}

}  // namespace dash::storage
