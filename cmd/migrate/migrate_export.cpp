#include <filesystem>

#include "cmd/cli/interrupt.hpp"
#include "cmd/cli/output.hpp"
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

// What a source gives, whichever way it was asked.
struct Gathered {
  config::Values values;
  std::vector<setup::FullEndpoint> endpoints;
  std::vector<std::string> endpoints_left;  // names of webhooks whose URL stays behind
  std::string source, method;
  std::map<std::string, std::string> excluded = {};  // what the source itself held back
};

// Over HTTP neither URL nor secret of a webhook is told; the bundle goes without, and says how many.
void count_endpoints(Context& context, migrate::Instance& source, Gathered& into) {
  auto rows = source.endpoints();
  if (!rows)
    return context.out.note("the source's notification endpoints cannot be asked: {}",
                            printable(rows.error().message));
  for (const auto& row : *rows) into.endpoints_left.push_back(row.name);
}

Result<Gathered> gather_http(Context& context, const ExportFlags& o) {
  InstanceFlags flags{o.source, o.login, {}};
  auto source = TRY(open_migrate_target(context, flags, Secret()));
  if (!source.is_set_up) context.out.warn("{} is not set up yet", source.instance->name());
  context.out.wait_for("reading " + source.instance->name());
  Gathered out{TRY(source.instance->read()).values, {}, {}, o.source, "http"};
  if (source.is_set_up) count_endpoints(context, *source.instance, out);
  return out;
}

Result<Gathered> gather_docker(Context& context, const ExportFlags& o) {
  auto order = o.docker.container;
  order.include_on_prem = o.include_on_prem;
  auto place = order.container.empty() ? "service " + order.service : order.container;
  net::DockerClient docker(docker_host(context, o.docker));
  auto run = [&](const std::vector<std::string>& words) {
    context.out.wait_for("asking the container " + place);
    return docker.run(words);
  };
  auto answer = TRY(migrate::ask_container(run, order));
  if (answer.noise_bytes > 0)
    context.out.note("left out {} bytes around the document that {} printed", answer.noise_bytes,
                     answer.asked);
  return Gathered{std::move(answer.values),
                  std::move(answer.endpoints),
                  {},
                  o.source.empty() ? place : o.source,
                  "docker",
                  std::move(answer.excluded)};
}

Result<Gathered> gather_local(const ExportFlags& o) {
  auto folder = data_dir_or_default(o.local.data_dir);
  auto local = TRY(open_local(o.local));
  migrate::LocalInstance source(folder, local_parts(local->services()));
  auto told = TRY(source.read());
  auto endpoints = TRY(source.full_endpoints());
  return Gathered{
      std::move(told.values), std::move(endpoints), {}, o.source.empty() ? folder : o.source, "local"};
}

Result<Gathered> gather(Context& context, const ExportFlags& o) {
  if (o.via == "docker") return gather_docker(context, o);
  if (o.docker.names_a_container())
    return fail(Code::usage, "a container is entered with --via docker only: add it");
  bool is_local = !o.local.data_dir.empty();
  // The default folder counts only when there is an instance in it: an export must not make one.
  if (!is_local && o.source.empty())
    is_local = std::filesystem::exists(data_dir_or_default("") + "/dashctl.db");
  if (is_local) return gather_local(o);
  if (o.source.empty()) return fail(Code::usage, "name the source with --source URL or --data-dir DIR");
  return gather_http(context, o);
}

void report(Context& context, const std::string& path, const Gathered& gathered,
            const migrate::Exported& exported) {
  auto& out = context.out;
  const auto& bundle = exported.bundle;
  const auto& found = exported.findings;
  out.note("{}: {} keys, {} regions, {} notification endpoints; {} keys held back", path,
           bundle.config.size(), bundle.region_count(), bundle.endpoints.size(), bundle.excluded.size());
  for (const auto& key : found.masked) out.note("masked: {} came back without its value", printable(key));
  for (const auto& [key, reason] : bundle.excluded)
    if (reason != "masked") out.note("held back: {} ({})", printable(key), reason);
  for (const auto& key : found.malformed)
    out.warn("{} is not a JSON object of regions on the source and is not carried", printable(key));
  if (gathered.method == "http" && !found.in_clear.empty())
    out.warn("the source shows {} secrets in clear, and they are in the bundle: {}", found.in_clear.size(),
             printable(fmt::format("{}", fmt::join(found.in_clear, ", "))));
  if (!gathered.endpoints_left.empty())
    out.warn("{} notification endpoints stayed behind, because their URLs are never told over HTTP: {}",
             gathered.endpoints_left.size(),
             printable(fmt::format("{}", fmt::join(gathered.endpoints_left, ", "))));
  out.note("It holds live credentials: review it, and remove it after the cutover (dashctl migrate shred)");
}

OrderedJson document(const std::string& path, const Gathered& gathered, const migrate::Exported& exported) {
  const auto& bundle = exported.bundle;
  return {{"bundle", path},
          {"keys", bundle.config.size()},
          {"regions", bundle.region_count()},
          {"notification_endpoints", bundle.endpoints.size()},
          {"excluded", bundle.excluded},
          {"masked", exported.findings.masked},
          {"in_clear", exported.findings.in_clear},
          {"endpoints_left", gathered.endpoints_left}};
}

Result<void> run_export(Context& context, const ExportFlags& o) {
  if (o.is_sealed && o.names == "provider")
    return fail(
        Code::usage,
        "only dashctl opens a sealed bundle, and it reads a canonical one for every dashboard: leave out "
        "--encrypt or --names provider");
  SystemClock clock;
  bool to_stdout = o.out == "-";
  auto path = to_stdout ? std::string("-") : TRY(migrate::place_bundle(o.out, clock.now()));
  auto gathered = TRY(gather(context, o));
  auto exported = TRY(migrate::make_bundle(gathered.values, gathered.endpoints,
                                           {gathered.source, gathered.method, o.include_on_prem}, clock));
  exported.bundle.excluded.insert(gathered.excluded.begin(), gathered.excluded.end());
  auto text = migrate::write_bundle(
      exported.bundle, o.names == "provider" ? config::Spelling::provider : config::Spelling::canonical);
  if (o.is_sealed) {
    auto passphrase =
        TRY(new_secret_from(context, o.passphrase_file, "Passphrase of the bundle", "--passphrase-file"));
    text = TRY(migrate::seal_bundle(text, passphrase));
  }
  context.out.wait_for("");
  if (to_stdout) {
    context.out.raw(text);
    report(context, "the bundle", gathered, exported);
    return {};
  }
  {
    Shield shield;
    path = TRY(migrate::write_bundle_file(path, text));
    if_interrupted("the bundle was written to " + path);
  }
  report(context, path, gathered, exported);
  for (const auto& old : migrate::stale_bundles(clock.now()))
    context.out.warn("{} is older than a day and holds live credentials: dashctl migrate shred {}", old,
                     shell_word(old));
  context.out.line("{}", path);
  context.out.document(document(path, gathered, exported));
  return {};
}

}  // namespace

Run declare_export(Flags& flags) {
  auto o = std::make_shared<ExportFlags>();
  flags.text("--source", o->source, "URL", "the instance to export from").excludes("--data-dir");
  flags
      .text("--via", o->via, "WAY",
            "http: without what the source masks and without webhook URLs; docker: from inside of its "
            "container, whole")
      .one_of({"http", "docker"});
  declare_docker(flags, o->docker);
  flags.text("--out", o->out, "FILE",
             "where the bundle goes; - for stdout; ~/.dashboard-migrate/bundle-<time>.json when left out");
  flags
      .text("--names", o->names, "SPELLING",
            "canonical, which dashctl reads for every dashboard; provider, which the own tool of a dashboard "
            "with the providers' names takes")
      .one_of({"canonical", "provider"});
  flags.toggle("--include-on-prem", o->include_on_prem, "carry on-premises targets too").guard();
  flags.toggle("--encrypt", o->is_sealed, "seal the bundle under a passphrase; diff and import open it");
  flags.text("--passphrase-file", o->passphrase_file, "FILE",
             "the passphrase; - for stdin; asked for when left out");
  declare_login(flags, o->login);
  declare_local(flags, o->local);
  return [o](Context& context) { return run_export(context, *o); };
}

}  // namespace dash::cmd
