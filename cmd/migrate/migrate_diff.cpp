#include <filesystem>

#include "cmd/cli/interrupt.hpp"
#include "cmd/cli/printer.hpp"
#include "cmd/migrate/migrate_compare.hpp"
#include "core/base/file.hpp"
#include "core/migrate/plan.hpp"

namespace dash::cmd {
namespace {

struct DiffFlags {
  ComparisonFlags comparison;
  std::string plan_out;
};

Result<void> write_plan_file(const std::string& path, const migrate::MigrationPlan& plan) {
  InterruptBlocker blocker;
  TRY(within("storing the plan", write_file(path, migrate::write_plan(plan), 0600)));
  set_interrupt_message(fmt::format("the plan was written to {}, and nothing else", path));
  return {};
}

Result<void> run_diff(Context& context, const DiffFlags& options) {
  auto compared = TRY(compare_bundle(context, options.comparison, options_of(options.comparison)));
  if (!options.plan_out.empty()) {
    const auto& bundle = options.comparison.bundle;
    auto file = bundle == "-" ? std::string() : std::filesystem::absolute(bundle).string();
    auto plan = migrate::make_plan(compared.bundle, file, compared.diff, compared.options,
                                   compared.target_name(), SystemClock().now());
    TRY(write_plan_file(options.plan_out, plan));
    context.out.note("the plan is in {}; type `dashctl migrate import --plan {} --apply` to write it",
                     options.plan_out, shell_word(options.plan_out));
  }
  if (context.out.is_json()) context.out.document(comparison_document(options.comparison, compared, nullptr));
  return check_differences(options.comparison, compared.diff);
}

}  // namespace

Run declare_diff(Flags& flags) {
  auto options = std::make_shared<DiffFlags>();
  declare_comparison(flags, options->comparison);
  flags.text("--plan-out", options->plan_out, "FILE",
             "write a plan for `import --plan`: the comparison, without values");
  return [options](Context& context) { return run_diff(context, *options); };
}

}  // namespace dash::cmd
