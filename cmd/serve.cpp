#include <condition_variable>
#include <mutex>
#include <thread>

#include "cmd/cli/groups.hpp"
#include "cmd/cli/instance.hpp"
#include "cmd/cli/output.hpp"
#include "core/app/health.hpp"
#include "core/app/services.hpp"
#include "core/audit/anchor.hpp"
#include "core/base/log.hpp"
#include "core/identity/directory.hpp"
#include "core/identity/setup_code.hpp"
#include "core/jobs/worker.hpp"
#include "core/policy/engine.hpp"
#include "core/policy/tools/admission.hpp"
#include "core/setup/setup.hpp"
#include "daemon/routes/auth.hpp"
#include "daemon/routes/routes.hpp"
#include "daemon/server/server.hpp"

namespace dash::cmd {
namespace {

struct ServeFlags {
  LocalFlags local;
  std::vector<std::string> listen, trusted_proxies;
  std::string public_url, tls_certificate, tls_key;
  std::int64_t workers = 2;
};

// Only this code can make the first admin, so the operator must get to see it.
Result<void> tell_setup_code(app::Services& s) {
  if (TRY(s.directory.is_set_up())) return {};
  auto code = TRY(s.setup_code.ensure());
  log::warning("setup_required", {{"setup_code", code.expose()}, {"file", s.setup_code.path()}});
  return {};
}

Result<void> keep_public_url(app::Services& s, const std::string& url) {
  if (url.empty()) return {};
  if (!url.starts_with("http://") && !url.starts_with("https://"))
    return fail(Code::usage, "--public-url starts with http:// or https://");
  TRY(s.setup.change(local_operator(), {{"public_base_url", url}}, "serve"));
  return {};
}

daemon::ServerOptions server_options(const ServeFlags& flags, app::Services& s) {
  daemon::ServerOptions options;
  options.listen = flags.listen;
  options.trusted_proxies = flags.trusted_proxies;
  options.tls_certificate_file = flags.tls_certificate;
  options.tls_key_file = flags.tls_key;
  options.authenticate = daemon::make_authenticate(s);
  using Kind = daemon::CheckKind;
  auto folder = data_dir_or_default(flags.local.data_dir);
  options.ready_checks = {
      {"database", [&s] { return app::check_database_reads(s); }},
      {"key", [&s] { return app::check_key(s); }},
      {"policy", [&s] { return policy::admission_ready(s.gate, s.engine); }, Kind::reported},
      {"audit_anchors", [&s] { return s.anchors.healthy(); }, Kind::reported},
      {"disk", [folder] { return app::check_disk(folder); }, Kind::degrades},
      {"settings", [&s] { return app::check_settings_open(s); }, Kind::degrades},
      {"database_writes", [&s] { return app::check_database_writes(s); }, Kind::degrades},
  };
  return options;
}

Result<std::unique_ptr<app::Instance>> open_served(const ServeFlags& flags) {
  auto options = local_options(flags.local);
  options.tls_key_file = flags.tls_key;
  return app::open_instance(options);
}

// On a thread of its own: what does not answer holds up nothing else.
std::jthread every_second(std::function<void()> action) {
  return std::jthread([action = std::move(action)](const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any wake;
    std::unique_lock lock(mutex);
    do action();
    while (!wake.wait_for(lock, stop, std::chrono::seconds(1), [&] { return stop.stop_requested(); }));
  });
}

Run declare_serve(Flags& flags) {
  auto o = std::make_shared<ServeFlags>();
  declare_local(flags, o->local);
  flags.list("--listen", o->listen, "ADDR|unix:PATH", "where to listen; 127.0.0.1:8080 when left out");
  flags
      .number("--workers", o->workers, "N",
              "jobs that run at the same time; 0 leaves them to other processes")
      .at_least(0);
  flags.text("--public-url", o->public_url, "URL", "the address that users see; kept as public_base_url");
  flags.list("--trusted-proxy", o->trusted_proxies, "IP", "believe X-Forwarded-For from this address");
  flags.text("--tls-cert", o->tls_certificate, "FILE", "serve TLS itself, with this PEM chain");
  flags.text("--tls-key", o->tls_key, "FILE", "and this PEM key");
  return [o](Context&) -> Result<void> {
    auto instance = TRY(open_served(*o));
    auto& s = instance->services();
    s.engine.serve_callers();
    app::record_key(s);
    TRY(keep_public_url(s, o->public_url));
    TRY(tell_setup_code(s));
    auto options = server_options(*o, s);
    if (options.listen.empty() && !std::getenv("LISTEN_FDS")) options.listen = {"127.0.0.1:8080"};
    jobs::WorkerPool workers(
        s.jobs,
        jobs::Executors(jobs::executor_folder(data_dir_or_default(o->local.data_dir)), "/proc/self/exe"),
        static_cast<std::size_t>(o->workers));
    options.on_stop = [&s] { s.engine.cancel(); };
    auto anchoring = every_second([&s] { s.anchors.tick(); });
    auto watching = every_second([&s] { policy::watch_admission(s.gate, s.engine); });
    return daemon::serve(std::move(options), daemon::all_routes(s), s.parts);
  };
}

}  // namespace

Group serve_group() {
  return {
      "serve",
      "Serve the dashboard's API",
      {{"", "Serve the dashboard's API",
        "Logs JSON lines to stderr, one with \"event\":\"listening\". SIGTERM finishes the running "
        "requests and exits with 0. DASHCTL_POLICY_BUILD_SECONDS (5, at most 60) ends a start of the policy "
        "engine that hangs.",
        declare_serve, false, true}}};
}

}  // namespace dash::cmd
