#include "cmd/migrate_compare.hpp"
#include "cmd/output.hpp"
#include "core/base/file.hpp"
#include "core/migrate/plan.hpp"

namespace dash::cmd {
namespace {

struct DiffFlags {
  ComparisonFlags comparison;
  std::string plan_out;
};

Result<void> run_diff(Context& context, const DiffFlags& o) {
  auto compared = TRY(compare_bundle(context, o.comparison, selection_of(o.comparison)));
  if (!o.plan_out.empty()) {
    auto plan = migrate::make_plan(compared.bundle, compared.diff, compared.options.selection,
                                   compared.target_name(), SystemClock().now());
    TRY(write_file(o.plan_out, migrate::write_plan(plan), 0600));
    context.out.note("the plan is in {}: dashctl migrate import --plan {} --bundle {} {} --apply", o.plan_out,
                     o.plan_out, o.comparison.bundle, compared.target_flag());
  }
  context.out.document(comparison_document(o.comparison, compared, nullptr));
  return answer_differences(o.comparison, compared.diff);
}

}  // namespace

Run declare_diff(Flags& flags) {
  auto o = std::make_shared<DiffFlags>();
  declare_comparison(flags, o->comparison);
  flags.text("--plan-out", o->plan_out, "FILE", "pin what was seen, without values, for import --plan");
  return [o](Context& context) { return run_diff(context, *o); };
}

}  // namespace dash::cmd
