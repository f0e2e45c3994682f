// Change windows: the week in the windows' own zones and in the viewer's.
import {may, part, post, put} from "../api.js"
import {ask, badge, boxes, card, check, count, dialog, duration, empty, field, fields, h, list, needed, notice, open, quiet, region, remover, small, strong, sub, table, time} from "../ui.js"
import {clockChanges, clockIn, dayIn, midnights, monday, occurrences, viewerZone} from "../zones.js"

const kDays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
const kDay = 86400000
const kShownOverlaps = 6

export default function windows(page) {
  const view = region(() => Promise.all([page.get("change-windows"), page.get("workgroups")]), ([{windows: all}, groups]) => {
    const zones = [...new Set([viewerZone, ...all.map(w => w.timezone), "UTC"])]
    const zone = zones.includes(page.asked("zone")) ? page.asked("zone") : viewerZone
    const start = monday(zone, page.asked("week") ? new Date(page.asked("week")) : new Date())
    const turn = (label, days) => open(label, () => page.ask({week: days ? new Date(+start + days * kDay).toISOString().slice(0, 10) : ""}, view))
    return [h("div.filters", turn("‹ Week before", -3), turn("This week", 0), turn("Week after ›", 10),
      page.filter("Shown in", "zone", view, {options: zones.map(z => (z === viewerZone ? ["", `${z} (mine)`] : z))}),
      may("change_windows:write") && open("Add a window…", () => edit(null, view.refresh), "primary")),
    all.length ? [week(all.filter(w => w.enabled), zone, start), definitions(all, groups, view.refresh)] : empty("No change windows.", "A window says when a workgroup's resources may be changed. Attach it under Settings.")]
  })
  page.show("Windows", view)
}

function week(all, zone, start) {
  const days = midnights(zone, start, 7), end = days[7], now = new Date()
  const share = t => `${Math.min(100, Math.max(0, (t - start) / (end - start) * 100))}%`
  const from = t => ({vars: {"--from": share(t)}})
  const range = o => ({vars: {"--from": share(o.start), "--to": share(o.end)}})
  const openings = all.flatMap(w => occurrences(w, start, end).map(o => ({...o, window: w}))).sort((a, b) => a.start - b.start)
  const overlaps = openings.flatMap((a, i) => openings.slice(i + 1).filter(b => b.window !== a.window && b.start < a.end).map(b => ({a, b, start: b.start, end: new Date(Math.min(a.end, b.end))})))
  const changes = [...new Set([zone, ...all.map(w => w.timezone)])].flatMap(z => clockChanges(z, start, end).map(c => ({...c, zone: z})))
  const span = (o, z) => `${clockIn(z, o.start)}–${clockIn(z, o.end)}`
  return card(`Week of ${dayIn(zone, start)}`, h("div.week", {"aria-hidden": "true"},
    h("div.week-row", h("span"), h("div.track.head", days.slice(0, 7).map(d => h("span.day", from(d), dayIn(zone, new Date(+d + kDay / 2)))))),
    all.map(w => h("div.week-row", h("span.week-name", w.name), h("div.track", days.slice(1, 7).map(d => h("i.line", from(d))), openings.filter(o => o.window === w).map(o => h("div.opening", range(o), clockIn(zone, o.start))),
      overlaps.filter(x => x.a.window === w || x.b.window === w).map(x => h("div.overlap", range(x))), changes.filter(c => c.zone === w.timezone).map(c => h("i.line.change", from(c.at))),
      now > start && now < end && h("i.line.now", from(now)))))),
  changes.map(c => notice("info", `The clock of ${c.zone} moves ${c.minutes > 0 ? "forward" : "back"} ${Math.abs(c.minutes)} min on ${dayIn(c.zone, c.at)}. A window keeps its length.`)),
  overlaps.length > 0 && notice("warn", strong(`${count(overlaps.length, "overlap")}. `), overlaps.slice(0, kShownOverlaps).map(x => h("div", `${x.a.window.name} and ${x.b.window.name}: ${dayIn(zone, x.start)} ${span(x, zone)}`)), overlaps.length > kShownOverlaps && `and ${overlaps.length - kShownOverlaps} more`),
  table("Openings of this week", [["Window", o => o.window.name], ["Opens", o => [`${dayIn(zone, o.start)} ${span(o, zone)} `, o.start < now && o.end > now && badge("open", "good")]],
    ["In its own zone", o => (o.window.timezone === zone ? quiet("the same") : `${dayIn(o.window.timezone, o.start)} ${span(o, o.window.timezone)} ${o.window.timezone}`)],
    ["Length", o => duration((o.end - o.start) / 1000), "number"]], openings, empty("No window opens in this week.")))
}

const definitions = (all, groups, refresh) => card("Definitions", table("Change windows", [["Name", w => [strong(w.name), w.description && sub(w.description)]], ["Opens", "summary"],
  ["Next", w => (w.enabled ? time(w.next_start) : badge("disabled"))], ["Workgroups", w => groups.filter(g => g.change_window_id === w.id).map(g => g.name).join(", ") || "none"],
  ["", w => may("change_windows:write") && [small("Edit…", () => edit(w, refresh)), remover("Remove", `change-windows/${part(w.id)}`, `Remove ${w.name}?`, "A window that is in use is refused.", refresh)]]], all))

function edit(window, done) {
  const w = window ?? {start_at_local: "22:00", duration_minutes: 120, timezone: viewerZone, schedule_days: "1111111", enabled: true}
  ask(window ? `Change ${w.name}` : "Add a change window", "Save", async v => {
    const {name, description, start_at_local, timezone, enabled} = v
    const body = {name, description, start_at_local, timezone, enabled, duration_minutes: Number(v.duration_minutes), schedule_days: kDays.map(d => Number(v[d])).join("")}
    const saved = await (window ? put(`change-windows/${part(w.id)}`, body) : post("change-windows", body))
    if (saved.warnings.length) dialog("Saved, with a warning", () => list(saved.warnings))
    return `${saved.name} is saved.`
  }, [h("datalist", {id: "zones"}, Intl.supportedValuesOf("timeZone").map(z => h("option", {value: z}))), needed("Name", "name"), field("Description", "description"),
    fields(needed("Opens at", "start_at_local", {type: "time"}), needed("Minutes", "duration_minutes", {type: "number", min: "1", max: "10080"}),
      needed("Zone", "timezone", {list: "zones"})), boxes("Days", kDays, d => w.schedule_days[kDays.indexOf(d)] === "1", ""), check("Enabled", "enabled")], {values: w, name: window ? "" : "new-window", done})
}
