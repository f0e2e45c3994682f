// A limit of bytes that many requests hold together. Each reserves bytes as it grows and releases them when
// it is destroyed. No user and no network gets more than ShareLimits. Thread-safe.
#pragma once
#include <cstdint>
#include <mutex>
#include <utility>

#include "core/base/shares.hpp"

namespace dash::daemon {

class MemoryLimit {
 public:
  explicit MemoryLimit(std::uint64_t bytes, ShareLimits most = {}) : free_bytes_(bytes), shares_(most) {}

  // The bytes that one request has reserved.
  class Reservation {
   public:
    Reservation() = default;
    Reservation(Reservation&& other) noexcept
        : limit_(other.limit_),
          holder_(std::move(other.holder_)),
          held_bytes_(std::exchange(other.held_bytes_, 0)) {}
    Reservation& operator=(Reservation&& other) noexcept {
      std::swap(limit_, other.limit_);
      std::swap(holder_, other.holder_);
      std::swap(held_bytes_, other.held_bytes_);
      return *this;
    }
    ~Reservation() {
      if (held_bytes_ > 0) limit_->release(holder_, held_bytes_);
    }
    // Returns false, and changes nothing, when the limit or the holder's share does not have so many left.
    // Always call it with the same limit and holder.
    [[nodiscard]] bool grow(MemoryLimit& limit, const Holder& holder, std::uint64_t bytes) {
      if (!limit.acquire(holder, bytes)) return false;
      limit_ = &limit;
      holder_ = holder;
      held_bytes_ += bytes;
      return true;
    }

   private:
    MemoryLimit* limit_ = nullptr;
    Holder holder_;
    std::uint64_t held_bytes_ = 0;
  };

 private:
  bool acquire(const Holder& holder, std::uint64_t bytes) {
    std::lock_guard lock(mutex_);
    if (free_bytes_ < bytes || !shares_.fits(holder, bytes)) return false;
    free_bytes_ -= bytes;
    shares_.add(holder, bytes);
    return true;
  }
  void release(const Holder& holder, std::uint64_t bytes) {
    std::lock_guard lock(mutex_);
    free_bytes_ += bytes;
    shares_.remove(holder, bytes);
  }
  std::mutex mutex_;
  std::uint64_t free_bytes_;
  Shares shares_;
};

}  // namespace dash::daemon
