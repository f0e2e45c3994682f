#include <signal.h>

#include <algorithm>
#include <cstdlib>

#include "cmd/cli/groups.hpp"
#include "cmd/cli/help.hpp"
#include "cmd/cli/interrupt.hpp"
#include "cmd/cli/parse.hpp"
#include "cmd/cli/printer.hpp"
#include "core/base/environment.hpp"
#include "core/base/log.hpp"
#include "core/net/process/exec_child.hpp"
#include "core/storage/store/smb/worker.hpp"

namespace dash::cmd {
namespace {

// Read before the flags are parsed, so that their errors have the requested format too.
Format format_in(const std::vector<std::string>& words) {
  auto format = environment_variable("DASHCTL_OUTPUT");
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--") break;
    if (words[i] == "--output" && i + 1 < words.size()) format = words[i + 1];
    if (words[i].starts_with("--output=")) format = words[i].substr(9);
  }
  return format == "json" ? Format::json : Format::text;
}

// Prints a log line of core as a sentence, for the user at a shell. Lines of the policy engine are left out:
// they come back as the error of the command itself.
void print_log_line(std::string_view line) {
  auto entry = parse_json(line).value_or(Json::object());
  auto event = string_member(entry, "event").value_or("");
  if (event.starts_with("policy.")) return;
  std::string text = event;
  for (const auto& [name, value] : entry.items())
    if (name != "ts" && name != "level" && name != "event")
      text += fmt::format("; {}: {}", name, value.is_string() ? value.get<std::string>() : dump_json(value));
  Printer(Format::text, false).warn("{}", one_line(text));
}

// Code that reads an instance's response relies on its shape. A response of another shape ends here, and so
// do bugs.
Result<void> catch_exceptions(const Run& action, Context& context) {
  try {
    return action(context);
  } catch (const Json::exception& e) {
    if (context.last_url.empty()) return fail(Code::internal, "an internal error: {}", e.what());
    return fail(Code::upstream, "{} answered in an unknown shape: is this the address of a dashboard?",
                context.last_url);
  } catch (const std::exception& e) {
    return fail(Code::internal, "an internal error: {}", e.what());
  }
}

Result<int> run_action(const ParsedCommand& parsed, Format format) {
  Flags flags;
  CommonFlags common;
  auto action = parsed.action->declare(flags);
  declare_common_flags(*parsed.action, flags, common);
  auto warnings = TRY(parse_flags(flags, parsed.arguments));
  Printer out(format, common.is_quiet);
  for (const auto& warning : warnings) out.warn("{}", warning);
  Context context{out, !common.has_no_input};
  if (!parsed.action->is_daemon) {
    // A command prints its own messages; a daemon logs.
    log::set_level(log::Level::warning);
    log::set_sink(print_log_line);
    watch_interrupts(out.is_json());
  }
  return out.finish(catch_exceptions(action, context));
}

Result<int> print_version(const std::vector<std::string>& words, Format format) {
  Flags flags;
  CommonFlags common;
  bool wants_version = false;
  declare_common_flags(flags, common);
  flags.toggle("--version", wants_version, "").guard();
  TRY(parse_flags(flags, words));
  Printer out(format, common.is_quiet);
  out.line("dashctl {}", DASH_VERSION);
  out.document({{"version", DASH_VERSION}});
  return out.finish({});
}

bool has_help_flag(const std::vector<std::string>& words) {
  auto end = std::ranges::find(words, "--");
  return std::any_of(words.begin(), end, [](const std::string& w) { return w == "--help" || w == "-h"; });
}

// Help that was not requested is printed to stderr, before the error.
Failure incomplete_command(const std::string& help, const std::string& message) {
  Printer(Format::text, false).note("{}", help);
  return fail(Code::usage, "{}", message);
}

Result<int> dispatch(const std::vector<Group>& groups, const std::vector<std::string>& words, Format format) {
  Printer out(Format::text, false);
  auto print = [&](const std::string& text) { return out.raw(text), out.finish({}); };
  auto parsed = TRY(find_action(groups, words));
  if (!parsed.group && std::ranges::count(words, "--version") > 0)
    return print_version(parsed.arguments, format);
  bool wants_help = has_help_flag(words);
  if (!parsed.group && !wants_help) return incomplete_command(root_help(groups), "name a command");
  if (!parsed.group) return print(root_help(groups));
  if (wants_help)
    return print(parsed.action ? action_help(*parsed.group, *parsed.action) : group_help(*parsed.group));
  if (!parsed.action)
    return incomplete_command(group_help(*parsed.group), "name an action of dashctl " + parsed.group->name);
  return run_action(parsed, format);
}

// `dashctl help migrate export` becomes `dashctl migrate export --help`.
void normalize_help(std::vector<std::string>& words) {
  if (words.empty() || words[0] != "help") return;
  words.erase(words.begin());
  words.emplace_back("--help");
}

}  // namespace

int run(std::vector<std::string> words) {
  // Comes first, because its words are for another program.
  if (!words.empty() && words[0] == storage::smb::kSmbWorker) return storage::smb::run_worker();
  if (!words.empty() && words[0] == net::kExecChild) return net::exec_child({words.begin() + 1, words.end()});
  // A closed reader must not end an import halfway. Printer notices a lost stdout by its write.
  ::signal(SIGPIPE, SIG_IGN);
  // A write past the limit of a file's size fails like one to a full disk, and ends no server.
  ::signal(SIGXFSZ, SIG_IGN);
  normalize_help(words);
  auto format = format_in(words);
  auto code = dispatch(root(), words, format);
  return code ? *code : Printer(format, false).finish(Failure(code.error()));
}

}  // namespace dash::cmd
