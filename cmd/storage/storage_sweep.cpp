#include "cmd/cli/printer.hpp"
#include "cmd/storage/storage.hpp"

namespace dash::cmd {
namespace {

struct SweepFlags {
  InstanceFlags instance;
  std::string backend;
  std::int64_t age_hours = storage::kDefaultSweepAge.count();
  bool is_applied = false;
};

Result<void> run_sweep(Context& context, const SweepFlags& options) {
  auto instance = TRY(open_instance(context, options.instance, Login::any));
  auto answer = TRY(
      instance->storage->sweep({options.backend, std::chrono::hours(options.age_hours), options.is_applied}));
  std::uint64_t bytes = 0;
  for (const auto& item : answer.at("items")) {
    bytes += item.value("bytes", std::uint64_t{0});
    context.out.line("{:>12}  {}  {:<10}  {}", item.value("bytes", std::uint64_t{0}),
                     printable(item.value("began_at", "")), printable(item.value("backend", "")),
                     printable(item.value("key", "")));
  }
  auto failed = answer.value("failed", Json::array());
  for (const auto& item : failed)
    context.out.warn("{}: {}", printable(item.value("backend", "")), printable(item.value("error", "")));
  if (options.is_applied)
    context.out.note("{} unfinished uploads dropped, {} bytes", answer.value("swept", 0), bytes);
  else
    context.out.note("{} unfinished uploads, {} bytes; --apply drops them", answer.at("items").size(), bytes);
  context.out.document(OrderedJson(answer));
  if (failed.empty()) return {};
  return fail(Code::partial, "{} backends were not swept; run the same command again when they answer",
              failed.size());
}

}  // namespace

Run declare_storage_sweep(Flags& flags) {
  auto options = std::make_shared<SweepFlags>();
  flags.text("--backend", options->backend, "ID", "backend to sweep; all that are configured by default");
  flags.number("--older-than", options->age_hours, "HOURS",
               "hours since the upload began, at least; 24 by default, 12 at the least");
  flags.toggle("--apply", options->is_applied, "drop what is listed").guard();
  declare_instance(flags, options->instance);
  return [options](Context& context) { return run_sweep(context, *options); };
}

}  // namespace dash::cmd
