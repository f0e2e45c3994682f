// Parts come in order, one at a time (2-storage.md, Chunked upload). A process remembers the last part that
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

class Order {
 public:
  explicit Order(const Clock& clock) : clock_(clock) {}

  // One request's turn on a handle; the next one waits until it is gone.
  class Turn {
   public:
    Turn(Order* order, std::string id) : order_(order), id_(std::move(id)) {}
    Turn(Turn&& other) noexcept : order_(std::exchange(other.order_, nullptr)), id_(std::move(other.id_)) {}
    Turn& operator=(Turn&&) = delete;
    ~Turn();
    // The last part that this process knows to be staged (0: the upload was begun here and has none);
    // nullopt: not known.
    std::optional<std::uint32_t> last() const;
    void begun();
    void staged(std::uint32_t n, std::string ref);
    // Part `n` may have arrived, or not.
    void forget(std::uint32_t n);

   private:
    Order* order_;
    std::string id_;
  };

  // Waits for the turn; Code::busy with retry_after when that takes longer than `patience`.
  Result<Turn> take(const std::string& id, std::chrono::milliseconds patience);
  // By part, what staged() was told of the last two.
  std::map<std::uint32_t, std::string> recent_refs(const std::string& id);

  // Enough for any number of uploads that one process serves at a time; the oldest are forgotten, and the
  // store is asked.
  static constexpr std::size_t kMostRemembered = 4096;

 private:
  struct State {
    bool is_taken = false;
    std::optional<std::uint32_t> last;
    std::map<std::uint32_t, std::string> refs;
    SteadyTime used{};
  };
  void make_room_locked();
  const Clock& clock_;
  std::mutex mutex_;
  std::condition_variable freed_;
  std::map<std::string, State> states_;
};

}  // namespace dash::storage
