#include <glob.h>

#include <filesystem>

#include "cmd/cli/output.hpp"
#include "cmd/storage/storage.hpp"
#include "core/client/hands.hpp"
#include "core/client/journal.hpp"
#include "core/client/send.hpp"

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
  if (!is_pattern(word) || std::filesystem::exists(word)) return {word};
  glob_t found{};
  std::vector<std::string> paths;
  if (::glob(word.c_str(), 0, nullptr, &found) == 0)
    paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  return paths.empty() ? std::vector<std::string>{word} : paths;
}

struct File {
  std::string path;
  Result<client::SendPlan> plan;
};

std::vector<File> plan_all(const UploadFlags& o, const client::Target& target) {
  std::vector<File> files;
  for (const auto& word : o.files)
    for (const auto& path : expand(word)) files.push_back({path, client::plan_send(path, target)});
  return files;
}

void tell_planned(Context& context, const client::SendPlan& plan, const client::Target& target) {
  context.out.line("would upload {} as {} to {} ({} bytes, {})", printable(plan.path), printable(plan.name),
                   target.backend, plan.size, plan.lane);
  context.out.record({{"file", plan.path},
                      {"name", plan.name},
                      {"ok", true},
                      {"dry_run", true},
                      {"size", plan.size},
                      {"lane", plan.lane}});
}

void tell_done(Context& context, const client::SendPlan& plan, const Json& answer) {
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

void tell_failed(Context& context, const std::string& path, const Error& error, Tally& tally) {
  context.out.warn("{}: {}", printable(path), printable(error.message));
  context.out.record(
      {{"file", path}, {"ok", false}, {"error", info(error.code).word}, {"message", error.message}});
  tally.note(error);
}

Result<void> run_upload(Context& context, const UploadFlags& o) {
  auto open = TRY(open_desk(context, o.instance));
  auto target = TRY(client::active_target(TRY(open.desk->backends()), o.backend));
  auto files = plan_all(o, target);
  Meter meter(context.out.progress(), files.size() == 1 ? o.files[0] : fmt::format("{} files", files.size()));
  for (const auto& file : files)
    if (file.plan) meter.expect(file.plan->size);
  PartPool parts(kPartsAtOnce);
  client::SendSeams seams{*open.desk, parts, [&](std::uint64_t bytes) { meter.moved(bytes); },
                          client::journal_folder(), o.instance.login.admin_user};
  auto send = [&](std::size_t i) -> Result<Json> {
    if (!files[i].plan) return Failure(files[i].plan.error());
    if (o.is_dry_run) return Json();
    return client::send_file(*files[i].plan, seams);
  };
  Tally tally;
  auto tell = [&](std::size_t i, Result<Json> sent) {
    if (!sent) return tell_failed(context, files[i].path, sent.error(), tally);
    ++tally.done;
    if (o.is_dry_run) return tell_planned(context, *files[i].plan, target);
    tell_done(context, *files[i].plan, *sent);
  };
  client::each_in_order<Result<Json>>(files.size(), kFilesAtOnce, send, tell);
  return tally.verdict("files were not uploaded");
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

}  // namespace dash::cmd
