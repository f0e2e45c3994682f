#include "core/storage/client/receive.hpp"

#include <atomic>

#include "core/storage/client/hands.hpp"
#include "core/storage/client/new_file.hpp"
#include "core/storage/client/patience.hpp"
#include "core/storage/digest.hpp"
#include "core/storage/upload/plan.hpp"

namespace dash::storage {
namespace {

// Small enough that what was just hashed is written out of the processor's cache.
constexpr std::size_t kPiece = 256u << 10;

std::string_view view(std::span<char> bytes) { return {bytes.data(), bytes.size()}; }

// One asset: the parts are taken side by side and kept as they come, or in their order.
class Receive {
 public:
  using Keep = std::function<Result<void>(std::uint64_t offset, std::string_view bytes)>;
  Receive(const std::string& name, const ReceiveSeams& seams, Sequence sequence, Keep keep)
      : name_(name), s_(seams), sequence_(sequence), keep_(std::move(keep)) {}

  Result<Received> run() {
    auto buffer = TRY(s_.parts.take(kTransferPatience));
    TRY(open(buffer.span()));
    s_.found(reading_->size());
    auto count = part_count(reading_->size());
    sha256_.resize(count);
    auto first = buffer.span().first(part_length(reading_->size(), 1));
    TRY(take(1, first, opened_));
    with_hands(std::clamp<std::size_t>(count - 1, 1, kPartHands),
               [&](std::size_t hand) { take_some(hand == 0 ? std::move(buffer) : s_.parts.try_take()); });
    if (failed_) return Failure(*std::move(failed_));
    return judged();
  }

 private:
  Result<void> open(std::span<char> first) {
    return with_patience([&]() -> Result<void> {
      auto opened = TRY(s_.desk.open(s_.backend, name_, first));
      reading_ = std::move(opened.reading);
      opened_ = opened.first;
      return {};
    });
  }

  // Only who has a buffer takes a number, so the smallest number never waits for one.
  void take_some(Part buffer) {
    if (!buffer) return;  // the others do it
    for (auto n = next_++; n <= sha256_.size() && !is_stopped_; n = next_++) {
      auto taken = take(n, buffer.span().first(part_length(reading_->size(), n)), 0);
      if (taken) continue;
      std::lock_guard lock(mutex_);
      if (!failed_) failed_ = std::move(taken).error();
      is_stopped_ = true;
      turn_.close();
    }
  }

  // The part's first `have` bytes are there already.
  Result<void> take(std::uint32_t n, std::span<char> part, std::size_t have) {
    if (have < part.size())
      TRY(with_patience([&] { return reading_->read(part_offset(n) + have, part.subspan(have)); }));
    TRY(sequence_ == Sequence::in_order ? keep_in_turn(n, view(part)) : keep_at_once(n, view(part)));
    s_.moved(part.size());
    return {};
  }

  Result<void> keep_in_turn(std::uint32_t n, std::string_view part) {
    sha256_[n - 1] = crypto::sha256(part);
    if (!turn_.wait_for(n - 1)) return {};
    TRY(keep_(part_offset(n), part));
    turn_.pass();
    return {};
  }

  Result<void> keep_at_once(std::uint32_t n, std::string_view part) {
    crypto::Sha256 hash;
    for (std::size_t at = 0; at < part.size(); at += kPiece) {
      auto piece = part.substr(at, kPiece);
      hash.update(piece);
      TRY(keep_(part_offset(n) + at, piece));
    }
    sha256_[n - 1] = hash.finish();
    return {};
  }

  Result<Received> judged() const {
    PartDigests digest;
    for (const auto& part : sha256_) digest.add(part);
    Received result{reading_->size(), digest.finish(), !reading_->digest().empty()};
    if (result.is_verified && result.digest != reading_->digest())
      return fail(Code::integrity,
                  "what came of '{}' is not what was stored ({} instead of {}); fetch it again", name_,
                  result.digest, reading_->digest());
    return result;
  }

  const std::string& name_;
  const ReceiveSeams& s_;
  Sequence sequence_;
  Keep keep_;
  Turnstile turn_;
  std::unique_ptr<Reading> reading_;
  std::size_t opened_ = 0;
  std::vector<std::string> sha256_;  // of part 1, 2, …
  std::atomic<std::uint32_t> next_ = 2;
  std::atomic<bool> is_stopped_ = false;
  std::mutex mutex_;
  std::optional<Error> failed_;
};

}  // namespace

Result<Received> receive_file(const std::string& name, const std::string& path, const ReceiveSeams& seams) {
  auto file = TRY(NewFile::at(path));
  auto keep = [&](std::uint64_t offset, std::string_view bytes) { return file.write(offset, bytes); };
  auto received = TRY(Receive(name, seams, Sequence::side_by_side, keep).run());
  TRY(file.put_in_place());
  return received;
}

Result<Received> receive_stream(const std::string& name, const Sink& out, const ReceiveSeams& seams) {
  auto keep = [&](std::uint64_t, std::string_view bytes) { return out(bytes); };
  return Receive(name, seams, Sequence::in_order, keep).run();
}

}  // namespace dash::storage
