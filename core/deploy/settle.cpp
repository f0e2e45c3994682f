#include "core/deploy/settle.hpp"

#include <unistd.h>

#include <array>

#include "core/crypto/hash.hpp"
#include "core/deploy/state_server.hpp"
#include "core/storage/settings/state_document.hpp"

namespace dash::deploy {
namespace {

std::string own_lock_info(const std::string& job_id) {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  auto now = format_iso(SystemClock().now());
  return dump_json(OrderedJson{{"ID", crypto::uuid4()},
                               {"Operation", "push"},
                               {"Info", "job " + job_id},
                               {"Who", fmt::format("dashctl@{}", host.data())},
                               {"Version", ""},
                               {"Created", now},
                               {"Path", ""}});
}

// Takes over the lock of the program that has ended, or takes a new one.
Result<void> take_lock(storage::LockedState& state, Records& records, const std::string& job_id,
                       const std::string& left_lock) {
  if (!state.lock_id().empty()) return {};
  if (!left_lock.empty() && TRY(state.adopt(left_lock))) return {};
  if (auto held = TRY(state.lock(own_lock_info(job_id))))
    return fail(Code::conflict,
                "the state {} is locked by {}: when that program has ended, end its lock with "
                "dashctl storage state unlock {} {}",
                state.shown_key(), holder_text(*held), job_id, held->id);
  return records.set_lock(job_id, state.lock_id());
}

Result<void> end_lock(storage::LockedState& state, Records& records, const std::string& job_id) {
  if (state.lock_id().empty()) return {};
  TRY(state.unlock());
  return records.set_lock(job_id, "");
}

Result<void> write_kept_state(storage::LockedState& state, Records& records, const std::string& job_id,
                              const std::string& kept, const std::string& left_lock) {
  auto current = TRY(state.read());
  auto relation = storage::relation_of(kept, current);
  if (relation == storage::StateRelation::newer_or_other)
    return fail(Code::conflict,
                "the state that a program could not write is kept, and is not written over {}: {}",
                state.shown_key(), storage::conflict_text(kept, current));
  if (relation == storage::StateRelation::older) {
    TRY(take_lock(state, records, job_id, left_lock));
    auto written = state.write(kept);
    if (!written) return written;
  }
  TRY(records.set_resources(job_id, static_cast<std::int64_t>(managed_resources(kept).size())));
  return records.set_errored_state(job_id, std::nullopt);
}

}  // namespace

Result<void> settle(storage::LockedState& state, Records& records, const std::string& job_id,
                    const Leavings& left) {
  if (left.errored_state) {
    TRY(records.set_errored_state(job_id, *left.errored_state));
    auto count = managed_resources(*left.errored_state).size();
    TRY(records.set_resources(job_id, static_cast<std::int64_t>(count)));
  }
  auto record = TRY(records.find(job_id));
  if (!record) return {};
  // The lock of a program that was killed stays, with its name: somebody has to look at the provider.
  auto kept = TRY(records.errored_state(job_id));
  bool is_ended = left.ended_in_order || kept;
  auto left_lock = is_ended ? record->lock_id : std::string();
  if (kept) TRY(write_kept_state(state, records, job_id, *kept, left_lock));
  if (!left_lock.empty() && state.lock_id().empty() && !TRY(state.adopt(left_lock)))
    TRY(records.set_lock(job_id, ""));
  return is_ended || record->lock_id != state.lock_id() ? end_lock(state, records, job_id) : Result<void>();
}

}  // namespace dash::deploy
