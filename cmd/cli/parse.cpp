#include "cmd/cli/parse.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <numeric>

#include "core/base/environment.hpp"
#include "core/base/text.hpp"

namespace dash::cmd {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    auto diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      auto best = std::min({row[j] + 1, row[j + 1] + 1, diagonal + (a[i] != b[j])});
      diagonal = std::exchange(row[j + 1], best);
    }
  }
  return row.back();
}

// Returns "; did you mean --target?" or nothing.
std::string suggestion(std::string_view typed, const std::vector<std::string>& known) {
  auto nearest = std::ranges::min_element(known, {}, [&](const auto& k) { return edit_distance(typed, k); });
  if (nearest == known.end() || edit_distance(typed, *nearest) > 2) return "";
  return fmt::format("; did you mean `{}`?", *nearest);
}

template <class Named>
std::vector<std::string> visible_names(const std::vector<Named>& all) {
  std::vector<std::string> out;
  for (const auto& x : all)
    if (!x.is_hidden && !x.name.empty()) out.push_back(x.name);
  return out;
}

// Moves common flags before the group's name behind it.
void move_common_flags(std::vector<std::string>& words) {
  std::vector<std::string> front;
  std::size_t i = 0;
  while (i < words.size() && words[i].starts_with("--")) {
    bool takes_value = words[i] == "--output" && i + 1 < words.size();
    front.push_back(words[i++]);
    if (takes_value) front.push_back(words[i++]);
  }
  words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(i));
  auto at = std::min<std::size_t>(words.size(), 2);
  // Behind the action's name, or behind the group's when the group itself is the command.
  while (at > 1 && words[at - 1].starts_with('-')) --at;
  words.insert(words.begin() + static_cast<std::ptrdiff_t>(at), front.begin(), front.end());
}

Result<void> check_choice(const Flag& flag, const std::string& text) {
  if (flag.choices.empty() || std::ranges::find(flag.choices, text) != flag.choices.end()) return {};
  return fail(Code::usage, "{} takes {}, not '{}'", flag.name, fmt::join(flag.choices, " or "), text);
}

// `--target "$URL"` with an unset variable must not mean "no --target".
Result<void> check_value(const Flag& flag, const std::string& text) {
  if (!flag.is_positional() && text.empty()) return fail(Code::usage, "{} has an empty value", flag.name);
  return check_choice(flag, text);
}

Result<void> check_range(const Flag& flag, const std::string& text) {
  std::int64_t value = 0;
  bool is_number = std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc();
  if (!is_number) return {};
  if (flag.min && value < *flag.min)
    return fail(Code::usage, "{} takes at least {}, not {}", flag.name, *flag.min, text);
  if (flag.max && value > *flag.max)
    return fail(Code::usage, "{} takes at most {}, not {}", flag.name, *flag.max, text);
  return {};
}

Result<void> set(const Flag& flag, const std::string& text) {
  TRY(check_value(flag, text));
  TRY(flag.set(text));
  return check_range(flag, text);
}

// The parser of one action's words, with the option of each flag.
class Parser {
 public:
  explicit Parser(const Flags& flags) : flags_(flags) {
    app_.set_help_flag();
    app_.allow_extras();
    app_.prefix_command(false);
    for (const auto& flag : flags.all()) options_.push_back(add(flag));
  }

  Result<void> parse(std::vector<std::string> words) {
    TRY(refuse_bare_equals(words));
    std::ranges::reverse(words);
    try {
      app_.parse(std::move(words));
    } catch (const CLI::ParseError& e) {
      return fail(Code::usage, "{}", e.what());
    }
    // CLI11 counts the -- that ends the flags as a remaining word.
    for (const auto& extra : app_.remaining())
      if (extra != "--") return refuse_extra(extra);
    return {};
  }

  bool is_given(std::size_t i) const { return options_[i]->count() > 0; }
  const std::vector<std::string>& given(std::size_t i) const { return options_[i]->results(); }

 private:
  CLI::Option* add(const Flag& flag) {
    auto name = flag.short_name.empty() ? flag.name : flag.short_name + "," + flag.name;
    if (flag.is_switch()) return app_.add_flag(name);
    auto* option = app_.add_option(name, kIgnored);
    if (flag.is_positional() && flag.is_repeatable) return option->expected(-1);
    option->expected(1)->allow_extra_args(false);
    if (flag.is_repeatable) option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    return option;
  }

  // CLI11 would take the next word as the value of "--target=".
  static Result<void> refuse_bare_equals(const std::vector<std::string>& words) {
    for (const auto& word : words) {
      if (word == "--") break;
      if (word.starts_with("--") && word.find('=') == word.size() - 1)
        return fail(Code::usage, "{} has an empty value", word.substr(0, word.size() - 1));
    }
    return {};
  }

  Failure refuse_extra(const std::string& word) const {
    if (!word.starts_with('-') || word == "-") return fail(Code::usage, "unexpected argument '{}'", word);
    std::vector<std::string> known;
    for (const auto& flag : flags_.all())
      if (!flag.is_positional()) known.push_back(flag.name);
    auto name = word.substr(0, word.find('='));
    auto nearest = suggestion(name, known);
    return fail(Code::usage, "unknown flag '{}'{}", name,
                nearest.empty() ? " (a value that starts with - goes behind --)" : nearest);
  }

  static inline std::vector<std::string> kIgnored;
  const Flags& flags_;
  CLI::App app_;
  std::vector<CLI::Option*> options_;
};

std::string environment_of(const Flag& flag) {
  auto name = flag.environment();
  return name.empty() ? name : environment_variable(name.c_str());
}

Result<void> read_environment(const Flag& flag) {
  auto name = flag.environment();
  const auto text = environment_of(flag);
  if (text.empty()) return {};
  if (!flag.is_repeatable) return within("the environment variable " + name, set(flag, text));
  std::string_view rest = text;
  while (!rest.empty()) {
    auto item = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), item.size() + 1));
    if (!trim(item).empty())
      TRY(within("the environment variable " + name, set(flag, std::string(trim(item)))));
  }
  return {};
}

bool has_environment(const Flag& flag) { return !environment_of(flag).empty(); }

void declare_help(Flags& flags, CommonFlags& into) {
  flags.toggle("--help", into.wants_help, "show this page").guard().brief("-h").in(FlagGroup::output);
}

}  // namespace

void declare_common_flags(Flags& flags, CommonFlags& into) {
  flags.text("--output", into.output, "FORMAT", "json for one document, or NDJSON")
      .one_of({"text", "json"})
      .in(FlagGroup::output);
  flags.toggle("--quiet", into.is_quiet, "print only warnings and errors").in(FlagGroup::output);
  flags.toggle("--no-input", into.has_no_input, "fail instead of prompting").in(FlagGroup::output);
  declare_help(flags, into);
}

void declare_common_flags(const Action& action, Flags& flags, CommonFlags& into) {
  if (action.is_daemon) return declare_help(flags, into);
  declare_common_flags(flags, into);
}

Result<ParsedCommand> find_action(const std::vector<Group>& groups, std::vector<std::string> words) {
  move_common_flags(words);
  ParsedCommand parsed;
  if (words.empty() || words[0].starts_with('-')) return parsed.arguments = std::move(words), parsed;
  auto group = std::ranges::find(groups, words[0], &Group::name);
  if (group == groups.end())
    return fail(Code::usage, "unknown command '{}'{} (`dashctl --help` lists them)", words[0],
                suggestion(words[0], visible_names(groups)));
  parsed.group = &*group;
  words.erase(words.begin());
  if (group->actions.size() == 1 && group->actions[0].name.empty()) {
    parsed.action = &group->actions[0];
  } else if (!words.empty() && !words[0].starts_with('-')) {
    auto action = std::ranges::find(group->actions, words[0], &Action::name);
    if (action == group->actions.end())
      return fail(Code::usage, "unknown command '{} {}'{} (`dashctl {} --help` lists them)", group->name,
                  words[0], suggestion(words[0], visible_names(group->actions)), group->name);
    parsed.action = &*action;
    words.erase(words.begin());
  }
  parsed.arguments = std::move(words);
  return parsed;
}

Result<std::vector<std::string>> parse_flags(const Flags& flags, const std::vector<std::string>& words) {
  Parser parser(flags);
  TRY(parser.parse(words));
  std::vector<std::string> warnings;
  auto index_of = [&](const std::string& name) {
    return static_cast<std::size_t>(std::ranges::find(flags.all(), name, &Flag::name) - flags.all().begin());
  };
  for (std::size_t i = 0; i < flags.all().size(); ++i) {
    const auto& flag = flags.all()[i];
    if (!parser.is_given(i)) continue;
    for (const auto& text : parser.given(i))
      TRY(set(flag, flag.is_switch() ? (text == "false" ? "0" : "1") : text));
    bool is_on = flag.is_switch() && parser.given(i).back() != "false";
    if (is_on && !flag.warning.empty()) warnings.push_back(flag.warning);
    if (!flag.excluded_flag.empty() && parser.is_given(index_of(flag.excluded_flag)))
      return fail(Code::usage, "{} and {} exclude each other: give one", flag.name, flag.excluded_flag);
  }
  for (std::size_t i = 0; i < flags.all().size(); ++i) {
    const auto& flag = flags.all()[i];
    if (parser.is_given(i)) continue;
    bool is_excluded = false;
    for (std::size_t k = 0; k < flags.all().size(); ++k) {
      const auto& other = flags.all()[k];
      bool is_pair = other.name == flag.excluded_flag || other.excluded_flag == flag.name;
      is_excluded = is_excluded || (is_pair && parser.is_given(k));
    }
    if (is_excluded) continue;
    TRY(read_environment(flag));
    if (flag.is_required && !has_environment(flag))
      return fail(Code::usage, "{} is missing{}", flag.name,
                  flag.environment().empty() ? "" : fmt::format(" (or set {})", flag.environment()));
  }
  return warnings;
}

}  // namespace dash::cmd
