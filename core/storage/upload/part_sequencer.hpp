// Parts come in order, one at a time. For each handle a process remembers the last part that it staged and
// the refs of the last two, because a client whose connection broke may lack them. One request at a time
// works on a handle. Where the memory is not enough, the store is queried. Thread-safe.
#pragma once
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"

namespace dash::storage {

class PartSequencer {
 public:
  explicit PartSequencer(const Clock& clock) : clock_(clock) {}

  // The exclusive right of one request to work on a handle. The next request waits until it is destroyed.
  class UploadLock {
   public:
    UploadLock(PartSequencer* sequencer, std::string id) : sequencer_(sequencer), id_(std::move(id)) {}
    UploadLock(UploadLock&& other) noexcept
        : sequencer_(std::exchange(other.sequencer_, nullptr)), id_(std::move(other.id_)) {}
    UploadLock& operator=(UploadLock&&) = delete;
    ~UploadLock();
    // Returns the last part that this process staged or found staged (0: the upload began here and has none),
    // or nullopt when that is unknown.
    std::optional<std::uint32_t> last() const;
    void set_begun();
    void set_staged(std::uint32_t n, std::string ref);
    // Drops what is recorded of part `n`, which may have been staged or not.
    void forget(std::uint32_t n);

   private:
    PartSequencer* sequencer_;
    std::string id_;
  };

  // Waits for the lock. Code::busy with retry_after when that takes longer than `timeout`.
  Result<UploadLock> acquire(const std::string& id, std::chrono::milliseconds timeout);
  // Returns the refs of the last two parts that staged() recorded, by part.
  std::map<std::uint32_t, std::string> recent_refs(const std::string& id);

  // More uploads than one process serves at a time. The oldest entry is dropped, and the store is queried
  // instead.
  static constexpr std::size_t kMaxRemembered = 4096;

 private:
  struct State {
    bool is_taken = false;
    std::optional<std::uint32_t> last;
    std::map<std::uint32_t, std::string> refs;
    SteadyTime used{};
  };
  void evict_oldest_locked();
  const Clock& clock_;
  std::mutex mutex_;
  std::condition_variable freed_;
  std::map<std::string, State> states_;
};

}  // namespace dash::storage
