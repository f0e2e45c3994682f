#include <thread>

#include "cmd/interrupt.hpp"
#include "cmd/migrate.hpp"
#include "cmd/output.hpp"
#include "cmd/secret_input.hpp"

namespace dash::cmd {
namespace {

struct ImportFlags {
  std::string bundle;
  InstanceFlags instance;
  migrate::Selection selection;
  std::string regions = "merge";
  bool no_compare = false;
  bool exit_code = false;
  bool show_same = false;
  bool apply = false;
  std::string setup_code_file, bootstrap_admin, bootstrap_password_file;
};

void declare_comparison(Flags& flags, ImportFlags& o) {
  flags.text("--bundle", o.bundle, "FILE", "the bundle; - for stdin").required();
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

// Everything that is decided before the target is written to.
struct Compared {
  migrate::Bundle bundle;
  migrate::Staged staged;
  MigrateTarget target;
  Secret setup_code;
  migrate::DiffOptions options;
  migrate::Diff diff;
};

Result<Compared> compare_bundle(Context& context, const ImportFlags& o) {
  Compared c;
  c.options = {!o.no_compare, o.selection};
  c.options.selection.replace_regions = o.regions == "replace";
  c.bundle = TRY(load_bundle(context, o.bundle));
  c.staged = TRY(migrate::stage(c.bundle, c.options.selection, o.bundle));
  if (!o.setup_code_file.empty()) c.setup_code = TRY(read_secret_file(o.setup_code_file));
  c.target = TRY(open_migrate_target(context, o.instance, c.setup_code));
  if (!c.target.is_set_up) context.out.warn("{} is not set up yet", c.target.instance->name());
  c.diff = TRY(migrate::compare(c.bundle, c.staged, *c.target.instance, c.options, context.out.progress()));
  print_diff(context, c.staged, c.diff, o.show_same);
  return c;
}

OrderedJson document(const ImportFlags& o, const Compared& c, const migrate::Applied* applied) {
  OrderedJson out{{"bundle", o.bundle}, {"target", c.target.instance->name()}};
  auto diff = migrate::to_json(c.diff);
  for (auto& [key, value] : diff.items()) out[key] = std::move(value);
  out["refused"] = c.staged.refused;
  out["masked"] = c.staged.masked;
  out["applied"] = applied ? migrate::to_json(*applied) : OrderedJson();
  return out;
}

Result<void> answer(const ImportFlags& o, const migrate::Diff& diff) {
  if (o.exit_code && diff.has_differences()) return fail(Code::differences, "there are differences");
  return {};
}

Result<std::optional<migrate::Claim>> claim(Context& context, const ImportFlags& o, const Compared& c) {
  using Answer = std::optional<migrate::Claim>;
  if (c.target.is_set_up) {
    if (!o.bootstrap_admin.empty())
      context.out.note("{} is set up already: --bootstrap-admin is left out", c.target.instance->name());
    return Answer();
  }
  if (o.bootstrap_admin.empty())
    return fail(Code::usage,
                "{} is not set up yet: pass --bootstrap-admin NAME, and --setup-code-file FILE with the "
                "one-time code that it "
                "printed when it started",
                c.target.instance->name());
  auto password =
      TRY(new_secret_from(context, o.bootstrap_password_file,
                          fmt::format("New password of {}", o.bootstrap_admin), "--bootstrap-password-file"));
  return Answer(migrate::Claim{c.setup_code, o.bootstrap_admin, std::move(password)});
}

void tell_stage(std::string_view stage, const std::string& target) {
  if (stage == "writing")
    if_interrupted(fmt::format(
        "the import was on its way; {} takes all of it or nothing, and dashctl migrate diff tells which",
        target));
  if (stage == "writing endpoints")
    if_interrupted("keys and regions were written; some notification endpoints may not be");
  if (stage == "reading back") if_interrupted("everything was written, but not all of it read back");
}

void report(Context& context, const Compared& c, const migrate::Applied& applied) {
  auto& out = context.out;
  const auto& name = c.target.instance->name();
  if (!applied.wrote) return out.line("{} already matches, nothing written", name);
  out.line("wrote {} keys to {}", applied.written.keys_written, name);
  if (!applied.written.regions_merged.empty())
    out.line("regions: {}", printable(fmt::format("{}", fmt::join(applied.written.regions_merged, ", "))));
  if (applied.endpoints_written > 0) out.line("notification endpoints: {}", applied.endpoints_written);
  if (applied.unverified.empty() && applied.not_as_written.empty()) out.line("read back: everything is SAME");
  if (!applied.unverified.empty())
    out.note("{} keys are masked by the target and could not be read back: {}", applied.unverified.size(),
             printable(fmt::format("{}", fmt::join(applied.unverified, ", "))));
  if (!applied.written.change_id.empty())
    out.line("undo: dashctl migrate rollback --change {} {}", applied.written.change_id,
             c.target.api ? "--target " + name : "--data-dir " + name);
  out.note(
      "Not migrated, move by hand: users, workstreams, group mappings, registered images, remote agents, "
      "vault registrations. "
      "Cannot be migrated: security keys and remote agents (enrol again), personal access tokens (issue "
      "again)");
}

Result<void> run_diff(Context& context, const ImportFlags& o) {
  auto compared = TRY(compare_bundle(context, o));
  context.out.document(document(o, compared, nullptr));
  return answer(o, compared.diff);
}

Result<void> run_import(Context& context, const ImportFlags& o) {
  auto c = TRY(compare_bundle(context, o));
  context.out.document(document(o, c, nullptr));
  if (!o.apply) {
    context.out.note("nothing was written: add --apply to write");
    return answer(o, c.diff);
  }
  auto name = c.target.instance->name();
  migrate::ApplyOrder order{c.options, TRY(claim(context, o, c)),
                            [&](std::string_view stage) { tell_stage(stage, name); },
                            [](std::chrono::milliseconds pause) { std::this_thread::sleep_for(pause); }};
  auto applied =
      TRY(migrate::apply(c.bundle, c.staged, c.diff, *c.target.instance, order, context.out.progress()));
  report(context, c, applied);
  context.out.document(document(o, c, &applied));
  return migrate::verdict(applied);
}

struct RollbackFlags {
  InstanceFlags instance;
  std::string change;
};

Result<void> run_rollback(Context& context, const RollbackFlags& o) {
  auto target = TRY(open_migrate_target(context, o.instance, Secret()));
  auto restored = TRY(target.instance->rollback(o.change));
  context.out.line("restored {} keys on {}", restored.size(), target.instance->name());
  for (const auto& key : restored) context.out.line("      {}", printable(key));
  context.out.document(
      {{"target", target.instance->name()}, {"change_id", o.change}, {"restored", restored}});
  return {};
}

}  // namespace

Run declare_diff(Flags& flags) {
  auto o = std::make_shared<ImportFlags>();
  declare_comparison(flags, *o);
  return [o](Context& context) { return run_diff(context, *o); };
}

Run declare_import(Flags& flags) {
  auto o = std::make_shared<ImportFlags>();
  declare_comparison(flags, *o);
  flags.toggle("--apply", o->apply, "write").guard();
  flags.text("--bootstrap-admin", o->bootstrap_admin, "NAME",
             "the first administrator of a target that nobody owns yet");
  flags.text("--bootstrap-password-file", o->bootstrap_password_file, "FILE",
             "the new administrator's password; - for stdin; asked for when left out");
  return [o](Context& context) { return run_import(context, *o); };
}

Run declare_rollback(Flags& flags) {
  auto o = std::make_shared<RollbackFlags>();
  flags.text("--change", o->change, "ID", "the change to undo, as import printed it").required();
  declare_instance(flags, o->instance);
  return [o](Context& context) { return run_rollback(context, *o); };
}

}  // namespace dash::cmd
