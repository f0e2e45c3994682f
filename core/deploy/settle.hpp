// Ends what a program left open: a state that it could not write, and a lock that it could not give back. Only
// called after the program has ended.
#pragma once
#include <optional>
#include <string>

#include "core/deploy/records.hpp"
#include "core/storage/settings/locked_state.hpp"

namespace dash::deploy {

// What settle() finds.
struct Leavings {
  std::optional<std::string> errored_state;  // of the work folder
  bool ended_in_order = false;               // the program was not killed: nothing is unrecorded
};

// Seals and keeps the state of `left` first, so that its work folder may go even when the rest fails. Then
// writes it, and any that was kept before, under the state's lock; and ends the lock of a program that ended in
// order. Code::conflict when somebody else holds the lock, or the state is newer by now or another one: the
// sealed state is then kept.
Result<void> settle(storage::LockedState& state, Records& records, const std::string& job_id,
                    const Leavings& left);

}  // namespace dash::deploy
