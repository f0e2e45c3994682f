#include <signal.h>

#include <algorithm>
#include <cstdlib>

#include "cmd/cli/groups.hpp"
#include "cmd/cli/help.hpp"
#include "cmd/cli/interrupt.hpp"
#include "cmd/cli/output.hpp"
#include "cmd/cli/parse.hpp"
#include "core/base/log.hpp"
#include "core/net/process/exec_child.hpp"
#include "core/storage/store/smb/worker.hpp"

namespace dash::cmd {
namespace {

// Before the flags are read, so that even their errors come in the format that was asked for.
Format format_in(const std::vector<std::string>& words) {
  const char* env = std::getenv("DASHCTL_OUTPUT");
  std::string format = env ? env : "";
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--") break;
    if (words[i] == "--output" && i + 1 < words.size()) format = words[i + 1];
    if (words[i].starts_with("--output=")) format = words[i].substr(9);
  }
  return format == "json" ? Format::json : Format::text;
}

// What core logs beside its answers, as a sentence: somebody reads it at a shell. The engine's complaints
// come back as the error of the command itself.
void tell_log_line(std::string_view line) {
  auto entry = parse_json(line).value_or(Json::object());
  auto event = string_member(entry, "event").value_or("");
  if (event.starts_with("policy.")) return;
  std::string text = event;
  for (const auto& [name, value] : entry.items())
    if (name != "ts" && name != "level" && name != "event")
      text += fmt::format("; {}: {}", name, value.is_string() ? value.get<std::string>() : dump_json(value));
  Output(Format::text, false).warn("{}", one_line(text));
}

// Whoever reads an instance's answer trusts its shape: one of another shape ends here, as do our own
// mistakes.
Result<void> guarded(const Run& action, Context& context) {
  try {
    return action(context);
  } catch (const Json::exception& e) {
    if (context.asked.empty()) return fail(Code::internal, "an internal error: {}", e.what());
    return fail(Code::upstream, "{} answered in an unknown shape: is this the address of a dashboard?",
                context.asked);
  } catch (const std::exception& e) {
    return fail(Code::internal, "an internal error: {}", e.what());
  }
}

Result<int> run_action(const Found& found, Format format) {
  Flags flags;
  FrameFlags frame;
  auto action = found.action->declare(flags);
  declare_frame(flags, frame);
  auto warnings = TRY(parse_flags(flags, found.arguments));
  Output out(format, frame.is_quiet);
  for (const auto& warning : warnings) out.warn("{}", warning);
  Context context{out, !frame.has_no_input};
  if (!found.action->has_own_signals) {
    // A command tells its story itself; a daemon's is its log.
    log::set_level(log::Level::warning);
    log::set_sink(tell_log_line);
    watch_interrupts(out.is_json());
  }
  return out.finish(guarded(action, context));
}

Result<int> tell_version(const std::vector<std::string>& words, Format format) {
  Flags flags;
  FrameFlags frame;
  bool wants_version = false;
  declare_frame(flags, frame);
  flags.toggle("--version", wants_version, "").guard();
  TRY(parse_flags(flags, words));
  Output out(format, frame.is_quiet);
  out.line("dashctl {}", DASH_VERSION);
  out.document({{"version", DASH_VERSION}});
  return out.finish({});
}

bool asks_for_help(const std::vector<std::string>& words) {
  auto end = std::ranges::find(words, "--");
  return std::any_of(words.begin(), end, [](const std::string& w) { return w == "--help" || w == "-h"; });
}

// Help that was not asked for goes to stderr, before the error.
Failure incomplete(const std::string& help, const std::string& message) {
  Output(Format::text, false).note("{}", help);
  return fail(Code::usage, "{}", message);
}

Result<int> dispatch(const std::vector<Group>& groups, const std::vector<std::string>& words, Format format) {
  Output out(Format::text, false);
  auto say = [&](const std::string& text) { return out.raw(text), out.finish({}); };
  auto found = TRY(find_action(groups, words));
  if (!found.group && std::ranges::count(words, "--version") > 0)
    return tell_version(found.arguments, format);
  bool wants_help = asks_for_help(words);
  if (!found.group && !wants_help) return incomplete(root_help(groups), "name a command");
  if (!found.group) return say(root_help(groups));
  if (wants_help)
    return say(found.action ? action_help(*found.group, *found.action) : group_help(*found.group));
  if (!found.action)
    return incomplete(group_help(*found.group), "name an action of dashctl " + found.group->name);
  return run_action(found, format);
}

// `dashctl help migrate export` is `dashctl migrate export --help`.
void understand_help(std::vector<std::string>& words) {
  if (words.empty() || words[0] != "help") return;
  words.erase(words.begin());
  words.emplace_back("--help");
}

}  // namespace

int run(std::vector<std::string> words) {
  // Before anything else: its words are for another program.
  if (!words.empty() && words[0] == storage::smb::kSmbWorker) return storage::smb::run_worker();
  if (!words.empty() && words[0] == net::kExecChild) return net::exec_child({words.begin() + 1, words.end()});
  // A reader that goes away must not end an import halfway; Output tells a lost stdout by its write.
  ::signal(SIGPIPE, SIG_IGN);
  understand_help(words);
  auto format = format_in(words);
  auto code = dispatch(root(), words, format);
  return code ? *code : Output(format, false).finish(Failure(code.error()));
}

}  // namespace dash::cmd
