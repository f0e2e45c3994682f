// dashctl policy: evaluate the rules, check them, test them, compare them.
#include "cmd/cli/groups.hpp"
#include "cmd/cli/printer.hpp"
#include "cmd/policy/policy_source.hpp"
#include "core/policy/folder_engine.hpp"
#include "core/policy/tools/diff.hpp"
#include "core/policy/tools/when.hpp"

namespace dash::cmd {
namespace {

constexpr std::size_t kMaxShownChanges = 50;

struct CheckFlags {
  SourceFlags source;
  QueryFlags query;
};

// Prints the members of a decision's document, which is the same from a local engine and from an instance.
Result<void> print_decision(Context& context, const OrderedJson& d) {
  auto verdict = d.at("verdict").get<std::string>();
  if (d.value("gated", true))
    context.out.line("{}  {}", context.out.heading(verdict), d.value("action", ""));
  else
    context.out.line("{}  {} is not gated here", context.out.heading(verdict), d.value("action", ""));
  std::vector<std::string> reasons;
  for (auto member : {"reasons", "approval_reasons"})
    for (const auto& reason : d.value(member, OrderedJson::array())) {
      context.out.line("  {}: {}", std::string_view(member) == "reasons" ? "reason" : "approval",
                       printable(reason.get<std::string>()));
      reasons.push_back(reason.get<std::string>());
    }
  for (const auto& rule : d.value("rules", OrderedJson::array()))
    context.out.line("  rule: {}  {}:{}", printable(rule.value("id", "")), printable(rule.value("file", "")),
                     rule.value("line", 0));
  auto sentence = fmt::format("{}", fmt::join(reasons, "; "));
  if (d.contains("cause")) return fail(Code::policy_unavailable, "{}", d.value("cause", ""));
  if (verdict == "deny") return fail(Code::policy_denied, "denied by policy: {}", sentence);
  if (verdict == "needs_approval")
    return fail(Code::needs_approval, "somebody else has to approve: {}", sentence);
  return {};
}

Result<void> run_check(Context& context, client::PolicyClient& policy, const client::PolicyQuery& query) {
  auto decision = TRY(policy.check(query));
  context.out.document(decision);
  return print_decision(context, decision);
}

Result<void> run_when(Context& context, client::PolicyClient& policy, const client::PolicyQuery& query) {
  auto answer = TRY(policy.find_next_admission(query));
  context.out.document(answer);
  if (answer.at("admitted_at").is_string()) {
    context.out.line("{}  {}", answer.value("admitted_at", ""), answer.at("then").value("verdict", ""));
    return {};
  }
  for (const auto& reason : answer.at("now").value("reasons", OrderedJson::array()))
    context.out.line("  reason: {}", printable(reason.get<std::string>()));
  return fail(Code::policy_denied, "not admitted at any hour of the next {} days", policy::kWhenDays);
}

// Both commands take the same flags, read the query and open the policy.
using QueryCommand = Result<void> (*)(Context&, client::PolicyClient&, const client::PolicyQuery&);
Run declare_query_command(Flags& flags, QueryCommand command) {
  auto options = std::make_shared<CheckFlags>();
  declare_source(flags, options->source);
  declare_query(flags, options->query);
  return [options, command](Context& context) -> Result<void> {
    auto query = TRY(read_query(options->query));
    auto source = TRY(open_source(context, options->source));
    return command(context, source.client(), query);
  };
}

Run declare_check(Flags& flags) { return declare_query_command(flags, run_check); }
Run declare_when(Flags& flags) { return declare_query_command(flags, run_when); }

Run declare_lint(Flags& flags) {
  auto options = std::make_shared<SourceFlags>();
  declare_source(flags, *options);
  return [options](Context& context) -> Result<void> {
    auto source = TRY(open_source(context, *options));
    auto findings = TRY(source.client().lint());
    OrderedJson listed = OrderedJson::array();
    std::size_t errors = 0;
    for (const auto& f : findings) {
      errors += f.is_error;
      listed.push_back(policy::to_json(f));
      auto place = f.file.empty() ? std::string("settings or folder")
                   : f.row == 0   ? f.file
                                  : fmt::format("{}:{}", f.file, f.row);
      context.out.line("{}: {}: {} [{}]", printable(place), f.is_error ? "error" : "warning",
                       printable(f.message), f.code);
      context.out.line("    fix: {}", printable(f.fix));
    }
    context.out.document({{"errors", errors}, {"warnings", findings.size() - errors}, {"findings", listed}});
    if (errors > 0)
      return fail(Code::policy_unavailable, "{} {} in the rules or their settings", errors,
                  errors == 1 ? "error" : "errors");
    context.out.line("no errors");
    return {};
  };
}

Run declare_test(Flags& flags) {
  auto options = std::make_shared<SourceFlags>();
  declare_local_source(flags, *options);
  return [options](Context& context) -> Result<void> {
    auto source = TRY(open_source(context, *options));
    auto ran = TRY(source.client().run_tests());
    for (const auto& test : ran.tests)
      context.out.line("{}  {}:{}  {}{}", test.passed ? "pass" : "FAIL", test.file, test.row, test.name,
                       test.error.empty() ? "" : ": " + printable(test.error));
    context.out.document(policy::to_json(ran));
    if (ran.failed > 0)
      return fail(Code::invalid, "{} of {} policy tests failed", ran.failed, ran.tests.size());
    context.out.line("{} tests passed", ran.tests.size());
    return {};
  };
}

struct DiffFlags {
  std::string before, after;
  std::vector<std::string> set;
  LocalFlags local;
  bool has_exit_code = false;
};

std::string evaluation_text(const policy::Evaluation& evaluation) {
  if (evaluation.cause) return "broken (" + *evaluation.cause + ")";
  return fmt::format("{}{}{}", policy::word(evaluation.verdict), evaluation.reasons.empty() ? "" : ": ",
                     fmt::join(evaluation.reasons, "; "));
}

void print_diff(Context& context, const policy::PolicyDiff& diff) {
  for (std::size_t i = 0; i < std::min(diff.changes.size(), kMaxShownChanges); ++i) {
    const auto& change = diff.changes[i];
    context.out.line("{}{}", change.is_recorded ? "recorded " : "", printable(dump_json(change.input)));
    context.out.line("  - {}", printable(evaluation_text(change.before)));
    context.out.line("  + {}", printable(evaluation_text(change.after)));
  }
  if (diff.changes.size() > kMaxShownChanges)
    context.out.line("… and {} more (all with --output json)", diff.changes.size() - kMaxShownChanges);
  context.out.line("{} of {} documents change ({} recorded)", diff.changes.size(), diff.compared,
                   diff.recorded);
}

Run declare_diff(Flags& flags) {
  auto options = std::make_shared<DiffFlags>();
  flags.argument("OLD", options->before, "folder with the current rules").required();
  flags.argument("NEW", options->after, "folder with the new rules").required();
  flags.list("--set", options->set, "KEY=VALUE", "setting for the comparison, besides sample values");
  flags.toggle("--exit-code", options->has_exit_code, "exit with 6 when a verdict changes");
  declare_local(flags, options->local);
  return [options](Context& context) -> Result<void> {
    config::Values values{{std::string(policy::kEnabledKey), "true"}};
    std::vector<policy::DecisionRecord> recorded;
    std::unique_ptr<app::Instance> instance;
    if (!options->local.data_dir.empty()) {
      instance = TRY(open_local(options->local));
      values = TRY(instance->application().config.all());
      values[std::string(policy::kEnabledKey)] = "true";
      recorded = TRY(instance->application().decisions.recent(policy::kMaxDecisions));
    }
    for (auto& [key, value] : TRY(read_settings(options->set))) values[key] = value;
    auto settings = policy::settings_of(values);
    if (settings.fault) return fail(Code::policy_unavailable, "{}", *settings.fault);
    auto before = policy::make_opa(TRY(policy::folder_engine_options(options->before)));
    auto after = policy::make_opa(TRY(policy::folder_engine_options(options->after)));
    auto diff = TRY(policy::diff_policies(*before, *after, recorded, {.limits = settings.folded}));
    context.out.document(policy::to_json(diff));
    print_diff(context, diff);
    if (options->has_exit_code && !diff.changes.empty())
      return fail(Code::differences, "{} verdicts change", diff.changes.size());
    return {};
  };
}

constexpr const char* kCheckHelp =
    "The request of a deploy holds region, instance_type, image and name; that of a teardown region, name, "
    "workgroup and has_deploy_job. Exits with 0 when it is admitted, 3 when it is denied, 4 when it needs an "
    "approval, 10 when the rules or the engine are broken. Change windows are no rules, and are not asked.";
constexpr const char* kLintHelp =
    "Exits with 10 when there is an error. Each finding names the file, the line and the fix.";
constexpr const char* kDiffHelp =
    "Compares over the decisions that an instance recorded (--data-dir), and over requests made from the "
    "actions, weekdays, limits and every word that the rules mention.";

}  // namespace

Group policy_group() {
  return {"policy",
          "Evaluate, check, test and compare the rules of the gate",
          {{"check",
            "Evaluate one request, changing nothing",
            kCheckHelp,
            declare_check,
            {{"Evaluate a request under an instance's rules",
              "dashctl policy check --action cloud1:vm:deploy --input request.json"},
             {"And under another setting",
              "dashctl policy check --action cloud1:vm:deploy --input request.json --set "
              "admission_allowed_regions=us-east-1",
              3}}},
           {"lint",
            "Find errors in rules and settings",
            kLintHelp,
            declare_lint,
            {{"Check a folder of rules", "dashctl policy lint --policy-dir rules"}}},
           {"test",
            "Run the unit tests of the rules",
            "",
            declare_test,
            {{"Test a folder of rules", "dashctl policy test --policy-dir rules"}}},
           {"when",
            "Find the next time at which a request would be admitted",
            "By the rules alone: change windows are not asked.",
            declare_when,
            {{"Find the next time for a request",
              "dashctl policy when --action cloud1:vm:deploy --input request.json"}}},
           {"diff",
            "List every verdict that changes between two folders of rules",
            kDiffHelp,
            declare_diff,
            {{"List the changes, and fail when there are some",
              "dashctl policy diff rules new-rules --exit-code", 6}}}}};
}

}  // namespace dash::cmd
