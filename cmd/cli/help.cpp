#include "cmd/cli/help.hpp"

#include <algorithm>

#include "cmd/cli/parse.hpp"

namespace dash::cmd {
namespace {

constexpr std::string_view kExitCodes =
    "Exit codes:\n"
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

// Two columns; a name that is too long stands on a line of its own.
void add_row(std::string& out, std::string_view left, std::string_view right) {
  constexpr std::size_t kLeft = 30;
  if (left.size() + 2 > kLeft) {
    out += fmt::format("  {}\n  {:{}}{}\n", left, "", kLeft, right);
  } else {
    out += fmt::format("  {:{}}{}\n", left, kLeft, right);
  }
}

std::string left_column(const Flag& flag) {
  auto out = flag.short_name.empty() ? flag.name : flag.short_name + ", " + flag.name;
  if (!flag.value.empty()) out += " " + flag.value;
  return out;
}

std::string right_column(const Flag& flag) {
  auto out = flag.help;
  if (!flag.choices.empty()) out += fmt::format(" ({})", fmt::join(flag.choices, ", "));
  if (flag.is_repeatable && !flag.is_positional()) out += "; repeatable";
  if (flag.is_required && !flag.is_positional()) out += "; required";
  if (auto name = flag.environment(); !name.empty()) out += fmt::format(" [{}]", name);
  return out;
}

Flags flags_of(const Action& action) {
  Flags flags;
  (void)action.declare(flags);
  return flags;
}

std::string command_of(const Group& group, const Action& action) {
  return action.name.empty() ? group.name : group.name + " " + action.name;
}

std::string usage_line(const Group& group, const Action& action, const Flags& flags) {
  auto out = "dashctl " + command_of(group, action);
  for (const auto& flag : flags.all()) {
    if (!flag.is_positional()) continue;
    auto name = flag.is_repeatable ? flag.name + "…" : flag.name;
    out += flag.is_required ? " " + name : " [" + name + "]";
  }
  return out + " [FLAGS]";
}

// The frame's own flags, for pages; what they bind does not outlive the page.
const std::deque<Flag>& common_flags() {
  static CommonFlags values;
  static Flags flags = [] {
    Flags f;
    declare_common_flags(f, values);
    return f;
  }();
  return flags.all();
}

}  // namespace

std::string root_help(const std::vector<Group>& groups) {
  std::string out =
      "dashctl moves a cloud dashboard's configuration, keeps its assets and gates its deploys by policy.\n\n"
      "Usage: dashctl COMMAND [ACTION] [FLAGS]\n\nCommands:\n";
  for (const auto& group : groups)
    if (!group.is_hidden) add_row(out, group.name, group.summary);
  out += "\nFlags of every command:\n";
  for (const auto& flag : common_flags()) add_row(out, left_column(flag), right_column(flag));
  add_row(out, "--version", "print the version");
  out +=
      "\nEvery flag has an environment variable DASHCTL_<FLAG>, except those that allow a write or lower a "
      "guard.\n\n";
  out += kExitCodes;
  return out;
}

std::string group_help(const Group& group) {
  auto out = fmt::format("{}.\n\nUsage: dashctl {} ACTION [FLAGS]\n\nActions:\n", group.summary, group.name);
  for (const auto& action : group.actions)
    if (!action.is_hidden) add_row(out, action.name, action.summary);
  return out + fmt::format("\ndashctl {} ACTION --help shows an action's flags.\n", group.name);
}

std::string action_help(const Group& group, const Action& action) {
  auto flags = flags_of(action);
  auto out = fmt::format("{}.\n\nUsage: {}\n", action.summary, usage_line(group, action, flags));
  if (!action.details.empty()) out += "\n" + action.details + "\n";
  out += "\nFlags:\n";
  for (const auto& flag : flags.all()) add_row(out, left_column(flag), right_column(flag));
  for (const auto& flag : common_flags()) add_row(out, left_column(flag), right_column(flag));
  return out;
}

std::string man_page(const std::vector<Group>& groups) {
  auto escaped = [](std::string_view text) {
    std::string out;
    for (char c : text) out += c == '-' ? "\\-" : c == '\\' ? "\\e" : std::string(1, c);
    return out;
  };
  std::string out =
      ".TH DASHCTL 1\n.SH NAME\ndashctl \\- configuration, assets and policy of a cloud dashboard\n"
      ".SH SYNOPSIS\n.B dashctl\nCOMMAND [ACTION] [FLAGS]\n.SH COMMANDS\n";
  for (const auto& group : groups) {
    for (const auto& action : group.actions) {
      if (group.is_hidden || action.is_hidden) continue;
      auto flags = flags_of(action);
      out += fmt::format(".SS {}\n{}.\n", escaped(usage_line(group, action, flags)), escaped(action.summary));
      if (!action.details.empty()) out += ".PP\n" + escaped(action.details) + "\n";
      for (const auto& flag : flags.all())
        out += fmt::format(".TP\n.B {}\n{}\n", escaped(left_column(flag)), escaped(right_column(flag)));
    }
  }
  out += ".SH FLAGS OF EVERY COMMAND\n";
  for (const auto& flag : common_flags())
    out += fmt::format(".TP\n.B {}\n{}\n", escaped(left_column(flag)), escaped(right_column(flag)));
  return out + ".SH EXIT STATUS\n.nf\n" + escaped(std::string(kExitCodes)) + ".fi\n";
}

}  // namespace dash::cmd
