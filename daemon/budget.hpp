// A bound on bytes that many requests hold together. Each takes its share as it grows and gives it back when
// it goes. Thread-safe.
#pragma once
#include <atomic>
#include <cstdint>
#include <utility>

namespace dash::daemon {

class Budget {
 public:
  explicit Budget(std::uint64_t bytes) : left_(static_cast<std::int64_t>(bytes)) {}

  class Share {
   public:
    Share() = default;
    Share(Share&& other) noexcept : budget_(other.budget_), taken_(std::exchange(other.taken_, 0)) {}
    Share& operator=(Share&& other) noexcept {
      std::swap(budget_, other.budget_);
      std::swap(taken_, other.taken_);
      return *this;
    }
    ~Share() {
      if (budget_) budget_->left_ += taken_;
    }
    // False, and nothing changes, when the budget does not have so much left.
    [[nodiscard]] bool grow(Budget& budget, std::uint64_t bytes) {
      auto more = static_cast<std::int64_t>(bytes);
      if (budget.left_.fetch_sub(more) < more) {
        budget.left_ += more;
        return false;
      }
      budget_ = &budget;
      taken_ += more;
      return true;
    }

   private:
    Budget* budget_ = nullptr;
    std::int64_t taken_ = 0;
  };

  std::int64_t left() const { return left_; }

 private:
  std::atomic<std::int64_t> left_;
};

}  // namespace dash::daemon
