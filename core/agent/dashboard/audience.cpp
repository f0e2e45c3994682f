#include "core/agent/dashboard/audience.hpp"

#include "core/base/text.hpp"

namespace dash::agent {
namespace {

const std::string kPinnedKey = "agent_base_url", kPublicUrlKey = "public_base_url";

Result<std::string> url_setting(db::Transaction& tx, config::EncryptedStore& config, const std::string& key) {
  std::string url(trim(TRY(config.get(tx, key)).value_or("")));
  while (url.ends_with('/')) url.pop_back();
  return url;
}

}  // namespace

OrderedJson to_json(const Audience& audience) {
  return {{"audience", audience.origin},
          {"pinned", audience.is_pinned},
          {"public_base_url", audience.public_base_url}};
}

Result<Audience> read_audience(db::Transaction& tx, config::EncryptedStore& config) {
  Audience out;
  out.public_base_url = TRY(url_setting(tx, config, kPublicUrlKey));
  auto pinned = TRY(url_setting(tx, config, kPinnedKey));
  out.is_pinned = !pinned.empty();
  out.origin = out.is_pinned ? pinned : out.public_base_url;
  return out;
}

Result<std::string> pin_audience(db::Transaction& tx, config::EncryptedStore& config,
                                 const std::string& request_origin) {
  auto audience = TRY(read_audience(tx, config));
  if (audience.is_pinned) return audience.origin;
  auto origin = audience.origin.empty() ? request_origin : audience.origin;
  if (!origin.empty()) TRY(config.apply(tx, {{kPinnedKey, origin}}, {"system", "agents"}));
  return origin;
}

Result<bool> reset_audience(db::Transaction& tx, config::EncryptedStore& config,
                            const std::string& username) {
  bool was_pinned = TRY(read_audience(tx, config)).is_pinned;
  if (was_pinned) TRY(config.apply(tx, {{kPinnedKey, std::nullopt}}, {username, "agents"}));
  return was_pinned;
}

}  // namespace dash::agent
