#include "cmd/storage/storage.hpp"

#include "cmd/cli/groups.hpp"
#include "cmd/cli/printer.hpp"

namespace dash::cmd {
namespace {

struct ListFlags {
  InstanceFlags instance;
  std::string backend;
};

// A dashboard that does not know the member says nothing.
void warn_of_local_state(Context& context, client::StorageClient& storage, const std::string& backend) {
  auto backends = storage.backends();
  if (!backends || backends->value("active", "") != backend) return;
  auto reason = string_member(*backends, "durable_state_reason").value_or("");
  if (!reason.empty()) context.out.warn("{}: {}", backend, printable(reason));
}

void print_assets(Context& context, const Json& page) {
  Printer::Batch batch(context.out);
  for (const auto& item : page.at("items")) {
    context.out.line("{:>12}  {:<10}  {:<16}  {}", item.value("size", std::uint64_t{0}),
                     item.value("type", ""), printable(string_member(item, "workgroup").value_or("-")),
                     printable(item.value("name", "")));
    context.out.list_item(OrderedJson(item));
  }
}

// Holds one page at a time.
Result<void> list_assets(Context& context, client::StorageClient& storage, const std::string& backend) {
  std::optional<std::string> name;
  std::size_t count = 0;
  TRY(for_each_page(storage, backend, [&](const Json& page) {
    if (!name) context.out.begin_list({{"backend", name.emplace(page.value("backend", ""))}}, "items");
    count += page.at("items").size();
    print_assets(context, page);
  }));
  context.out.note("{} assets in {}", count, *name);
  warn_of_local_state(context, storage, *name);
  context.out.document({{"count", count}});
  return {};
}

Run declare_list(Flags& flags) {
  auto options = std::make_shared<ListFlags>();
  flags.text("--backend", options->backend, "ID",
             "backend to list, as an administrator; the active one by default");
  declare_instance(flags, options->instance);
  return [options](Context& context) -> Result<void> {
    auto instance = TRY(open_instance(context, options->instance, Login::any));
    return list_assets(context, *instance->storage, options->backend);
  };
}

struct NamesFlags {
  InstanceFlags instance;
  std::vector<std::string> names;
};

Result<void> remove_all(Context& context, const NamesFlags& options) {
  auto instance = TRY(open_instance(context, options.instance, Login::any));
  auto deleted = OrderedJson::array();
  auto failed = OrderedJson::array();
  BatchResult batch;
  for (const auto& name : options.names) {
    auto removed = instance->storage->remove(name);
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
  auto instance = TRY(open_instance(context, options.instance, Login::any));
  auto answer = TRY(instance->storage->test(options.backend, options.is_deep));
  for (const auto& check : answer.value("checks", Json::array()))
    context.out.line("{:<10} {:<7} {}", check.value("name", ""), check.value("ok", false) ? "ok" : "FAILED",
                     printable(check.value("detail", "")));
  if (auto message = string_member(answer, "message")) context.out.line("{}", printable(*message));
  auto is_ok = answer.at("ok").get<bool>();
  if (is_ok && !options.is_deep)
    context.out.line("{} is reachable: {} assets", options.backend, answer.value("count", 0));
  context.out.document(OrderedJson(answer));
  if (is_ok) return {};
  if (options.is_deep)
    return fail(Code::upstream, "the backend '{}' failed a check; see the checks", options.backend);
  return fail(Code::upstream, "the backend '{}' cannot be used: {}", options.backend,
              printable(answer.value("error", "")));
}

Run declare_test(Flags& flags) {
  auto options = std::make_shared<TestFlags>();
  flags.argument("BACKEND", options->backend, "backend to test").required();
  flags.toggle("--deep", options->is_deep,
               "test write, range, replace, multipart, abort and clock, and clean up");
  declare_instance(flags, options->instance);
  return [options](Context& context) { return run_test(context, *options); };
}

}  // namespace

Result<void> for_each_page(client::StorageClient& storage, const std::string& backend,
                           const std::function<void(const Json& page)>& take) {
  std::string cursor;
  for (;;) {
    auto page = TRY(storage.list(backend, cursor));
    take(page);
    auto next = string_member(page, "next").value_or("");
    if (next.empty()) return {};
    if (next == cursor) return fail(Code::upstream, "the instance sends the same page of the list again");
    cursor = std::move(next);
  }
}

Group storage_group() {
  return {
      "storage",
      "Assets in the storage backends",
      {{"list",
        "List assets",
        "",
        declare_list,
        {{"List the assets of the active backend", "dashctl storage list"}}},
       {"upload",
        "Upload files to the active backend",
        "A small file takes one request, a larger one parts of 8 MiB where the backend supports them. "
        "The same command continues an interrupted upload within 12 hours. With --output json each file "
        "is one line.",
        declare_storage_upload,
        {{"Upload files", "dashctl storage upload site.yml setup.sh"},
         {"Upload to a running instance",
          "dashctl storage upload site.yml --target https://dash.example --token-file token"}}},
       {"fetch",
        "Fetch assets into files",
        "A file appears whole or not at all, checked against the asset's digest where that is known. "
        "Several assets, and patterns, go into a folder. With --output json each asset is one line.",
        declare_storage_fetch,
        {{"Print an asset", "dashctl storage fetch motd.yml -o -"},
         {"Fetch into a folder", "dashctl storage fetch '*.yml' -o backup/"}}},
       {"delete",
        "Delete assets from the active backend",
        "",
        declare_delete,
        {{"Delete an asset", "dashctl storage delete motd.yml"}}},
       {"test",
        "Test whether a backend can be used",
        "",
        declare_test,
        {{"Test everything that a backend must do", "dashctl storage test local --deep"}}},
       {"migrate",
        "Copy every asset of one backend to another",
        "The source keeps its assets, and the active backend does not change. Names that the target has "
        "are skipped unless --overwrite is given, so a second run retries what failed. A migration is a job, "
        "storage:migrate; Ctrl-C cancels it, and what was copied stays. Exits with 5 when some failed.",
        declare_storage_migrate,
        {{"See what would be copied", "dashctl storage migrate local obj_cloud1 --dry-run"},
         {"Leave bandwidth to others", "dashctl storage migrate local obj_cloud1 --bwlimit 10M"}}},
       {"verify",
        "Compare the assets of two backends by name, size and content",
        "An asset is read when its digest is not known; --download reads every one on both sides, which also "
        "finds content that changed since its digest was recorded. Exits with 6 when anything differs, and "
        "with 5 when some could not be read.",
        declare_storage_verify,
        {{"Compare two backends", "dashctl storage verify local obj_cloud1", 6},
         {"Compare every byte", "dashctl storage verify local obj_cloud1 --download", 6}}},
       {"gc",
        "List or drop unfinished uploads",
        "Crashes and clients that stop leave unfinished uploads, which are not listed but take space. "
        "One that is older than its handle (12 hours) cannot continue. Without --apply it lists what is "
        "there, since when, and how large. `serve` does this every storage_gc_hours (24; 0: never).",
        declare_storage_sweep,
        {{"List what began two days ago or earlier", "dashctl storage gc --older-than 48"},
         {"Drop it in one backend", "dashctl storage gc --backend local --apply"}}},
       {"hub",
        "Keep disk images on the image hub",
        "For administrators. put sends a FILE to `images/` of the hub: VHD, VHDX, qcow2, OVA, or raw as "
        "`.raw` and `.img`, up to 64 GiB. It is refused when it is not what its name says. The file stays, "
        "and the same command continues an interrupted upload within 12 hours. put BACKEND:KEY takes what a "
        "build exported, from the root of the backend's bucket: it is copied and read back, then deleted "
        "there. promote copies an image to where a cloud imports it from (settings promote_runner_*); the "
        "import itself is left to you.",
        declare_storage_hub,
        {{"Move an image that a build exported to the hub",
          "dashctl storage hub put obj_cloud1:exports/box.vhd --name built.vhd"},
         {"Copy an image to the place where a cloud imports it from",
          "dashctl storage hub promote box.vhd --cloud cloud1"}}},
       {"switch",
        "Make another backend the active one",
        "Refused (exit 12) while a deploy or destroy runs or a lock is held, and when infrastructure state "
        "would stay behind: --migrate-state copies it, reads it back and then switches. The originals stay "
        "and are listed. A state of the new backend that could be newer is replaced only with "
        "--overwrite-state. The assets are copied by `dashctl storage migrate`.",
        declare_storage_switch,
        {{"Switch with the state of all deployments", "dashctl storage switch local --migrate-state"}}},
       {"state",
        "List, show and unlock the infrastructure state of deployments",
        "For administrators. show prints addresses, types and outputs that are not sensitive, never the "
        "value of an attribute. history lists the versions that the store keeps of a state, or says that "
        "versioning is off. unlock ends a lock whose holder is gone; it needs the id that list shows, "
        "and is refused while the job that holds the lock runs.",
        declare_storage_state,
        {{"List the states and their locks", "dashctl storage state list"}}}}};
}

}  // namespace dash::cmd
