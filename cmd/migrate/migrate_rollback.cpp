#include "cmd/cli/printer.hpp"
#include "cmd/migrate/migrate.hpp"
#include "cmd/state_flags.hpp"

namespace dash::cmd {
namespace {

struct RollbackFlags {
  InstanceFlags instance;
  std::string change;
  setup::StateOptions state;
};

Result<void> run_rollback(Context& context, const RollbackFlags& options) {
  auto target = TRY(open_migrate_target(context, options.instance, Secret()));
  context.out.set_activity("undoing at " + target.instance->name());
  auto report = TRY(target.instance->rollback(options.change, options.state));
  auto& out = context.out;
  bool is_nothing = report.restored.empty() && report.regions_restored.empty();
  if (is_nothing) out.line("{} is as it was before the change, nothing restored", target.instance->name());
  if (!report.restored.empty())
    out.line("restored {} keys on {}", report.restored.size(), target.instance->name());
  for (const auto& key : report.restored) out.line("      {}", printable(key));
  if (!report.regions_restored.empty())
    out.line("regions: {}", printable(fmt::format("{}", fmt::join(report.regions_restored, ", "))));
  print_left_states(out, report.iac_state_left);
  out.document({{"target", target.instance->name()},
                {"change_id", options.change},
                {"restored", report.restored},
                {"regions_restored", report.regions_restored},
                {"iac_state_left", storage::to_json(report.iac_state_left)}});
  return {};
}

}  // namespace

Run declare_rollback(Flags& flags) {
  auto options = std::make_shared<RollbackFlags>();
  flags
      .text("--change", options->change, "ID",
            "the change to undo, as `import` or `dashctl config history` prints it")
      .required();
  declare_instance(flags, options->instance);
  declare_state(flags, options->state);
  return [options](Context& context) { return run_rollback(context, *options); };
}

}  // namespace dash::cmd
