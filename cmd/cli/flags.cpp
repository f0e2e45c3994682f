#include "cmd/cli/flags.hpp"

#include <charconv>

#include "core/config/settings.hpp"

namespace dash::cmd {

std::string Flag::environment() const {
  bool is_shared = group != FlagGroup::own && group != FlagGroup::container;
  if (is_positional() || is_guard || !(is_shared || is_inherited)) return "";
  std::string out = "DASHCTL_";
  for (char c : name.substr(2))
    out += c == '-' ? '_' : static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return out;
}

Flag& Flags::add(Flag flag) { return flags_.emplace_back(std::move(flag)); }

Flag& Flags::text(std::string name, std::string& into, std::string value, std::string help) {
  Flag flag{.name = std::move(name), .value = std::move(value), .help = std::move(help)};
  flag.set = [&into](const std::string& text) -> Result<void> { return into = text, Result<void>(); };
  return add(std::move(flag));
}

Flag& Flags::number(std::string name, std::int64_t& into, std::string value, std::string help) {
  Flag flag{.name = name, .value = std::move(value), .help = std::move(help)};
  flag.set = [&into, name = std::move(name)](const std::string& text) -> Result<void> {
    const char* end = text.data() + text.size();
    auto [stop, error] = std::from_chars(text.data(), end, into);
    if (error != std::errc() || stop != end)
      return fail(Code::usage, "{} takes a whole number, not '{}'", name, text);
    return {};
  };
  return add(std::move(flag));
}

Flag& Flags::toggle(std::string name, bool& into, std::string help) {
  Flag flag{.name = name, .help = std::move(help)};
  flag.set = [&into, name = std::move(name)](const std::string& text) -> Result<void> {
    auto parsed = config::parse_flag(name, text, false);
    if (!parsed) return fail(Code::usage, "{} takes no value, or true or false, not '{}'", name, text);
    into = *parsed;
    return {};
  };
  return add(std::move(flag));
}

Flag& Flags::list(std::string name, std::vector<std::string>& into, std::string value, std::string help) {
  Flag flag{
      .name = std::move(name), .value = std::move(value), .help = std::move(help), .is_repeatable = true};
  flag.set = [&into](const std::string& text) -> Result<void> {
    return into.push_back(text), Result<void>();
  };
  return add(std::move(flag));
}

Flag& Flags::argument(std::string name, std::string& into, std::string help) {
  return text(std::move(name), into, "", std::move(help));
}

Flag& Flags::arguments(std::string name, std::vector<std::string>& into, std::string help) {
  return list(std::move(name), into, "", std::move(help));
}

}  // namespace dash::cmd
