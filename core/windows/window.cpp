#include "core/windows/window.hpp"

#include <algorithm>
#include <array>

#include "core/base/utf8.hpp"
#include "core/windows/zone.hpp"

namespace dash::windows {
namespace {

using std::chrono::days;
using std::chrono::minutes;

constexpr std::array<std::string_view, 7> kDays = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
constexpr days kLookAhead{9};  // one weekday in seven, and a day for the zone on either side

// Minutes after midnight of "HH:MM", or nullopt.
std::optional<minutes> parse_start(std::string_view text) {
  auto digit = [&](std::size_t i) { return text[i] >= '0' && text[i] <= '9'; };
  if (text.size() != 5 || text[2] != ':' || !digit(0) || !digit(1) || !digit(3) || !digit(4))
    return std::nullopt;
  int hour = (text[0] - '0') * 10 + text[1] - '0', minute = (text[3] - '0') * 10 + text[4] - '0';
  if (hour > 23 || minute > 59) return std::nullopt;
  return minutes(hour * 60 + minute);
}

std::string clock_text(minutes m) { return fmt::format("{:02}:{:02}", m.count() / 60 % 24, m.count() % 60); }

std::string length_text(int m) {
  if (m % 60 == 0) return fmt::format("{}h", m / 60);
  return m < 60 ? fmt::format("{}m", m) : fmt::format("{}h {}m", m / 60, m % 60);
}

std::string days_text(std::string_view mask) {
  if (mask == "1111111") return "every day";
  auto first = mask.find('1'), last = mask.rfind('1');
  bool run = mask.substr(first, last - first + 1).find('0') == mask.npos;
  if (run && last > first + 1) return fmt::format("{}–{}", kDays[first], kDays[last]);
  std::string out;
  for (std::size_t i = 0; i < kDays.size(); ++i)
    if (mask[i] == '1') out += (out.empty() ? "" : ", ") + std::string(kDays[i]);
  return out;
}

// Calls `visit` with each occurrence whose local start day lies in [from, to], in order, until it returns
// true.
template <class Visit>
Result<void> for_each_occurrence(const Window& window, Time from, Time to, Visit visit) {
  auto day = std::chrono::floor<days>(TRY(to_local(window.zone, from))) - days(1);
  auto last = std::chrono::floor<days>(TRY(to_local(window.zone, to))) + days(1);
  auto start = parse_start(window.start).value_or(minutes(0));
  for (; day <= last; day += days(1)) {
    if (window.days[std::chrono::weekday(day).iso_encoding() - 1] != '1') continue;
    auto opens = TRY(to_utc(window.zone, LocalTime(day.time_since_epoch() + start)));
    if (visit(Occurrence{opens, opens + minutes(window.duration_minutes)})) return {};
  }
  return {};
}

bool overlap(const Occurrence& a, const Occurrence& b) { return a.start < b.end && b.start < a.end; }

Result<std::vector<Occurrence>> occurrences_between(const Window& window, Time from, Time to) {
  std::vector<Occurrence> out;
  TRY(for_each_occurrence(window, from, to, [&](const Occurrence& o) {
    if (o.end > from && o.start < to) out.push_back(o);
    return false;
  }));
  return out;
}

}  // namespace

Result<void> check(const Window& window) {
  if (window.name.empty() || window.name.size() > 100 || has_control_character(window.name))
    return fail(Code::invalid, "a change window needs a name of 1 to 100 bytes without control characters");
  if (!parse_start(window.start))
    return fail(Code::invalid, "start_at_local is HH:MM from 00:00 to 23:59, not '{}'", window.start);
  if (window.duration_minutes < 1 || window.duration_minutes > kMaxWindowMinutes)
    return fail(Code::invalid, "duration_minutes is 1 to {}, not {}", kMaxWindowMinutes,
                window.duration_minutes);
  bool mask = window.days.size() == 7 && window.days.find_first_not_of("01") == std::string::npos;
  if (!mask || window.days.find('1') == std::string::npos)
    return fail(Code::invalid,
                "schedule_days is seven digits 0 or 1 from Monday with at least one 1, not '{}'",
                window.days);
  if (!is_zone(window.zone))
    return fail(Code::invalid, "'{}' is not a time zone of the IANA database; write one like Europe/London",
                window.zone);
  return {};
}

Result<std::optional<Occurrence>> open_occurrence(const Window& window, Time t) {
  std::optional<Occurrence> found;
  TRY(for_each_occurrence(window, t - minutes(window.duration_minutes), t, [&](const Occurrence& o) {
    if (o.start <= t && t < o.end && (!found || o.end > found->end)) found = o;
    return false;
  }));
  return found;
}

Result<Occurrence> next(const Window& window, Time t) {
  std::optional<Occurrence> found;
  TRY(for_each_occurrence(window, t - minutes(window.duration_minutes), t + kLookAhead,
                          [&](const Occurrence& o) {
                            if (o.end > t) found = o;
                            return found.has_value();
                          }));
  if (!found) return fail(Code::invalid, "the change window '{}' never opens", window.name);
  return *found;
}

Result<Occurrence> next_opening(const Window& window, Time t) {
  std::optional<Occurrence> found;
  TRY(for_each_occurrence(window, t, t + kLookAhead, [&](const Occurrence& o) {
    if (o.start > t) found = o;
    return found.has_value();
  }));
  if (!found) return fail(Code::invalid, "the change window '{}' never opens", window.name);
  return *found;
}

std::string summary(const Window& window) {
  auto start = parse_start(window.start).value_or(minutes(0));
  auto end = start + minutes(window.duration_minutes);
  auto later = end.count() / (24 * 60);
  return fmt::format("{} {}–{}{} ({}), {}", days_text(window.days), window.start, clock_text(end),
                     later > 0 ? fmt::format(" (+{}d)", later) : "", window.zone,
                     length_text(window.duration_minutes));
}

Result<std::vector<std::string>> warnings(const Window& window, const std::vector<Window>& others, Time now) {
  std::vector<std::string> out;
  auto soon = TRY(occurrences_between(window, now - days(1), now + days(14)));
  for (std::size_t i = 1; i < soon.size(); ++i)
    if (overlap(soon[i - 1], soon[i])) {
      out.push_back(fmt::format(
          "each opening of '{}' runs into the next: it is longer than the time between them", window.name));
      break;
    }
  auto today = std::chrono::floor<days>(TRY(to_local(window.zone, now)));
  for (const auto& o : soon) {
    auto opened = std::chrono::floor<days>(TRY(to_local(window.zone, o.start)));
    if (opened == today && o.end <= now)
      out.push_back(fmt::format("today's opening of '{}' is past; the next is {}", window.name,
                                format_iso(TRY(next(window, now)).start)));
  }
  for (const auto& other : others) {
    if (other.id == window.id || !other.enabled) continue;
    auto theirs = TRY(occurrences_between(other, now, now + days(14)));
    auto clash = std::ranges::find_if(soon, [&](const Occurrence& o) {
      return o.end > now && std::ranges::any_of(theirs, [&](auto& t) { return overlap(o, t); });
    });
    if (clash != soon.end())
      out.push_back(fmt::format("it overlaps '{}', first at {}", other.name, format_iso(clash->start)));
  }
  return out;
}

}  // namespace dash::windows
