#include "cmd/cli/printer.hpp"
#include "cmd/storage/storage.hpp"

namespace dash::cmd {
namespace {

struct MigrateFlags {
  InstanceFlags instance;
  storage::MigrateRequest request;
};

Result<void> run_migrate(Context& context, const MigrateFlags& options) {
  auto instance = TRY(open_instance(context, options.instance, Login::any));
  auto report = TRY(instance->storage->migrate(options.request, context.out.progress()));
  auto list = [&](const char* member, std::string_view word) {
    for (const auto& name : report.at(member))
      context.out.line("{:<10} {}", word, printable(name.get<std::string>()));
  };
  list("copied", options.request.is_dry_run ? "would copy" : "copied");
  list("skipped", "skipped");
  auto failed = report.at("failed");
  for (const auto& item : failed)
    context.out.warn("{}: {}", printable(item.value("name", "")), printable(item.value("error", "")));
  context.out.note("{}", report.value("summary", ""));
  context.out.document(OrderedJson(report));
  if (failed.empty()) return {};
  return fail(Code::partial, "{} of {} assets were not copied; run the same command again to retry them",
              failed.size(), failed.size() + report.at("copied").size() + report.at("skipped").size());
}

struct VerifyFlags {
  InstanceFlags instance;
  std::string source, target;
};

Result<void> run_verify(Context& context, const VerifyFlags& options) {
  auto instance = TRY(open_instance(context, options.instance, Login::any));
  auto report = TRY(instance->storage->compare(options.source, options.target, context.out.progress()));
  auto list = [&](const char* member, const std::string& word) {
    for (const auto& name : report.at(member))
      context.out.line("{:<10} {}", word, printable(name.get<std::string>()));
  };
  list("same", "same");
  for (const auto& item : report.at("different"))
    context.out.line("{:<10} {} ({})", "different", printable(item.value("name", "")),
                     printable(item.value("why", "")));
  list("only_source", "only in " + options.source);
  list("only_target", "only in " + options.target);
  context.out.document(OrderedJson(report));
  if (report.at("ok").get<bool>()) return {};
  return fail(Code::differences, "{} and {} do not hold the same assets", options.source, options.target);
}

}  // namespace

Run declare_storage_verify(Flags& flags) {
  auto options = std::make_shared<VerifyFlags>();
  flags.argument("SOURCE", options->source, "backend to compare").required();
  flags.argument("TARGET", options->target, "backend to compare it with").required();
  declare_instance(flags, options->instance);
  return [options](Context& context) { return run_verify(context, *options); };
}

Run declare_storage_migrate(Flags& flags) {
  auto options = std::make_shared<MigrateFlags>();
  flags.argument("SOURCE", options->request.source, "backend to copy from").required();
  flags.argument("TARGET", options->request.target, "backend to copy to").required();
  flags.toggle("--overwrite", options->request.overwrite, "replace assets of the same name on the target")
      .guard();
  flags.toggle("--dry-run", options->request.is_dry_run, "print what would be copied, write nothing");
  declare_instance(flags, options->instance);
  return [options](Context& context) { return run_migrate(context, *options); };
}

}  // namespace dash::cmd
