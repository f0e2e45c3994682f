#include "daemon/server/connection_table.hpp"

#include <algorithm>
#include <utility>

namespace dash::daemon {

// A quarter of the limit: four networks can fill it, and none of them can take all of it while others
// connect.
bool ConnectionTable::has_share(const std::string& network) const {
  auto at = networks_.find(network);
  return at != networks_.end() && at->second >= std::max<std::size_t>(options_.limit / 4, 1);
}

template <class Matches>
bool ConnectionTable::evict_first(Matches matches) {
  auto found = std::find_if(idle_.begin(), idle_.end(), [&](Row* row) { return matches(*row); });
  if (found == idle_.end()) return false;
  auto& row = **found;
  idle_.erase(found);
  row.is_idle_ = false;
  row.is_evicted_ = true;
  remove_from_counts(row);
  row.evict_();
  return true;
}

std::unique_ptr<ConnectionTable::Row> ConnectionTable::enter(const std::string& network) {
  std::lock_guard lock(mutex_);
  bool has_room = within_limit_ < options_.limit;
  if (is_crowded() && has_share(network))
    has_room = evict_first([&](Row& row) { return !row.is_extra_ && row.network_ == network; });
  else if (!has_room)
    has_room = evict_first([](Row& row) { return !row.is_extra_; });
  if (!has_room && above_limit_ >= options_.extra && !evict_first([](Row& row) { return row.is_extra_; }))
    return nullptr;
  std::unique_ptr<Row> row(new Row(*this, {}, !has_room));
  ++row_count_;
  ++(has_room ? within_limit_ : above_limit_);
  if (has_room) count_network(*row, network);
  return row;
}

void ConnectionTable::count_network(Row& row, const std::string& network) {
  auto old = networks_.find(row.network_);
  if (old != networks_.end() && --old->second == 0) networks_.erase(old);
  row.network_ = network;
  if (!network.empty()) ++networks_[network];
}

bool ConnectionTable::assign(Row& row, const std::string& network) {
  std::lock_guard lock(mutex_);
  if (row.is_extra_ || row.is_evicted_ || row.network_ == network) return true;
  if (is_crowded() && has_share(network)) return false;
  count_network(row, network);
  return true;
}

void ConnectionTable::set_idle(Row& row) {
  std::lock_guard lock(mutex_);
  if (row.is_idle_ || row.is_evicted_) return;
  row.is_idle_ = true;
  row.idle_position_ = idle_.insert(idle_.end(), &row);
}

bool ConnectionTable::set_busy(Row& row) {
  std::lock_guard lock(mutex_);
  if (row.is_idle_) idle_.erase(row.idle_position_);
  row.is_idle_ = false;
  return !row.is_evicted_;
}

void ConnectionTable::park(Row& row) {
  std::lock_guard lock(mutex_);
  if (row.is_parked_ || row.is_extra_ || row.is_evicted_ || parked_ >= options_.parked) return;
  auto network = row.network_;
  remove_from_counts(row);
  row.network_ = std::move(network);  // for unpark()
  row.is_parked_ = true;
  ++parked_;
}

void ConnectionTable::unpark(Row& row) {
  std::lock_guard lock(mutex_);
  if (!row.is_parked_) return;
  row.is_parked_ = false;
  --parked_;
  ++within_limit_;
  count_network(row, std::exchange(row.network_, {}));
  if (within_limit_ > options_.limit) evict_first([](Row& idle) { return !idle.is_extra_; });
}

bool ConnectionTable::evict_longest_idle() {
  std::lock_guard lock(mutex_);
  return evict_first([](Row&) { return true; });
}

void ConnectionTable::remove_from_counts(Row& row) {
  if (row.is_parked_) {
    --parked_;
    return;
  }
  count_network(row, {});
  --(row.is_extra_ ? above_limit_ : within_limit_);
}

void ConnectionTable::leave(Row& row) {
  std::lock_guard lock(mutex_);
  if (row.is_idle_) idle_.erase(row.idle_position_);
  if (!row.is_evicted_) remove_from_counts(row);
  if (--row_count_ == 0) became_empty_.notify_all();
}

std::size_t ConnectionTable::count() const {
  std::lock_guard lock(mutex_);
  return row_count_;
}

bool ConnectionTable::wait_until_empty(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  return became_empty_.wait_for(lock, timeout, [&] { return row_count_ == 0; });
}

}  // namespace dash::daemon
