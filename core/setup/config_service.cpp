#include "core/setup/config_service.hpp"

#include "core/base/redact.hpp"
#include "core/base/shape.hpp"
#include "core/base/utf8.hpp"
#include "core/config/masking.hpp"
#include "core/config/registry.hpp"
#include "core/crypto/hash.hpp"
#include "core/policy/settings.hpp"
#include "core/setup/config_audit.hpp"

namespace dash::setup {
namespace {

constexpr std::int64_t kMaxHistoryPage = 1000;

// The audit log gets names of keys, never values.
OrderedJson key_names(const config::Changes& changes) {
  auto names = OrderedJson::array();
  for (const auto& [key, value] : changes) names.push_back(key);
  return names;
}

// Looks up the value of a key. A region key's value is inside of its cloud's set, which is parsed once.
class ConfigIndex {
 public:
  explicit ConfigIndex(config::Values values) : values_(std::move(values)) {
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

// Turns changes of region fields into changes of their sets.
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

// A set that comes back with masks keeps the stored values in their place.
void restore_masked_fields(const config::Values& stored, config::Changes& changes) {
  for (auto& [key, value] : changes) {
    auto cloud = config::cloud_of_region_blob(key);
    if (!cloud || !value) continue;
    auto known = stored.find(key);
    value = config::restore_masked_fields(*cloud, *value, known == stored.end() ? "" : known->second);
  }
}

// Makes keys canonical and leaves out masked values. Code::validation names a key with an impossible value.
Result<config::Changes> read_changes(const config::Changes& sent) {
  config::Changes out;
  for (const auto& [key, value] : sent) {
    if (value && config::is_masked(*value)) continue;
    auto name = config::has_region_prefix(key) ? key : config::canonical_key(key);
    if (value && !is_utf8(*value)) return fail(Code::invalid, "the value of '{}' is not UTF-8 text", name);
    auto text = value ? std::optional(config::canonical_value(name, *value)) : std::nullopt;
    auto [at, is_new] = out.emplace(name, text);
    if (!is_new && at->second != text)
      return wrong_value(name, "given in both spellings with different values");
    if (!text) continue;
    if (auto checked = policy::check_setting(name, *text); !checked)
      return wrong_value(key, without_userinfo(checked.error().message));
  }
  return out;
}

}  // namespace

ConfigService::ConfigService(Deps deps)
    : store_(deps.store),
      settings_(deps.settings),
      audit_(deps.audit),
      directory_(deps.directory),
      setup_code_(deps.setup_code),
      webhooks_(deps.webhooks),
      roots_(deps.roots),
      throttle_(deps.sql, deps.clock),
      writer_({deps.sql, deps.clock, deps.store, deps.audit, deps.state, deps.roots}) {}

Result<config::NameStyle> ConfigService::name_style() {
  return TRY(settings_.text("cloud_names")) == "provider" ? config::NameStyle::provider
                                                          : config::NameStyle::canonical;
}

Result<SetupStatus> ConfigService::status(const std::optional<Principal>& principal) {
  SetupStatus status{TRY(directory_.is_set_up()), {}};
  if (!status.complete || !principal || !principal->is_admin) return status;
  auto style = TRY(name_style());
  for (const auto& key : TRY(store_.keys()))
    status.configured_keys.push_back(config::key_in_style(style, key));
  return status;
}

Result<config::Values> ConfigService::read(const std::optional<Principal>& principal,
                                           const Secret& setup_code) {
  if (TRY(directory_.is_set_up())) {
    if (!principal) return fail(Code::unauthenticated, "Authentication required");
    TRY(require_admin(*principal));
  } else if (!TRY(store_.keys()).empty()) {
    TRY(setup_code_.check(setup_code));
  }
  auto style = TRY(name_style());
  config::Values out;
  for (auto& [key, value] : TRY(store_.all())) {
    if (key == policy::kCloudNamesKey) continue;  // how the instance writes names, visible in every response
    out.insert_or_assign(out.end(), config::key_in_style(style, key),
                         config::value_in_style(style, key, config::masked_value(key, value)));
  }
  return out;
}

Result<std::map<std::string, ValueMatch>> ConfigService::compare(
    const Principal& principal, const std::string& nonce, const std::map<std::string, std::string>& macs) {
  if (nonce.size() < kMinNonceBytes)
    return fail(Code::invalid, "the nonce needs at least {} bytes, as hexadecimal digits", kMinNonceBytes);
  TRY(begin_compare(principal, macs.size()));
  auto values = TRY(store_.all());
  values.merge(TRY(webhooks_.hidden_values()));
  ConfigIndex index(std::move(values));
  std::map<std::string, ValueMatch> results;
  for (const auto& [key, mac] : macs) {
    const auto* value = index.find(key);
    auto mine = value ? crypto::to_hex(crypto::hmac_sha256(nonce, key + '\0' + *value)) : "";
    results[key] = !value                                   ? ValueMatch::absent
                   : crypto::equal_constant_time(mine, mac) ? ValueMatch::same
                                                            : ValueMatch::differs;
  }
  return results;
}

Result<void> ConfigService::begin_compare(const Principal& principal, std::size_t keys) {
  TRY(require_admin(principal));
  TRY(throttle_.check_and_count(kCompareLimit, principal.username));
  TRY(audit_.append(audit::make_event(principal, "config.compare", std::nullopt, {{"keys", keys}})));
  return {};
}

Result<ChangeResult> ConfigService::change(const Principal& principal, const config::Changes& changes,
                                           const std::string& origin, const StateOptions& state) {
  TRY(require_admin(principal));
  auto canonical = TRY(read_changes(changes));
  WriteRequest request{.principal = principal, .origin = origin, .state = state};
  request.make = [&](db::Transaction&, const config::Values& stored) -> Result<config::Changes> {
    auto folded = canonical;
    restore_masked_fields(stored, folded);
    TRY(fold_region_changes(stored, folded));
    return folded;
  };
  request.record = [&](db::Transaction& tx, const WriteResult& result) -> Result<void> {
    if (result.change_id.empty()) return {};
    OrderedJson details{{"keys", key_names(result.changes)},
                        {"changes", changes_to_json(result.before, result.changes)}};
    if (result.iac_state_migrated > 0) details["iac_state_migrated"] = result.iac_state_migrated;
    TRY(audit_.append(tx,
                      audit::make_event(principal, "config.update", result.change_id, std::move(details))));
    return {};
  };
  auto written = TRY(writer_.write(request));
  return ChangeResult{std::move(written.change_id), std::move(written.iac_state_left)};
}

OrderedJson to_json(const ChangeResult& result) {
  return {{"ok", true},
          {"change_id", result.change_id},
          {"iac_state_left", storage::to_json(result.iac_state_left)}};
}

Result<std::vector<config::HistoryEntry>> ConfigService::history(const Principal& principal,
                                                                 const std::string& key,
                                                                 std::int64_t before_seq,
                                                                 std::int64_t limit) {
  TRY(require_admin(principal));
  if (limit < 1 || limit > kMaxHistoryPage)
    return fail(Code::invalid, "limit goes from 1 to {}", kMaxHistoryPage);
  return store_.history(config::canonical_key(key), before_seq, limit);
}

Result<RollbackResult> ConfigService::rollback(const Principal& principal, const std::string& change_id,
                                               const StateOptions& state) {
  TRY(require_admin(principal));
  WriteRequest request{.principal = principal, .origin = "rollback", .state = state};
  request.make = [&](db::Transaction& tx, const config::Values&) { return store_.undo_of(tx, change_id); };
  request.record = [&](db::Transaction& tx, const WriteResult& result) -> Result<void> {
    TRY(audit_.append(tx, audit::make_event(principal, "config.rollback", change_id,
                                            {{"change_id", result.change_id},
                                             {"keys", key_names(result.changes)},
                                             {"changes", changes_to_json(result.before, result.changes)}})));
    return {};
  };
  auto written = TRY(writer_.write(request));
  auto report = report_of(written.changes, written.before);
  report.iac_state_migrated = written.iac_state_migrated;
  report.iac_state_left = std::move(written.iac_state_left);
  return report;
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
