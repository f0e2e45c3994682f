#include "core/storage/upload/order.hpp"

namespace dash::storage {

Order::Turn::~Turn() {
  if (!order_) return;
  {
    std::lock_guard lock(order_->mutex_);
    order_->states_[id_].is_taken = false;
  }
  order_->freed_.notify_all();
}

std::optional<std::uint32_t> Order::Turn::last() const {
  std::lock_guard lock(order_->mutex_);
  return order_->states_[id_].last;
}

void Order::Turn::begun() {
  std::lock_guard lock(order_->mutex_);
  order_->states_[id_].last = 0;
}

void Order::Turn::staged(std::uint32_t n, std::string ref) {
  std::lock_guard lock(order_->mutex_);
  auto& state = order_->states_[id_];
  state.last = n;
  state.refs[n] = std::move(ref);
  while (state.refs.size() > 2) state.refs.erase(state.refs.begin());
}

void Order::Turn::forget(std::uint32_t n) {
  std::lock_guard lock(order_->mutex_);
  order_->states_[id_].last.reset();
  order_->states_[id_].refs.erase(n);
}

std::map<std::uint32_t, std::string> Order::recent_refs(const std::string& id) {
  std::lock_guard lock(mutex_);
  auto it = states_.find(id);
  return it == states_.end() ? std::map<std::uint32_t, std::string>() : it->second.refs;
}

Result<Order::Turn> Order::take(const std::string& id, std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  if (!states_.contains(id)) make_room_locked();
  if (!freed_.wait_for(lock, patience, [&] { return !states_[id].is_taken; })) {
    Error error{Code::busy,
                "another part of this upload is still being stored; send parts one at a time",
                {},
                std::chrono::seconds(5),
                {}};
    return Failure(std::move(error));
  }
  auto& state = states_[id];
  state.is_taken = true;
  state.used = clock_.steady_now();
  return Turn(this, id);
}

void Order::make_room_locked() {
  while (states_.size() >= kMostRemembered) {
    auto oldest = states_.end();
    for (auto it = states_.begin(); it != states_.end(); ++it)
      if (!it->second.is_taken && (oldest == states_.end() || it->second.used < oldest->second.used))
        oldest = it;
    if (oldest == states_.end()) return;
    states_.erase(oldest);
  }
}

}  // namespace dash::storage
