#include <condition_variable>
#include <mutex>
#include <thread>

#include "cmd/groups.hpp"
#include "cmd/instance.hpp"
#include "cmd/output.hpp"
#include "core/app/services.hpp"
#include "core/audit/anchor.hpp"
#include "core/base/log.hpp"
#include "core/identity/directory.hpp"
#include "core/identity/setup_code.hpp"
#include "core/jobs/worker.hpp"
#include "core/policy/admission.hpp"
#include "core/setup/setup.hpp"
#include "daemon/auth.hpp"
#include "daemon/routes.hpp"
#include "daemon/server.hpp"

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
  TRY(s.setup.change(identity::local_operator(), {{"public_base_url", url}}, "serve"));
  return {};
}

daemon::ServerOptions server_options(const ServeFlags& flags, app::Services& s) {
  daemon::ServerOptions options;
  options.listen = flags.listen;
  options.trusted_proxies = flags.trusted_proxies;
  options.tls_certificate_file = flags.tls_certificate;
  options.tls_key_file = flags.tls_key;
  options.authenticate = daemon::make_authenticate(s);
  options.ready_checks.push_back({"database",
                                  [&s]() -> Result<void> {
                                    TRY(s.directory.is_set_up());
                                    return {};
                                  },
                                  true});
  options.ready_checks.push_back(
      {"key",
       [&s]() -> Result<void> {
         auto unreadable = TRY(s.config.unreadable_keys());
         if (!unreadable.empty())
           return fail(Code::integrity, "{} settings were written with another key", unreadable.size());
         return {};
       },
       true});
  options.ready_checks.push_back(
      {"policy", [&s] { return policy::admission_ready(s.gate, s.engine); }, false});
  options.ready_checks.push_back({"audit_anchors", [&s] { return s.anchors.healthy(); }, false});
  return options;
}

// The engine starts while the first requests come; a failure is told by /readyz and by each refusal.
std::jthread warm_engine(app::Services& s) {
  return std::jthread([&s] {
    if (auto ready = policy::admission_ready(s.gate, s.engine); !ready)
      log::warning("policy.not_ready", {{"cause", ready.error().message}});
  });
}

// On a thread of its own: a store that does not answer holds up nothing else.
std::jthread keep_anchors(app::Services& s) {
  return std::jthread([&s](const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any wake;
    std::unique_lock lock(mutex);
    do s.anchors.tick();
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
    auto instance = TRY(open_local(o->local, IfAbsent::make));
    auto& s = instance->services();
    TRY(keep_public_url(s, o->public_url));
    TRY(tell_setup_code(s));
    auto options = server_options(*o, s);
    if (options.listen.empty() && !std::getenv("LISTEN_FDS")) options.listen = {"127.0.0.1:8080"};
    jobs::WorkerPool workers(
        s.jobs,
        jobs::Executors(jobs::executor_folder(data_dir_or_default(o->local.data_dir)), "/proc/self/exe"),
        static_cast<std::size_t>(o->workers));
    auto anchoring = keep_anchors(s);
    auto warming = warm_engine(s);
    return daemon::serve(std::move(options), daemon::all_routes(s), s.parts);
  };
}

}  // namespace

Group serve_group() {
  return {"serve",
          "Serve the dashboard's API",
          {{"", "Serve the dashboard's API",
            "Logs JSON lines to stderr, one with \"event\":\"listening\". SIGTERM finishes the running "
            "requests and exits "
            "with 0.",
            declare_serve, false, true}}};
}

}  // namespace dash::cmd
