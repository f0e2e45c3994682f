// What posix_spawn cannot do, done by this binary between spawn and exec (hidden command `dashctl
// exec-child`): die with the parent, drop to an unprivileged user, no new privileges, no core file, and
// Landlock (landlock(7)): only named paths readable or writable, no TCP, no signals to other processes.
// Without a feature of the platform the limits are wider. A feature that is present and refuses is an error.
// For the programs of runs see confinement.hpp.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/net/process/child.hpp"
#include "core/net/process/landlock.hpp"

namespace dash::net {

inline constexpr std::string_view kExecChild = "exec-child";

struct Sandbox {
  std::vector<std::string> read;   // files and folders that it may read
  std::vector<std::string> write;  // folders in which it may do anything but execute
  bool unprivileged = true;        // root becomes nobody; other users stay as they are
  bool landlock = true;            // off: only parent death, user and no new privileges

  // For runs: see Confinement.
  std::vector<std::string> run{}, work{}, devices{};
  bool allows_tcp = false;
  bool without_capabilities = false;  // root stays root by its number, and has no capability
  std::optional<int> max_abi{};       // of Landlock; below ABI 3 with the filter of truncate_filter.hpp
  std::uint64_t memory_bytes = 0;     // of private memory, for each process; 0: no limit
  int supervised_stop_signal = 0;     // 0: not supervised
  std::chrono::seconds stop_grace{0};
  std::string end_file{};  // see SupervisorOptions
};

// Returns the user that root's children become; -1 when this process is not root.
int unprivileged_uid();
int unprivileged_gid();

// Wraps `command` to run through `launcher` (this binary: "/proc/self/exe"). Parent death means the death of
// the *thread* that starts it (prctl(2)): start it from a thread that lives on.
Command sandboxed(const Command& command, const Sandbox& sandbox,
                  const std::string& launcher = "/proc/self/exe");

// Runs the hidden command. `args` are the words after "exec-child". Returns only on failure, with an exit
// code, and for a supervised program.
int exec_child(const std::vector<std::string>& args);

}  // namespace dash::net
