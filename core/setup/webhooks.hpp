// Notification endpoints (webhooks). URL and secret of a row are sealed at rest and never returned. Admins
// only; every change is audited. Thread-safe.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/audit/log.hpp"
#include "core/config/encrypted_store.hpp"

namespace dash::setup {

inline constexpr std::size_t kMaxWebhooks = 20;  // as in the deployed dashboards
inline constexpr std::size_t kMaxWebhookName = 100;

// The public members of a row.
struct Webhook {
  std::string id;
  std::string name;
  std::string fmt;       // custom, slack or teams
  std::string url_hint;  // scheme://host/…
  bool has_secret = false;
  bool enabled = true;
  std::optional<std::string> event_types;  // comma-separated; nullopt inherits
  Time created_at;
  std::string created_by;
  std::optional<Time> last_success_at;
  std::optional<std::string> last_error;
};

// A row from an import or an operator. An absent member stays as it is (PATCH) or gets its default (POST).
struct WebhookInput {
  std::optional<std::string> name;
  std::optional<Secret> url;  // blank is ignored on PATCH
  std::optional<std::string> fmt;
  std::optional<Secret> secret;  // blank clears
  std::optional<std::optional<std::string>> event_types;
  std::optional<bool> enabled;
};

// A row with its secrets, only for an export from the data directory.
struct FullWebhook {
  std::string name;
  Secret url;
  std::string fmt;
  Secret secret;
  std::optional<std::string> event_types;
  bool enabled = true;
};

class Webhooks {
 public:
  Webhooks(db::Sql& sql, const Clock& clock, config::EncryptedStore& store, audit::Log& audit)
      : sql_(sql), clock_(clock), store_(store), audit_(audit) {}

  Result<std::vector<Webhook>> list(const Principal& principal);
  Result<Webhook> add(const Principal& principal, const WebhookInput& input);
  Result<Webhook> change(const Principal& principal, const std::string& id, const WebhookInput& input);
  Result<void> remove(const Principal& principal, const std::string& id);
  // Returns all rows, sorted by name. Code::integrity names a row that was sealed with another key.
  Result<std::vector<FullWebhook>> export_all(const Principal& principal);
  // Returns "notification_endpoints/<id>/url" and ".../secret" → text, for blind comparison. Rows that
  // another key sealed are left out.
  Result<std::map<std::string, std::string>> hidden_values();

 private:
  Result<Webhook> read(db::Transaction& tx, const std::string& id);
  Webhook webhook_of(const db::Row& row);
  std::string hint_of(const std::string& id, const std::string& sealed_url);
  db::Sql& sql_;
  const Clock& clock_;
  config::EncryptedStore& store_;
  audit::Log& audit_;
};

OrderedJson to_json(const Webhook& webhook);
// Reads a request body. Code::validation names the member of the wrong type.
Result<WebhookInput> read_webhook_input(const Json& body);

}  // namespace dash::setup
