#include <cctype>
#include <charconv>

#include "cmd/cli/interrupt.hpp"
#include "cmd/cli/printer.hpp"
#include "cmd/storage/storage.hpp"

namespace dash::cmd {
namespace {

// Prints the names that the report has in `member`, each after `word`.
void print_names(Context& context, const Json& report, const char* member, std::string_view word) {
  for (const auto& name : report.at(member))
    context.out.line("{:<10} {}", word, printable(name.get<std::string>()));
}

struct MigrateFlags {
  InstanceFlags instance;
  storage::MigrateRequest request;
  std::string bwlimit;
};

// Reads "10M": bytes a second, in units of 1024.
Result<std::uint64_t> parse_rate(std::string_view text) {
  constexpr std::string_view kUnits = "KMG";
  auto wrong =
      fail(Code::usage, "--bwlimit: '{}' is no rate; write bytes a second, as 500K, 10M or 1G", text);
  std::uint64_t rate = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rate);
  auto unit = std::string_view(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (error != std::errc() || rate == 0 || unit.size() > 1) return wrong;
  if (!unit.empty()) {
    auto power = kUnits.find(static_cast<char>(std::toupper(static_cast<unsigned char>(unit[0]))));
    if (power == kUnits.npos) return wrong;
    for (std::size_t i = 0; i <= power; ++i) {
      if (rate > std::uint64_t{1} << 52) return wrong;
      rate *= 1024;
    }
  }
  if (rate > std::uint64_t{1} << 62) return wrong;
  return rate;
}

Result<Json> migrate_until_interrupted(Context& context, client::StorageClient& storage,
                                       const storage::MigrateRequest& request) {
  if (request.is_dry_run) return storage.migrate(request, context.out.progress());
  set_interrupt_message("what was copied stays on the target; run the same command again for the rest");
  OnInterrupt stop([&storage] { storage.stop_migration(); });
  return storage.migrate(request, context.out.progress());
}

Result<void> run_migrate(Context& context, const MigrateFlags& options) {
  auto request = options.request;
  if (!options.bwlimit.empty()) request.bytes_per_second = TRY(parse_rate(options.bwlimit));
  auto instance = TRY(open_instance(context, options.instance, Login::any));
  auto report = TRY(migrate_until_interrupted(context, *instance->storage, request));
  print_names(context, report, "copied", options.request.is_dry_run ? "would copy" : "copied");
  print_names(context, report, "skipped", "skipped");
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
  storage::CompareRequest request;
};

Result<void> run_verify(Context& context, const VerifyFlags& options) {
  auto instance = TRY(open_instance(context, options.instance, Login::any));
  const auto& [source, target, is_download, is_abandoned] = options.request;
  auto report = TRY(instance->storage->compare(options.request, context.out.progress()));
  print_names(context, report, "same", "same");
  for (const auto& item : report.at("different"))
    context.out.line("{:<10} {} ({})", "different", printable(item.value("name", "")),
                     printable(item.value("why", "")));
  print_names(context, report, "only_source", "only in " + source);
  print_names(context, report, "only_target", "only in " + target);
  auto failed = report.value("failed", Json::array());
  for (const auto& item : failed)
    context.out.warn("{}: {}", printable(item.value("name", "")), printable(item.value("error", "")));
  context.out.document(OrderedJson(report));
  if (report.at("ok").get<bool>()) return {};
  bool is_all_failed =
      report.at("different").empty() && report.at("only_source").empty() && report.at("only_target").empty();
  if (is_all_failed)
    return fail(Code::partial, "{} assets could not be compared; run the same command again", failed.size());
  return fail(Code::differences, "{} and {} do not hold the same assets", source, target);
}

}  // namespace

Run declare_storage_verify(Flags& flags) {
  auto options = std::make_shared<VerifyFlags>();
  flags.argument("SOURCE", options->request.source, "backend to compare").required();
  flags.argument("TARGET", options->request.target, "backend to compare it with").required();
  flags.toggle("--download", options->request.is_download, "read every asset on both sides, digests or not");
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
  flags.text("--bwlimit", options->bwlimit, "RATE", "copy at most so many bytes a second: 500K, 10M, 1G");
  declare_instance(flags, options->instance);
  return [options](Context& context) { return run_migrate(context, *options); };
}

}  // namespace dash::cmd
