#include "core/setup/settings_page.hpp"

#include <algorithm>

#include "core/base/redact.hpp"
#include "core/base/shape.hpp"
#include "core/base/text.hpp"
#include "core/config/clouds.hpp"
#include "core/config/masking.hpp"
#include "core/config/registry.hpp"
#include "core/config/settings.hpp"
#include "core/policy/settings.hpp"
#include "core/setup/config_service.hpp"

namespace dash::setup {
namespace {

constexpr std::string_view kSwitch = "enabled";

struct SettingsPage {
  std::vector<const config::KeyInfo*> keys;
  std::string switch_key;  // the key of "enabled", empty when the panel has none
};

Result<SettingsPage> find_page(const std::string& name) {
  SettingsPage out;
  for (const auto& info : config::registered_keys())
    if (info.panel == name && info.group == "panel") out.keys.push_back(&info);
  if (out.keys.empty()) return fail(Code::not_found, "Unknown feature: {}", name);
  for (const auto* info : out.keys)
    if (info->type == "bool" && info->key == name + "_enabled") out.switch_key = info->key;
  return out;
}

bool is_gate_list(std::string_view key) {
  return key == policy::kGatedKey || key == policy::kRegionsKey || key == policy::kTypesKey ||
         key == policy::kWindowKey;
}

// A switch of the gate that is merely left blank must not open it.
bool is_blank_switch(const config::KeyInfo& info, const Json& value) {
  bool of_gate = info.key == policy::kEnabledKey || info.key == policy::kApprovalKey;
  return of_gate &&
         (value.is_null() || (value.is_string() && trim(value.get_ref<const std::string&>()).empty()));
}

bool all_strings(const Json& value) {
  return std::ranges::all_of(value, [](const Json& item) { return item.is_string(); });
}

Result<std::string> text_of(const config::KeyInfo& info, const std::string& member, const Json& value) {
  bool list = is_gate_list(info.key) || info.type == "list";
  if (value.is_string()) return std::string(trim(value.get_ref<const std::string&>()));
  if (value.is_boolean() && info.type == "bool") return std::string(value.get<bool>() ? "true" : "false");
  if (value.is_number() && (info.type == "int" || info.type == "float")) return dump_json(value);
  if (value.is_array() && list && all_strings(value)) return dump_json(value);
  if ((value.is_array() || value.is_object()) && info.type == "json") return dump_json(value);
  return wrong_type(member, list ? "list of strings" : info.type);
}

Result<void> check_value(const config::KeyInfo& info, const std::string& member, const std::string& text) {
  if (text.empty()) return {};
  if (is_gate_list(info.key)) {
    auto checked = policy::check_setting(info.key, text);
    return checked ? checked : wrong_value(member, without_userinfo(checked.error().message));
  }
  if (info.type == "bool" && !config::parse_flag(info.key, text, false)) return wrong_type(member, "boolean");
  bool digits =
      text.find_first_not_of("0123456789", text[0] == '-' ? 1 : 0) == std::string::npos && text != "-";
  if (info.type == "int" && !digits) return wrong_type(member, "integer");
  if (info.type == "json" && !parse_json(text)) return wrong_value(member, "is not JSON");
  return {};
}

}  // namespace

Result<OrderedJson> read_settings_page(config::EncryptedStore& store, const Principal& principal,
                                       const std::string& name) {
  TRY(require_admin(principal));
  auto panel = TRY(find_page(name));
  auto values = TRY(store.all());
  auto named = values.find(std::string(policy::kCloudNamesKey));
  auto style = named != values.end() && named->second == "provider" ? config::NameStyle::provider
                                                                    : config::NameStyle::canonical;
  OrderedJson out = OrderedJson::object();
  for (const auto* info : panel.keys) {
    auto found = values.find(info->key);
    auto text = found == values.end() ? std::string() : found->second;
    if (info->type == "bool") {
      auto flag = config::parse_flag(info->key, text, false);
      OrderedJson value = flag ? OrderedJson(*flag) : OrderedJson(text);
      out[info->key == panel.switch_key ? std::string(kSwitch) : info->key] = value;
    } else {
      bool is_hidden = info->is_secret && !text.empty();
      auto shown = is_hidden ? std::string(config::kMask) : config::masked_value(info->key, text);
      out[info->key] = config::value_in_style(style, info->key, shown);
    }
  }
  return out;
}

Result<OrderedJson> list_features(config::EncryptedStore& store) {
  auto values = TRY(store.all());
  auto out = OrderedJson::object();
  for (const auto& info : config::registered_keys()) {
    if (info.type != "bool" || info.group != "panel" || info.key != info.panel + "_enabled") continue;
    auto found = values.find(info.key);
    auto name = info.key == policy::kEnabledKey ? std::string("admission") : info.panel;
    out[name] =
        config::parse_flag(info.key, found == values.end() ? "" : found->second, false).value_or(false);
  }
  return out;
}

Result<void> change_settings_page(config::EncryptedStore& store, ConfigService& config_service,
                                  const Principal& principal, const std::string& name, const Json& body,
                                  const StateOptions& state) {
  TRY(require_admin(principal));
  auto panel = TRY(find_page(name));
  if (!body.is_object()) return wrong_type("body", "object");
  auto present = TRY(store.keys());
  config::Changes changes;
  for (const auto* info : panel.keys) {
    auto member = info->key;
    if (info->key == panel.switch_key && body.contains(kSwitch)) member = kSwitch;
    auto sent = body.find(member);
    if (sent == body.end()) continue;
    if (is_blank_switch(*info, *sent)) return wrong_type(member, "boolean");
    if (sent->is_null()) {
      if (present.contains(info->key)) changes[info->key] = std::nullopt;
      continue;
    }
    auto text = TRY(text_of(*info, member, *sent));
    // A masked value that comes back means the stored one.
    if (config::is_masked(text)) continue;
    TRY(check_value(*info, member, text));
    changes[info->key] = text;
  }
  if (changes.empty()) return {};
  TRY(config_service.change(principal, changes, fmt::format("panel:{}", name), state));
  return {};
}

}  // namespace dash::setup
