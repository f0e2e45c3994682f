#include <filesystem>

#include "cmd/cli/interrupt.hpp"
#include "cmd/cli/output.hpp"
#include "cmd/migrate/migrate_compare.hpp"
#include "core/base/file.hpp"
#include "core/migrate/plan.hpp"

namespace dash::cmd {
namespace {

struct DiffFlags {
  ComparisonFlags comparison;
  std::string plan_out;
};

Result<void> store_plan(const std::string& path, const migrate::Plan& plan) {
  Shield shield;
  TRY(within("storing the plan", write_file(path, migrate::write_plan(plan), 0600)));
  if_interrupted(fmt::format("the plan was written to {}, and nothing else", path));
  return {};
}

Result<void> run_diff(Context& context, const DiffFlags& o) {
  auto compared = TRY(compare_bundle(context, o.comparison, options_of(o.comparison)));
  if (!o.plan_out.empty()) {
    const auto& bundle = o.comparison.bundle;
    auto file = bundle == "-" ? std::string() : std::filesystem::absolute(bundle).string();
    auto plan = migrate::make_plan(compared.bundle, file, compared.diff, compared.options,
                                   compared.target_name(), SystemClock().now());
    TRY(store_plan(o.plan_out, plan));
    context.out.note("the plan is in {}: dashctl migrate import --plan {} --apply", o.plan_out,
                     shell_word(o.plan_out));
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
