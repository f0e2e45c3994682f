#include "cmd/migrate/migrate_compare.hpp"

#include "cmd/cli/output.hpp"
#include "cmd/cli/secret_input.hpp"

namespace dash::cmd {

void declare_comparison(Flags& flags, ComparisonFlags& o) {
  flags.text("--bundle", o.bundle, "FILE", "the bundle; - for stdin");
  flags.text("--passphrase-file", o.passphrase_file, "FILE",
             "the passphrase of a sealed bundle; asked for when left out");
  declare_instance(flags, o.instance);
  flags.list("--only", o.selection.only, "KEY-PREFIX",
             "only keys that start so, in either spelling; notification_endpoints selects the webhooks");
  flags.text("--regions", o.regions, "HOW", "merge region sets field by field, or replace them")
      .one_of({"merge", "replace"});
  flags.toggle("--include-on-prem", o.selection.include_on_prem, "write on-premises targets too").guard();
  flags
      .toggle("--allow-empty-values", o.selection.allow_empty_values,
              "let an empty value blank one of the target")
      .guard();
  flags.toggle("--no-compare", o.no_compare,
               "leave what the target masks UNKNOWN instead of comparing it blindly");
  flags.toggle("--exit-code", o.exit_code, "exit 6 when there are differences");
  flags.toggle("--show-same", o.show_same, "list the keys that are SAME too");
  flags.text("--setup-code-file", o.setup_code_file, "FILE",
             "the one-time code of a target that nobody owns yet; - for stdin");
}

migrate::DiffOptions options_of(const ComparisonFlags& flags) {
  migrate::DiffOptions out{!flags.no_compare, flags.selection};
  out.selection.replace_regions = flags.regions == "replace";
  return out;
}

Result<Compared> compare_bundle(Context& context, const ComparisonFlags& o,
                                const migrate::DiffOptions& options) {
  if (o.bundle.empty()) return fail(Code::usage, "name the bundle with --bundle FILE, or - for stdin");
  Compared c;
  c.options = options;
  c.bundle = TRY(load_bundle(context, o.bundle, o.passphrase_file));
  c.staged = TRY(migrate::stage(c.bundle, options.selection, o.bundle));
  if (!o.setup_code_file.empty()) c.setup_code = TRY(read_secret_file(o.setup_code_file));
  c.target = TRY(open_migrate_target(context, o.instance, c.setup_code, o.if_absent));
  if (!c.target.is_set_up) context.out.warn("{} is not set up yet", c.target_name());
  context.out.wait_for("reading " + c.target_name());
  c.diff = TRY(migrate::compare(c.bundle, c.staged, *c.target.instance, c.options, context.out.progress()));
  context.out.wait_for("");
  print_diff(context, c.staged, c.diff, o.show_same);
  return c;
}

OrderedJson comparison_document(const ComparisonFlags& o, const Compared& c,
                                const migrate::Applied* applied) {
  OrderedJson out{{"bundle", o.bundle}, {"target", c.target_name()}};
  auto diff = migrate::to_json(c.diff);
  for (auto& [key, value] : diff.items()) out[key] = std::move(value);
  out["refused"] = c.staged.refused;
  out["masked"] = c.staged.masked;
  for (const auto& key : c.diff.masked) out["masked"].push_back(key);
  out["applied"] = applied ? migrate::to_json(*applied) : OrderedJson();
  return out;
}

Result<void> answer_differences(const ComparisonFlags& flags, const migrate::Diff& diff) {
  if (flags.exit_code && diff.has_differences()) return fail(Code::differences, "there are differences");
  return {};
}

}  // namespace dash::cmd
