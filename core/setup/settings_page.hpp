// The settings pages of the dashboard. Each has the registered keys of one panel (core/config/keys.yaml).
// Only keys that were sent change. A value that its reader would refuse is refused here, before it is stored.
// Every change is audited and has history.
#pragma once
#include <string>

#include "core/base/json.hpp"
#include "core/base/principal.hpp"
#include "core/config/encrypted_store.hpp"
#include "core/setup/live_state.hpp"

namespace dash::setup {

class ConfigService;

// Returns {key: value}; secrets masked; "enabled" is the panel's own switch. Code::not_found for an unknown
// panel.
Result<OrderedJson> read_settings_page(config::EncryptedStore& store, const Principal& principal,
                                       const std::string& panel);
// Changes a page. A value is text, a boolean, a number, or for a list an array of strings; null removes.
// Unknown members are ignored, as deployed dashboards do. Code::validation names the member whose value is
// impossible.
Result<void> change_settings_page(config::EncryptedStore& store, ConfigService& config_service,
                                  const Principal& principal, const std::string& panel, const Json& body,
                                  const StateOptions& state = {});

// Returns {feature: on or off} for every panel with a switch of its own, the gate's as "admission". The
// dashboard's pages need it before a user has signed in.
Result<OrderedJson> list_features(config::EncryptedStore& store);

}  // namespace dash::setup
