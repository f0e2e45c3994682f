#include "core/windows/schedule.hpp"

#include "core/base/fields.hpp"
#include "core/base/shape.hpp"
#include "core/base/text.hpp"
#include "core/base/utf8.hpp"
#include "core/windows/zone.hpp"

namespace dash::windows {
namespace {

constexpr auto kMaxScheduleAhead = std::chrono::days(730);  // as in the deployed dashboards

bool has_offset(std::string_view text) {
  auto clock = text.find('T');
  return clock != text.npos && text.find_first_of("Z+-", clock) != text.npos;
}

Result<Time> parse_run_at(const ScheduleRequest& request) {
  auto read = TRY(within("run_at", parse_iso(request.run_at)));
  std::string zone = request.timezone.empty() ? "UTC" : request.timezone;
  if (!is_zone(zone))
    return fail(Code::invalid, "run_timezone: '{}' is not a time zone of the IANA database", zone);
  if (has_offset(request.run_at)) return read;
  return to_utc(zone, LocalTime(std::chrono::floor<std::chrono::seconds>(read.time_since_epoch())));
}

}  // namespace

Result<ScheduleRequest> parse_schedule_request(const Json& body) {
  TRY(require_object(body));
  auto text = [&](std::string_view name) -> Result<std::string> {
    return std::string(trim(TRY(text_field(body, name)).value_or("")));
  };
  ScheduleRequest request;
  request.run_at = TRY(text("run_at"));
  request.timezone = TRY(text("run_timezone"));
  request.window_id = TRY(text("change_window_id"));
  if (has_control_character(request.timezone))
    return wrong_value("run_timezone", "holds a control character");
  return request;
}

Result<std::optional<TimeRange>> resolve_schedule(db::Transaction& tx, Windows& windows,
                                                  const ScheduleRequest& request, Time now,
                                                  std::chrono::minutes grace) {
  if (request.empty()) return std::nullopt;
  std::optional<Window> window;
  if (!request.window_id.empty()) {
    window = TRY(windows.find(tx, request.window_id));
    if (!window) return fail(Code::invalid, "there is no change window '{}'", request.window_id);
    if (!window->enabled) return fail(Code::invalid, "the change window '{}' is disabled", window->name);
  }
  auto window_id = window ? std::optional(window->id) : std::nullopt;
  if (request.run_at.empty()) {
    auto soon = TRY(next(*window, now));
    return TimeRange{soon.start, soon.end, window_id};
  }
  auto at = TRY(parse_run_at(request));
  if (at <= now) return fail(Code::invalid, "run_at {} is past", format_iso(at));
  if (at > now + kMaxScheduleAhead)
    return fail(Code::invalid, "run_at {} is more than two years away", format_iso(at));
  if (!window) return TimeRange{at, at + grace, std::nullopt};
  auto open = TRY(open_occurrence(*window, at));
  if (!open)
    return fail(Code::invalid, "run_at {} is outside of '{}' ({})", format_iso(at), window->name,
                summary(*window));
  return TimeRange{at, open->end, window_id};
}

}  // namespace dash::windows
