#include "core/storage/asset_reader.hpp"

#include <algorithm>

namespace dash::storage {
namespace {

constexpr std::size_t kSmallBuffer = 256u << 10;
constexpr std::chrono::seconds kSlow{5};  // a reader that takes longer for a buffer is slower than 1.6 MiB/s

}  // namespace

AssetReader::AssetReader(Found found, std::uint64_t first, std::uint64_t end, PartPool& parts,
                         const Clock& clock, Front front)
    : found_(std::move(found)), next_(first), end_(end), parts_(parts), clock_(clock) {
  if (first != 0 || !front.part) return;
  part_ = std::move(front.part);
  next_ = std::min<std::uint64_t>(front.size, end);
  ready_ = part_.span().first(static_cast<std::size_t>(next_));
  if (ready_.empty()) part_ = Part();
  refilled_at_ = clock_.steady_now();
}

Result<std::size_t> AssetReader::read(std::span<char> into) {
  if (ready_.empty()) TRY(refill());
  auto n = std::min(into.size(), ready_.size());
  std::copy_n(ready_.data(), n, into.data());
  ready_ = ready_.subspan(n);
  if (ready_.empty()) part_ = Part();
  return n;
}

Result<void> AssetReader::refill() {
  if (next_ == end_) return {};
  auto now = clock_.steady_now();
  if (refilled_at_ != SteadyTime{}) is_slow_ = now - refilled_at_ > kSlow;
  if (!is_slow_) part_ = parts_.try_take();
  if (!part_ && !small_) small_ = std::make_unique<char[]>(kSmallBuffer);
  auto buffer = part_ ? part_.span() : std::span(small_.get(), kSmallBuffer);
  auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), end_ - next_));
  auto got = TRY(found_.store->read(found_.key, next_, found_.object.etag, buffer.first(wanted)));
  if (got != wanted)
    return fail(Code::integrity, "the store ended '{}' early; fetch it again", found_.asset.name);
  next_ += got;
  ready_ = buffer.first(got);
  refilled_at_ = clock_.steady_now();
  return {};
}

}  // namespace dash::storage
