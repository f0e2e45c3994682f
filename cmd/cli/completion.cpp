#include <algorithm>
#include <set>

#include "cmd/cli/help.hpp"
#include "cmd/cli/page.hpp"

namespace dash::cmd {
namespace {

struct CompletionEntry {
  std::string group;
  std::string action;  // empty when the group is the command
  std::string summary;
  std::vector<Flag> flags;
  std::vector<std::string> words;  // the possible values of its arguments
};

std::vector<CompletionEntry> completion_entries(const std::vector<Group>& groups) {
  std::vector<CompletionEntry> out;
  for (const auto& group : groups) {
    for (const auto& action : group.actions) {
      if (group.is_hidden || action.is_hidden) continue;
      CompletionEntry entry{group.name, action.name, action.summary, {}, {}};
      for (const auto& section : page_of(group, action).sections)
        for (const auto& flag : section.flags) {
          if (!flag.is_positional()) entry.flags.push_back(flag);
          if (flag.is_positional()) std::ranges::copy(flag.choices, std::back_inserter(entry.words));
        }
      out.push_back(std::move(entry));
    }
  }
  return out;
}

std::string names_of_groups(const std::vector<Group>& groups) {
  std::string out;
  for (const auto& group : groups)
    if (!group.is_hidden) out += (out.empty() ? "" : " ") + group.name;
  return out;
}

std::string names_of_actions(const Group& group) {
  std::string out;
  for (const auto& action : group.actions)
    if (!action.is_hidden && !action.name.empty()) out += (out.empty() ? "" : " ") + action.name;
  return out;
}

// zsh runs the same function through its bash emulation.
std::string bash_script(const std::vector<Group>& groups) {
  std::string out =
      "_dashctl() {\n"
      "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words=\n"
      "  COMPREPLY=()\n"
      "  if (( COMP_CWORD == 1 )); then\n";
  out += fmt::format("    words=\"{} --help --version\"\n  else\n", names_of_groups(groups));
  out += "    if (( COMP_CWORD == 2 )); then\n      case ${COMP_WORDS[1]} in\n";
  for (const auto& group : groups)
    if (auto names = names_of_actions(group); !group.is_hidden && !names.empty())
      out += fmt::format("        {}) words=\"{}\" ;;\n", group.name, names);
  out +=
      "      esac\n    fi\n    if [[ -z $words ]]; then\n      case \"${COMP_WORDS[1]} ${COMP_WORDS[2]}\" "
      "in\n";
  for (const auto& entry : completion_entries(groups)) {
    auto names = entry.words;
    for (const auto& flag : entry.flags) names.push_back(flag.name);
    out += fmt::format("        \"{} {}\"*) words=\"{}\" ;;\n", entry.group, entry.action,
                       fmt::join(names, " "));
  }
  out += "      esac\n    fi\n  fi\n  case $prev in\n";
  std::set<std::string> seen;
  for (const auto& entry : completion_entries(groups))
    for (const auto& flag : entry.flags)
      if (!flag.choices.empty() && seen.insert(flag.name).second)
        out += fmt::format("    {}) words=\"{}\" ;;\n", flag.name, fmt::join(flag.choices, " "));
  return out +
         "  esac\n"
         "  COMPREPLY=( $(compgen -W \"$words\" -- \"$cur\") )\n"
         "  if [[ ${#COMPREPLY[@]} -eq 0 && $cur != -* ]]; then COMPREPLY=( $(compgen -f -- \"$cur\") ); fi\n"
         "}\ncomplete -o filenames -F _dashctl dashctl\n";
}

std::string fish_text(std::string_view text) {
  std::string out = "'";
  for (char c : text) out += c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return out + "'";
}

std::string fish_script(const std::vector<Group>& groups) {
  std::string out = "complete -c dashctl -f\n";
  for (const auto& group : groups)
    if (!group.is_hidden)
      out += fmt::format("complete -c dashctl -n __fish_use_subcommand -a {} -d {}\n", group.name,
                         fish_text(group.summary));
  for (const auto& entry : completion_entries(groups)) {
    auto condition = "__fish_seen_subcommand_from " + entry.group;
    if (!entry.action.empty()) {
      out += fmt::format("complete -c dashctl -n '{}; and not __fish_seen_subcommand_from {}' -a {} -d {}\n",
                         condition, entry.action, entry.action, fish_text(entry.summary));
      condition += "; and __fish_seen_subcommand_from " + entry.action;
    }
    if (!entry.words.empty())
      out += fmt::format("complete -c dashctl -n '{}' -a '{}'\n", condition, fmt::join(entry.words, " "));
    for (const auto& flag : entry.flags) {
      out += fmt::format("complete -c dashctl -n '{}' -l {} -d {}", condition, flag.name.substr(2),
                         fish_text(flag.help));
      if (!flag.choices.empty()) out += fmt::format(" -x -a '{}'", fmt::join(flag.choices, " "));
      if (flag.choices.empty() && !flag.is_switch()) out += " -r -F";
      out += "\n";
    }
  }
  return out;
}

}  // namespace

Result<std::string> completion_script(const std::vector<Group>& groups, std::string_view shell) {
  if (shell == "bash") return bash_script(groups);
  if (shell == "zsh") return "autoload -U +X bashcompinit && bashcompinit\n" + bash_script(groups);
  if (shell == "fish") return fish_script(groups);
  return fail(Code::usage, "completion is for bash, zsh or fish, not '{}'", shell);
}

}  // namespace dash::cmd
