// dashctl policy: ask the rules, check them, test them, compare them.
#include "cmd/cli/groups.hpp"
#include "cmd/cli/output.hpp"
#include "cmd/policy/policy_source.hpp"
#include "core/config/clouds.hpp"
#include "core/policy/refusal.hpp"
#include "core/policy/tools/diff.hpp"
#include "core/policy/tools/lint.hpp"
#include "core/policy/tools/test_rules.hpp"
#include "core/policy/tools/when.hpp"

namespace dash::cmd {
namespace {

constexpr std::size_t kShownChanges = 50;

struct AskFlags {
  SourceFlags source;
  QuestionFlags question;
};

policy::GateSettings settings_for(const Source& source, const Question& question) {
  auto out = source.settings;
  if (question.limits && out.typed.allowed_regions.empty() && out.typed.denied_instance_types.empty() &&
      out.typed.prod_window.empty())
    out.typed = out.folded = *question.limits;
  return out;
}

Json remote_question(const Question& q) {
  return {{"action", q.action}, {"request", q.request}, {"at", format_iso(q.at)}};
}

// From the members of a decision's document, which is the same from an engine of ours and from an instance.
Result<void> conclude(Context& context, const OrderedJson& d) {
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

Result<OrderedJson> ask(Source& source, const Question& question) {
  if (source.opened.api)
    return OrderedJson(TRY(source.opened.api->post("/api/admission/check", remote_question(question))));
  auto settings = settings_for(source, question);
  if (source.is_instance && !settings.gates(config::canonical_action(question.action))) {
    policy::Decision none;
    none.action = config::canonical_action(question.action);
    return policy::to_json(none, /*reveal_cause=*/true);
  }
  auto decision = policy::judge_with(*source.engine, settings, question.action, question.request,
                                     question.actor, question.at);
  policy::locate(*source.engine, decision);
  return Json(policy::to_json(decision, true));
}

Run declare_check(Flags& flags) {
  auto o = std::make_shared<AskFlags>();
  declare_source(flags, o->source);
  declare_question(flags, o->question);
  return [o](Context& context) -> Result<void> {
    auto question = TRY(read_question(o->question));
    auto source = TRY(open_source(context, o->source));
    auto decision = TRY(ask(source, question));
    context.out.document(decision);
    return conclude(context, decision);
  };
}

Run declare_when(Flags& flags) {
  auto o = std::make_shared<AskFlags>();
  declare_source(flags, o->source);
  declare_question(flags, o->question);
  return [o](Context& context) -> Result<void> {
    auto question = TRY(read_question(o->question));
    auto source = TRY(open_source(context, o->source));
    OrderedJson answer;
    if (source.opened.api) {
      auto body = remote_question(question);
      body["when"] = true;
      answer = OrderedJson(TRY(source.opened.api->post("/api/admission/check", body)));
    } else {
      answer = policy::to_json(
          TRY(policy::next_admitted(*source.engine, settings_for(source, question), question.action,
                                    question.request, question.actor, question.at)));
    }
    context.out.document(answer);
    if (answer.at("admitted_at").is_string()) {
      context.out.line("{}  {}", answer.value("admitted_at", ""), answer.at("then").value("verdict", ""));
      return {};
    }
    for (const auto& reason : answer.at("now").value("reasons", OrderedJson::array()))
      context.out.line("  reason: {}", printable(reason.get<std::string>()));
    return fail(Code::policy_denied, "not admitted at any hour of the next {} days", policy::kWhenDays);
  };
}

// What an instance tells of its own rules.
Result<std::vector<policy::Problem>> remote_problems(net::ApiClient& api) {
  std::vector<policy::Problem> out;
  auto answer = TRY(api.get("/api/settings/admission"));
  for (const auto& p : answer.at("problems"))
    out.push_back({p.value("file", ""), p.value("row", 0), p.value("col", 0), p.value("code", ""),
                   p.value("message", ""), p.value("fix", ""), p.value("level", "error") == "error"});
  return out;
}

Run declare_lint(Flags& flags) {
  auto o = std::make_shared<SourceFlags>();
  declare_source(flags, *o);
  return [o](Context& context) -> Result<void> {
    auto source = TRY(open_source(context, *o));
    auto findings = TRY(source.opened.api ? remote_problems(*source.opened.api)
                                          : policy::lint_policies(source.options, source.settings));
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
  auto o = std::make_shared<SourceFlags>();
  declare_source(flags, *o);
  return [o](Context& context) -> Result<void> {
    if (!o->instance.target.empty())
      return fail(Code::usage,
                  "the tests run where the files are: name them with --policy-dir or --data-dir");
    auto source = TRY(open_source(context, *o));
    auto ran = TRY(policy::run_rule_tests(source.options));
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

std::string said(const policy::Said& said) {
  if (said.cause) return "broken (" + *said.cause + ")";
  return fmt::format("{}{}{}", policy::word(said.verdict), said.reasons.empty() ? "" : ": ",
                     fmt::join(said.reasons, "; "));
}

void print_diff(Context& context, const policy::PolicyDiff& diff) {
  for (std::size_t i = 0; i < std::min(diff.changes.size(), kShownChanges); ++i) {
    const auto& change = diff.changes[i];
    context.out.line("{}{}", change.is_recorded ? "recorded " : "", printable(dump_json(change.input)));
    context.out.line("  - {}", printable(said(change.before)));
    context.out.line("  + {}", printable(said(change.after)));
  }
  if (diff.changes.size() > kShownChanges)
    context.out.line("… and {} more (all with --output json)", diff.changes.size() - kShownChanges);
  context.out.line("{} of {} documents change ({} recorded)", diff.changes.size(), diff.compared,
                   diff.recorded);
}

Run declare_diff(Flags& flags) {
  auto o = std::make_shared<DiffFlags>();
  flags.argument("OLD", o->before, "folder with the rules as they are").required();
  flags.argument("NEW", o->after, "folder with the rules as they are to be").required();
  flags.list("--set", o->set, "KEY=VALUE", "a setting to compare under, beside samples");
  flags.toggle("--exit-code", o->has_exit_code, "exit with 6 when a verdict changes");
  declare_local(flags, o->local);
  return [o](Context& context) -> Result<void> {
    config::Values values{{std::string(policy::kEnabledKey), "true"}};
    std::vector<policy::Recorded> recorded;
    std::unique_ptr<app::Instance> instance;
    if (!o->local.data_dir.empty()) {
      instance = TRY(open_local(o->local));
      values = TRY(instance->services().config.all());
      values[std::string(policy::kEnabledKey)] = "true";
      recorded = TRY(instance->services().decisions.recent(policy::kMaxDecisions));
    }
    auto settings = policy::settings_of(TRY(with_settings(std::move(values), o->set)));
    if (settings.fault) return fail(Code::policy_unavailable, "{}", *settings.fault);
    auto before = policy::make_opa(TRY(engine_for(o->before)));
    auto after = policy::make_opa(TRY(engine_for(o->after)));
    auto diff = TRY(policy::diff_policies(*before, *after, recorded, settings.folded));
    context.out.document(policy::to_json(diff));
    print_diff(context, diff);
    if (o->has_exit_code && !diff.changes.empty())
      return fail(Code::differences, "{} verdicts change", diff.changes.size());
    return {};
  };
}

constexpr const char* kCheckHelp =
    "The request is what the gate would judge: region, instance_type, image, name for a deploy; region, "
    "name, workgroup,\n"
    "has_deploy_job for a teardown. Exits with 0 when admitted, 3 when denied, 4 when somebody has to "
    "approve, 10 when the rules or\n"
    "the engine are broken.";
constexpr const char* kLintHelp =
    "Exits with 10 when there is an error. Each finding names file and line, and how to mend it.";
constexpr const char* kDiffHelp =
    "Compares over the decisions that an instance recorded (--data-dir) and over a domain made from the "
    "actions, weekdays, limits and\n"
    "every word that the rules mention.";

}  // namespace

Group policy_group() {
  return {
      "policy",
      "Ask, check, test and compare the rules of the gate",
      {{"check", "Judge one request, changing nothing", kCheckHelp, declare_check},
       {"lint", "Find what is wrong with rules and settings", kLintHelp, declare_lint},
       {"test", "Run the unit tests of the rules", "", declare_test},
       {"when", "Find the next time at which a request would be admitted", "", declare_when},
       {"diff", "List every verdict that changes between two folders of rules", kDiffHelp, declare_diff}}};
}

}  // namespace dash::cmd
