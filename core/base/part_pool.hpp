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

// Upload part size fixed by the spec (2-storage.md, Limits): 8 MiB raw.
inline constexpr std::size_t kPartBytes = 8u << 20;

class PartPool;

// A borrowed buffer; goes back when destroyed. Movable, not copyable.
class Part {
 public:
  Part() = default;
  Part(Part&& other) noexcept;
  Part& operator=(Part&& other) noexcept;
  ~Part();

  char* data() { return buffer_.get(); }
  const char* data() const { return buffer_.get(); }
  std::span<char> span() { return {buffer_.get(), kPartBytes}; }
  explicit operator bool() const { return buffer_ != nullptr; }

 private:
  friend class PartPool;
  Part(PartPool* pool, std::unique_ptr<char[]> buffer, Holder holder)
      : pool_(pool), buffer_(std::move(buffer)), holder_(std::move(holder)) {}
  void give_back();
  PartPool* pool_ = nullptr;
  std::unique_ptr<char[]> buffer_;
  Holder holder_;
};

// Who borrows. Left out: the server itself, for anything but an upload.
struct Borrower {
  Holder holder{};
  bool is_upload = false;
};

struct PartPoolOptions {
  std::size_t count;
  std::size_t reserved_for_uploads = 0;
  ShareLimits most{};
};
// Of a server with `count` buffers: a quarter is for uploads, a user has half of them at most and a network
// three quarters (many users may call through one that nobody named a trusted proxy). An inline upload needs
// two.
PartPoolOptions shared_by_callers(std::size_t count);

class PartPool {
 public:
  explicit PartPool(std::size_t count) : PartPool(PartPoolOptions{count}) {}
  explicit PartPool(const PartPoolOptions& options)
      : left_(options.count), reserved_(options.reserved_for_uploads), shares_(options.most) {}
  // Empty Part when none is free for the borrower right now.
  Part try_take(const Borrower& borrower = {});
  // Buffers that nobody has.
  std::size_t available() const;
  // Waits at most `patience`; Code::busy with retry_after otherwise.
  Result<Part> take(std::chrono::milliseconds patience, const Borrower& borrower = {});

 private:
  friend class Part;
  void put_back(std::unique_ptr<char[]> buffer, const Holder& holder);
  bool has_one_for_locked(const Borrower& borrower) const;
  Part pop_locked(const Borrower& borrower);
  mutable std::mutex mutex_;
  std::condition_variable freed_;
  std::size_t left_;  // buffers that may still be handed out
  const std::size_t reserved_;
  Shares shares_;
  std::vector<std::unique_ptr<char[]>> spares_;  // allocated before, free now
};

}  // namespace dash
