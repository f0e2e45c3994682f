#include "cmd/cli/help.hpp"

#include <algorithm>

#include "cmd/cli/page.hpp"

namespace dash::cmd {
namespace {

constexpr std::size_t kPageWidth = 80;
constexpr std::size_t kMaxLeftWidth = 35;

struct Row {
  std::string left, right;
};

std::size_t left_width(const std::vector<Row>& rows) {
  std::size_t out = 0;
  for (const auto& row : rows) out = std::max(out, row.left.size() + 4);
  return std::min(out, kMaxLeftWidth);
}

// Two columns. Text that does not fit in a line continues below, in the right column.
void add_row(std::string& out, const Row& row, std::size_t width) {
  auto lines = wrap(row.right, kPageWidth - width);
  out += "  " + row.left;
  if (row.left.size() + 4 > width)
    out += "\n" + std::string(width, ' ');
  else
    out += std::string(width - 2 - row.left.size(), ' ');
  for (std::size_t i = 0; i < lines.size(); ++i)
    out += (i == 0 ? "" : std::string(width, ' ')) + lines[i] + "\n";
}

void add_rows(std::string& out, const std::vector<Row>& rows) {
  for (const auto& row : rows) add_row(out, row, left_width(rows));
}

Row row_of(const Flag& flag) {
  return {flag_words(flag), flag_text(flag) + (flag.environment().empty() ? "" : " [env]")};
}

// The columns are the same in every section of a page.
void add_sections(std::string& out, const std::vector<FlagSection>& sections) {
  std::vector<Row> all;
  for (const auto& section : sections)
    for (const auto& flag : section.flags) all.push_back(row_of(flag));
  auto width = left_width(all);
  for (const auto& section : sections) {
    out += "\n" + section.heading + ":\n";
    for (const auto& flag : section.flags) add_row(out, row_of(flag), width);
  }
}

// Explains the variable of [env], by the first flag that has one.
void add_variables(std::string& out, const std::vector<FlagSection>& sections) {
  for (const auto& section : sections)
    for (const auto& flag : section.flags)
      if (!flag.environment().empty()) {
        out += fmt::format("\n[env]: a variable, as {} has {}\n", flag.name, flag.environment());
        return;
      }
}

void add_examples(std::string& out, const std::vector<Example>& examples) {
  if (!examples.empty()) out += "\nExamples:\n";
  for (const auto& example : examples) {
    auto exit = example.exit_code == 0 ? "" : fmt::format(" (exit code {})", example.exit_code);
    out += fmt::format("  {}{}:\n    {}\n", example.purpose, exit, example.command);
  }
}

}  // namespace

std::string root_help(const std::vector<Group>& groups) {
  std::string out =
      "dashctl moves a cloud dashboard's configuration, keeps its assets and gates its deploys by policy.\n\n"
      "Usage: dashctl COMMAND [ACTION] [FLAGS]\n\nCommands:\n";
  std::vector<Row> rows;
  for (const auto& group : groups)
    if (!group.is_hidden) rows.push_back({group.name, group.summary});
  add_rows(out, rows);
  out += "\nFlags of every command:\n";
  rows.clear();
  for (const auto& flag : common_flags()) rows.push_back(row_of(flag));
  rows.push_back({"--version", "print the version"});
  add_rows(out, rows);
  out += fmt::format("\n[env]: the flag has a variable, as --output has DASHCTL_OUTPUT\n\nExit codes:\n{}",
                     kExitCodes);
  return out;
}

std::string group_help(const Group& group) {
  auto out = fmt::format("{}.\n\nUsage: dashctl {} ACTION [FLAGS]\n\nActions:\n", group.summary, group.name);
  std::vector<Row> rows;
  for (const auto& action : group.actions)
    if (!action.is_hidden) rows.push_back({action.name, action.summary});
  add_rows(out, rows);
  return out +
         fmt::format("\n`dashctl {} ACTION --help` shows an action's flags and examples.\n", group.name);
}

std::string action_help(const Group& group, const Action& action) {
  auto page = page_of(group, action);
  auto out = fmt::format("{}.\n\nUsage: {}\n", action.summary, page.usage);
  if (!action.details.empty())
    out += fmt::format("\n{}\n", fmt::join(wrap(action.details, kPageWidth), "\n"));
  add_sections(out, page.sections);
  add_variables(out, page.sections);
  add_examples(out, action.examples);
  return out;
}

}  // namespace dash::cmd
