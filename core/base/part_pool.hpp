// The memory bound of the process: a fixed number of 8 MiB buffers. A part of an upload, a page of a download
// and a step of a copy each borrow one; when none is free the caller waits until its deadline and then gets
// Code::busy. Thread-safe.
#pragma once
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "core/base/error.hpp"

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
  Part(PartPool* pool, std::unique_ptr<char[]> buffer) : pool_(pool), buffer_(std::move(buffer)) {}
  void give_back();
  PartPool* pool_ = nullptr;
  std::unique_ptr<char[]> buffer_;
};

class PartPool {
 public:
  explicit PartPool(std::size_t count) : left_(count) {}
  // Empty Part when none is free right now.
  Part try_take();
  // Buffers that could be taken now.
  std::size_t available() const;
  // Waits at most `patience`; Code::busy with retry_after otherwise.
  Result<Part> take(std::chrono::milliseconds patience);

 private:
  friend class Part;
  void put_back(std::unique_ptr<char[]> buffer);
  std::unique_ptr<char[]> pop_locked();
  mutable std::mutex mutex_;
  std::condition_variable freed_;
  std::size_t left_;                             // buffers that may still be handed out
  std::vector<std::unique_ptr<char[]>> spares_;  // allocated before, free now
};

}  // namespace dash
