#include <glob.h>

#include <filesystem>

#include "cmd/cli/printer.hpp"
#include "cmd/storage/storage.hpp"
#include "core/client/journal.hpp"
#include "core/client/parallel.hpp"
#include "core/client/send.hpp"

namespace dash::cmd {
namespace {

struct UploadFlags {
  InstanceFlags instance;
  std::vector<std::string> files;
  std::string backend;
  bool is_dry_run = false;
};

// Expands a pattern that no shell expanded (quoted, or in a scheduler without one).
std::vector<std::string> expand(const std::string& word) {
  std::error_code error;
  if (!is_pattern(word) || std::filesystem::exists(word, error)) return {word};
  glob_t found{};
  std::vector<std::string> paths;
  if (::glob(word.c_str(), 0, nullptr, &found) == 0)
    paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  return paths.empty() ? std::vector<std::string>{word} : paths;
}

struct PlannedFile {
  std::string path;
  Result<client::SendPlan> plan;
};

std::vector<PlannedFile> plan_all(const UploadFlags& options, const client::UploadTarget& target) {
  std::vector<PlannedFile> files;
  for (const auto& word : options.files)
    for (const auto& path : expand(word)) files.push_back({path, client::plan_send(path, target)});
  return files;
}

void print_planned(Context& context, const client::SendPlan& plan, const client::UploadTarget& target) {
  context.out.line("would upload {} as {} to {} ({} bytes, {})", printable(plan.path), printable(plan.name),
                   target.backend, plan.size, plan.lane);
  context.out.record({{"file", plan.path},
                      {"name", plan.name},
                      {"ok", true},
                      {"dry_run", true},
                      {"size", plan.size},
                      {"lane", plan.lane}});
}

void print_uploaded(Context& context, const client::SendPlan& plan, const Json& answer) {
  auto& out = context.out;
  out.line("uploaded {} ({} bytes)", printable(plan.name), plan.size);
  for (const auto& finding : answer.value("secret_findings", Json::array()))
    out.warn("{} line {}: looks like a secret ({}, {}); replace it with a vault reference",
             printable(plan.path), finding.value("line", 0), finding.value("rule", ""),
             printable(finding.value("match", "")));
  OrderedJson record{
      {"file", plan.path}, {"name", plan.name}, {"ok", true}, {"size", plan.size}, {"lane", plan.lane}};
  for (auto member : {"backend", "digest", "resumed_parts", "secret_findings"})
    if (answer.contains(member)) record[member] = answer[member];
  out.record(record);
}

void print_failed(Context& context, const std::string& path, const Error& error, BatchResult& batch) {
  context.out.warn("{}: {}", printable(path), printable(error.message));
  context.out.record(
      {{"file", path}, {"ok", false}, {"error", info(error.code).word}, {"message", error.message}});
  batch.add_failure(error);
}

Result<void> run_upload(Context& context, const UploadFlags& options) {
  auto instance = TRY(open_instance(context, options.instance, Login::any));
  auto target = TRY(client::active_target(TRY(instance->storage->backends()), options.backend));
  auto files = plan_all(options, target);
  TransferProgress transfer(context.out.progress(),
                            files.size() == 1 ? options.files[0] : fmt::format("{} files", files.size()));
  for (const auto& file : files)
    if (file.plan) transfer.add_total(file.plan->size);
  BufferPool buffers(kMaxBuffers);
  client::SendDeps deps{*instance->storage, buffers, [&](std::uint64_t bytes) { transfer.add_done(bytes); },
                        client::journal_folder(), options.instance.login.admin_user};
  auto send = [&](std::size_t i) -> Result<Json> {
    if (!files[i].plan) return Failure(files[i].plan.error());
    if (options.is_dry_run) return Json();
    return client::send_file(*files[i].plan, deps);
  };
  BatchResult batch;
  auto report = [&](std::size_t i, Result<Json> sent) {
    if (!sent) return print_failed(context, files[i].path, sent.error(), batch);
    ++batch.done;
    if (options.is_dry_run) return print_planned(context, *files[i].plan, target);
    print_uploaded(context, *files[i].plan, *sent);
  };
  client::parallel_for_ordered<Result<Json>>(files.size(), kParallelFiles, send, report);
  return batch.to_result("files were not uploaded");
}

}  // namespace

Run declare_storage_upload(Flags& flags) {
  auto options = std::make_shared<UploadFlags>();
  flags
      .arguments("FILE", options->files,
                 "files or patterns; each file is stored under its name without folders")
      .required();
  flags.text("--backend", options->backend, "ID", "fail unless this backend is the active one");
  flags.toggle("--dry-run", options->is_dry_run, "print what would be uploaded, write nothing");
  declare_instance(flags, options->instance);
  return [options](Context& context) { return run_upload(context, *options); };
}

}  // namespace dash::cmd
