#include "core/windows/window_gate.hpp"

#include <algorithm>

namespace dash::windows {
namespace {

std::string minute_text(Time t) {
  auto iso = format_iso(t);  // 2026-07-03T14:00:00Z
  return fmt::format("{} {} UTC", iso.substr(0, 10), iso.substr(11, 5));
}

// The booking as the required window bounds it: into the window itself, or at a time when it is open, and
// then it is one into the window. nullopt when it is neither.
Result<std::optional<Slot>> bounded(const Window& window, const Slot& slot) {
  if (slot.window_id) return slot.window_id == window.id ? std::optional(slot) : std::nullopt;
  auto open = window.enabled ? TRY(covering(window, slot.start)) : std::nullopt;
  if (!open) return std::nullopt;
  return Slot{slot.start, std::min(slot.end, open->end), window.id};
}

WindowAnswer refuse(std::string reason, OrderedJson schedule = nullptr) {
  return {WindowRefusal{std::move(reason), std::move(schedule)}, std::nullopt};
}

Result<WindowAnswer> offer(const Window& window, const std::string& workgroup, Time now) {
  auto soon = TRY(next(window, now));
  return refuse(fmt::format("{} may only be changed during {} ({}). The next window opens {}.", workgroup,
                            window.name, summary(window), minute_text(soon.start)),
                OrderedJson{{"change_window_id", window.id},
                            {"window_name", window.name},
                            {"next_start", format_iso(soon.start)},
                            {"next_end", format_iso(soon.end)}});
}

}  // namespace

Result<WindowAnswer> ask_window(db::Transaction& tx, Windows& windows, const std::string& workgroup,
                                const std::optional<Slot>& slot, Time now) {
  auto rows = TRY(tx.query("SELECT change_window_id, require_change_window FROM workgroups WHERE name = $1",
                           {workgroup}));
  if (rows.empty() || rows[0].is_null(0) || !rows[0].flag(1)) return WindowAnswer{};
  auto window = TRY(windows.find(tx, rows[0].text(0)));
  if (!window)
    return refuse(
        fmt::format("{} may only be changed during a change window that no longer exists.", workgroup));
  if (slot)
    if (auto booked = TRY(bounded(*window, *slot))) return WindowAnswer{std::nullopt, booked};
  if (!window->enabled)
    return refuse(
        fmt::format("{} may only be changed during {}, which is disabled.", workgroup, window->name));
  auto open = slot ? std::nullopt : TRY(covering(*window, now));
  if (open) return WindowAnswer{std::nullopt, Slot{now, open->end, window->id}};
  return offer(*window, workgroup, now);
}

Error refused(const WindowRefusal& refusal) {
  OrderedJson body = {
      {"error", "change_window"}, {"reasons", {refusal.reason}}, {"schedule", refusal.schedule}};
  return {Code::change_window, refusal.reason, {}, {}, std::make_shared<const OrderedJson>(std::move(body))};
}

}  // namespace dash::windows
