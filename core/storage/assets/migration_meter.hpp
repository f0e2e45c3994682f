// Follows the copies of one migration: counts what they moved for the job's progress, holds them to its
// bandwidth, and ends them when the job is to stop. Thread-safe.
#pragma once
#include <atomic>
#include <mutex>

#include "core/base/clock.hpp"
#include "core/base/rate_limit.hpp"
#include "core/jobs/runner.hpp"
#include "core/storage/store/copy.hpp"

namespace dash::storage {

class MigrationMeter {
 public:
  // `bytes_per_second` of 0: no limit.
  MigrationMeter(const Clock& clock, std::uint64_t bytes_per_second, jobs::RunControl& control)
      : clock_(clock), limit_(bytes_per_second), control_(control), began_(clock.steady_now()) {}

  void begin(std::uint64_t items, std::uint64_t bytes);
  bool should_stop() const { return control_.should_stop(); }

  // One item. Its destructor counts it as done, unless it was stopped, with the bytes that were not to be
  // moved.
  class Item final : public CopyWatch {
   public:
    Item(MigrationMeter& meter, std::uint64_t size) : meter_(meter), left_(size) {}
    ~Item() override {
      if (!is_stopped_) meter_.end_item(left_);
    }
    Item(const Item&) = delete;
    Item& operator=(const Item&) = delete;
    // Code::interrupted when the job is to stop.
    Result<void> before_piece(std::uint64_t bytes) override;
    void after_piece(std::uint64_t bytes) override;

   private:
    MigrationMeter& meter_;
    std::uint64_t left_;  // guarded by meter_.mutex_
    std::atomic<bool> is_stopped_ = false;
  };

 private:
  Result<void> admit(std::uint64_t bytes);
  void end_item(std::uint64_t bytes_left);
  void report_locked();
  const Clock& clock_;
  RateLimit limit_;
  jobs::RunControl& control_;
  const SteadyTime began_;
  std::mutex mutex_;
  jobs::JobProgress progress_;
  std::uint64_t moved_ = 0;  // bytes that were really copied
};

}  // namespace dash::storage
