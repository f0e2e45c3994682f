#include "cmd/cli/page.hpp"

#include <fmt/ranges.h>

#include <array>

#include "cmd/cli/parse.hpp"

namespace dash::cmd {
namespace {

std::string usage_line(const std::string& command, const Flags& flags) {
  auto out = "dashctl " + command;
  for (const auto& flag : flags.all()) {
    if (!flag.is_positional()) continue;
    auto name = flag.is_repeatable ? flag.name + "…" : flag.name;
    out += flag.is_required ? " " + name : " [" + name + "]";
  }
  return out + " [FLAGS]";
}

void add_section(std::vector<FlagSection>& out, std::string heading, const Flags& flags,
                 const std::function<bool(const Flag&)>& belongs) {
  FlagSection section{std::move(heading), {}};
  for (const auto& flag : flags.all())
    if (belongs(flag)) section.flags.push_back(flag);
  if (!section.flags.empty()) out.push_back(std::move(section));
}

std::size_t character_count(std::string_view text) {
  std::size_t count = 0;
  for (char c : text) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return count;
}

}  // namespace

CommandPage page_of(const Group& group, const Action& action) {
  Flags flags;
  CommonFlags common;
  (void)action.declare(flags);
  declare_common_flags(action, flags, common);
  CommandPage page;
  page.command = action.name.empty() ? group.name : group.name + " " + action.name;
  page.usage = usage_line(page.command, flags);
  add_section(page.sections, "Arguments", flags, &Flag::is_positional);
  static constexpr std::array kHeadings{
      std::pair{FlagGroup::own, "Flags"}, std::pair{FlagGroup::container, "Container, with --via docker"},
      std::pair{FlagGroup::instance, "Instance"}, std::pair{FlagGroup::sign_in, "Sign-in"},
      std::pair{FlagGroup::output, "Output"}};
  for (const auto& [in, heading] : kHeadings)
    add_section(page.sections, heading, flags,
                [in](const Flag& flag) { return flag.group == in && !flag.is_positional(); });
  return page;
}

const std::deque<Flag>& common_flags() {
  static CommonFlags values;
  static Flags flags = [] {
    Flags f;
    declare_common_flags(f, values);
    return f;
  }();
  return flags.all();
}

std::string flag_words(const Flag& flag) {
  auto out = flag.short_name.empty() ? flag.name : flag.short_name + ", " + flag.name;
  if (flag.is_positional() || flag.value.empty()) return out;
  return out + " " + (flag.choices.empty() ? flag.value : fmt::format("{}", fmt::join(flag.choices, "|")));
}

std::string flag_text(const Flag& flag) {
  auto out = flag.help;
  if (flag.is_repeatable && !flag.is_positional()) out += "; repeatable";
  if (flag.is_required && !flag.is_positional()) out += "; required";
  return out;
}

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
  std::vector<std::string> lines(1);
  while (!text.empty()) {
    auto word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    auto& line = lines.back();
    if (line.empty())
      line = word;
    else if (character_count(line) + 1 + character_count(word) <= width)
      line += fmt::format(" {}", word);
    else
      lines.emplace_back(word);
  }
  return lines;
}

}  // namespace dash::cmd
