// The hosts of an instance (/api/hosts), and those that a run names. Admins keep hosts; members of a host's
// workgroup see and use it. A host that the caller may not use is as absent as one that does not exist.
// Secrets are sealed at rest and never leave. Thread-safe.
#pragma once
#include <string>
#include <vector>

#include "core/audit/log.hpp"
#include "core/automation/host_connection.hpp"
#include "core/automation/host_rows.hpp"
#include "core/automation/target_limits.hpp"
#include "core/base/principal.hpp"
#include "core/config/settings.hpp"

namespace dash::automation {

// What a run does besides connecting, as far as it matters to its hosts.
struct RunNeeds {
  bool become = false;         // the asset or its variables ask for another user's rights
  bool through_agent = false;  // a remote agent connects, not this machine
};

struct FirstContactResult {
  std::string key;  // "<type> <base64>"
  std::string fingerprint;
};

// Returns whether the caller may see and use the kept host.
bool may_use(const Principal& principal, const Host& host);

class Hosts {
 public:
  struct Deps {
    db::Sql& sql;
    const Clock& clock;
    config::EncryptedStore& config;
    config::Settings& settings;
    audit::Log& audit;
    net::HttpClient& http;
  };
  explicit Hosts(Deps deps) : deps_(deps) {}

  // Lists the hosts that the caller may use, by name. Their secrets are not opened.
  Result<std::vector<Host>> list(const Principal& principal);
  // Code::not_found for a host that the caller may not use.
  Result<Host> get(const Principal& principal, const std::string& name);

  // For admins, audited. Code::conflict for a name that is taken, Code::invalid for an unknown workgroup.
  Result<Host> add(const Principal& principal, const Json& body);
  Result<Host> change(const Principal& principal, const std::string& name, const Json& body);
  Result<void> remove(const Principal& principal, const std::string& name);

  // Connects, compares the host's key with the pinned one, and logs in with the kept secret. With
  // `accept_new_key`, for admins, the key of a host without one is pinned; a pinned one is never replaced.
  // Code::conflict when the host shows another key than the pinned one: nothing secret was sent. Everything
  // else that goes wrong is in the result. Audited.
  Result<HostTestResult> test(const Principal& principal, const std::string& name, bool accept_new_key);

  // The hosts of a run. `entries`: names of kept hosts (integers are taken as text); for admins also objects
  // and IP addresses. find() is who may use what: Code::not_found for a name, Code::forbidden for an ad-hoc
  // host of another user than an admin, Code::validation for an entry of another shape. Secrets are opened.
  Result<std::vector<Host>> find(const Principal& principal, const Json& entries);
  // check() is the rest, all Code::invalid: at most automation_max_targets, none twice, automation_targets and
  // local addresses, a pinned key, local only for admins and without become. It fills in addresses, ports and
  // users. May wait for DNS.
  Result<void> check(const Principal& principal, std::vector<Host>& hosts, const RunNeeds& needs);
  // The part of check() about the address, for a host whose key is not known yet.
  Result<void> check_address(const Principal& principal, Host& host);
  // Connects to a checked host without a login, for the key that it shows. Code::unreachable when nothing
  // answers.
  Result<FirstContactResult> first_contact(const Host& host);
  // find(), then check().
  Result<std::vector<Host>> resolve(const Principal& principal, const Json& entries, const RunNeeds& needs);

 private:
  Result<HostRow> visible_row(db::Transaction& tx, const Principal& principal, const std::string& name);
  Result<TargetLimits> limits();
  Result<std::string> default_user();
  Result<void> record_test(const Principal& principal, const Host& host, const ConnectionTest& tested);
  Result<void> pin_key(db::Transaction& tx, const Host& host, const std::string& key);
  Deps deps_;
};

// Collects what a run's body names as its hosts: `target` or `hosts` or `inventory_ids`, as one array, empty
// without them: the asset is checked before the hosts. Code::validation when two of them are given.
Result<Json> host_entries(const Json& body);

}  // namespace dash::automation
