#include "cmd/migrate.hpp"
#include "cmd/output.hpp"
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
  auto restored = TRY(target.instance->rollback(o.change, o.state));
  context.out.line("restored {} keys on {}", restored.size(), target.instance->name());
  for (const auto& key : restored) context.out.line("      {}", printable(key));
  context.out.document(
      {{"target", target.instance->name()}, {"change_id", o.change}, {"restored", restored}});
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
