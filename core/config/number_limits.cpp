#include "core/config/number_limits.hpp"

#include <algorithm>
#include <charconv>

#include "core/base/text.hpp"

namespace dash::config {
namespace {

constexpr std::int64_t kDayMinutes = 24 * 60, kDaySeconds = kDayMinutes * 60;
constexpr std::int64_t kMaxAttempts = 1'000'000;  // as good as no throttle

const NumberLimits* limits_of(std::string_view key) {
  auto found = std::ranges::find(number_limits(), key, &NumberLimits::key);
  return found == number_limits().end() ? nullptr : &*found;
}

}  // namespace

const std::vector<NumberLimits>& number_limits() {
  static const std::vector<NumberLimits> kLimits{
      {"agent_enroll_max_global", 0, kMaxAttempts, true},
      {"agent_enroll_max_per_ip", 0, kMaxAttempts, true},
      {"agent_enroll_window_minutes", 0, kDayMinutes, true},
      {"agent_max_requests_per_minute", 0, kMaxAttempts, true},
      {"approval_expiry_hours", 1, 24 * 365 * 10},  // more would pass the end of the calendar
      {"automation_memory_mb", 0, 1 << 24},         // 16 TiB
      {"automation_timeout_seconds", 1, 365 * kDaySeconds},
      {"change_window_grace_minutes", 1, 7 * kDayMinutes, true},
      {"deploy_stop_seconds", 1, kDaySeconds},
      {"job_lease_seconds", 2, kDaySeconds},
      {"storage_local_port", 1, 65535},
  };
  return kLimits;
}

Result<void> check_number(std::string_view key, std::string_view text) {
  const auto* limits = limits_of(key);
  if (!limits) return {};
  text = trim(text);
  std::int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  bool is_number = error == std::errc() && end == text.data() + text.size();
  if (is_number && value >= limits->min && value <= limits->max) return {};
  return fail(Code::invalid, "{} is a whole number from {} to {}", key, limits->min, limits->max);
}

std::int64_t limit_number(std::string_view key, std::int64_t value) {
  const auto* limits = limits_of(key);
  return limits ? std::clamp(value, limits->min, limits->max) : value;
}

}  // namespace dash::config
