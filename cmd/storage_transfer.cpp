#include <glob.h>

#include <filesystem>

#include "cmd/output.hpp"
#include "cmd/storage.hpp"
#include "core/storage/client/journal.hpp"
#include "core/storage/client/receive.hpp"
#include "core/storage/client/send.hpp"

namespace dash::cmd {
namespace {

struct UploadFlags {
  InstanceFlags instance;
  std::vector<std::string> files;
  std::string backend;
  bool is_dry_run = false;
};

// A pattern that the shell left alone (quoted, or in a scheduler without one).
std::vector<std::string> expand(const std::string& word) {
  if (word.find_first_of("*?[") == word.npos || std::filesystem::exists(word)) return {word};
  glob_t found{};
  std::vector<std::string> paths;
  if (::glob(word.c_str(), 0, nullptr, &found) == 0)
    paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  return paths.empty() ? std::vector<std::string>{word} : paths;
}

struct Outcome {
  std::size_t done = 0;
  std::size_t failed = 0;
  std::optional<Error> first;
};

void tell_done(Context& context, const storage::SendPlan& plan, const Json& answer) {
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
  out.record(std::move(record));
}

void tell_failed(Context& context, const std::string& path, const Error& error, Outcome& outcome) {
  context.out.warn("{}: {}", printable(path), printable(error.message));
  context.out.record(
      {{"file", path}, {"ok", false}, {"error", info(error.code).word}, {"message", error.message}});
  ++outcome.failed;
  if (!outcome.first) outcome.first = error;
}

Result<void> upload_one(Context& context, const UploadFlags& o, storage::Desk& desk,
                        const storage::Target& target, const std::string& path) {
  auto plan = TRY(storage::plan_send(path, target));
  if (o.is_dry_run) {
    context.out.line("would upload {} as {} to {} ({} bytes, {})", printable(path), printable(plan.name),
                     target.backend, plan.size, plan.lane);
    context.out.record({{"file", path},
                        {"name", plan.name},
                        {"ok", true},
                        {"dry_run", true},
                        {"size", plan.size},
                        {"lane", plan.lane}});
    return {};
  }
  storage::SendSeams seams{desk, context.out.progress(), storage::journal_folder(),
                           o.instance.login.admin_user};
  tell_done(context, plan, TRY(storage::send_file(plan, seams)));
  return {};
}

Result<void> run_upload(Context& context, const UploadFlags& o) {
  auto open = TRY(open_desk(context, o.instance));
  auto target = TRY(storage::active_target(TRY(open.desk->backends()), o.backend));
  Outcome outcome;
  for (const auto& word : o.files)
    for (const auto& path : expand(word)) {
      auto sent = upload_one(context, o, *open.desk, target, path);
      if (sent)
        ++outcome.done;
      else
        tell_failed(context, path, sent.error(), outcome);
    }
  if (!outcome.first) return {};
  if (outcome.done > 0)
    return fail(Code::partial, "{} of {} files were not uploaded", outcome.failed,
                outcome.done + outcome.failed);
  return Failure(*std::move(outcome.first));
}

struct FetchFlags {
  InstanceFlags instance;
  std::string name, out, backend;
};

Result<void> run_fetch(Context& context, const FetchFlags& o) {
  auto path = o.out.empty() ? std::filesystem::path(o.name).filename().string() : o.out;
  auto open = TRY(open_desk(context, o.instance));
  auto to_stdout = [&](std::string_view bytes) -> Result<void> {
    context.out.raw(bytes);
    return {};
  };
  auto got =
      TRY(storage::receive_file(*open.desk, o.backend, o.name, path, to_stdout, context.out.progress()));
  if (path == "-") return {};
  context.out.line("{}", printable(path));
  context.out.note("{} bytes, {}{}", got.size, got.digest, got.is_verified ? ", verified" : "");
  context.out.document({{"name", o.name},
                        {"file", path},
                        {"size", got.size},
                        {"digest", got.digest},
                        {"verified", got.is_verified}});
  return {};
}

}  // namespace

Run declare_storage_upload(Flags& flags) {
  auto o = std::make_shared<UploadFlags>();
  flags.arguments("FILE", o->files, "files or patterns; each is stored under its bare name").required();
  flags.text("--backend", o->backend, "ID", "refuse unless this backend is the active one");
  flags.toggle("--dry-run", o->is_dry_run, "tell what would be uploaded, write nothing");
  declare_instance(flags, o->instance);
  return [o](Context& context) { return run_upload(context, *o); };
}

Run declare_storage_fetch(Flags& flags) {
  auto o = std::make_shared<FetchFlags>();
  flags.argument("NAME", o->name, "the asset's name").required();
  flags.text("--out", o->out, "FILE", "where to write; - for standard output; the asset's name by default")
      .brief("-o");
  flags.text("--backend", o->backend, "ID", "backend to fetch from; the active one by default");
  declare_instance(flags, o->instance);
  return [o](Context& context) { return run_fetch(context, *o); };
}

}  // namespace dash::cmd
