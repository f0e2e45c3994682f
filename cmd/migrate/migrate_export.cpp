#include <filesystem>

#include "cmd/cli/interrupt.hpp"
#include "cmd/cli/printer.hpp"
#include "cmd/cli/secret_input.hpp"
#include "cmd/migrate/docker_flags.hpp"
#include "cmd/migrate/migrate.hpp"
#include "core/migrate/bundle/bundle_file.hpp"
#include "core/migrate/bundle/bundle_seal.hpp"
#include "core/migrate/export.hpp"

namespace dash::cmd {
namespace {

struct ExportFlags {
  std::string source, out;
  std::string via = "http";
  std::string names = "canonical";
  std::string passphrase_file;
  bool include_on_prem = false;
  bool is_sealed = false;
  LoginFlags login;
  LocalFlags local;
  DockerFlags docker;
};

// The result of reading a source, by any method.
struct GatherResult {
  config::Values values;
  std::vector<setup::FullWebhook> webhooks;
  std::vector<std::string> webhooks_left;  // names of webhooks without a readable URL
  std::string source, method;
  std::map<std::string, std::string> excluded = {};  // excluded by the source itself
};

// Over HTTP a webhook's URL and secret are not returned. The bundle goes without and counts them.
void count_webhooks(Context& context, migrate::Target& source, GatherResult& into) {
  auto rows = source.webhooks();
  if (!rows)
    return context.out.note("the source's notification endpoints cannot be read: {}",
                            printable(rows.error().message));
  for (const auto& row : *rows) into.webhooks_left.push_back(row.name);
}

Result<GatherResult> read_http_source(Context& context, const ExportFlags& options) {
  InstanceFlags flags{options.source, options.login, {}};
  auto source = TRY(open_migrate_target(context, flags, Secret()));
  if (!source.is_set_up) context.out.warn("{} is not set up yet", source.instance->name());
  context.out.set_activity("reading " + source.instance->name());
  GatherResult out{TRY(source.instance->read()).values, {}, {}, options.source, "http"};
  if (source.is_set_up) count_webhooks(context, *source.instance, out);
  return out;
}

Result<GatherResult> read_docker_source(Context& context, const ExportFlags& options) {
  auto request = options.docker.container;
  request.include_on_prem = options.include_on_prem;
  if (!options.docker.service.empty()) request.service = options.docker.service;
  auto container_name = request.container.empty() ? "service " + request.service : request.container;
  net::DockerClient docker(docker_host(context, options.docker));
  auto run = [&](const std::vector<std::string>& words) {
    context.out.set_activity("asking the container " + container_name);
    return docker.run(words);
  };
  auto answer = TRY(migrate::export_from_container(run, request));
  if (answer.noise_bytes > 0)
    context.out.note("left out {} bytes around the document that {} printed", answer.noise_bytes,
                     answer.exporter);
  return GatherResult{std::move(answer.values),
                      std::move(answer.webhooks),
                      {},
                      options.source.empty() ? container_name : options.source,
                      "docker",
                      std::move(answer.excluded)};
}

Result<GatherResult> read_local_source(const ExportFlags& options) {
  auto folder = data_dir_or_default(options.local.data_dir);
  auto local = TRY(open_local(options.local));
  migrate::LocalTarget source(folder, local_deps(local->application()));
  auto current = TRY(source.read());
  auto webhooks = TRY(source.full_webhooks());
  return GatherResult{std::move(current.values),
                      std::move(webhooks),
                      {},
                      options.source.empty() ? folder : options.source,
                      "local"};
}

Result<GatherResult> read_source(Context& context, const ExportFlags& options) {
  if (options.via == "docker") return read_docker_source(context, options);
  if (options.docker.is_given())
    return fail(Code::usage, "a container is entered, and its host reached, with --via docker only: add it");
  bool is_local = !options.local.data_dir.empty();
  // The default folder is used only when it holds an instance: an export must not make one.
  std::error_code error;
  if (!is_local && options.source.empty())
    is_local = std::filesystem::exists(data_dir_or_default("") + "/dashctl.db", error);
  if (is_local) return read_local_source(options);
  if (options.source.empty()) return fail(Code::usage, "name the source with --source URL or --data-dir DIR");
  return read_http_source(context, options);
}

void print_report(Context& context, const std::string& path, const GatherResult& snapshot,
                  const migrate::ExportResult& exported) {
  auto& out = context.out;
  const auto& bundle = exported.bundle;
  const auto& found = exported.findings;
  out.note("{}: {} keys, {} regions, {} notification endpoints; {} keys held back", path,
           bundle.config.size(), bundle.region_count(), bundle.webhooks.size(), bundle.excluded.size());
  for (const auto& key : found.masked) out.note("masked: {} came back without its value", printable(key));
  for (const auto& [key, reason] : bundle.excluded)
    if (reason != "masked") out.note("held back: {} ({})", printable(key), reason);
  for (const auto& key : found.malformed)
    out.warn("{} is not a JSON object of regions on the source and is not carried", printable(key));
  if (snapshot.method == "http" && !found.in_clear.empty())
    out.warn("the source shows {} secrets in clear, and they are in the bundle: {}", found.in_clear.size(),
             printable(fmt::format("{}", fmt::join(found.in_clear, ", "))));
  if (!snapshot.webhooks_left.empty())
    out.warn("{} notification endpoints stayed behind, because their URLs are never sent over HTTP: {}",
             snapshot.webhooks_left.size(),
             printable(fmt::format("{}", fmt::join(snapshot.webhooks_left, ", "))));
  out.note(
      "It holds live credentials: review it, and remove it after the cutover with `dashctl migrate shred`");
}

OrderedJson export_document(const std::string& path, const GatherResult& snapshot,
                            const migrate::ExportResult& exported) {
  const auto& bundle = exported.bundle;
  return {{"bundle", path},
          {"keys", bundle.config.size()},
          {"regions", bundle.region_count()},
          {"notification_endpoints", bundle.webhooks.size()},
          {"excluded", bundle.excluded},
          {"masked", exported.findings.masked},
          {"in_clear", exported.findings.in_clear},
          {"endpoints_left", snapshot.webhooks_left}};
}

Result<void> run_export(Context& context, const ExportFlags& options) {
  if (options.is_sealed && options.names == "provider")
    return fail(
        Code::usage,
        "only dashctl opens a sealed bundle, and it reads a canonical one for every dashboard: leave out "
        "--encrypt or --names provider");
  if (!options.is_sealed && !options.passphrase_file.empty())
    return fail(Code::usage, "--passphrase-file seals nothing without --encrypt: add it");
  SystemClock clock;
  bool to_stdout = options.out == "-";
  auto path = to_stdout ? std::string("-") : TRY(migrate::choose_bundle_path(options.out, clock.now()));
  auto snapshot = TRY(read_source(context, options));
  auto exported =
      TRY(migrate::make_bundle(snapshot.values, snapshot.webhooks,
                               {snapshot.source, snapshot.method, options.include_on_prem}, clock));
  exported.bundle.excluded.insert(snapshot.excluded.begin(), snapshot.excluded.end());
  auto text =
      migrate::write_bundle(exported.bundle, options.names == "provider" ? config::NameStyle::provider
                                                                         : config::NameStyle::canonical);
  if (options.is_sealed) {
    auto passphrase = TRY(
        read_new_secret(context, options.passphrase_file, "Passphrase of the bundle", "--passphrase-file"));
    text = TRY(migrate::seal_bundle(text, passphrase));
  }
  context.out.set_activity("");
  if (to_stdout) {
    context.out.raw(text);
    print_report(context, "the bundle", snapshot, exported);
    return {};
  }
  {
    InterruptBlocker blocker;
    path = TRY(migrate::write_bundle_file(path, text));
    set_interrupt_message("the bundle was written to " + path);
  }
  print_report(context, path, snapshot, exported);
  for (const auto& old : migrate::stale_bundles(clock.now()))
    context.out.warn(
        "{} is older than a day and holds live credentials; type `dashctl migrate shred {}` to remove it",
        old, shell_word(old));
  context.out.line("{}", path);
  context.out.document(export_document(path, snapshot, exported));
  return {};
}

}  // namespace

Run declare_export(Flags& flags) {
  auto options = std::make_shared<ExportFlags>();
  flags.text("--source", options->source, "URL", "export from the instance at this address")
      .excludes("--data-dir");
  flags
      .text("--via", options->via, "WAY",
            "http (the default) leaves out masked values and the URLs of webhooks; docker exports them too, "
            "from inside the container")
      .one_of({"http", "docker"});
  declare_docker(flags, options->docker);
  flags.text("--out", options->out, "FILE",
             "bundle to write, - for stdout; by default ~/.dashboard-migrate/bundle-<time>.json");
  flags
      .text("--names", options->names, "SPELLING",
            "spelling of the keys: canonical (the default) for dashctl, provider for the own import of a "
            "dashboard with the providers' names")
      .one_of({"canonical", "provider"});
  flags.toggle("--include-on-prem", options->include_on_prem, "export on-premises targets too").guard();
  flags.toggle("--encrypt", options->is_sealed, "seal the bundle with a passphrase; diff and import open it");
  flags.text("--passphrase-file", options->passphrase_file, "FILE", "passphrase, - for stdin; else a prompt");
  declare_local(flags, options->local);
  declare_login(flags, options->login);
  return [options](Context& context) { return run_export(context, *options); };
}

}  // namespace dash::cmd
