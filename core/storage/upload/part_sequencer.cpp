#include "core/storage/upload/part_sequencer.hpp"

namespace dash::storage {

PartSequencer::UploadLock::~UploadLock() {
  if (!sequencer_) return;
  {
    std::lock_guard lock(sequencer_->mutex_);
    sequencer_->states_[id_].is_taken = false;
  }
  sequencer_->freed_.notify_all();
}

std::optional<std::uint32_t> PartSequencer::UploadLock::last() const {
  std::lock_guard lock(sequencer_->mutex_);
  return sequencer_->states_[id_].last;
}

void PartSequencer::UploadLock::set_begun() {
  std::lock_guard lock(sequencer_->mutex_);
  sequencer_->states_[id_].last = 0;
}

void PartSequencer::UploadLock::set_staged(std::uint32_t n, std::string ref) {
  std::lock_guard lock(sequencer_->mutex_);
  auto& state = sequencer_->states_[id_];
  state.last = n;
  state.refs[n] = std::move(ref);
  while (state.refs.size() > 2) state.refs.erase(state.refs.begin());
}

void PartSequencer::UploadLock::forget(std::uint32_t n) {
  std::lock_guard lock(sequencer_->mutex_);
  sequencer_->states_[id_].last.reset();
  sequencer_->states_[id_].refs.erase(n);
}

std::map<std::uint32_t, std::string> PartSequencer::recent_refs(const std::string& id) {
  std::lock_guard lock(mutex_);
  auto it = states_.find(id);
  return it == states_.end() ? std::map<std::uint32_t, std::string>() : it->second.refs;
}

Result<PartSequencer::UploadLock> PartSequencer::acquire(const std::string& id,
                                                         std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  if (!states_.contains(id)) evict_oldest_locked();
  if (!freed_.wait_for(lock, timeout, [&] { return !states_[id].is_taken; }))
    return Failure(busy(std::chrono::seconds(5),
                        "another part of this upload is still being stored; send parts one at a time"));
  auto& state = states_[id];
  state.is_taken = true;
  state.used = clock_.steady_now();
  return UploadLock(this, id);
}

void PartSequencer::evict_oldest_locked() {
  while (states_.size() >= kMaxRemembered) {
    auto oldest = states_.end();
    for (auto it = states_.begin(); it != states_.end(); ++it)
      if (!it->second.is_taken && (oldest == states_.end() || it->second.used < oldest->second.used))
        oldest = it;
    if (oldest == states_.end()) return;
    states_.erase(oldest);
  }
}

}  // namespace dash::storage
