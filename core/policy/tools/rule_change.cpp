#include "core/policy/tools/rule_change.hpp"

#include <algorithm>
#include <condition_variable>
#include <thread>

#include "core/base/shape.hpp"
#include "core/policy/folder_engine.hpp"
#include "core/policy/opa/run_dir.hpp"

namespace dash::policy {
namespace {

constexpr std::size_t kMaxRuleId = 128;

bool is_rule_id(std::string_view id) {
  auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !id.empty() && id.size() <= kMaxRuleId && is_letter(id[0]) &&
         std::ranges::all_of(id, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

// Ends what two engines do when the time is over.
class Watchdog {
 public:
  Watchdog(Engine& before, Engine& after, Deadline deadline)
      : thread_([&before, &after, deadline](const std::stop_token& stop) {
          std::mutex mutex;
          std::condition_variable_any stopped;
          std::unique_lock lock(mutex);
          stopped.wait_until(lock, stop, deadline, [] { return false; });
          if (stop.stop_requested()) return;
          before.cancel();
          after.cancel();
        }) {}

 private:
  std::jthread thread_;
};

// Puts the text in the place of the file that has the rule. Returns that file's path.
std::optional<std::string> replace_rule(std::vector<PolicyFile>& files, const RuleChange& change) {
  auto name = change.rule_id + ".rego";
  auto found = std::ranges::find_if(files, [&](const auto& file) { return base_name(file.path) == name; });
  if (found == files.end()) {
    files.push_back({name, change.text});
    return std::nullopt;
  }
  found->text = change.text;
  return found->path;
}

// The rules must be fit to be compared: those in use, and the pasted one.
Result<void> check_rules(Engine& before, Engine& after, const std::string& rule_id, Deadline deadline) {
  if (auto now = before.refresh(deadline); now.fault)
    return fail(now.state == EngineState::broken ? Code::conflict : Code::busy,
                "the rules in use cannot be evaluated: {}", now.fault->message);
  auto then = after.refresh(deadline);
  if (std::chrono::steady_clock::now() >= deadline)
    return fail(Code::busy, "the engine did not start in time; nothing was changed");
  if (then.fault)
    return wrong_value("text", fmt::format("line {}: {}", then.fault->row, then.fault->message));
  for (const auto& rule : then.rules->rules)
    if (rule.rule == rule_id && rule.evaluates && !rule.is_builtin) return {};
  return wrong_value("text", fmt::format("it would never evaluate: declare package admission.{}", rule_id));
}

}  // namespace

Result<RuleChangeResult> RuleChanges::evaluate(const Principal& principal, const RuleChange& change) {
  TRY(require_admin(principal));
  if (!is_rule_id(change.rule_id))
    return wrong_value("rule_id", "it has letters, digits and _, as in package admission.<rule_id>");
  if (change.text.size() > kMaxRuleText)
    return wrong_value("text", fmt::format("a rule has at most {} bytes here", kMaxRuleText));
  std::unique_lock running(running_, std::try_to_lock);
  if (!running) return fail(Code::conflict, "another rule is being compared; try again in some seconds");
  auto deadline = std::chrono::steady_clock::now() + kRuleChangeTimeout;
  auto snapshot = read_snapshot(live_.status().directory);
  if (!snapshot) return fail(Code::conflict, "{}", snapshot.error().message);
  auto files = snapshot->files;
  auto folders = TRY(RunDir::make());
  auto old_folder = TRY(folders.folder()), new_folder = TRY(folders.folder());
  TRY(folders.write(old_folder, files));
  RuleChangeResult out{replace_rule(files, change), {}};
  TRY(folders.write(new_folder, files));
  auto before = make_opa(TRY(folder_engine_options(old_folder)));
  auto after = make_opa(TRY(folder_engine_options(new_folder)));
  Watchdog watchdog(*before, *after, deadline);
  TRY(check_rules(*before, *after, change.rule_id, deadline));
  out.diff = TRY(diff_policies(*before, *after, TRY(decisions_.recent(kMaxDecisions)),
                               {.has_domain = false, .deadline = deadline}));
  return out;
}

OrderedJson to_json(const RuleChange& change, const RuleChangeResult& result) {
  auto shown = result.diff;
  shown.changes.resize(std::min(shown.changes.size(), kMaxShownRuleChanges));
  return {{"rule_id", change.rule_id},
          {"file", result.file ? OrderedJson(*result.file) : OrderedJson()},
          {"compared", result.diff.compared},
          {"changed", result.diff.changes.size()},
          {"changes", to_json(shown).at("changes")}};
}

}  // namespace dash::policy
