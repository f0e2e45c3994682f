#include "core/app/doctor.hpp"

#include <algorithm>
#include <optional>

#include "core/app/doctor_files.hpp"
#include "core/audit/anchor.hpp"
#include "core/audit/read.hpp"
#include "core/audit/verify.hpp"
#include "core/automation/ansible.hpp"
#include "core/automation/automation.hpp"
#include "core/config/lint.hpp"
#include "core/config/settings.hpp"
#include "core/db/schema.hpp"
#include "core/identity/directory.hpp"
#include "core/net/http/http_date.hpp"
#include "core/policy/engine.hpp"
#include "core/policy/gate.hpp"
#include "core/storage/assets/assets.hpp"
#include "core/storage/settings/versioning.hpp"
#include "core/storage/storage.hpp"
#include "core/storage/store/backends.hpp"

namespace dash::app {
namespace {

constexpr std::chrono::minutes kMaxClockDifference(2);
constexpr std::string_view kStates[] = {"good", "warning", "failed"};

// A check that could not be made has failed.
CheckResult result_or_failure(std::string name, Result<CheckResult> check) {
  if (check) return *std::move(check);
  return failed(std::move(name), check.error().code, check.error().message);
}

// An older release still runs on the folder that the next one looks at.
CheckResult older_schema(const db::SchemaVersions& versions) {
  return warning(
      "database",
      fmt::format("it has schema {}; the first start of this version brings it to {}, after which an "
                  "older version does not open it: make a backup before",
                  versions.present, versions.newest));
}

Result<CheckResult> database(Application& app) {
  std::string kind = app.sql.is_postgres() ? "PostgreSQL" : "SQLite";
  auto found = TRY(db::read<std::string>(app.sql, [&](db::Transaction& tx) -> Result<std::string> {
    if (!app.sql.is_postgres())
      if (auto report = TRY(tx.query("PRAGMA quick_check(1)"))[0].text(0); report != "ok") return report;
    auto version = TRY(tx.query("SELECT version FROM schema_version"))[0].integer(0);
    kind += fmt::format(", schema {}", version);
    return std::string();
  }));
  if (found.empty()) return good("database", kind);
  return failed("database", Code::integrity, "the database is damaged; restore it from a backup");
}

Result<CheckResult> settings(Application& app) {
  auto unreadable = TRY(app.config.unreadable_keys());
  if (!unreadable.empty())
    return failed("settings", Code::integrity,
                  fmt::format("{} settings were written with another key (such as {}); put the right key "
                              "back, or set them again",
                              unreadable.size(), *unreadable.begin()));
  auto values = TRY(app.config.all());
  auto findings = config::lint(values, unreadable);
  if (findings.empty()) return good("settings", fmt::format("{} are set", values.size()));
  return warning("settings", fmt::format("{}: {}; `dashctl config lint` lists all {}", findings[0].key,
                                         findings[0].problem, findings.size()));
}

Result<CheckResult> accounts(Application& app) {
  if (TRY(app.directory.is_set_up())) return good("accounts", "there is an administrator");
  return warning("accounts", "there is no administrator yet: `dashctl user add NAME --admin`");
}

Result<CheckResult> audit_log(Application& app) {
  auto result = TRY(audit::verify(app.audit, app.anchors.read()));
  if (!result.ok)
    return failed("audit", Code::integrity,
                  result.problems.empty() ? "the audit log is not what was written" : result.problems[0]);
  return good("audit", fmt::format("{} entries, as they were written", result.count));
}

Result<CheckResult> gate(Application& app) {
  auto settings = TRY(app.gate.settings());
  auto status = app.engine.refresh();
  auto fault = settings.fault ? *settings.fault : status.fault ? status.fault->message : "";
  if (!fault.empty() && settings.enabled)
    return failed("policy", Code::policy_unavailable, "every gated action is refused: " + fault);
  if (!fault.empty())
    return warning("policy", "the gate is off; switched on it would refuse everything: " + fault);
  if (!status.rules) return warning("policy", "the policy engine is being started: ask again in a moment");
  auto rules = std::ranges::count_if(status.rules->rules, [](const auto& rule) { return rule.evaluates; });
  const auto& problems = status.rules->problems;
  if (!problems.empty())
    return warning("policy", fmt::format("{}: {}; `dashctl policy lint` lists all {}", problems[0].file,
                                         problems[0].message, problems.size()));
  return good("policy",
              fmt::format("{} rules evaluate, the gate is {}", rules, settings.enabled ? "on" : "off"));
}

Result<CheckResult> backend(Application& app, const storage::Backend& backend) {
  auto name = fmt::format("storage {}", backend.id);
  auto probe = TRY(app.storage.assets().test(local_operator(), backend.id));
  if (!probe.error.empty()) return failed(name, Code::upstream, probe.error);
  return good(name, fmt::format("reachable, {} assets", probe.count));
}

// Where infrastructure state would be written now, and whether it could be brought back.
Result<CheckResult> infrastructure_state(Application& app, const storage::Backend& active) {
  constexpr auto kName = "state";
  if (auto reason = storage::durable_state_reason(&active); !reason.empty())
    return warning(kName, fmt::format("{}: {}", active.id, reason));
  auto at = TRY(app.storage.stores().open(local_operator(), active.id));
  auto kept = at.store->versions("");
  // That a store does not answer is the finding of another check.
  auto versioning = kept ? kept->versioning : storage::Versioning::unknown;
  auto text = fmt::format("{}: {}", active.id, storage::versioning_text(versioning, true));
  return versioning == storage::Versioning::on ? good(kName, text) : warning(kName, text);
}

// Returns none for an instance that does not use automation.
Result<std::optional<CheckResult>> automation(Application& app, const std::string& data_dir) {
  constexpr auto kName = "automation";
  if (auto unknown = app.automation.runner_warnings(TRY(app.config.all())); !unknown.empty())
    return warning(kName, fmt::format("{}: {}", unknown.begin()->first, unknown.begin()->second));
  bool is_on = TRY(app.settings.flag("ansible_enabled", false));
  if (!is_on) return std::nullopt;
  auto usable = automation::check_ansible_usable(app.settings, data_dir);
  if (!usable) return warning(kName, usable.error().message);
  auto program = TRY(automation::probe_ansible(TRY(automation::find_ansible())));
  return good(kName, fmt::format("ansible-core {} at {}", program.version, program.path));
}

// Compares with the audit log, the only record of another time.
Result<CheckResult> wall_clock(Application& app) {
  auto now = app.clock.now();
  audit::EntryFilter newest;
  newest.limit = 1;
  for (const auto& entry : TRY(audit::list(app.audit, local_operator(), newest)).entries)
    if (from_micros(entry.at) > now + kMaxClockDifference)
      return failed(
          "clock", Code::invalid,
          fmt::format("it is {} here, and the newest audit entry is later: set the clock", format_iso(now)));
  return good("clock", format_iso(now));
}

CheckResult remote_clock(const net::HttpResponse& answer, const Clock& clock) {
  auto date = net::parse_http_date(answer.headers.get("Date").value_or(""));
  if (!date) return good("clock", "not sent");
  auto text = fmt::format("{} there, {} here", format_iso(*date), format_iso(clock.now()));
  return std::chrono::abs(*date - clock.now()) > kMaxClockDifference ? warning("clock", text)
                                                                     : good("clock", text);
}

bool has_failed(const CheckResults& checks) {
  return std::ranges::any_of(checks, [](const CheckResult& c) { return c.state == CheckState::failed; });
}

// With an older schema only the tables that are the same in every version are read.
void check_application(Application& app, const std::string& data_dir, CheckResults& out) {
  auto versions = db::schema_versions(app.sql);
  if (!versions) return out.push_back(failed("database", versions.error().code, versions.error().message));
  if (auto usable = db::check_schema(*versions); !usable)
    return out.push_back(failed("database", usable.error().code, usable.error().message));
  bool is_current = versions->present >= versions->newest;
  out.push_back(is_current ? result_or_failure("database", database(app)) : older_schema(*versions));
  out.push_back(result_or_failure("settings", settings(app)));
  if (is_current) {
    out.push_back(result_or_failure("accounts", accounts(app)));
    out.push_back(result_or_failure("audit", audit_log(app)));
  }
  out.push_back(result_or_failure("policy", gate(app)));
  auto values = app.config.all().value_or(config::Values{});
  for (const auto& candidate : storage::backends())
    if (storage::is_configured(candidate, values))
      out.push_back(result_or_failure(fmt::format("storage {}", candidate.id), backend(app, candidate)));
  if (auto* active = storage::active_backend(values))
    out.push_back(result_or_failure("state", infrastructure_state(app, *active)));
  if (auto found = automation(app, data_dir); !found)
    out.push_back(failed("automation", found.error().code, found.error().message));
  else if (*found)
    out.push_back(**found);
  if (is_current) out.push_back(result_or_failure("clock", wall_clock(app)));
}

// Returns what the files of a folder show.
CheckResults check_files(const Options& options) {
  CheckResults out;
  out.push_back(check_data_dir(options.data_dir));
  if (has_failed(out)) return out;
  auto named = options.signing_key_file;
  out.push_back(check_key_file("signing_key", named.empty() ? options.data_dir + "/signing.key" : named));
  out.push_back(check_key_file("encryption_key", options.encryption_key_file));
  if (options.database.empty()) out.push_back(check_database_file(options.data_dir + "/dashctl.db"));
  for (auto& check : check_executors(options.data_dir)) out.push_back(std::move(check));
  for (auto& check : check_modules(options.data_dir)) out.push_back(std::move(check));
  return out;
}

}  // namespace

CheckResults diagnose(const Options& options) {
  auto out = check_files(options);
  bool is_missing = std::ranges::any_of(out, [](const CheckResult& c) { return c.code == Code::not_found; });
  if (is_missing || out.size() == 1) return out;
  auto read_only = options;
  read_only.keep_schema = true;
  auto instance = open_instance(read_only);
  if (!instance)
    out.push_back(failed("database", instance.error().code, instance.error().message));
  else
    check_application((*instance)->application(), options.data_dir, out);
  return out;
}

CheckResults diagnose(Application& app, const Options& options) {
  auto out = check_files(options);
  check_application(app, options.data_dir, out);
  return out;
}

CheckResults diagnose(net::HttpClient& http, const net::ApiAddress& address, const Clock& clock) {
  net::HttpRequest request;
  request.url = address.url + "/readyz";
  request.trust = address.trust;
  request.timeout = address.timeout;
  auto answer = http.send(request);
  if (!answer) return {failed("answers", answer.error().code, answer.error().message)};
  auto report = parse_json(answer->body);
  if (!report || !report->is_object() || !report->contains("ready"))
    return {failed("answers", Code::upstream,
                   fmt::format("{} answered {} and is not dashctl", address.url, answer->status))};
  CheckResults out = {good("answers", address.url), remote_clock(*answer, clock)};
  auto checks = report->value("checks", Json::object());
  for (const auto& [name, state] : checks.items()) {
    auto text = state.is_string() ? state.get<std::string>() : "not ok";
    if (text == "ok")
      out.push_back(good(name, text));
    else
      out.push_back(answer->ok() ? warning(name, text) : failed(name, Code::busy, text));
  }
  for (const auto& line : report->value("degraded", Json::array())) {
    auto text = line.is_string() ? line.get<std::string>() : "";
    if (auto colon = text.find(": "); colon != text.npos)
      out.push_back(warning(text.substr(0, colon), text.substr(colon + 2)));
  }
  return out;
}

void add_own_checks(CheckResults& checks, net::ApiClient& api) {
  auto report = api.get("/api/doctor");
  if (!report) return checks.push_back(failed("doctor", report.error().code, report.error().message));
  auto list = report->value("checks", Json());
  if (!list.is_array()) {
    Result<void> unknown = api.unexpected_response("/api/doctor");
    return checks.push_back(failed("doctor", unknown.error().code, unknown.error().message));
  }
  for (const auto& check : list) {
    auto name = check.value("check", ""), state = check.value("state", ""), text = check.value("message", "");
    // The same check from outside says less.
    std::erase_if(checks, [&](const CheckResult& known) { return known.name == name; });
    checks.push_back(state == "good"      ? good(name, text)
                     : state == "warning" ? warning(name, text)
                                          : failed(name, Code::invalid, text));
  }
}

Result<OrderedJson> Doctor::report(const Principal& principal) {
  TRY(require_admin(principal));
  std::lock_guard lock(mutex_);
  if (made_at_ && app_.clock.steady_now() - *made_at_ < kDiagnosisAge) return report_;
  auto checks = to_json(diagnose(app_, options_));
  report_ = {{"ok", checks["ok"]}, {"at", format_iso(app_.clock.now())}, {"checks", checks["checks"]}};
  made_at_ = app_.clock.steady_now();
  return report_;
}

OrderedJson to_json(const CheckResults& checks) {
  OrderedJson out{{"ok", !has_failed(checks)}, {"checks", OrderedJson::array()}};
  for (const auto& check : checks)
    out["checks"].push_back({{"check", check.name},
                             {"state", kStates[static_cast<std::size_t>(check.state)]},
                             {"message", check.message}});
  return out;
}

Result<void> first_failure(const CheckResults& checks) {
  for (const auto& check : checks)
    if (check.state == CheckState::failed) return fail(check.code, "{}: {}", check.name, check.message);
  return {};
}

}  // namespace dash::app
