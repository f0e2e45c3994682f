#include "cmd/cli/help.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "cmd/cli/groups.hpp"
#include "cmd/cli/page.hpp"

namespace dash::cmd {
namespace {

void for_each_action(const std::function<void(const Group&, const Action&)>& check) {
  for (const auto& group : root())
    for (const auto& action : group.actions)
      if (!group.is_hidden && !action.is_hidden) check(group, action);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

// The lines below "HEADING:" up to the empty one.
std::vector<std::string> section_of(const std::string& page, const std::string& heading) {
  std::vector<std::string> out;
  bool is_in = false;
  for (const auto& line : lines_of(page)) {
    if (is_in && line.empty()) break;
    if (is_in) out.push_back(line);
    if (line == heading + ":") is_in = true;
  }
  return out;
}

const std::vector<std::string> kSharedHeadings = {"Instance", "Sign-in", "Output"};

TEST(Help, ListsACommandsOwnFlagsBeforeTheSharedOnes) {
  for_each_action([](const Group& group, const Action& action) {
    std::vector<std::string> found;
    for (const auto& section : page_of(group, action).sections) found.push_back(section.heading);
    const std::vector<std::string> order = {"Arguments", "Flags",   "Container, with --via docker",
                                            "Instance",  "Sign-in", "Output"};
    std::vector<std::string> expected;
    for (const auto& heading : order)
      if (std::ranges::count(found, heading) > 0) expected.push_back(heading);
    EXPECT_EQ(found, expected) << group.name << " " << action.name;
  });
}

TEST(Help, ASharedFlagTakesOneLine) {
  for_each_action([](const Group& group, const Action& action) {
    auto help = action_help(group, action);
    for (const auto& section : page_of(group, action).sections) {
      if (std::ranges::count(kSharedHeadings, section.heading) == 0) continue;
      EXPECT_EQ(section_of(help, section.heading).size(), section.flags.size())
          << group.name << " " << action.name << " " << section.heading;
    }
  });
}

TEST(Help, FitsInEightyColumnsButForExamples) {
  for_each_action([](const Group& group, const Action& action) {
    auto help = action_help(group, action);
    auto text = help.substr(0, help.find("\nExamples:\n"));
    for (const auto& line : lines_of(text)) {
      auto is_character = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; };
      EXPECT_LE(std::ranges::count_if(line, is_character), 80) << group.name << ": " << line;
    }
  });
}

TEST(Help, EveryActionHasOneOrTwoExamplesOfItself) {
  for_each_action([](const Group& group, const Action& action) {
    EXPECT_GE(action.examples.size(), 1u) << group.name << " " << action.name;
    EXPECT_LE(action.examples.size(), 2u) << group.name << " " << action.name;
    auto help = action_help(group, action);
    for (const auto& example : action.examples) {
      EXPECT_NE(example.command.find("dashctl " + page_of(group, action).command), std::string::npos)
          << example.command;
      EXPECT_NE(help.find(":\n    " + example.command + "\n"), std::string::npos) << example.command;
    }
  });
}

TEST(Help, ADaemonTakesNoFlagsOfTheOutput) {
  auto group = serve_group();
  auto help = action_help(group, group.actions[0]);
  EXPECT_EQ(help.find("--output"), std::string::npos);
  EXPECT_EQ(help.find("--no-input"), std::string::npos);
  EXPECT_NE(help.find("--help"), std::string::npos);
}

TEST(Help, TheManualHasEveryFlagAndEveryExample) {
  auto manual = man_page(root());
  std::erase(manual, '\\');
  for_each_action([&](const Group& group, const Action& action) {
    for (const auto& example : action.examples)
      EXPECT_NE(manual.find("\n" + example.command + "\n"), std::string::npos) << example.command;
    for (const auto& section : page_of(group, action).sections)
      for (const auto& flag : section.flags)
        EXPECT_NE(manual.find("\n.B " + flag_words(flag) + "\n"), std::string::npos) << flag.name;
  });
}

TEST(Wrap, BreaksBetweenWordsAndCountsCharacters) {
  EXPECT_EQ(wrap("one two three", 7), (std::vector<std::string>{"one two", "three"}));
  EXPECT_EQ(wrap("…… ……", 5), (std::vector<std::string>{"…… ……"}));
  EXPECT_EQ(wrap("much-too-long a", 4), (std::vector<std::string>{"much-too-long", "a"}));
  EXPECT_EQ(wrap("", 4), (std::vector<std::string>{""}));
}

TEST(Help, ListsEveryCommandAndEveryExitCode) {
  auto help = root_help(root());
  for (const auto& group : root())
    if (!group.is_hidden) {
      EXPECT_NE(help.find("  " + group.name + " "), std::string::npos) << group.name;
    }
  for (int code : {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 130})
    EXPECT_NE(help.find(fmt::format("{:4}  ", code)), std::string::npos) << code;
}

}  // namespace
}  // namespace dash::cmd
