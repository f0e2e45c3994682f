#include "core/base/buffer_pool.hpp"

#include <malloc.h>

#include <algorithm>

namespace dash {
namespace {

// Returns a freed buffer to the system. By default glibc raises the threshold for separate mappings to a
// buffer's size, and then the arena of every thread that ever held one keeps one.
void bypass_malloc_arenas() {
  static const int is_set = ::mallopt(M_MMAP_THRESHOLD, 1 << 20);
  (void)is_set;
}

}  // namespace

BufferPoolOptions server_pool_options(std::size_t count) {
  auto at_least_two = [count](std::size_t wanted) {
    return std::max<std::size_t>(wanted, std::min<std::size_t>(count, 2));
  };
  return {count, count / 4, {at_least_two(count / 2), at_least_two(count * 3 / 4)}};
}

Buffer::Buffer(Buffer&& other) noexcept
    : pool_(std::exchange(other.pool_, nullptr)),
      memory_(std::move(other.memory_)),
      holder_(std::move(other.holder_)) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  if (this != &other) {
    release();
    pool_ = std::exchange(other.pool_, nullptr);
    memory_ = std::move(other.memory_);
    holder_ = std::move(other.holder_);
  }
  return *this;
}

Buffer::~Buffer() { release(); }

void Buffer::release() {
  if (memory_) pool_->reclaim(std::move(memory_), holder_);
}

bool BufferPool::is_available_locked(const Borrower& borrower) const {
  return available_ > (borrower.is_upload ? 0 : reserved_for_uploads_) && shares_.fits(borrower.holder, 1);
}

Buffer BufferPool::acquire_locked(const Borrower& borrower) {
  --available_;
  shares_.add(borrower.holder, 1);
  bypass_malloc_arenas();
  if (free_buffers_.empty()) return Buffer(this, allocate_aligned(kPartBytes), borrower.holder);
  auto buffer = std::move(free_buffers_.back());
  free_buffers_.pop_back();
  return Buffer(this, std::move(buffer), borrower.holder);
}

Error BufferPool::no_buffer_error() {
  return busy(std::chrono::seconds(2), "all transfer buffers are in use; try again shortly");
}

Buffer BufferPool::try_acquire(const Borrower& borrower) {
  std::lock_guard lock(mutex_);
  if (!is_available_locked(borrower)) return {};
  return acquire_locked(borrower);
}

std::size_t BufferPool::available() const {
  std::lock_guard lock(mutex_);
  return available_;
}

Result<Buffer> BufferPool::acquire(std::chrono::milliseconds timeout, const Borrower& borrower) {
  std::unique_lock lock(mutex_);
  if (!released_.wait_for(lock, timeout, [&] { return is_available_locked(borrower); }))
    return Failure(no_buffer_error());
  return acquire_locked(borrower);
}

// Keeps one spare only: idle memory stays low, and a steady upload reuses its buffer.
void BufferPool::reclaim(AlignedMemory buffer, const Holder& holder) {
  {
    std::lock_guard lock(mutex_);
    ++available_;
    shares_.remove(holder, 1);
    if (free_buffers_.empty()) free_buffers_.push_back(std::move(buffer));
  }
  released_.notify_all();  // a free buffer may suit only some of the waiting callers
}

}  // namespace dash
