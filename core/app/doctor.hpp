// Diagnoses an instance: what is wrong and what to do about it (`dashctl doctor`). It never creates an
// instance; an existing one is opened as every command opens it.
#pragma once
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/app/application.hpp"
#include "core/base/json.hpp"
#include "core/base/principal.hpp"
#include "core/net/http/api_client.hpp"

namespace dash::app {

enum class CheckState { good, warning, failed };

struct CheckResult {
  std::string name;  // "data_dir", "signing_key", "database", …, "storage obj_cloud1"
  CheckState state = CheckState::good;
  std::string message;
  Code code = Code::invalid;  // of a failed one
};
using CheckResults = std::vector<CheckResult>;

// Checks files, keys, executors, database, settings, accounts, audit log, gate, storage backends and clock,
// in the order in which they depend on each other. A failure that the rest depends on ends the run.
CheckResults diagnose(const Options& options);
// Checks a running instance from within: files, keys, database and all that depends on it.
CheckResults diagnose(Application& app, const Options& options);
// Checks what an instance shows through its API without a sign-in: that it answers, /readyz, its clock.
CheckResults diagnose(net::HttpClient& http, const net::ApiAddress& address, const Clock& clock);
// Finds bundles in `folder` that hold live credentials long after the cutover.
CheckResult check_bundles(const std::string& folder);

// {ok, checks: [{check, state: "good" | "warning" | "failed", message}]}
OrderedJson to_json(const CheckResults& checks);
// Adds what an instance finds about itself, to an admin who is signed in: GET /api/doctor.
void add_own_checks(CheckResults& checks, net::ApiClient& api);
// Returns the first failure; its code determines the exit code.
Result<void> first_failure(const CheckResults& checks);

// The checks of a running instance for its admins. A diagnosis reads the whole audit log and calls every store,
// so callers share one: it is given again for kDiagnosisAge. Thread-safe.
inline constexpr std::chrono::seconds kDiagnosisAge{10};
class Doctor {
 public:
  // `options`: with which the instance was opened.
  Doctor(Application& app, Options options) : app_(app), options_(std::move(options)) {}
  // {ok, at, checks: […]}. Admins only.
  Result<OrderedJson> report(const Principal& principal);

 private:
  Application& app_;
  const Options options_;
  std::mutex mutex_;  // held while one is made: others wait for it
  std::optional<SteadyTime> made_at_;
  OrderedJson report_;
};

}  // namespace dash::app
