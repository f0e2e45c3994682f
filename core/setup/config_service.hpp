// The settings of an instance as one service: read, compare, import, change and roll back, through HTTP or on
// the data directory. `migrate` uses it on both sides. It authorises, throttles and audits itself.
// Thread-safe.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/audit/log.hpp"
#include "core/config/clouds.hpp"
#include "core/config/settings.hpp"
#include "core/identity/directory.hpp"
#include "core/identity/setup_code.hpp"
#include "core/identity/throttle.hpp"
#include "core/setup/import_body.hpp"
#include "core/setup/rollback_result.hpp"
#include "core/setup/settings_writer.hpp"
#include "core/setup/storage_page.hpp"
#include "core/setup/webhooks.hpp"

namespace dash::setup {

// A blind comparison gives its caller one guess a key. An import needs two or three comparisons.
inline const identity::AttemptLimit kCompareLimit{"setup.compare", 60, std::chrono::minutes(15)};
inline const identity::AttemptLimit kSetupCodeLimit{"setup.claim", 20, std::chrono::minutes(15)};
inline constexpr std::size_t kMinNonceBytes = 16;

struct SetupStatus {
  bool complete = false;
  std::vector<std::string> configured_keys;  // for admins only
};

struct ImportRequest {
  Json config;  // as sent
  ImportRules rules;
  StateOptions state;
  std::string admin_username;  // first run only
  Secret admin_password;
  Secret setup_code;
};

struct ImportResult {
  std::size_t keys_written = 0;  // flat pairs accepted, unchanged ones included, as deployed dashboards count
  std::vector<std::string> regions_merged;
  std::map<std::string, std::string> refused;
  std::map<std::string, std::string> warnings{};  // key → what the gate will report about its value
  std::string change_id;                          // empty when nothing differed
  std::int64_t iac_state_migrated = 0;
  std::vector<storage::LeftState> iac_state_left{};  // the originals of the copies
  bool is_all_refused = false;  // nothing was written, and the instance is still unclaimed
};

enum class ValueMatch { same, differs, absent };

// What a change of single settings did.
struct ChangeResult {
  std::string change_id;                                // empty when nothing differed
  std::vector<storage::LeftState> iac_state_left = {};  // the originals of the copies
};
// {ok, change_id, iac_state_left}
OrderedJson to_json(const ChangeResult& result);

class ConfigService {
 public:
  struct Deps {
    db::Sql& sql;
    const Clock& clock;
    config::EncryptedStore& store;
    config::Settings& settings;
    audit::Log& audit;
    identity::Directory& directory;
    identity::SetupCode& setup_code;
    Webhooks& webhooks;
    storage::IacState& state;
    const storage::local::RootRules& roots;
  };
  explicit ConfigService(Deps deps);

  // Returns the status, to every caller. Only an admin gets key names.
  Result<SetupStatus> status(const std::optional<Principal>& principal);

  // Returns every value as text; secrets are masked unless they only point to a vault. `principal` is absent
  // only before the instance is set up, and then needs the setup code once there is anything to read.
  Result<config::Values> read(const std::optional<Principal>& principal, const Secret& setup_code);

  // Returns whether `principal` may import; call it before a large body is read. On the first run it is true
  // for every caller, and the setup code in the body decides.
  Result<bool> authorize_import(const std::optional<Principal>& principal);

  // Checks that `code` claims this instance. Wrong codes are throttled by address; the right one never is.
  Result<void> check_setup_code(const Secret& code, const std::string& address);

  // Leaves out and names what the rules refuse. The rest is written whole, audited in the same transaction.
  // The texts of Code::validation and Code::invalid are those of deployed dashboards.
  Result<ImportResult> import(const std::optional<Principal>& principal, const ImportRequest& request,
                              const std::string& address);

  // Returns, for each key, whether HMAC-SHA256(nonce, key NUL value) of its value here is the one that was
  // sent. Keys as sent.
  Result<std::map<std::string, ValueMatch>> compare(const Principal& principal, const std::string& nonce,
                                                    const std::map<std::string, std::string>& macs);
  // Authorises, counts and audits a comparison of `keys` settings, before it is made. Admins only;
  // Code::throttled above the limit.
  Result<void> begin_compare(const Principal& principal, std::size_t keys);

  // Sets single settings, or removes them (null); a region key changes one field of its set.
  Result<ChangeResult> change(const Principal& principal, const config::Changes& changes,
                              const std::string& origin, const StateOptions& state = {});
  // Serves the storage page (PATCH /api/storage/config): its body in either spelling, all or nothing.
  Result<StorageUpdateResult> change_storage(const Principal& principal, const Json& body);

  Result<std::vector<config::HistoryEntry>> history(const Principal& principal, const std::string& key,
                                                    std::int64_t before_seq, std::int64_t limit);
  // Undoes a whole change.
  Result<RollbackResult> rollback(const Principal& principal, const std::string& change_id,
                                  const StateOptions& state = {});

  // Returns the spelling of this instance's output (setting cloud_names).
  Result<config::NameStyle> name_style();

 private:
  Result<void> create_first_admin(db::Transaction& tx, const Principal& author, const ImportRequest& request,
                                  std::string_view password_hash);
  Result<ImportResult> write(const Principal& author, const ImportRequest& request, const ImportBody& body,
                             bool first_run, const std::string& password_hash);

  config::EncryptedStore& store_;
  config::Settings& settings_;
  audit::Log& audit_;
  identity::Directory& directory_;
  identity::SetupCode& setup_code_;
  Webhooks& webhooks_;
  const storage::local::RootRules& roots_;
  identity::Throttle throttle_;
  SettingsWriter writer_;
};

OrderedJson to_json(const config::HistoryEntry& entry);
// Returns the body of POST /api/setup/import, whose status is 400 where every key was refused.
OrderedJson to_json(const ImportResult& report);

}  // namespace dash::setup
