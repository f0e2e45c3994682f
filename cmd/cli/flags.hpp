// What an action takes from its command line, declared once: the parser, the help, the man page and the
// completion all read it. A flag worth inheriting has an environment variable DASHCTL_<FLAG> (--data-dir:
// DASHCTL_DATA_DIR; a repeatable one takes a comma-separated list): the flags of an instance, a sign-in and
// the output, and those declared with from_environment(). A flag that allows a write or lowers a guard is
// declared with guard() and never has one. A flag on the command line has priority over its variable.
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.hpp"

namespace dash::cmd {

// The heading under which the pages list a flag, in this order. `own` is for flags of the action alone.
enum class FlagGroup { own, container, instance, sign_in, output };

struct Flag {
  std::string name = {};        // "--only", or "FILE" for a positional argument
  std::string short_name = {};  // "-o", or empty
  std::string value = {};       // the value's placeholder in help; empty for a switch
  std::string help = {};        // one line, no full stop
  std::vector<std::string> choices = {};
  std::optional<std::int64_t> min = {}, max = {};  // of a number
  std::string excluded_flag = {};                  // a flag that must not be given together with this one
  std::string warning = {};                        // of a switch: printed whenever it is on
  FlagGroup group = FlagGroup::own;
  bool is_required = false;
  bool is_repeatable = false;
  bool is_guard = false;
  bool is_inherited = false;  // read from the environment although it is the action's own
  std::function<Result<void>(const std::string&)> set = {};  // a switch gets "1" or "0"

  bool is_positional() const { return !name.starts_with('-'); }
  bool is_switch() const { return value.empty() && !is_positional(); }
  std::string environment() const;  // the name of its variable; empty when it has none

  Flag& required() { return is_required = true, *this; }
  // Marks a flag that allows a write or lowers a guard: never read from the environment.
  Flag& guard() { return is_guard = true, *this; }
  Flag& from_environment() { return is_inherited = true, *this; }
  Flag& in(FlagGroup heading) { return group = heading, *this; }
  Flag& one_of(std::vector<std::string> words) { return choices = std::move(words), *this; }
  Flag& at_least(std::int64_t n) { return min = n, *this; }
  Flag& at_most(std::int64_t n) { return max = n, *this; }
  // Forbids `other` on the same command line. When this flag is given, the other's environment variable is
  // not read.
  Flag& excludes(std::string other) { return excluded_flag = std::move(other), *this; }
  Flag& warns(std::string text) { return warning = std::move(text), *this; }
  Flag& brief(std::string letter) { return short_name = std::move(letter), *this; }
};

// The variables that are bound here must outlive the run. Keep them in a shared_ptr that the action's
// function owns.
class Flags {
 public:
  Flag& text(std::string name, std::string& into, std::string value, std::string help);
  Flag& number(std::string name, std::int64_t& into, std::string value, std::string help);
  Flag& toggle(std::string name, bool& into, std::string help);
  Flag& list(std::string name, std::vector<std::string>& into, std::string value, std::string help);
  // Declares a positional argument. Their order is that of declaration.
  Flag& argument(std::string name, std::string& into, std::string help);
  // Declares an argument that takes all remaining words; at least one when required().
  Flag& arguments(std::string name, std::vector<std::string>& into, std::string help);

  const std::deque<Flag>& all() const { return flags_; }

 private:
  Flag& add(Flag flag);
  std::deque<Flag> flags_;
};

}  // namespace dash::cmd
