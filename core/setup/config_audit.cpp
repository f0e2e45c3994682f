#include "core/setup/config_audit.hpp"

#include "core/config/masking.hpp"
#include "core/crypto/hash.hpp"
#include "core/policy/settings.hpp"

namespace dash::setup {
namespace {

constexpr std::size_t kMaxListedKeys = 100;    // keys of one change; a bundle has hundreds
constexpr std::size_t kMaxValueBytes = 1'000;  // bytes of a value

OrderedJson audited_json(const std::string& key, const std::optional<std::string>& value) {
  if (!value) return nullptr;
  auto shown = config::audited_value(key, *value);
  if (shown.size() > kMaxValueBytes) return "sha256:" + crypto::to_hex(crypto::sha256(shown));
  return shown;
}

}  // namespace

OrderedJson changes_to_json(const config::Values& before, const config::Changes& changes) {
  auto out = OrderedJson::object();
  for (const auto& [key, value] : changes) {
    if (changes.size() > kMaxListedKeys && !policy::is_setting(key)) continue;
    auto known = before.find(key);
    auto old = known == before.end() ? std::nullopt : std::optional(known->second);
    if (old != value) out[key] = {{"old", audited_json(key, old)}, {"new", audited_json(key, value)}};
  }
  return out;
}

}  // namespace dash::setup
