// The open connections: the limit, the shares of networks when connections run short, which connection is
// closed for a new one, and the end of a drain. Thread-safe. A connection that waits for an unknown client is
// idle: between requests, or in the middle of a header section, a body or a response. When the table is full,
// the connection that has been idle longest is closed. A connection whose response waits for an event (a lease, a
// stream of events) is parked: neither idle nor counted, up to a number of its own.
#pragma once
#include <chrono>
#include <condition_variable>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

namespace dash::daemon {

class ConnectionTable {
 public:
  struct Options {
    std::size_t limit;
    std::size_t extra;       // above the limit, for /livez and /readyz
    std::size_t parked = 0;  // beside the limit; more of them count as before
  };

  // One connection's row. Its destructor removes it from the table.
  class Row {
   public:
    ~Row() { table_.leave(*this); }
    Row(const Row&) = delete;
    bool is_extra() const { return is_extra_; }

   private:
    friend class ConnectionTable;
    Row(ConnectionTable& table, std::string network, bool is_extra)
        : table_(table), network_(std::move(network)), is_extra_(is_extra) {}
    ConnectionTable& table_;
    std::string network_;  // that it counts for; blank: none
    const bool is_extra_;
    bool is_evicted_ = false;
    bool is_idle_ = false;
    bool is_parked_ = false;
    std::list<Row*>::iterator idle_position_;  // in idle_, while is_idle_
    std::function<void()> evict_;
  };

  explicit ConnectionTable(Options options) : options_(options) {}

  // Closes an idle connection when the table is full. Returns null when there is no place, not even above the
  // limit. The row is busy.
  std::unique_ptr<Row> enter(const std::string& network);
  // Counts the connection for `network` while it serves a request that a trusted proxy passed on; blank when
  // that is answered. Returns false when the network has its share already and connections are short.
  bool assign(Row& row, const std::string& network);
  // Call it before the first set_idle(). `evict` is called from any thread, at most once, and must not block.
  static void on_evict(Row& row, std::function<void()> evict) { row.evict_ = std::move(evict); }
  // Marks a row as idle. One that is idle already keeps its place in the queue.
  void set_idle(Row& row);
  // Returns false when it was evicted and may do nothing more.
  bool set_busy(Row& row);
  // Takes a busy row out of the counts while its response waits, unless enough are out already.
  void park(Row& row);
  // Counts a parked row again. It may then be one too many, for which the longest idle one is evicted.
  void unpark(Row& row);
  // Evicts a connection for a caller that runs out of another resource. Returns false when no connection is
  // idle.
  bool evict_longest_idle();

  std::size_t count() const;
  // Returns false when some are left after `timeout`.
  bool wait_until_empty(std::chrono::milliseconds timeout);

 private:
  template <class Matches>
  bool evict_first(Matches matches);
  bool is_crowded() const { return within_limit_ >= options_.limit - options_.limit / 4; }
  bool has_share(const std::string& network) const;
  void count_network(Row& row, const std::string& network);
  void remove_from_counts(Row& row);
  void leave(Row& row);

  const Options options_;
  mutable std::mutex mutex_;
  std::condition_variable became_empty_;
  std::size_t row_count_ = 0;     // rows, with those that were evicted and still exist
  std::size_t within_limit_ = 0;  // rows within the limit
  std::size_t above_limit_ = 0;   // rows above it
  std::size_t parked_ = 0;        // rows beside it
  std::unordered_map<std::string, std::size_t> networks_;
  std::list<Row*> idle_;  // the longest idle one is first
};

}  // namespace dash::daemon
