// Commands of the shell for tests of child processes.
#pragma once
#include <gtest/gtest.h>

#include <filesystem>

#include "core/net/process/child.hpp"
#include "core/net/process/exec_child.hpp"
#include "tests/support/wait_until.hpp"

namespace dash::net {

inline constexpr std::chrono::milliseconds kLong{20'000};
inline Command shell(std::string script) { return {{"/bin/sh", "-c", std::move(script)}, {}, ""}; }

// Runs until killed, and has made `marker` once it is up.
inline Command sleeper(const std::string& marker) {
  return sandboxed(shell("echo up > " + marker + "; sleep 1000"), {{}, {}, false, false});
}

inline void wait_for(const std::string& path) {
  EXPECT_TRUE(wait_until([&] { return std::filesystem::exists(path); }));
}

}  // namespace dash::net
