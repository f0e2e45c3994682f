#include "core/base/clock.hpp"

#include <cstdio>
#include <ctime>

namespace dash {
namespace {

std::tm utc(Time t, std::int64_t& micros) {
  auto total = to_micros(t);
  micros = total % 1'000'000;
  if (micros < 0) micros += 1'000'000;
  std::time_t seconds = static_cast<std::time_t>((total - micros) / 1'000'000);
  std::tm out{};
  gmtime_r(&seconds, &out);
  return out;
}

std::string date_time(const std::tm& tm) {
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday,
                     tm.tm_hour, tm.tm_min, tm.tm_sec);
}

}  // namespace

std::string format_iso(Time t) {
  std::int64_t micros = 0;
  return date_time(utc(t, micros)) + "Z";
}

std::string format_iso_micros(Time t) {
  std::int64_t micros = 0;
  auto tm = utc(t, micros);
  return fmt::format("{}.{:06}Z", date_time(tm), micros);
}

std::string format_compact(Time t) {
  std::int64_t micros = 0;
  auto tm = utc(t, micros);
  return fmt::format("{:04}{:02}{:02}T{:02}{:02}{:02}", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday,
                     tm.tm_hour, tm.tm_min, tm.tm_sec);
}

Result<Time> parse_iso(std::string_view text) {
  std::string s(text);
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, used = 0;
  auto invalid = [&] { return fail(Code::invalid, "'{}' is not a time such as 2026-07-03T14:00:00Z", s); };
  if (std::sscanf(s.c_str(), "%4d-%2d-%2dT%2d:%2d%n", &year, &month, &day, &hour, &minute, &used) != 5)
    return invalid();
  std::string_view rest = std::string_view(s).substr(static_cast<std::size_t>(used));
  std::int64_t micros = 0;
  if (rest.starts_with(':')) {
    if (std::sscanf(std::string(rest).c_str(), ":%2d%n", &second, &used) != 1) return invalid();
    rest.remove_prefix(static_cast<std::size_t>(used));
    if (rest.starts_with('.')) {
      rest.remove_prefix(1);
      std::int64_t unit = 100'000;
      while (!rest.empty() && rest.front() >= '0' && rest.front() <= '9') {
        micros += (rest.front() - '0') * unit;
        unit /= 10;
        rest.remove_prefix(1);
      }
    }
  }
  int offset = 0;
  if (rest == "Z" || rest.empty()) {
  } else if (rest.size() == 6 && (rest[0] == '+' || rest[0] == '-')) {
    int offset_hours = 0, offset_minutes = 0;
    if (std::sscanf(std::string(rest.substr(1)).c_str(), "%2d:%2d", &offset_hours, &offset_minutes) != 2 ||
        offset_hours > 23 || offset_minutes > 59)
      return invalid();
    offset = (offset_hours * 60 + offset_minutes) * (rest[0] == '-' ? -60 : 60);
  } else {
    return invalid();
  }
  std::chrono::year_month_day ymd{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                  std::chrono::day(static_cast<unsigned>(day))};
  // Nanoseconds since 1970 cover 1677 to 2262.
  if (year < 1678 || year > 2261) return invalid();
  if (!ymd.ok() || hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60)
    return invalid();
  return Time{std::chrono::sys_days(ymd)} + std::chrono::hours(hour) + std::chrono::minutes(minute) +
         std::chrono::seconds(second - offset) + std::chrono::microseconds(micros);
}

}  // namespace dash
