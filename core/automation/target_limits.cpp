#include "core/automation/target_limits.hpp"

#include <algorithm>
#include <charconv>

#include "core/base/text.hpp"

namespace dash::automation {
namespace {

// As names are compared: lower case, without the dot of the root.
std::string folded_name(std::string_view name) {
  auto out = lower(name);
  if (out.ends_with('.')) out.pop_back();
  return out;
}

bool is_dns_name(std::string_view text) {
  if (text.starts_with("*.")) text.remove_prefix(2);
  return !text.empty() && text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.-_") == text.npos &&
         !text.starts_with('-') && !text.starts_with('.');
}

// Digits that no reader of addresses takes would else be a name: a mistyped network must not go unnoticed.
bool looks_like_address(std::string_view text) { return text.find_first_not_of("0123456789.") == text.npos; }

Result<TargetLimits> parse_targets(std::string_view key, std::string_view text) {
  TargetLimits out;
  while (!text.empty()) {
    auto comma = text.find(',');
    auto entry = lower(trim(text.substr(0, comma)));
    text.remove_prefix(comma == text.npos ? text.size() : comma + 1);
    if (entry.empty()) continue;
    if (auto network = parse_network(entry))
      out.networks.push_back(*network);
    else if (is_dns_name(entry) && !looks_like_address(entry))
      out.names.push_back(folded_name(entry));
    else
      return fail(Code::invalid,
                  "{}: '{}' is neither a network such as 10.0.0.0/8 nor a name; separate entries with commas",
                  key, entry);
  }
  return out;
}

Result<std::int64_t> parse_max_targets(std::string_view key, std::string_view text) {
  auto digits = trim(text);
  std::int64_t count = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
  bool is_number = error == std::errc() && end == digits.data() + digits.size();
  if (is_number && count >= 1 && count <= kMaxMaxTargets) return count;
  return fail(Code::invalid, "{} is a number of hosts from 1 to {}", key, kMaxMaxTargets);
}

bool matches_name(const std::string& pattern, const std::string& name) {
  if (!pattern.starts_with("*.")) return pattern == name;
  return name.size() + 1 > pattern.size() && name.ends_with(std::string_view(pattern).substr(1));
}

bool is_listed(const TargetLimits& limits, const std::string& name) {
  return std::ranges::any_of(limits.names,
                             [&](const std::string& pattern) { return matches_name(pattern, name); });
}

// A listed name may lead anywhere but home: what its DNS answers is not the administrator's word.
bool may_reach(const TargetLimits& limits, const Host& host, const IpAddress& address) {
  if (limits.is_blank()) return !is_own_machine_or_link(address);
  if (std::ranges::any_of(limits.networks, [&](const IpNetwork& n) { return n.contains(address); }))
    return true;
  auto name = folded_name(host.written_address);
  if (is_listed(limits, name)) return name == "localhost" || !is_own_machine_or_link(address);
  return host.is_kept && is_listed(limits, folded_name(host.name)) && !is_own_machine_or_link(address);
}

Failure refusal_of(const TargetLimits& limits, const Host& host, const IpAddress& address) {
  auto shown = ip_text(address);
  if (shown != host.written_address) shown = fmt::format("{} ({})", host.written_address, shown);
  if (limits.is_blank())
    return fail(Code::invalid,
                "host '{}': {} is this machine or its own link, which only administrators may reach; "
                "automation_targets can allow it",
                host.name, shown);
  return fail(Code::invalid, "host '{}': {} is not among the addresses that automation_targets allows",
              host.name, shown);
}

}  // namespace

Result<void> check_targets(std::string_view key, std::string_view text) {
  TRY(parse_targets(key, text));
  return {};
}

Result<void> check_max_targets(std::string_view key, std::string_view text) {
  if (!trim(text).empty()) TRY(parse_max_targets(key, text));
  return {};
}

Result<TargetLimits> read_target_limits(const config::SettingsSnapshot& settings) {
  for (auto key : {kTargetsKey, kMaxTargetsKey})
    if (settings.is_unreadable(std::string(key)))
      return fail(Code::conflict, "the setting {} cannot be opened with this instance's key; set it again",
                  key);
  auto limits = parse_targets(kTargetsKey, settings.text(std::string(kTargetsKey)));
  if (!limits) return fail(Code::conflict, "{}", limits.error().message);
  const auto& most = settings.text(std::string(kMaxTargetsKey));
  if (trim(most).empty()) return limits;
  auto count = parse_max_targets(kMaxTargetsKey, most);
  if (!count) return fail(Code::conflict, "{}", count.error().message);
  limits->max_targets = *count;
  return limits;
}

Result<std::string> allowed_address(const TargetLimits& limits, const Principal& principal,
                                    const Host& host) {
  if (principal.is_admin && (host.is_kept || limits.is_blank())) return host.written_address;
  auto addresses = TRY(resolve_name(host.written_address));
  auto reaches = [&](const IpAddress& address) { return may_reach(limits, host, address); };
  if (host.connection == Connection::winrm) {
    auto refused = std::ranges::find_if_not(addresses, reaches);
    if (refused != addresses.end()) return refusal_of(limits, host, *refused);
    return host.written_address;
  }
  auto allowed = std::ranges::find_if(addresses, reaches);
  if (allowed == addresses.end()) return refusal_of(limits, host, addresses.front());
  // The resolver's answer lacks the zone of a link-local address.
  return host.written_address.find('%') != std::string::npos ? host.written_address : ip_text(*allowed);
}

Result<std::string> allowed_remote_address(const TargetLimits& limits, const Principal& principal,
                                           const Host& host) {
  if (principal.is_admin && (host.is_kept || limits.is_blank())) return host.written_address;
  if (auto address = parse_ip(host.written_address)) {
    if (may_reach(limits, host, *address)) return host.written_address;
    return refusal_of(limits, host, *address);
  }
  bool is_named = is_listed(limits, folded_name(host.written_address)) ||
                  (host.is_kept && is_listed(limits, folded_name(host.name)));
  if (limits.is_blank() || is_named) return host.written_address;
  return fail(Code::invalid, "host '{}': the agent resolves '{}', so automation_targets must list that name",
              host.name, host.written_address);
}

}  // namespace dash::automation
