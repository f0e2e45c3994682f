#include <condition_variable>
#include <mutex>
#include <thread>

#include "cmd/cli/groups.hpp"
#include "cmd/cli/instance.hpp"
#include "cmd/cli/printer.hpp"
#include "core/agent/dashboard/agent_changes.hpp"
#include "core/agent/dashboard/agent_jobs.hpp"
#include "core/app/application.hpp"
#include "core/app/database_target.hpp"
#include "core/app/doctor.hpp"
#include "core/app/gauges.hpp"
#include "core/app/health.hpp"
#include "core/app/log_level.hpp"
#include "core/audit/anchor.hpp"
#include "core/base/log.hpp"
#include "core/base/utf8.hpp"
#include "core/db/use_lock.hpp"
#include "core/deploy/deploys.hpp"
#include "core/identity/directory.hpp"
#include "core/identity/setup_code.hpp"
#include "core/jobs/run_folder.hpp"
#include "core/jobs/worker.hpp"
#include "core/net/http/span_exporter.hpp"
#include "core/policy/engine.hpp"
#include "core/policy/tools/admission.hpp"
#include "core/setup/config_service.hpp"
#include "daemon/routes/auth.hpp"
#include "daemon/routes/contract.hpp"
#include "daemon/routes/doctor_route.hpp"
#include "daemon/routes/routes.hpp"
#include "daemon/routes/scraper.hpp"
#include "daemon/server/server.hpp"

namespace dash::cmd {
namespace {

constexpr std::int64_t kMaxWorkers = 1000;  // each is a thread

struct ServeFlags {
  LocalFlags local;
  std::vector<std::string> listen, trusted_proxies;
  std::string public_url, tls_certificate, tls_key, otlp_endpoint;
  std::int64_t workers = 2;
};

// Only this code can make the first admin, so the operator must see it.
Result<void> log_setup_code(app::Application& app) {
  if (TRY(app.directory.is_set_up())) return {};
  auto code = TRY(app.setup_code.ensure());
  log::warning("setup.required", {{"setup_code", code.expose()}, {"file", app.setup_code.path()}});
  return {};
}

Result<void> save_public_url(app::Application& app, const std::string& url) {
  if (url.empty()) return {};
  if (!url.starts_with("http://") && !url.starts_with("https://"))
    return fail(Code::usage, "--public-url starts with http:// or https://");
  if (url.find_first_of("@?#") != url.npos || has_control_character(url))
    return fail(Code::usage,
                "--public-url is http(s)://HOST[:PORT][/PATH], without a user, a query and a fragment");
  TRY(app.config_service.change(local_operator(), {{"public_base_url", url}}, "serve"));
  return {};
}

std::string database_place(const LocalFlags& flags) {
  return app::database_place(data_dir_or_default(flags.data_dir), flags.database);
}

// The database may have ended the connection that holds it.
void keep_lock(db::UseLock& use) {
  if (auto kept = use.keep(); !kept && kept.error().code == Code::conflict)
    log::error("db.in_use", {{"cause", kept.error().message}});
}

daemon::ServerOptions server_options(const ServeFlags& flags, app::Application& app,
                                     const app::Gauges& gauges) {
  daemon::ServerOptions options;
  options.listen = flags.listen;
  options.trusted_proxies = flags.trusted_proxies;
  options.tls_certificate_file = flags.tls_certificate;
  options.tls_key_file = flags.tls_key;
  options.authenticate =
      daemon::admit_scrapers(daemon::make_authenticate(app), [&gauges] { return gauges.public_host(); });
  using Kind = daemon::CheckKind;
  auto folder = data_dir_or_default(flags.local.data_dir);
  options.ready_checks = {
      {"database", [&app] { return app::check_database_reads(app); }},
      {"key", [&app] { return app::check_key(app); }},
      {"policy", [&app] { return policy::admission_ready(app.gate, app.engine); }, Kind::reported},
      {"audit_anchors", [&app] { return app.anchors.check_health(); }, Kind::reported},
      {"disk", [folder] { return app::check_disk(folder); }, Kind::degrades},
      {"settings", [&app] { return app::check_settings_readable(app); }, Kind::degrades},
      {"database_writes", [&app] { return app::check_database_writes(app); }, Kind::degrades},
  };
  return options;
}

app::Options instance_options(const ServeFlags& flags) {
  auto options = local_options(flags.local);
  options.tls_key_file = flags.tls_key;
  return options;
}

// Runs on a thread of its own, so that a hanging call delays nothing else.
std::jthread run_every_second(std::function<void()> action) {
  return std::jthread([action = std::move(action)](const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any wake;
    std::unique_lock lock(mutex);
    do action();
    while (!wake.wait_for(lock, stop, std::chrono::seconds(1), [&] { return stop.stop_requested(); }));
  });
}

// Returns null where no collector is named.
Result<std::unique_ptr<net::SpanExporter>> open_span_exporter(const ServeFlags& flags,
                                                              app::Application& app) {
  auto options = TRY(net::span_exporter_options(flags.otlp_endpoint));
  if (options.url.empty()) return nullptr;
  return std::make_unique<net::SpanExporter>(app.http, std::move(options));
}

std::vector<daemon::Route> served_routes(app::Application& app, app::Doctor& doctor) {
  auto routes = daemon::all_routes(app);
  routes.push_back(daemon::doctor_route(doctor));
  if constexpr (DASH_CHECK_CONTRACT) return daemon::check_contract(std::move(routes));
  return routes;
}

Run declare_serve(Flags& flags) {
  auto serve_flags = std::make_shared<ServeFlags>();
  declare_local(flags, serve_flags->local);
  flags.list("--listen", serve_flags->listen, "ADDR|unix:PATH", "where to listen; 127.0.0.1:8080 by default")
      .from_environment();
  flags
      .number("--workers", serve_flags->workers, "N",
              "jobs to run at the same time, 2 by default; with 0 other processes run them")
      .from_environment()
      .at_least(0)
      .at_most(kMaxWorkers);
  flags.text("--public-url", serve_flags->public_url, "URL", "address that users see; sets public_base_url")
      .from_environment();
  flags
      .list("--trusted-proxy", serve_flags->trusted_proxies, "IP",
            "believe X-Forwarded-For from this address")
      .from_environment();
  flags.text("--tls-cert", serve_flags->tls_certificate, "FILE", "serve TLS with this certificate chain, PEM")
      .from_environment();
  flags
      .text("--otlp-endpoint", serve_flags->otlp_endpoint, "URL",
            "send a trace of each request to this collector, as OTLP over HTTP; none by default")
      .from_environment();
  flags.text("--tls-key", serve_flags->tls_key, "FILE", "private key of --tls-cert, PEM").from_environment();
  return [serve_flags](Context&) -> Result<void> {
    const auto opened_with = instance_options(*serve_flags);
    auto instance = TRY(app::open_instance(opened_with));
    auto& app = instance->application();
    auto use = TRY(db::lock_database(database_place(serve_flags->local), db::Use::serving));
    app::Doctor doctor(app, opened_with);
    app.engine.use_server_deadlines();
    app::record_key(app);
    TRY(save_public_url(app, serve_flags->public_url));
    TRY(log_setup_code(app));
    app::Gauges gauges(app);
    auto options = server_options(*serve_flags, app, gauges);
    if (options.listen.empty() && !std::getenv("LISTEN_FDS")) options.listen = {"127.0.0.1:8080"};
    const auto data_dir = data_dir_or_default(serve_flags->local.data_dir);
    jobs::JobWorkers workers(
        app.jobs,
        {app.sql, app.clock, app.config, app.settings, app.audit, app.gate, app.windows, app.runners},
        jobs::Executors(jobs::executor_folder(data_dir), "/proc/self/exe"),
        static_cast<std::size_t>(serve_flags->workers));
    options.on_stop = [&app] {
      app.engine.cancel();
      app.agent_jobs.stop();
    };
    auto holding = run_every_second([&use] { keep_lock(*use); });
    gauges.tick();
    auto measuring = run_every_second([&gauges] { gauges.tick(); });
    auto spans = TRY(open_span_exporter(*serve_flags, app));
    options.spans = spans.get();
    app::LogLevel log_level(app.settings);
    auto leveling = run_every_second([&log_level] { log_level.tick(); });
    auto anchoring = run_every_second([&app] { app.anchors.tick(); });
    auto watching = run_every_second([&app] { policy::watch_admission(app.gate, app.engine); });
    auto tidying = run_every_second([&data_dir] { jobs::remove_leftover_runs(data_dir); });
    auto schedule = app.storage.sweep_schedule();
    auto settling = run_every_second([&app] { app.deploys.tick(); });
    auto sweeping = run_every_second([&schedule] { schedule.tick(); });
    agent::OfflineWatch offline(app.sql, app.clock);
    auto sweeping_agents = run_every_second([&app, &offline] {
      app.agent_jobs.tick();
      offline.tick();
    });
    return daemon::serve(std::move(options), served_routes(app, doctor), app.buffers);
  };
}

}  // namespace

Group serve_group() {
  return {
      "serve",
      "Serve the dashboard's API",
      {{"",
        "Serve the dashboard's API",
        "Logs JSON lines to stderr; the one with \"event\":\"listening\" names the address. SIGTERM finishes "
        "the running requests and exits with 0. The variable DASHCTL_POLICY_BUILD_SECONDS (5, at most 60) "
        "limits the start of the policy engine. The setting log_level (debug, info, warning, error) takes "
        "effect within a second.",
        declare_serve,
        {{"Serve behind a proxy on this machine",
          "dashctl serve --data-dir /srv/dash --listen 127.0.0.1:8080 --trusted-proxy 127.0.0.1"},
         {"Serve TLS without a proxy",
          "dashctl serve --data-dir /srv/dash --listen 0.0.0.0:8443 --tls-cert chain.pem --tls-key key.pem"}},
        /*is_hidden=*/false,
        /*is_daemon=*/true}}};
}

}  // namespace dash::cmd
