// A bound on bytes that many requests hold together. Each takes its share as it grows and gives it back when
// it goes; no user and no network has more than ShareLimits. Thread-safe.
#pragma once
#include <cstdint>
#include <mutex>
#include <utility>

#include "core/base/shares.hpp"

namespace dash::daemon {

class Budget {
 public:
  explicit Budget(std::uint64_t bytes, ShareLimits most = {}) : left_(bytes), shares_(most) {}

  // What one request holds.
  class Share {
   public:
    Share() = default;
    Share(Share&& other) noexcept
        : budget_(other.budget_), holder_(std::move(other.holder_)), taken_(std::exchange(other.taken_, 0)) {}
    Share& operator=(Share&& other) noexcept {
      std::swap(budget_, other.budget_);
      std::swap(holder_, other.holder_);
      std::swap(taken_, other.taken_);
      return *this;
    }
    ~Share() {
      if (taken_ > 0) budget_->put_back(holder_, taken_);
    }
    // False, and nothing changes, when the budget or the holder's share does not have so much left. Always
    // the same budget and holder.
    [[nodiscard]] bool grow(Budget& budget, const Holder& holder, std::uint64_t bytes) {
      if (!budget.take(holder, bytes)) return false;
      budget_ = &budget;
      holder_ = holder;
      taken_ += bytes;
      return true;
    }

   private:
    Budget* budget_ = nullptr;
    Holder holder_;
    std::uint64_t taken_ = 0;
  };

 private:
  bool take(const Holder& holder, std::uint64_t bytes) {
    std::lock_guard lock(mutex_);
    if (left_ < bytes || !shares_.fits(holder, bytes)) return false;
    left_ -= bytes;
    shares_.add(holder, bytes);
    return true;
  }
  void put_back(const Holder& holder, std::uint64_t bytes) {
    std::lock_guard lock(mutex_);
    left_ += bytes;
    shares_.remove(holder, bytes);
  }
  std::mutex mutex_;
  std::uint64_t left_;
  Shares shares_;
};

}  // namespace dash::daemon
