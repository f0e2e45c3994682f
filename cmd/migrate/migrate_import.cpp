#include <thread>

#include "cmd/cli/interrupt.hpp"
#include "cmd/cli/output.hpp"
#include "cmd/cli/secret_input.hpp"
#include "cmd/migrate/migrate_compare.hpp"
#include "cmd/state_flags.hpp"
#include "core/base/file.hpp"
#include "core/migrate/bundle/bundle_file.hpp"
#include "core/migrate/export.hpp"
#include "core/migrate/plan.hpp"
#include "core/migrate/undo.hpp"

namespace dash::cmd {
namespace {

struct ImportFlags {
  ComparisonFlags comparison;
  bool apply = false;
  setup::StateOptions state;
  std::string bootstrap_admin, bootstrap_password_file;
  std::string plan, snapshot_out;
  std::vector<std::string> accept_drift;
};

Result<std::optional<migrate::Plan>> load_plan(const ImportFlags& o) {
  if (o.plan.empty()) return std::optional<migrate::Plan>();
  auto text = read_file(o.plan, migrate::kMaxPlanBytes);
  if (!text) return fail(Code::integrity, "the plan cannot be read: {}", text.error().message);
  auto plan = TRY(migrate::parse_plan(*text, o.plan));
  auto given = options_of(o.comparison).selection;
  if (given != migrate::Selection() && given != plan.options.selection)
    return fail(Code::usage,
                "the plan {} was made with another --only, --regions or opt-in: leave them out here", o.plan);
  return std::optional(std::move(plan));
}

Result<std::optional<migrate::Claim>> claim(Context& context, const ImportFlags& o, const Compared& c) {
  using Answer = std::optional<migrate::Claim>;
  if (c.target.is_set_up) {
    if (!o.bootstrap_admin.empty())
      context.out.note("{} is set up already: --bootstrap-admin is left out", c.target_name());
    return Answer();
  }
  if (o.bootstrap_admin.empty())
    return fail(Code::usage,
                "{} is not set up yet: pass --bootstrap-admin NAME, and --setup-code-file FILE with the "
                "one-time code that it "
                "printed when it started",
                c.target_name());
  auto password = TRY(new_password_from(context, o.bootstrap_password_file,
                                        fmt::format("New password of {}", o.bootstrap_admin),
                                        "--bootstrap-password-file"));
  return Answer(migrate::Claim{c.setup_code, o.bootstrap_admin, std::move(password)});
}

// What the target looked like, as a bundle that can be imported again. Its path; empty when there is nothing
// to go back to.
Result<std::string> store_snapshot(Context& context, const ImportFlags& o, const Compared& c) {
  if (c.diff.told.values.empty()) return std::string();
  SystemClock clock;
  auto path = migrate::place_bundle(o.snapshot_out, clock.now(), "rollback");
  if (!path) return within("storing the way back (name another place with --snapshot-out)", std::move(path));
  auto exported =
      TRY(within("the target's snapshot",
                 migrate::make_bundle(c.diff.told.values, {}, {c.target_name(), "snapshot", true}, clock)));
  Shield shield;
  auto written = TRY(migrate::write_bundle_file(*path, migrate::write_bundle(exported.bundle)));
  if_interrupted(fmt::format("{} was not written; as it is now, it is in {}", c.target_name(), written));
  context.out.note("the target as it was is in {}", written);
  return written;
}

// Empty when nothing was written that it could undo.
std::string undo_command(const Compared& c, const migrate::Applied& applied, const std::string& snapshot) {
  if (!applied.written.change_id.empty())
    return fmt::format("dashctl migrate rollback --change {} {}", applied.written.change_id, c.target_flag());
  if (snapshot.empty() || applied.written.keys_written + applied.written.regions_merged.size() == 0)
    return "";
  return fmt::format(
      "dashctl migrate import --bundle {} {} --regions replace --include-on-prem --allow-empty-values "
      "--apply",
      shell_word(snapshot), c.target_flag());
}

// What is true if the process ends while this stage lasts.
void tell_stage(Context& context, const Compared& c, const std::string& snapshot, std::string_view stage,
                const migrate::Applied& so_far) {
  auto target = c.target_name();
  context.out.wait_for(fmt::format("{}: {}", stage, target));
  if (stage == "writing")
    return if_interrupted(fmt::format(
        "the import was on its way; {} takes all of it or nothing, and dashctl migrate diff tells which",
        target));
  auto undo = undo_command(c, so_far, snapshot);
  if_interrupted(fmt::format("{} at {}; run the import again for what is left{}",
                             stage == "reading back"
                                 ? "everything was written, but not all of it read back"
                                 : "keys and regions were written, notification endpoints "
                                   "maybe not all",
                             target, undo.empty() ? "" : ". To undo: " + undo));
}

void tell_way_back(Context& context, const Compared& c, const migrate::Applied& applied,
                   const std::string& snapshot) {
  auto& out = context.out;
  auto undo = undo_command(c, applied, snapshot);
  if (!undo.empty()) out.line("undo: {}", undo);
  if (!undo.empty() && applied.written.change_id.empty())
    if (auto limits = to_text(migrate::undo_limits(c.diff, applied)); !limits.empty())
      out.note("{} keeps no history, so that cannot {}", c.target_name(), limits);
  if (applied.endpoints_written > 0)
    out.note("notification endpoints are not undone{}", undo.empty() ? "" : " by that");
}

std::string why_not_written(const Compared& c, const migrate::Applied& applied) {
  if (!applied.written.refused.empty() || !applied.failed_endpoints.empty())
    return "nothing was written to " + c.target_name();
  if (!applied.not_replaced.empty()) return "what the target can keep already matches, nothing written";
  return c.target_name() + " already matches, nothing written";
}

void report(Context& context, const Compared& c, const migrate::Applied& applied,
            const std::string& snapshot) {
  auto& out = context.out;
  if (!applied.wrote) return out.line("{}", why_not_written(c, applied));
  const auto& written = applied.written;
  if (written.keys_written > 0) out.line("wrote {} keys to {}", written.keys_written, c.target_name());
  if (!written.regions_merged.empty())
    out.line("regions: {}", printable(fmt::format("{}", fmt::join(written.regions_merged, ", "))));
  for (const auto& [key, warning] : applied.written.warnings)
    out.note("warning: {}: {}; every gated action is refused until it is corrected", printable(key),
             printable(warning));
  if (applied.endpoints_written > 0) out.line("notification endpoints: {}", applied.endpoints_written);
  if (migrate::verdict(applied) && applied.unverified.empty()) out.line("read back: everything is SAME");
  if (!applied.unverified.empty())
    out.note("{} keys are masked by the target and could not be read back: {}", applied.unverified.size(),
             printable(fmt::format("{}", fmt::join(applied.unverified, ", "))));
  tell_way_back(context, c, applied, snapshot);
  out.note(
      "Not migrated, move by hand: users, workstreams, group mappings, registered images, remote agents, "
      "vault registrations. "
      "Cannot be migrated: security keys and remote agents (enrol again), personal access tokens (issue "
      "again)");
}

Result<void> apply_bundle(Context& context, const ImportFlags& o, const Compared& c) {
  auto claims = TRY(claim(context, o, c));
  auto snapshot = c.diff.has_differences() ? TRY(store_snapshot(context, o, c)) : std::string();
  migrate::ApplyOrder order{c.options, o.state, std::move(claims),
                            [&](std::string_view stage, const migrate::Applied& so_far) {
                              tell_stage(context, c, snapshot, stage, so_far);
                            },
                            [](std::chrono::milliseconds pause) { std::this_thread::sleep_for(pause); }};
  auto applied =
      TRY(migrate::apply(c.bundle, c.staged, c.diff, *c.target.instance, order, context.out.progress()));
  context.out.wait_for("");
  report(context, c, applied, snapshot);
  auto document = comparison_document(o.comparison, c, &applied);
  document["snapshot"] = snapshot;
  document["undo"] = undo_command(c, applied, snapshot);
  context.out.document(document);
  return migrate::verdict(applied);
}

// A plan names its bundle and its target: flags need not say them again.
ImportFlags filled_from(ImportFlags o, const migrate::Plan& plan) {
  auto& instance = o.comparison.instance;
  if (o.comparison.bundle.empty()) o.comparison.bundle = plan.bundle;
  if (instance.target.empty() && instance.local.data_dir.empty())
    (plan.target.find("://") == plan.target.npos ? instance.local.data_dir : instance.target) = plan.target;
  return o;
}

Result<void> run_import(Context& context, const ImportFlags& given) {
  auto plan = TRY(load_plan(given));
  auto o = plan ? filled_from(given, *plan) : given;
  if (o.apply && !o.bootstrap_admin.empty()) o.comparison.if_absent = IfAbsent::make;
  auto c = TRY(compare_bundle(context, o.comparison, plan ? plan->options : options_of(o.comparison)));
  context.out.document(comparison_document(o.comparison, c, nullptr));
  if (plan) TRY(migrate::check_plan(*plan, c.bundle, c.diff, c.target_name(), o.accept_drift));
  if (o.apply) return apply_bundle(context, o, c);
  context.out.note("nothing was written: add --apply to write");
  return answer_differences(o.comparison, c.diff);
}

}  // namespace

Run declare_import(Flags& flags) {
  auto o = std::make_shared<ImportFlags>();
  declare_comparison(flags, o->comparison);
  flags.toggle("--apply", o->apply, "write").guard();
  declare_state(flags, o->state);
  flags.text("--plan", o->plan, "FILE", "write exactly what diff --plan-out pinned, or refuse with exit 11");
  flags.list("--accept-drift", o->accept_drift, "KEY", "a key that may differ from the plan").guard();
  flags.text("--snapshot-out", o->snapshot_out, "FILE",
             "where the target as it was is kept; ~/.dashboard-migrate/rollback-<time>.json when left out");
  flags.text("--bootstrap-admin", o->bootstrap_admin, "NAME",
             "the first administrator of a target that nobody owns yet");
  flags.text("--bootstrap-password-file", o->bootstrap_password_file, "FILE",
             "the new administrator's password; - for stdin; asked for when left out");
  return [o](Context& context) { return run_import(context, *o); };
}

}  // namespace dash::cmd
