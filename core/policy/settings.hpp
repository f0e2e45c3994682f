// The gate's settings, from configuration values. Entries are stored as typed for messages, and folded for
// comparison: trimmed, lower case, spaces out of regions; weekdays are three letters.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/config/settings.hpp"

namespace dash::policy {

inline constexpr std::string_view kEnabledKey = "admission_control_enabled";
inline constexpr std::string_view kGatedKey = "admission_gated_actions";
inline constexpr std::string_view kRegionsKey = "admission_allowed_regions";
inline constexpr std::string_view kTypesKey = "admission_denied_instance_types";
inline constexpr std::string_view kWindowKey = "admission_prod_window";
inline constexpr std::string_view kApprovalKey = "admission_enforce_needs_approval";
inline constexpr std::string_view kCloudNamesKey = "cloud_names";

struct Limits {
  std::vector<std::string> allowed_regions;
  std::vector<std::string> denied_instance_types;
  std::vector<std::string> prod_window;
};

struct GateSettings {
  bool enabled = false;
  bool enforce_needs_approval = false;
  bool provider_names = false;     // actions go to the rules in the provider's spelling
  std::vector<std::string> gated;  // canonical where the word is known, else as typed
  bool gated_known = true;         // false: the list cannot be parsed, so every action counts as listed
  Limits typed;
  Limits folded;
  std::optional<std::string> fault;  // a setting that cannot be parsed or read: fail closed, naming the key
  // As `gated`, but also while the gate is off; nullopt when the list cannot be parsed.
  std::optional<std::vector<std::string>> listed;

  // Returns whether a change of this action is evaluated, or refused because of `fault`.
  bool gates(const std::string& canonical_action) const;
  // Returns whether the list names the action: change windows hold for it, whether or not the gate is on. A
  // list that cannot be parsed names all.
  bool lists(std::string_view canonical_action) const;
};

// Decodes the settings. A value without a meaning, and a row that cannot be decrypted, become `fault`.
GateSettings decode_settings(const config::SettingsSnapshot& snapshot);
GateSettings settings_of(const config::Values& values);
// Returns the current settings from the shared snapshot. An Error is a failed read.
Result<std::shared_ptr<const GateSettings>> live_settings(config::Settings& settings);

// Returns whether the gate depends on this key.
bool is_setting(std::string_view key);

// Refuses, when it is written, a value that would close the gate or leave an action ungated by a slip:
// Code::invalid with the alternatives. `key` is canonical. Blank values, and keys that the gate does not
// read, are accepted.
Result<void> check_setting(std::string_view key, std::string_view text);

std::string fold_region(std::string_view text);
std::string fold_word(std::string_view text);
// Returns "sat" for " Sat"; nullopt for anything that is no three-letter weekday.
std::optional<std::string> fold_weekday(std::string_view text);

// Returns the ten actions of the gate, canonical, in the order of the documentation.
const std::vector<std::string>& gated_action_names();
// Checks the action of a query: one of the ten in either spelling, or a teardown by its verb (destroy,
// decommission, delete, teardown), which rules exempt. Else Code::invalid with the ten.
Result<void> check_action(std::string_view action);

}  // namespace dash::policy
