// What posix_spawn cannot do, done by our own binary between spawn and exec (hidden command `dashctl
// exec-child`): die with the parent, drop to an unprivileged user, no new privileges, no core file, and
// Landlock (landlock(7)): only named paths readable or writable, no TCP, no signals to others, as far as the
// kernel knows these. Each missing piece of the platform narrows less; what the platform has and refuses is
// an error.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/net/process/child.hpp"

namespace dash::net {

inline constexpr std::string_view kExecChild = "exec-child";

struct Sandbox {
  std::vector<std::string> read;   // files and folders that it may read
  std::vector<std::string> write;  // folders in which it may do anything
  bool unprivileged = true;        // root becomes nobody; others stay who they are
  bool landlock = true;            // off: only parent death, user and no new privileges
};

// The user that root's children become. -1 when we are not root.
int unprivileged_uid();
int unprivileged_gid();

// `command` wrapped to run through `launcher` (our own binary: "/proc/self/exe"). Parent death means the
// death of the *thread* that starts it (prctl(2)): start it from one that lives.
Command sandboxed(const Command& command, const Sandbox& sandbox,
                  const std::string& launcher = "/proc/self/exe");

// The hidden command's body: `args` are the words after "exec-child". Returns only on failure, with an exit
// code.
int exec_child(const std::vector<std::string>& args);

}  // namespace dash::net
