// Parts come in order, one at a time. A process remembers the last part that
// it staged for each handle, with the refs of the last two, whose answers a client that was cut off may lack;
// it lets one request at a time work on a handle. What the memory does not settle is asked of the store.
// Thread-safe.
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

  // One request's turn on a handle; the next one waits until it is gone.
  class UploadLock {
   public:
    UploadLock(PartSequencer* sequencer, std::string id) : sequencer_(sequencer), id_(std::move(id)) {}
    UploadLock(UploadLock&& other) noexcept
        : sequencer_(std::exchange(other.sequencer_, nullptr)), id_(std::move(other.id_)) {}
    UploadLock& operator=(UploadLock&&) = delete;
    ~UploadLock();
    // The last part that this process knows to be staged (0: the upload was begun here and has none);
    // nullopt: not known.
    std::optional<std::uint32_t> last() const;
    void set_begun();
    void set_staged(std::uint32_t n, std::string ref);
    // Part `n` may have arrived, or not.
    void forget(std::uint32_t n);

   private:
    PartSequencer* sequencer_;
    std::string id_;
  };

  // Waits for the turn; Code::busy with retry_after when that takes longer than `timeout`.
  Result<UploadLock> acquire(const std::string& id, std::chrono::milliseconds timeout);
  // By part, what staged() was told of the last two.
  std::map<std::uint32_t, std::string> recent_refs(const std::string& id);

  // Enough for any number of uploads that one process serves at a time; the oldest are forgotten, and the
  // store is asked.
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
