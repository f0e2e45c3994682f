// The audience: the origin of this dashboard that every agent's signature names. It is pinned once (the setting
// agent_base_url), because agents that signed for another one would be locked out.
#pragma once
#include <optional>
#include <string>

#include "core/agent/dashboard/deps.hpp"

namespace dash::agent {

struct Audience {
  std::string origin;           // empty: none is known yet
  bool is_pinned = false;       //
  std::string public_base_url;  // the setting; what would be pinned
};
// {audience, pinned, public_base_url}
OrderedJson to_json(const Audience& audience);

Result<Audience> read_audience(db::Transaction& tx, config::EncryptedStore& config);
// Pins public_base_url, or else `request_origin` ("https://host:port", or empty), where nothing is pinned. Returns
// what is pinned then, which is empty when there was nothing to pin.
Result<std::string> pin_audience(db::Transaction& tx, config::EncryptedStore& config,
                                 const std::string& request_origin);
// Returns whether one was pinned.
Result<bool> reset_audience(db::Transaction& tx, config::EncryptedStore& config, const std::string& username);

}  // namespace dash::agent
