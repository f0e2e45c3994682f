// The memory bound of the process: a fixed number of 8 MiB buffers. A part of an upload, a page of a download
// and a step of a copy each borrow one; when none is free the caller waits until its deadline and then gets
// Code::busy. Some are for uploads alone, and no user and no network has more than a share. Thread-safe.
#pragma once
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/shares.hpp"

namespace dash {

// Size of an upload part, part of the API: 8 MiB raw.
inline constexpr std::size_t kPartBytes = 8u << 20;

class BufferPool;

// A borrowed buffer; goes back when destroyed. Movable, not copyable.
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
  Buffer(BufferPool* pool, std::unique_ptr<char[]> buffer, Holder holder)
      : pool_(pool), memory_(std::move(buffer)), holder_(std::move(holder)) {}
  void release();
  BufferPool* pool_ = nullptr;
  std::unique_ptr<char[]> memory_;
  Holder holder_;
};

// Who borrows. Left out: the server itself, for anything but an upload.
struct Borrower {
  Holder holder{};
  bool is_upload = false;
};

struct BufferPoolOptions {
  std::size_t count;
  std::size_t reserved_for_uploads = 0;
  ShareLimits share_limits{};
};
// Of a server with `count` buffers: a quarter is for uploads, a user has half of them at most and a network
// three quarters (many users may call through one that nobody named a trusted proxy). An inline upload needs
// two.
BufferPoolOptions server_pool_options(std::size_t count);

class BufferPool {
 public:
  explicit BufferPool(std::size_t count) : BufferPool(BufferPoolOptions{count}) {}
  explicit BufferPool(const BufferPoolOptions& options)
      : available_(options.count),
        reserved_for_uploads_(options.reserved_for_uploads),
        shares_(options.share_limits) {}
  // Empty Buffer when none is free for the borrower right now.
  Buffer try_acquire(const Borrower& borrower = {});
  // Buffers that nobody has.
  std::size_t available() const;
  // Waits at most `timeout`; Code::busy with retry_after otherwise.
  Result<Buffer> acquire(std::chrono::milliseconds timeout, const Borrower& borrower = {});

 private:
  friend class Buffer;
  void reclaim(std::unique_ptr<char[]> buffer, const Holder& holder);
  bool is_available_locked(const Borrower& borrower) const;
  Buffer acquire_locked(const Borrower& borrower);
  mutable std::mutex mutex_;
  std::condition_variable released_;
  std::size_t available_;  // buffers that may still be handed out
  const std::size_t reserved_for_uploads_;
  Shares shares_;
  std::vector<std::unique_ptr<char[]>> free_buffers_;  // allocated before, free now
};

}  // namespace dash
