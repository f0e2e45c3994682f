#include "cmd/migrate/migrate_compare.hpp"

#include "cmd/cli/printer.hpp"
#include "cmd/cli/secret_input.hpp"

namespace dash::cmd {

void declare_comparison(Flags& flags, ComparisonFlags& comparison) {
  flags.text("--bundle", comparison.bundle, "FILE", "the bundle, - for stdin");
  flags.text("--passphrase-file", comparison.passphrase_file, "FILE",
             "passphrase of a sealed bundle, - for stdin; else a prompt");
  declare_instance(flags, comparison.instance);
  flags.list("--only", comparison.selection.only, "KEY-PREFIX",
             "only keys with this prefix, in either spelling; notification_endpoints selects the webhooks");
  flags
      .text("--regions", comparison.regions, "HOW",
            "merge region sets field by field (the default), or replace them")
      .one_of({"merge", "replace"});
  flags.toggle("--include-on-prem", comparison.selection.include_on_prem, "include on-premises targets")
      .guard();
  flags
      .toggle("--allow-empty-values", comparison.selection.allow_empty_values,
              "let an empty value replace one of the target")
      .guard();
  flags.toggle("--no-compare", comparison.no_compare,
               "report what the target masks as UNKNOWN, do not compare it blindly");
  flags.toggle("--exit-code", comparison.exit_code, "exit with 6 when there are differences");
  flags.toggle("--show-same", comparison.show_same, "list keys whose values are the SAME, too");
  flags.text("--setup-code-file", comparison.setup_code_file, "FILE",
             "one-time code of a target that is not set up yet, - for stdin");
}

migrate::DiffOptions options_of(const ComparisonFlags& flags) {
  migrate::DiffOptions out{!flags.no_compare, flags.selection};
  out.selection.replace_regions = flags.regions == "replace";
  return out;
}

Result<ComparisonResult> compare_bundle(Context& context, const ComparisonFlags& comparison,
                                        const migrate::DiffOptions& options) {
  if (comparison.bundle.empty())
    return fail(Code::usage, "name the bundle with --bundle FILE, or - for stdin");
  ComparisonResult c;
  c.options = options;
  c.bundle = TRY(load_bundle(context, comparison.bundle, comparison.passphrase_file));
  c.selected = TRY(migrate::select(c.bundle, options.selection, comparison.bundle));
  if (!comparison.setup_code_file.empty()) c.setup_code = TRY(read_secret_file(comparison.setup_code_file));
  c.target = TRY(open_migrate_target(context, comparison.instance, c.setup_code, comparison.if_absent));
  if (!c.target.is_set_up) context.out.warn("{} is not set up yet", c.target_name());
  context.out.set_activity("reading " + c.target_name());
  c.diff = TRY(migrate::compare(c.bundle, c.selected, *c.target.instance, c.options, context.out.progress()));
  context.out.set_activity("");
  print_diff(context, c.selected, c.diff, comparison.show_same);
  return c;
}

OrderedJson comparison_document(const ComparisonFlags& comparison, const ComparisonResult& c,
                                const migrate::ApplyResult* applied) {
  OrderedJson out{{"bundle", comparison.bundle}, {"target", c.target_name()}};
  auto diff = migrate::to_json(c.diff);
  for (auto& [key, value] : diff.items()) out[key] = std::move(value);
  out["refused"] = c.selected.refused;
  out["masked"] = c.selected.masked;
  for (const auto& key : c.diff.masked) out["masked"].push_back(key);
  out["applied"] = applied ? migrate::to_json(*applied) : OrderedJson();
  return out;
}

Result<void> check_differences(const ComparisonFlags& flags, const migrate::Diff& diff) {
  if (flags.exit_code && diff.has_differences()) return fail(Code::differences, "there are differences");
  return {};
}

}  // namespace dash::cmd
