#include "core/base/part_pool.hpp"

#include <malloc.h>

#include <algorithm>

namespace dash {
namespace {

// A freed buffer goes back to the system. Left alone, glibc takes its size for the new threshold of what it
// maps apart, and keeps one in the arena of every thread that ever held one.
void keep_out_of_arenas() {
  static const int is_set = ::mallopt(M_MMAP_THRESHOLD, 1 << 20);
  (void)is_set;
}

}  // namespace

PartPoolOptions shared_by_callers(std::size_t count) {
  auto share = [count](std::size_t wanted) {
    return std::max<std::size_t>(wanted, std::min<std::size_t>(count, 2));
  };
  return {count, count / 4, {share(count / 2), share(count * 3 / 4)}};
}

Part::Part(Part&& other) noexcept
    : pool_(std::exchange(other.pool_, nullptr)),
      buffer_(std::move(other.buffer_)),
      holder_(std::move(other.holder_)) {}

Part& Part::operator=(Part&& other) noexcept {
  if (this != &other) {
    give_back();
    pool_ = std::exchange(other.pool_, nullptr);
    buffer_ = std::move(other.buffer_);
    holder_ = std::move(other.holder_);
  }
  return *this;
}

Part::~Part() { give_back(); }

void Part::give_back() {
  if (buffer_) pool_->put_back(std::move(buffer_), holder_);
}

bool PartPool::has_one_for_locked(const Borrower& borrower) const {
  return left_ > (borrower.is_upload ? 0 : reserved_) && shares_.fits(borrower.holder, 1);
}

Part PartPool::pop_locked(const Borrower& borrower) {
  --left_;
  shares_.add(borrower.holder, 1);
  keep_out_of_arenas();
  if (spares_.empty()) return Part(this, std::unique_ptr<char[]>(new char[kPartBytes]), borrower.holder);
  auto buffer = std::move(spares_.back());
  spares_.pop_back();
  return Part(this, std::move(buffer), borrower.holder);
}

Part PartPool::try_take(const Borrower& borrower) {
  std::lock_guard lock(mutex_);
  if (!has_one_for_locked(borrower)) return {};
  return pop_locked(borrower);
}

std::size_t PartPool::available() const {
  std::lock_guard lock(mutex_);
  return left_;
}

Result<Part> PartPool::take(std::chrono::milliseconds patience, const Borrower& borrower) {
  std::unique_lock lock(mutex_);
  if (!freed_.wait_for(lock, patience, [&] { return has_one_for_locked(borrower); })) {
    Error error{
        Code::busy, "all transfer buffers are in use; try again shortly", {}, std::chrono::seconds(2), {}};
    return Failure(std::move(error));
  }
  return pop_locked(borrower);
}

// Keeps one spare only: idle memory stays low, and a steady upload reuses its buffer.
void PartPool::put_back(std::unique_ptr<char[]> buffer, const Holder& holder) {
  {
    std::lock_guard lock(mutex_);
    ++left_;
    shares_.remove(holder, 1);
    if (spares_.empty()) spares_.push_back(std::move(buffer));
  }
  freed_.notify_all();  // what is free may be for some of those who wait and not for others
}

}  // namespace dash
