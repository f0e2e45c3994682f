#include <algorithm>
#include <array>

#include "cmd/cli/help.hpp"
#include "cmd/cli/page.hpp"

namespace dash::cmd {
namespace {

// The variables that no flag has.
constexpr std::array kVariables{
    std::pair{"POLICY_BINARY", "the policy engine, Open Policy Agent"},
    std::pair{"ADMISSION_POLICY_DIR", "folder of the rules instead of policy/ in the data folder"},
    std::pair{"DASHCTL_POLICY_BUILD_SECONDS",
              "limit for the start of the policy engine; 5 by default, at most 60"},
    std::pair{"DASHCTL_EXECUTOR_DIR", "folder of the executors instead of deploy/ in the data folder"},
    std::pair{"DASHCTL_LOCAL_ROOTS", "folders, separated by colons, that storage_local_path may name"},
    std::pair{"DASHCTL_ANCHOR_FILE", "file for the checkpoints of the audit log, outside of the data folder"},
    std::pair{"DASHCTL_ANCHOR_STORE", "1 stores these checkpoints in the active backend too"},
    std::pair{"NO_COLOR", "no bold text on a terminal"}};

// Escapes text for man(7): a hyphen stays one, and no line is read as a request.
std::string roff_text(std::string_view text) {
  std::string out = text.starts_with('.') || text.starts_with('\'') ? "\\&" : "";
  for (char c : text) out += c == '-' ? "\\-" : c == '\\' ? "\\e" : std::string(1, c);
  return out;
}

void add_flag(std::string& out, const Flag& flag) {
  auto variable = flag.environment().empty() ? "" : fmt::format(" [{}]", flag.environment());
  out += fmt::format(".TP\n.B {}\n{}\n", roff_text(flag_words(flag)), roff_text(flag_text(flag) + variable));
}

void add_command(std::string& out, const Action& action, const CommandPage& page,
                 std::vector<FlagSection>& shared) {
  out += fmt::format(".SS {}\n{}.\n", roff_text(page.usage), roff_text(action.summary));
  if (!action.details.empty()) out += ".PP\n" + roff_text(action.details) + "\n";
  std::vector<std::string> headings;
  for (const auto& section : page.sections) {
    if (section.flags[0].is_positional() || section.flags[0].group == FlagGroup::own ||
        section.flags[0].group == FlagGroup::container) {
      for (const auto& flag : section.flags) add_flag(out, flag);
      continue;
    }
    headings.push_back(section.heading);
    auto known = std::ranges::find(shared, section.heading, &FlagSection::heading);
    if (known == shared.end()) known = shared.insert(shared.end(), {section.heading, {}});
    for (const auto& flag : section.flags)
      if (std::ranges::find(known->flags, flag.name, &Flag::name) == known->flags.end())
        known->flags.push_back(flag);
  }
  out += fmt::format(".PP\nShared flags: {}.\n", roff_text(fmt::format("{}", fmt::join(headings, ", "))));
  for (const auto& example : action.examples)
    out += fmt::format(".PP\n{}{}:\n.PP\n.nf\n.RS\n{}\n.RE\n.fi\n", roff_text(example.purpose),
                       example.exit_code == 0 ? "" : fmt::format(" (exit code {})", example.exit_code),
                       roff_text(example.command));
}

}  // namespace

std::string man_page(const std::vector<Group>& groups) {
  std::string out =
      ".TH DASHCTL 1\n.SH NAME\ndashctl \\- configuration, assets and policy of a cloud dashboard\n"
      ".SH SYNOPSIS\n.B dashctl\nCOMMAND [ACTION] [FLAGS]\n.SH COMMANDS\n";
  std::vector<FlagSection> shared;
  for (const auto& group : groups)
    for (const auto& action : group.actions)
      if (!group.is_hidden && !action.is_hidden) add_command(out, action, page_of(group, action), shared);
  std::ranges::sort(shared, {}, [](const FlagSection& section) { return section.flags[0].group; });
  out += ".SH SHARED FLAGS\n";
  for (const auto& section : shared) {
    out += ".SS " + roff_text(section.heading) + "\n";
    for (const auto& flag : section.flags) add_flag(out, flag);
  }
  out += ".SH ENVIRONMENT\nFlags name their variables in brackets. Others:\n";
  for (const auto& [name, text] : kVariables) out += fmt::format(".TP\n.B {}\n{}\n", name, roff_text(text));
  out += ".SH EXIT STATUS\n.nf\n" + roff_text(kExitCodes) + ".fi\n";
  return out;
}

}  // namespace dash::cmd
