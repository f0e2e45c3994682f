#include "core/base/part_pool.hpp"

#include <malloc.h>

namespace dash {
namespace {

// A freed buffer goes back to the system. Left alone, glibc takes its size for the new threshold of what it
// maps apart, and keeps one in the arena of every thread that ever held one.
void keep_out_of_arenas() {
  static const int is_set = ::mallopt(M_MMAP_THRESHOLD, 1 << 20);
  (void)is_set;
}

}  // namespace

Part::Part(Part&& other) noexcept
    : pool_(std::exchange(other.pool_, nullptr)), buffer_(std::move(other.buffer_)) {}

Part& Part::operator=(Part&& other) noexcept {
  if (this != &other) {
    give_back();
    pool_ = std::exchange(other.pool_, nullptr);
    buffer_ = std::move(other.buffer_);
  }
  return *this;
}

Part::~Part() { give_back(); }

void Part::give_back() {
  if (buffer_) pool_->put_back(std::move(buffer_));
}

std::unique_ptr<char[]> PartPool::pop_locked() {
  --left_;
  keep_out_of_arenas();
  if (spares_.empty()) return std::unique_ptr<char[]>(new char[kPartBytes]);
  auto buffer = std::move(spares_.back());
  spares_.pop_back();
  return buffer;
}

Part PartPool::try_take() {
  std::lock_guard lock(mutex_);
  if (left_ == 0) return {};
  return Part(this, pop_locked());
}

std::size_t PartPool::available() const {
  std::lock_guard lock(mutex_);
  return left_;
}

Result<Part> PartPool::take(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  if (!freed_.wait_for(lock, patience, [&] { return left_ > 0; })) {
    Error error{
        Code::busy, "all transfer buffers are in use; try again shortly", {}, std::chrono::seconds(2), {}};
    return Failure(std::move(error));
  }
  return Part(this, pop_locked());
}

// Keeps one spare only: idle memory stays low, and a steady upload reuses its buffer.
void PartPool::put_back(std::unique_ptr<char[]> buffer) {
  {
    std::lock_guard lock(mutex_);
    ++left_;
    if (spares_.empty()) spares_.push_back(std::move(buffer));
  }
  freed_.notify_one();
}

}  // namespace dash
