#include <thread>

#include "cmd/cli/interrupt.hpp"
#include "cmd/cli/printer.hpp"
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

Result<std::optional<migrate::MigrationPlan>> load_plan(const ImportFlags& options) {
  if (options.plan.empty()) return std::optional<migrate::MigrationPlan>();
  auto text = read_file(options.plan, migrate::kMaxPlanBytes);
  if (!text) return fail(Code::integrity, "the plan cannot be read: {}", text.error().message);
  auto plan = TRY(migrate::parse_plan(*text, options.plan));
  auto given = options_of(options.comparison).selection;
  if (given != migrate::Selection() && given != plan.options.selection)
    return fail(Code::usage,
                "the plan {} was made with another --only, --regions or opt-in: leave them out here",
                options.plan);
  return std::optional(std::move(plan));
}

Result<std::optional<migrate::Bootstrap>> read_bootstrap(Context& context, const ImportFlags& options,
                                                         const ComparisonResult& c) {
  using Answer = std::optional<migrate::Bootstrap>;
  if (c.target.is_set_up) {
    if (!options.bootstrap_admin.empty())
      context.out.note("{} is already set up: --bootstrap-admin is left out", c.target_name());
    return Answer();
  }
  if (options.bootstrap_admin.empty())
    return fail(Code::usage,
                "{} is not set up yet: pass --bootstrap-admin NAME, and --setup-code-file FILE with the "
                "one-time code that it "
                "printed when it started",
                c.target_name());
  auto password = TRY(read_new_password(context, options.bootstrap_password_file,
                                        fmt::format("New password of {}", options.bootstrap_admin),
                                        "--bootstrap-password-file"));
  return Answer(migrate::Bootstrap{c.setup_code, options.bootstrap_admin, std::move(password)});
}

// Writes the target's former state as a bundle that can be imported again. Returns its path; empty when there
// is nothing to go back to.
Result<std::string> write_snapshot(Context& context, const ImportFlags& options, const ComparisonResult& c) {
  if (c.diff.target.config().values.empty()) return std::string();
  SystemClock clock;
  auto path = migrate::choose_bundle_path(options.snapshot_out, clock.now(), "rollback");
  if (!path) return within("storing the way back (name another place with --snapshot-out)", std::move(path));
  auto exported =
      TRY(within("the target's snapshot", migrate::make_bundle(c.diff.target.config().values, {},
                                                               {c.target_name(), "snapshot", true}, clock)));
  InterruptBlocker blocker;
  auto written = TRY(migrate::write_bundle_file(*path, migrate::write_bundle(exported.bundle)));
  set_interrupt_message(
      fmt::format("{} was not written; as it is now, it is in {}", c.target_name(), written));
  context.out.note("the target as it was is in {}", written);
  return written;
}

// Returns "" when nothing was written that it could undo.
std::string undo_command(const ComparisonResult& c, const migrate::ApplyResult& applied,
                         const std::string& snapshot) {
  if (!applied.write_result.change_id.empty())
    return fmt::format("dashctl migrate rollback --change {} {}", applied.write_result.change_id,
                       c.target_flag());
  if (snapshot.empty() || applied.write_result.keys_written + applied.write_result.regions_merged.size() == 0)
    return "";
  return fmt::format(
      "dashctl migrate import --bundle {} {} --regions replace --include-on-prem --allow-empty-values "
      "--apply",
      shell_word(snapshot), c.target_flag());
}

// Sets what is true if the process ends during this stage.
void print_stage(Context& context, const ComparisonResult& c, const std::string& snapshot,
                 std::string_view stage, const migrate::ApplyResult& so_far) {
  auto target = c.target_name();
  context.out.set_activity(fmt::format("{}: {}", stage, target));
  if (stage == "writing")
    return set_interrupt_message(fmt::format(
        "the import was on its way; {} takes all of it or nothing, and `dashctl migrate diff` shows which",
        target));
  auto undo = undo_command(c, so_far, snapshot);
  set_interrupt_message(fmt::format("{} at {}; run the import again for what is left{}",
                                    stage == "reading back"
                                        ? "everything was written, but not all of it read back"
                                        : "keys and regions were written, notification endpoints "
                                          "maybe not all",
                                    target, undo.empty() ? "" : ". To undo: " + undo));
}

void print_undo(Context& context, const ComparisonResult& c, const migrate::ApplyResult& applied,
                const std::string& snapshot) {
  auto& out = context.out;
  auto undo = undo_command(c, applied, snapshot);
  if (!undo.empty()) out.line("undo: {}", undo);
  if (!undo.empty() && applied.write_result.change_id.empty())
    if (auto limits = to_text(migrate::undo_limits(c.diff, applied)); !limits.empty())
      out.note("{} keeps no history, so that cannot {}", c.target_name(), limits);
  if (applied.webhooks_written > 0)
    out.note("notification endpoints are not undone{}", undo.empty() ? "" : " by that");
}

std::string nothing_written_reason(const ComparisonResult& c, const migrate::ApplyResult& applied) {
  if (!applied.write_result.refused.empty() || !applied.failed_webhooks.empty())
    return "nothing was written to " + c.target_name();
  if (!applied.not_replaced.empty()) return "what the target can keep already matches, nothing written";
  return c.target_name() + " already matches, nothing written";
}

void print_report(Context& context, const ComparisonResult& c, const migrate::ApplyResult& applied,
                  const std::string& snapshot) {
  auto& out = context.out;
  if (!applied.wrote) return out.line("{}", nothing_written_reason(c, applied));
  const auto& written = applied.write_result;
  if (written.keys_written > 0) out.line("wrote {} keys to {}", written.keys_written, c.target_name());
  if (!written.regions_merged.empty())
    out.line("regions: {}", printable(fmt::format("{}", fmt::join(written.regions_merged, ", "))));
  for (const auto& [key, warning] : applied.write_result.warnings)
    out.note("warning: {}: {}; every gated action is refused until it is corrected", printable(key),
             printable(warning));
  print_left_states(out, written.iac_state_left);
  if (applied.webhooks_written > 0) out.line("notification endpoints: {}", applied.webhooks_written);
  if (migrate::check_applied(applied) && applied.unverified.empty())
    out.line("read back: everything is SAME");
  if (!applied.unverified.empty())
    out.note("{} keys are masked by the target and could not be read back: {}", applied.unverified.size(),
             printable(fmt::format("{}", fmt::join(applied.unverified, ", "))));
  print_undo(context, c, applied, snapshot);
  out.note(
      "Not migrated, move by hand: users, workstreams, group mappings, registered images, remote agents, "
      "vault registrations. "
      "Cannot be migrated: security keys and remote agents (enrol again), personal access tokens (issue "
      "again)");
}

Result<void> apply_bundle(Context& context, const ImportFlags& options, const ComparisonResult& c) {
  auto bootstrap = TRY(read_bootstrap(context, options, c));
  auto snapshot = c.diff.has_differences() ? TRY(write_snapshot(context, options, c)) : std::string();
  migrate::ApplyOptions request{c.options, options.state, std::move(bootstrap),
                                [&](std::string_view stage, const migrate::ApplyResult& so_far) {
                                  print_stage(context, c, snapshot, stage, so_far);
                                },
                                [](std::chrono::milliseconds pause) { std::this_thread::sleep_for(pause); }};
  auto applied =
      TRY(migrate::apply(c.bundle, c.selected, c.diff, *c.target.instance, request, context.out.progress()));
  context.out.set_activity("");
  print_report(context, c, applied, snapshot);
  if (!context.out.is_json()) return migrate::check_applied(applied);
  auto document = comparison_document(options.comparison, c, &applied);
  document["snapshot"] = snapshot;
  document["undo"] = undo_command(c, applied, snapshot);
  context.out.document(document);
  return migrate::check_applied(applied);
}

// A plan names its bundle and its target, so the flags are optional.
ImportFlags with_plan_defaults(ImportFlags options, const migrate::MigrationPlan& plan) {
  auto& instance = options.comparison.instance;
  if (options.comparison.bundle.empty()) options.comparison.bundle = plan.bundle;
  if (instance.target.empty() && instance.local.data_dir.empty())
    (plan.target.find("://") == plan.target.npos ? instance.local.data_dir : instance.target) = plan.target;
  return options;
}

Result<void> run_import(Context& context, const ImportFlags& given) {
  auto plan = TRY(load_plan(given));
  auto options = plan ? with_plan_defaults(given, *plan) : given;
  if (options.apply && !options.bootstrap_admin.empty()) options.comparison.if_absent = IfAbsent::make;
  auto c =
      TRY(compare_bundle(context, options.comparison, plan ? plan->options : options_of(options.comparison)));
  if (context.out.is_json()) context.out.document(comparison_document(options.comparison, c, nullptr));
  if (plan) TRY(migrate::check_plan(*plan, c.bundle, c.diff, c.target_name(), options.accept_drift));
  if (options.apply) return apply_bundle(context, options, c);
  context.out.note("nothing was written: add --apply to write");
  return check_differences(options.comparison, c.diff);
}

}  // namespace

Run declare_import(Flags& flags) {
  auto options = std::make_shared<ImportFlags>();
  flags.toggle("--apply", options->apply, "write the changes; without it only compare").guard();
  declare_comparison(flags, options->comparison);
  declare_state(flags, options->state);
  flags.text("--plan", options->plan, "FILE",
             "write exactly what `diff --plan-out` compared, or exit with 11");
  flags.list("--accept-drift", options->accept_drift, "KEY", "key that may differ from the plan").guard();
  flags.text(
      "--snapshot-out", options->snapshot_out, "FILE",
      "bundle to store the target's old values in; by default ~/.dashboard-migrate/rollback-<time>.json");
  flags.text("--bootstrap-admin", options->bootstrap_admin, "NAME",
             "first administrator of a target that is not set up yet");
  flags.text("--bootstrap-password-file", options->bootstrap_password_file, "FILE",
             "password of that administrator, - for stdin; else a prompt");
  return [options](Context& context) { return run_import(context, *options); };
}

}  // namespace dash::cmd
