// The settings pages of the dashboard: each is the registered keys of one panel (core/config/keys.yaml). Only
// keys that were sent change; a value that its reader would refuse is refused here, before it is stored.
// Every change is audited and has history.
#pragma once
#include <string>

#include "core/base/json.hpp"
#include "core/base/principal.hpp"
#include "core/config/encrypted_store.hpp"
#include "core/setup/live_state.hpp"

namespace dash::setup {

class ConfigService;

// {key: value}; secrets masked; "enabled" beside the panel's own switch. Code::not_found for an unknown
// panel.
Result<OrderedJson> read_settings_page(config::EncryptedStore& store, const Principal& principal,
                                       const std::string& panel);
// Text, a boolean, a number, or for a list an array of strings; null removes. Unknown members are ignored, as
// in the deployed dashboards. Code::validation names the member that cannot be meant.
Result<void> change_settings_page(config::EncryptedStore& store, ConfigService& config_service,
                                  const Principal& principal, const std::string& panel, const Json& body,
                                  const StateOptions& state = {});

// {feature: on or off} for every panel with a switch of its own, the gate's as "admission": what the
// dashboard's pages ask before anybody has signed in.
Result<OrderedJson> list_features(config::EncryptedStore& store);

}  // namespace dash::setup
