#include "core/jobs/window_gate.hpp"

namespace dash::jobs {
namespace {

std::string minute_text(Time t) {
  auto iso = format_iso(t);  // 2026-07-03T14:00:00Z
  return fmt::format("{} {} UTC", iso.substr(0, 10), iso.substr(11, 5));
}

// A booking into the required window itself, or at a time when it is open.
Result<bool> satisfied(const Window& window, const Slot& slot) {
  if (slot.window_id) return slot.window_id == window.id;
  return window.enabled && TRY(covering(window, slot.start)).has_value();
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
  if (slot && TRY(satisfied(*window, *slot))) return WindowAnswer{};
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

}  // namespace dash::jobs
