#include "core/policy/settings.hpp"

#include <algorithm>
#include <array>

#include "core/base/text.hpp"
#include "core/config/clouds.hpp"
#include "core/config/settings.hpp"

namespace dash::policy {
namespace {

constexpr std::array kSettingKeys{kEnabledKey, kGatedKey,    kRegionsKey,   kTypesKey,
                                  kWindowKey,  kApprovalKey, kCloudNamesKey};
constexpr std::array<std::string_view, 7> kWeekdays{"sun", "mon", "tue", "wed", "thu", "fri", "sat"};
constexpr std::array<std::string_view, 4> kTeardownVerbs{"destroy", "decommission", "delete", "teardown"};

bool is_gated_name(std::string_view action) {
  return std::ranges::find(gated_action_names(), config::canonical_action(action)) !=
         gated_action_names().end();
}

Failure unknown_action(std::string_view name) {
  return fail(Code::invalid, "'{}' is not a gated action; there are {}", name,
              fmt::join(gated_action_names(), ", "));
}

bool is_flag(std::string_view key) { return key == kEnabledKey || key == kApprovalKey; }
bool is_list(std::string_view key) {
  return key == kGatedKey || key == kRegionsKey || key == kTypesKey || key == kWindowKey;
}

Result<void> check_word(std::string_view key, std::string_view word) {
  if (key == kWindowKey && !fold_weekday(word))
    return fail(Code::invalid, "'{}' is not a weekday; write mon, tue, wed, thu, fri, sat or sun", word);
  if (key == kGatedKey && !is_gated_name(word)) return unknown_action(word);
  return {};
}

// Reads settings whose malformed values close the gate: records the first fault and returns what can be read.
class Reader {
 public:
  Reader(const config::SettingsSnapshot& snapshot, GateSettings& out) : snapshot_(snapshot), out_(out) {}

  const std::string& text(std::string_view key) {
    std::string name(key);
    if (snapshot_.is_unreadable(name)) unreadable_.push_back(key);
    return snapshot_.text(name);
  }
  bool flag(std::string_view key, bool when_faulty) {
    auto value = config::parse_flag(key, text(key), false);
    if (value) return *value;
    blame(value.error().message);
    return when_faulty;
  }
  std::optional<std::vector<std::string>> list(std::string_view key) {
    auto value = config::parse_list(key, text(key));
    if (value) return *std::move(value);
    blame(value.error().message);
    return std::nullopt;
  }
  void blame(std::string what) {
    if (!out_.fault) out_.fault = std::move(what);
  }
  // An unreadable row gave the empty text, which must not mean "no restriction".
  void close_for_unreadable() {
    for (auto key : unreadable_) {
      out_.fault = fmt::format("the setting {} cannot be decrypted with this instance's key", key);
      if (key != kEnabledKey && key != kGatedKey) continue;
      out_.enabled = true;
      out_.gated_known = false;
    }
  }

 private:
  const config::SettingsSnapshot& snapshot_;
  GateSettings& out_;
  std::vector<std::string_view> unreadable_;
};

std::optional<std::vector<std::string>> parse_listed(const config::SettingsSnapshot& snapshot) {
  auto words = config::parse_list(kGatedKey, snapshot.text(std::string(kGatedKey)));
  if (!words) return std::nullopt;
  std::ranges::transform(*words, words->begin(), config::canonical_action);
  return *std::move(words);
}

void fold(GateSettings& out, Reader& reader) {
  for (const auto& region : out.typed.allowed_regions)
    out.folded.allowed_regions.push_back(fold_region(region));
  for (const auto& type : out.typed.denied_instance_types)
    out.folded.denied_instance_types.push_back(fold_word(type));
  for (const auto& day : out.typed.prod_window) {
    auto weekday = fold_weekday(day);
    if (!weekday)
      reader.blame(fmt::format(
          "the setting {} holds '{}', which is not a weekday; write mon, tue, wed, thu, fri, sat or sun",
          kWindowKey, day));
    else
      out.folded.prod_window.push_back(*weekday);
  }
}

void read_enabled(Reader& reader, GateSettings& out) {
  out.gated_known = reader.list(kGatedKey).has_value();
  out.gated = out.listed.value_or(std::vector<std::string>());
  out.enforce_needs_approval = reader.flag(kApprovalKey, true);
  out.typed.allowed_regions = reader.list(kRegionsKey).value_or(std::vector<std::string>());
  out.typed.denied_instance_types = reader.list(kTypesKey).value_or(std::vector<std::string>());
  out.typed.prod_window = reader.list(kWindowKey).value_or(std::vector<std::string>());
  fold(out, reader);
}

}  // namespace

bool GateSettings::gates(const std::string& canonical) const {
  if (!enabled) return false;
  return !gated_known || std::ranges::find(gated, canonical) != gated.end();
}

bool GateSettings::lists(std::string_view canonical) const {
  return !listed || std::ranges::find(*listed, canonical) != listed->end();
}

GateSettings decode_settings(const config::SettingsSnapshot& snapshot) {
  GateSettings out;
  Reader reader(snapshot, out);
  out.listed = parse_listed(snapshot);
  out.enabled = reader.flag(kEnabledKey, true);
  out.provider_names = reader.text(kCloudNamesKey) == "provider";
  if (out.enabled) read_enabled(reader, out);
  reader.close_for_unreadable();
  return out;
}

GateSettings settings_of(const config::Values& values) {
  return decode_settings(config::SettingsSnapshot(values));
}

Result<std::shared_ptr<const GateSettings>> live_settings(config::Settings& settings) {
  return TRY(settings.snapshot({"admission", kSettingKeys}))->decoded(&decode_settings);
}

const std::vector<std::string>& gated_action_names() {
  static const std::vector<std::string> names{
      "cloud1:vm:deploy",  "cloud2:vm:deploy",       "cloud3:vm:deploy",  "cloud4:compute:deploy",
      "clouddb:provision", "k8s:provision",          "cloud1:vm:destroy", "cloud2:vm:destroy",
      "cloud3:vm:destroy", "cloud4:compute:destroy",
  };
  return names;
}

bool is_setting(std::string_view key) { return is_flag(key) || is_list(key) || key == kCloudNamesKey; }

Result<void> check_setting(std::string_view key, std::string_view text) {
  if (trim(text).empty()) return {};
  if (is_flag(key) && !config::parse_flag(key, text, false))
    return fail(Code::invalid, "'{}' is neither true nor false", trim(text));
  if (key == kCloudNamesKey && text != "canonical" && text != "provider")
    return fail(Code::invalid, "'{}' is not a spelling of the clouds; write canonical or provider", text);
  if (!is_list(key)) return {};
  for (const auto& word : TRY(config::parse_list(key, text))) TRY(check_word(key, word));
  return {};
}

Result<void> check_action(std::string_view action) {
  auto colon = action.rfind(':');
  bool is_teardown = colon != action.npos && colon > 0 &&
                     std::ranges::find(kTeardownVerbs, action.substr(colon + 1)) != kTeardownVerbs.end();
  if (is_teardown || is_gated_name(action)) return {};
  return unknown_action(action);
}

std::string fold_word(std::string_view text) { return lower(trim(text)); }

std::string fold_region(std::string_view text) {
  auto out = fold_word(text);
  std::erase(out, ' ');
  return out;
}

std::optional<std::string> fold_weekday(std::string_view text) {
  auto day = fold_word(text);
  if (std::ranges::find(kWeekdays, day) == kWeekdays.end()) return std::nullopt;
  return day;
}

}  // namespace dash::policy
