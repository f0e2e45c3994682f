#include "core/config/settings.hpp"

#include <algorithm>
#include <charconv>

#include "core/base/json.hpp"
#include "core/base/text.hpp"
#include "core/config/number_limits.hpp"

namespace dash::config {

Result<bool> parse_flag(std::string_view key, std::string_view text, bool fallback) {
  auto word = lower(trim(text));
  if (word.empty()) return fallback;
  if (word == "1" || word == "true" || word == "yes" || word == "on") return true;
  if (word == "0" || word == "false" || word == "no" || word == "off") return false;
  return fail(Code::invalid, "the setting {} is neither true nor false", key);
}

Result<std::vector<std::string>> parse_list(std::string_view key, std::string_view text) {
  std::vector<std::string> out;
  auto trimmed = trim(text);
  auto keep = [&](std::string_view item) {
    if (auto t = trim(item); !t.empty()) out.emplace_back(t);
  };
  if (trimmed.starts_with('[') || trimmed.starts_with('{') || trimmed.starts_with('"')) {
    auto json = parse_json(trimmed);
    bool strings =
        json && json->is_array() && std::ranges::all_of(*json, [](const Json& j) { return j.is_string(); });
    if (!strings)
      return fail(
          Code::invalid,
          "the setting {} starts like JSON but is not an array of strings; write [\"a\", \"b\"] or a, b",
          key);
    for (const auto& item : *json) keep(item.get_ref<const std::string&>());
    return out;
  }
  std::string_view rest = trimmed;
  while (!rest.empty()) {
    auto comma = rest.find(',');
    keep(rest.substr(0, comma));
    rest = comma == rest.npos ? std::string_view() : rest.substr(comma + 1);
  }
  return out;
}

const std::string& SettingsSnapshot::text(const std::string& key) const {
  static const std::string kAbsent;
  auto found = values_.find(key);
  return found == values_.end() ? kAbsent : found->second;
}

// A commit between the two reads only costs another read of the rows.
Result<SnapshotPtr> Settings::snapshot(const KeyGroup& group) {
  auto version = TRY(store_.sql_.data_version());
  {
    std::lock_guard lock(mutex_);
    auto found = snapshots_.find(group.name);
    if (version && found != snapshots_.end() && found->second.version == version)
      return found->second.snapshot;
  }
  auto rows = TRY(store_.read_sealed(group.keys));
  std::lock_guard lock(mutex_);
  auto& cached = snapshots_[group.name];
  if (!cached.snapshot || cached.rows != rows) {
    cached.snapshot = store_.open_rows(rows);
    cached.rows = std::move(rows);
  }
  cached.version = version;
  return cached.snapshot;
}

Result<std::string> Settings::text(const std::string& key, std::string_view fallback) {
  auto value = TRY(store_.get(key));
  return value && !value->empty() ? *value : std::string(fallback);
}

Result<bool> Settings::flag(const std::string& key, bool fallback) {
  return parse_flag(key, TRY(text(key)), fallback);
}

Result<std::int64_t> Settings::integer(const std::string& key, std::int64_t fallback) {
  auto value = TRY(text(key));
  auto word = trim(value);
  if (word.empty()) return fallback;
  std::int64_t out = 0;
  auto [end, ec] = std::from_chars(word.data(), word.data() + word.size(), out);
  if (ec != std::errc() || end != word.data() + word.size())
    return fail(Code::invalid, "the setting {} is not a whole number", key);
  return limit_number(key, out);
}

}  // namespace dash::config
