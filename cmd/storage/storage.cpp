#include "cmd/storage/storage.hpp"

#include "cmd/cli/groups.hpp"
#include "cmd/cli/printer.hpp"

namespace dash::cmd {
namespace {

struct ListFlags {
  InstanceFlags instance;
  std::string backend;
};

Run declare_list(Flags& flags) {
  auto options = std::make_shared<ListFlags>();
  flags.text("--backend", options->backend, "ID",
             "backend to list (an admin's right); the active one by default");
  declare_instance(flags, options->instance);
  return [options](Context& context) -> Result<void> {
    auto open = TRY(open_storage_client(context, options->instance));
    auto listing = TRY(open.client->list(options->backend));
    for (const auto& item : listing.at("items"))
      context.out.line("{:>12}  {:<10}  {:<16}  {}", item.value("size", std::uint64_t{0}),
                       item.value("type", ""), printable(string_member(item, "workgroup").value_or("-")),
                       printable(item.value("name", "")));
    context.out.note("{} assets in {}", listing.value("count", 0), listing.value("backend", ""));
    context.out.document(OrderedJson(listing));
    return {};
  };
}

struct NamesFlags {
  InstanceFlags instance;
  std::vector<std::string> names;
};

Result<void> remove_all(Context& context, const NamesFlags& options) {
  auto open = TRY(open_storage_client(context, options.instance));
  auto deleted = OrderedJson::array();
  auto failed = OrderedJson::array();
  BatchResult batch;
  for (const auto& name : options.names) {
    auto removed = open.client->remove(name);
    if (removed) {
      context.out.line("deleted {}", printable(name));
      deleted.push_back(name);
      ++batch.done;
      continue;
    }
    context.out.warn("{}: {}", printable(name), printable(removed.error().message));
    failed.push_back({{"name", name}, {"error", removed.error().message}});
    batch.add_failure(removed.error());
  }
  context.out.document({{"deleted", deleted}, {"failed", failed}});
  return batch.to_result("assets were not deleted");
}

Run declare_delete(Flags& flags) {
  auto options = std::make_shared<NamesFlags>();
  flags.arguments("NAME", options->names, "assets of the active backend").required();
  declare_instance(flags, options->instance);
  return [options](Context& context) { return remove_all(context, *options); };
}

struct TestFlags {
  InstanceFlags instance;
  std::string backend;
  bool is_deep = false;
};

Result<void> run_test(Context& context, const TestFlags& options) {
  auto open = TRY(open_storage_client(context, options.instance));
  auto answer = TRY(open.client->test(options.backend, options.is_deep));
  for (const auto& check : answer.value("checks", Json::array()))
    context.out.line("{:<10} {:<7} {}", check.value("name", ""), check.value("ok", false) ? "ok" : "FAILED",
                     printable(check.value("detail", "")));
  auto is_ok = answer.at("ok").get<bool>();
  if (is_ok && !options.is_deep)
    context.out.line("{} is reachable: {} assets", options.backend, answer.value("count", 0));
  context.out.document(OrderedJson(answer));
  if (is_ok) return {};
  if (options.is_deep)
    return fail(Code::upstream, "backend '{}' does not do all that is asked of it; see the checks",
                options.backend);
  return fail(Code::upstream, "backend '{}' cannot be used: {}", options.backend,
              printable(answer.value("error", "")));
}

Run declare_test(Flags& flags) {
  auto options = std::make_shared<TestFlags>();
  flags.argument("BACKEND", options->backend, "backend to test").required();
  flags.toggle("--deep", options->is_deep,
               "prove write, range, replace, multipart, abort and clock, and clean up");
  declare_instance(flags, options->instance);
  return [options](Context& context) { return run_test(context, *options); };
}

struct SweepFlags {
  InstanceFlags instance;
  std::string backend;
  std::int64_t age_hours = storage::kDefaultSweepAge.count();
};

Result<void> run_sweep(Context& context, const SweepFlags& options) {
  auto open = TRY(open_storage_client(context, options.instance));
  auto answer = TRY(open.client->sweep(options.backend, options.age_hours));
  context.out.line("{} unfinished uploads dropped from {}", answer.at("swept").get<std::int64_t>(),
                   answer.value("backend", ""));
  context.out.document(OrderedJson(answer));
  return {};
}

Run declare_sweep(Flags& flags) {
  auto options = std::make_shared<SweepFlags>();
  flags.text("--backend", options->backend, "ID", "backend to sweep; the active one by default");
  flags.number("--older-than", options->age_hours, "HOURS", "how long ago an upload began at least (24)");
  declare_instance(flags, options->instance);
  return [options](Context& context) { return run_sweep(context, *options); };
}

}  // namespace

Result<OpenStorageClient> open_storage_client(Context& context, const InstanceFlags& flags) {
  OpenStorageClient open{TRY(open_instance(context, flags, Login::any)), nullptr};
  if (open.instance.api) {
    open.client = client::open_http_storage_client(*open.instance.api);
  } else {
    auto& app = open.instance.local->application();
    open.client = client::open_local_storage_client(
        {app.storage, open.instance.principal, data_dir_or_default(flags.local.data_dir)});
  }
  return open;
}

Group storage_group() {
  return {
      "storage",
      "Assets in the storage backends",
      {{"list", "List assets", "", declare_list},
       {"upload", "Upload files to the active backend",
        "Small files go in one request, larger ones in parts of 8 MiB where the backend takes them. An "
        "upload that was cut "
        "goes on where it stopped when the same command runs again, within 12 hours. With --output json "
        "each file is one "
        "line.",
        declare_storage_upload},
       {"fetch", "Fetch assets into files",
        "A file appears whole or not at all, checked against the asset's digest where that is known. "
        "Several assets, and patterns, go into a folder; with --output json each is one line.",
        declare_storage_fetch},
       {"delete", "Delete assets from the active backend", "", declare_delete},
       {"test", "Test whether a backend can be used", "", declare_test},
       {"migrate", "Copy every asset of one backend to another",
        "The source keeps its assets and the active backend stays what it is. What is on the target by "
        "name is skipped unless --overwrite is given, so a second run retries what failed in the first. "
        "Exit 5 when some failed.",
        declare_storage_migrate},
       {"verify", "Compare the assets of two backends by name, size and content",
        "What has no digest on record is read. Exit 6 when anything differs.", declare_storage_verify},
       {"gc", "Drop uploads that were begun and never finished",
        "Crashes and clients that gave up leave them, unseen and paid for. A younger one may still go on; "
        "one that is older than its handle (12 hours) cannot.",
        declare_sweep}}};
}

}  // namespace dash::cmd
