#include "core/windows/window_gate.hpp"

#include <algorithm>

namespace dash::windows {
namespace {

std::string minute_text(Time t) {
  auto iso = format_iso(t);  // 2026-07-03T14:00:00Z
  return fmt::format("{} {} UTC", iso.substr(0, 10), iso.substr(11, 5));
}

// Limits the scheduled range to the required window: it is in the window itself, or at a time when that is
// open, and then becomes one of the window. Returns nullopt when it is neither.
Result<std::optional<TimeRange>> clip_to_window(const Window& window, const TimeRange& time_range) {
  if (time_range.window_id)
    return time_range.window_id == window.id ? std::optional(time_range) : std::nullopt;
  auto open = window.enabled ? TRY(open_occurrence(window, time_range.start)) : std::nullopt;
  if (!open) return std::nullopt;
  return TimeRange{time_range.start, std::min(time_range.end, open->end), window.id};
}

WindowResult refuse(std::string reason, OrderedJson schedule = nullptr) {
  return {WindowRefusal{std::move(reason), std::move(schedule)}, std::nullopt};
}

Result<WindowResult> refuse_with_offer(const Window& window, const std::string& workgroup, Time now) {
  auto soon = TRY(next(window, now));
  return refuse(fmt::format("{} may only be changed during {} ({}). The next window opens {}.", workgroup,
                            window.name, summary(window), minute_text(soon.start)),
                OrderedJson{{"change_window_id", window.id},
                            {"window_name", window.name},
                            {"next_start", format_iso(soon.start)},
                            {"next_end", format_iso(soon.end)}});
}

}  // namespace

Result<WindowResult> check_workgroup_window(const WorkgroupRule& rule, const std::string& workgroup,
                                            const std::optional<TimeRange>& time_range, Time now) {
  if (!rule.window_id) return WindowResult{};
  const auto& window = rule.window;
  if (!window)
    return refuse(
        fmt::format("{} may only be changed during a change window that no longer exists.", workgroup));
  if (time_range)
    if (auto booked = TRY(clip_to_window(*window, *time_range))) return WindowResult{std::nullopt, booked};
  if (!window->enabled)
    return refuse(
        fmt::format("{} may only be changed during {}, which is disabled.", workgroup, window->name));
  auto open = time_range ? std::nullopt : TRY(open_occurrence(*window, now));
  if (open) return WindowResult{std::nullopt, TimeRange{now, open->end, window->id}};
  return refuse_with_offer(*window, workgroup, now);
}

Error window_error(const WindowRefusal& refusal) {
  OrderedJson body = {
      {"error", "change_window"}, {"reasons", {refusal.reason}}, {"schedule", refusal.schedule}};
  return {.code = Code::change_window,
          .message = refusal.reason,
          .body = std::make_shared<const OrderedJson>(std::move(body))};
}

}  // namespace dash::windows
