// The instance on the other side of a migration, as a source or as a target: over HTTP (dashctl, or a peer
// dashboard with the providers' names) or in a data directory. Everything here is in canonical spelling; the
// implementation translates. Used by export, diff, import and rollback. One thread.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/config/clouds.hpp"
#include "core/config/encrypted_store.hpp"
#include "core/setup/config_service.hpp"
#include "core/setup/webhooks.hpp"

namespace dash::migrate {

// The configuration of an instance, as far as it shows it.
struct InstanceConfig {
  config::Values values;  // a secret may be masked
  config::NameStyle style = config::NameStyle::canonical;
  // Not dashctl: keeps only the region fields of its model, refuses nothing, cannot compare blindly.
  bool is_peer = false;
};

// The credentials with which an import claims an unclaimed target.
struct Bootstrap {
  Secret setup_code;  // a peer needs none
  std::string admin;
  Secret password;
};

using SettingView = std::pair<std::string_view, std::string_view>;  // key, value

struct TargetWriteRequest {
  // Flat keys, region keys, or whole region sets when they are replaced. They must outlive the call.
  std::vector<SettingView> values;
  bool replace_regions = false;
  bool include_on_prem = false;
  std::optional<Bootstrap> bootstrap;
  setup::StateOptions state;
};

struct TargetWriteResult {
  std::size_t keys_written = 0;  // flat keys; regions are counted by name
  std::vector<std::string> regions_merged = {};
  std::map<std::string, std::string> refused = {};   // key → reason word
  std::map<std::string, std::string> warnings = {};  // key → what is wrong with the value that was written
  std::string change_id = {};                        // empty where the target keeps no history
  std::vector<storage::LeftState> iac_state_left =
      {};  // the originals of infrastructure state that was copied
};

class Target {
 public:
  virtual ~Target() = default;

  // Returns the address or the folder, for messages.
  virtual std::string name() const = 0;
  virtual Result<bool> is_set_up() = 0;
  virtual Result<InstanceConfig> read() = 0;
  // Returns whether the instance has these values where it does not show them; nullopt where it cannot
  // compare.
  virtual Result<std::optional<std::map<std::string, setup::ValueMatch>>> compare(
      const config::Values& mine) = 0;
  // Writes in one request, all of it or nothing.
  virtual Result<TargetWriteResult> write(const TargetWriteRequest& write_request) = 0;
  virtual Result<std::vector<setup::Webhook>> webhooks() = 0;
  // Makes a row, or overwrites the one with `id`.
  virtual Result<void> put_webhook(const std::optional<std::string>& id, const setup::FullWebhook& row) = 0;
  // Returns "scheme://id" of each registered vault; nullopt where the instance cannot list them.
  virtual Result<std::optional<std::set<std::string>>> vaults() = 0;
  // Undoes the write with that id, secrets and regions included.
  virtual Result<setup::RollbackResult> rollback(const std::string& change_id,
                                                 const setup::StateOptions& state) = 0;
};

}  // namespace dash::migrate
