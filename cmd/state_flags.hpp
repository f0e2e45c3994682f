// The flags of commands that change settings: what to do with infrastructure state on the active backend; and
// what these commands print about it.
#pragma once
#include "cmd/cli/flags.hpp"
#include "cmd/cli/printer.hpp"
#include "core/setup/live_state.hpp"

namespace dash::cmd {

inline void declare_state(Flags& flags, setup::StateOptions& state) {
  flags
      .toggle("--migrate-state", state.migrate,
              "copy infrastructure state when the change makes another backend active")
      .guard();
  flags
      .list("--overwrite-state", state.overwrite, "JOB",
            "replace this job's state on the other backend although it could be newer")
      .guard();
  flags
      .toggle("--abandon-state", state.abandon,
              "leave infrastructure state on a backend that cannot be reached")
      .guard();
}

inline void print_left_states(Printer& out, const std::vector<storage::LeftState>& left) {
  for (const auto& state : left) out.line("left on {}: {}", printable(state.backend), printable(state.key));
}

}  // namespace dash::cmd
