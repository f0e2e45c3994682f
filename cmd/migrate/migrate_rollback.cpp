#include "cmd/cli/output.hpp"
#include "cmd/migrate/migrate.hpp"
#include "cmd/state_flags.hpp"

namespace dash::cmd {
namespace {

struct RollbackFlags {
  InstanceFlags instance;
  std::string change;
  setup::StateOptions state;
};

Result<void> run_rollback(Context& context, const RollbackFlags& o) {
  auto target = TRY(open_migrate_target(context, o.instance, Secret()));
  context.out.wait_for("undoing at " + target.instance->name());
  auto report = TRY(target.instance->rollback(o.change, o.state));
  auto& out = context.out;
  bool is_nothing = report.restored.empty() && report.regions_restored.empty();
  if (is_nothing) out.line("{} is as it was before the change, nothing restored", target.instance->name());
  if (!report.restored.empty())
    out.line("restored {} keys on {}", report.restored.size(), target.instance->name());
  for (const auto& key : report.restored) out.line("      {}", printable(key));
  if (!report.regions_restored.empty())
    out.line("regions: {}", printable(fmt::format("{}", fmt::join(report.regions_restored, ", "))));
  out.document({{"target", target.instance->name()},
                {"change_id", o.change},
                {"restored", report.restored},
                {"regions_restored", report.regions_restored}});
  return {};
}

}  // namespace

Run declare_rollback(Flags& flags) {
  auto o = std::make_shared<RollbackFlags>();
  flags.text("--change", o->change, "ID", "the change to undo, as import printed it").required();
  declare_instance(flags, o->instance);
  declare_state(flags, o->state);
  return [o](Context& context) { return run_rollback(context, *o); };
}

}  // namespace dash::cmd
