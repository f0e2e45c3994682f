// The memory bound of the process: a fixed number of 8 MiB buffers. A part of an upload, a page of a download
// and a step of a copy each borrow one. When none is free the caller waits until its deadline and then gets
// Code::busy. Some buffers are for uploads alone, and no user and no network gets more than a share.
// Thread-safe.
#pragma once
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "core/base/direct_write.hpp"
#include "core/base/error.hpp"
#include "core/base/shares.hpp"

namespace dash {

// Size of an upload part, part of the API: 8 MiB raw.
inline constexpr std::size_t kPartBytes = 8u << 20;

class BufferPool;

// A borrowed buffer, aligned for direct writes. Its destructor returns it. Movable, not copyable.
class Buffer {
 public:
  Buffer() = default;
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  ~Buffer();

  char* data() { return memory_.get(); }
  const char* data() const { return memory_.get(); }
  std::span<char> span() { return {memory_.get(), kPartBytes}; }
  explicit operator bool() const { return memory_ != nullptr; }

 private:
  friend class BufferPool;
  Buffer(BufferPool* pool, AlignedMemory buffer, Holder holder)
      : pool_(pool), memory_(std::move(buffer)), holder_(std::move(holder)) {}
  void release();
  BufferPool* pool_ = nullptr;
  AlignedMemory memory_;
  Holder holder_;
};

// The borrower of a buffer. The default is the server itself, for anything but an upload.
struct Borrower {
  Holder holder{};
  bool is_upload = false;
};

struct BufferPoolOptions {
  std::size_t count;
  std::size_t reserved_for_uploads = 0;
  ShareLimits share_limits{};
};
// Limits of a server with `count` buffers. A quarter is for uploads, a user has at most half of them, and a
// network three quarters (many users may call through one proxy that is not configured as trusted). An inline
// upload needs two.
BufferPoolOptions server_pool_options(std::size_t count);

class BufferPool {
 public:
  explicit BufferPool(std::size_t count) : BufferPool(BufferPoolOptions{count}) {}
  explicit BufferPool(const BufferPoolOptions& options)
      : available_(options.count),
        reserved_for_uploads_(options.reserved_for_uploads),
        shares_(options.share_limits) {}
  // Returns an empty Buffer when none is free for the borrower right now.
  Buffer try_acquire(const Borrower& borrower = {});
  // Returns the number of free buffers.
  std::size_t available() const;
  // Waits at most `timeout`, then fails with no_buffer_error().
  Result<Buffer> acquire(std::chrono::milliseconds timeout, const Borrower& borrower = {});
  // Code::busy with retry_after.
  static Error no_buffer_error();

 private:
  friend class Buffer;
  void reclaim(AlignedMemory buffer, const Holder& holder);
  bool is_available_locked(const Borrower& borrower) const;
  Buffer acquire_locked(const Borrower& borrower);
  mutable std::mutex mutex_;
  std::condition_variable released_;
  std::size_t available_;  // buffers that are not borrowed
  const std::size_t reserved_for_uploads_;
  Shares shares_;
  std::vector<AlignedMemory> free_buffers_;  // allocated before, free now
};

}  // namespace dash
