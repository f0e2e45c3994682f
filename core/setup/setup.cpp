#include "core/setup/setup.hpp"

#include "core/base/shape.hpp"
#include "core/base/utf8.hpp"
#include "core/config/registry.hpp"
#include "core/crypto/hash.hpp"
#include "core/policy/settings.hpp"
#include "core/setup/setup_audit.hpp"
#include "core/setup/vaults.hpp"

namespace dash::setup {
namespace {

constexpr std::int64_t kMaxHistoryPage = 1000;

// Names of what is told, never values.
OrderedJson names_of(const config::Changes& changes) {
  auto names = OrderedJson::array();
  for (const auto& [key, value] : changes) names.push_back(key);
  return names;
}

// What a key holds; a region key's value lies inside of its cloud's set, which is read once.
class Holdings {
 public:
  explicit Holdings(config::Values values) : values_(std::move(values)) {
    for (const auto& names : config::clouds()) {
      std::string cloud(names.cloud);
      auto blob = values_.find(config::region_blob_key(cloud));
      if (blob == values_.end()) continue;
      if (auto map = config::parse_region_blob(cloud, blob->second)) regions_[cloud] = *std::move(map);
    }
  }

  const std::string* find(const std::string& key) const {
    auto parts = config::split_region_key(key);
    if (!parts) return find_in(values_, config::canonical_key(key));
    auto cloud = regions_.find(parts->cloud);
    if (cloud == regions_.end()) return nullptr;
    auto region = cloud->second.find(parts->region);
    return region == cloud->second.end() ? nullptr : find_in(region->second, parts->field);
  }

 private:
  static const std::string* find_in(const std::map<std::string, std::string>& map, const std::string& key) {
    auto at = map.find(key);
    return at == map.end() ? nullptr : &at->second;
  }

  config::Values values_;
  config::RegionSets regions_;
};

// Turns changes of region fields into changes of the sets that hold them.
Result<void> fold_region_changes(const config::Values& stored, config::Changes& changes) {
  std::map<std::string, config::RegionMap> maps;
  for (auto it = changes.begin(); it != changes.end();) {
    if (!config::has_region_prefix(it->first)) {
      ++it;
      continue;
    }
    auto parts = config::split_region_key(it->first);
    if (!parts)
      return fail(Code::invalid, "'{}' is not of the form <cloud>_region.<region>.<field>", it->first);
    auto [at, is_new] = maps.try_emplace(parts->cloud);
    if (is_new) {
      auto blob = stored.find(config::region_blob_key(parts->cloud));
      at->second = TRY(config::parse_region_blob(parts->cloud, blob == stored.end() ? "" : blob->second));
    }
    if (it->second)
      config::set_region_field(at->second, *parts, *it->second);
    else
      at->second[parts->region].erase(parts->field);
    it = changes.erase(it);
  }
  for (const auto& [cloud, map] : maps)
    changes[config::region_blob_key(cloud)] = config::write_region_blob(map);
  return {};
}

}  // namespace

Setup::Setup(db::Sql& sql, const Clock& clock, config::Store& store, config::Settings& settings,
             audit::Log& audit, identity::Directory& directory, identity::SetupCode& setup_code,
             Endpoints& endpoints)
    : sql_(sql),
      store_(store),
      settings_(settings),
      audit_(audit),
      directory_(directory),
      setup_code_(setup_code),
      endpoints_(endpoints),
      throttle_(sql, clock) {}

Result<config::Spelling> Setup::spelling() {
  return TRY(settings_.text("cloud_names")) == "provider" ? config::Spelling::provider
                                                          : config::Spelling::canonical;
}

Result<SetupStatus> Setup::status(const std::optional<identity::Principal>& who) {
  SetupStatus status{TRY(directory_.is_set_up()), {}};
  if (!status.complete || !who || !who->is_admin) return status;
  auto speak = TRY(spelling());
  for (const auto& key : TRY(store_.keys()))
    status.configured_keys.push_back(config::spelled_key(speak, key));
  return status;
}

Result<config::Values> Setup::read(const std::optional<identity::Principal>& who, const Secret& setup_code) {
  if (TRY(directory_.is_set_up())) {
    if (!who) return fail(Code::unauthenticated, "Authentication required");
    TRY(identity::require_admin(*who));
  } else if (!TRY(store_.keys()).empty()) {
    TRY(setup_code_.check(setup_code));
  }
  auto speak = TRY(spelling());
  config::Values out;
  for (auto& [key, value] : TRY(store_.all())) {
    bool hide = !value.empty() && config::is_secret(key) && vault_scheme(value).empty();
    out[config::spelled_key(speak, key)] =
        hide ? std::string(config::kMask) : config::spelled_value(speak, key, value);
  }
  return out;
}

Result<std::map<std::string, Comparison>> Setup::compare(const identity::Principal& who,
                                                         const std::string& nonce,
                                                         const std::map<std::string, std::string>& macs) {
  TRY(identity::require_admin(who));
  if (nonce.size() < kMinNonceBytes)
    return fail(Code::invalid, "the nonce needs at least {} bytes, as hexadecimal digits", kMinNonceBytes);
  TRY(throttle_.spend(kCompareLimit, who.username));
  auto values = TRY(store_.all());
  values.merge(TRY(endpoints_.hidden_values()));
  Holdings holdings(std::move(values));
  std::map<std::string, Comparison> results;
  for (const auto& [key, mac] : macs) {
    const auto* value = holdings.find(key);
    auto mine = value ? crypto::to_hex(crypto::hmac_sha256(nonce, key + '\0' + *value)) : "";
    results[key] = !value                                   ? Comparison::absent
                   : crypto::equal_constant_time(mine, mac) ? Comparison::same
                                                            : Comparison::differs;
  }
  TRY(audit_.append(audit::by(who, "config.compare", std::nullopt, {{"keys", macs.size()}})));
  return results;
}

Result<std::string> Setup::change(const identity::Principal& who, const config::Changes& changes,
                                  const std::string& origin) {
  TRY(identity::require_admin(who));
  config::Changes canonical;
  for (const auto& [key, value] : changes) {
    if (value && config::is_masked(*value)) continue;
    auto name = config::has_region_prefix(key) ? key : config::canonical_key(key);
    if (value && !is_utf8(*value)) return fail(Code::invalid, "the value of '{}' is not UTF-8 text", name);
    auto text = value ? std::optional(config::canonical_value(name, *value)) : std::nullopt;
    auto [at, is_new] = canonical.emplace(name, text);
    if (!is_new && at->second != text)
      return wrong_value(name, "given in both spellings with different values");
    if (!text) continue;
    if (auto checked = policy::check_setting(name, *text); !checked)
      return wrong_value(key, checked.error().message);
  }
  return db::write<std::string>(sql_, [&](db::Transaction& tx) -> Result<std::string> {
    auto folded = canonical;
    auto before = TRY(store_.all(tx));
    TRY(fold_region_changes(before, folded));
    auto change_id = TRY(store_.apply(tx, folded, {who.username, origin}));
    if (!change_id.empty())
      TRY(audit_.append(tx,
                        audit::by(who, "config.update", change_id,
                                  {{"keys", names_of(folded)}, {"changes", changes_told(before, folded)}})));
    return change_id;
  });
}

Result<std::vector<config::HistoryEntry>> Setup::history(const identity::Principal& who,
                                                         const std::string& key, std::int64_t before_seq,
                                                         std::int64_t limit) {
  TRY(identity::require_admin(who));
  if (limit < 1 || limit > kMaxHistoryPage)
    return fail(Code::invalid, "limit goes from 1 to {}", kMaxHistoryPage);
  return store_.history(config::canonical_key(key), before_seq, limit);
}

Result<std::vector<std::string>> Setup::rollback(const identity::Principal& who,
                                                 const std::string& change_id) {
  TRY(identity::require_admin(who));
  std::vector<std::string> restored;
  TRY(sql_.write([&](db::Transaction& tx) -> Result<void> {
    restored.clear();
    auto undo = TRY(store_.undo_of(tx, change_id));
    auto before = TRY(store_.all(tx));
    auto undone_by = TRY(store_.apply(tx, undo, {who.username, "rollback"}));
    for (const auto& [key, value] : undo) restored.push_back(key);
    TRY(audit_.append(tx, audit::by(who, "config.rollback", change_id,
                                    {{"change_id", undone_by},
                                     {"keys", names_of(undo)},
                                     {"changes", changes_told(before, undo)}})));
    return {};
  }));
  return restored;
}

OrderedJson to_json(const config::HistoryEntry& e) {
  auto what = !e.has_value ? "removed" : e.had_value ? "changed" : "added";
  return {{"seq", e.seq},
          {"change_id", e.change_id},
          {"key", e.key},
          {"what", what},
          {"changed_at", format_iso_micros(e.changed_at)},
          {"changed_by", e.changed_by},
          {"origin", e.origin}};
}

}  // namespace dash::setup
