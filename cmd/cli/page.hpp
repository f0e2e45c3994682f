// The contents of a command's help page and manual page, taken from the command tree.
#pragma once
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "cmd/cli/tree.hpp"

namespace dash::cmd {

struct FlagSection {
  std::string heading;
  std::vector<Flag> flags;  // not to be set: their bound variables are gone
};

struct CommandPage {
  std::string command;                // "job list"
  std::string usage;                  // "dashctl job list [FLAGS]"
  std::vector<FlagSection> sections;  // arguments, the command's own flags, then the shared ones
};
CommandPage page_of(const Group& group, const Action& action);

// core/base/error.cpp gives each error its exit code.
inline constexpr std::string_view kExitCodes =
    "   0  done\n"
    "   1  another failure\n"
    "   2  usage: the command line is wrong\n"
    "   3  denied by policy\n"
    "   4  needs an approval\n"
    "   5  partial: some items failed\n"
    "   6  differences found (with --exit-code)\n"
    "   7  cannot reach the other side, or TLS failed\n"
    "   8  login or permission\n"
    "   9  integrity: malformed bundle, broken chain\n"
    "  10  policy engine unavailable, or its rules are broken\n"
    "  11  drift: the target changed since the plan\n"
    "  12  conflict\n"
    " 130  interrupted\n";

// Returns the flags of every command.
const std::deque<Flag>& common_flags();

// Returns "-o, --out PATH", "--via http|docker".
std::string flag_words(const Flag& flag);
// Returns the description of a flag, without its variable.
std::string flag_text(const Flag& flag);

// Wraps to lines of at most `width` characters. A longer word has its own line.
std::vector<std::string> wrap(std::string_view text, std::size_t width);

}  // namespace dash::cmd
