// Change windows as times: wall clocks of IANA zones, as core/windows/zone.cpp reads them.

const kDay = 86400000
const formats = new Map()

function wall(zone, time) {
  if (!formats.has(zone)) formats.set(zone, new Intl.DateTimeFormat("en-CA", {timeZone: zone, hourCycle: "h23", year: "numeric",
    month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", second: "2-digit"}))
  const part = Object.fromEntries(formats.get(zone).formatToParts(time).map(p => [p.type, Number(p.value)]))
  return Date.UTC(part.year, part.month - 1, part.day, part.hour, part.minute, part.second)
}

// Milliseconds that the zone's clock is ahead of UTC.
export const offset = (zone, time) => wall(zone, time) - Math.floor(+time / 1000) * 1000

// The instant of a wall clock reading; a skipped or repeated one counts by the clock before.
export function instant(zone, local) {
  const before = offset(zone, local - kDay), after = offset(zone, local + kDay)
  if (offset(zone, local - before) === before) return new Date(local - before)
  return new Date(local - (offset(zone, local - after) === after ? after : before))
}

// The openings that overlap [from, to), in order: [{start, end}].
export function occurrences(window, from, to) {
  const [hour, minute] = window.start_at_local.split(":").map(Number)
  const out = []
  const first = Math.floor(wall(window.timezone, from) / kDay) - 1 - Math.ceil(window.duration_minutes / 1440)
  for (let day = first; day * kDay <= wall(window.timezone, to); day++) {
    if (window.schedule_days[(new Date(day * kDay).getUTCDay() + 6) % 7] !== "1") continue
    const start = instant(window.timezone, day * kDay + (hour * 60 + minute) * 60000)
    const end = new Date(+start + window.duration_minutes * 60000)
    if (end > from && start < to) out.push({start, end})
  }
  return out
}

// The changes of the zone's clock within [from, to): [{at, minutes}].
export function clockChanges(zone, from, to) {
  const out = []
  for (let low = +from; low < +to; low += kDay) {
    let a = low, b = Math.min(low + kDay, +to)
    const was = offset(zone, new Date(a))
    if (was === offset(zone, new Date(b))) continue
    while (b - a > 60000) {
      const middle = (a + b) / 2
      offset(zone, new Date(middle)) === was ? (a = middle) : (b = middle)
    }
    out.push({at: new Date(Math.round(b / 60000) * 60000), minutes: (offset(zone, new Date(low + kDay)) - was) / 60000})
  }
  return out
}

// Midnight of the Monday of the week that holds `time`, on the zone's clock.
export function monday(zone, time) {
  const day = Math.floor(wall(zone, time) / kDay)
  return instant(zone, (day - (new Date(day * kDay).getUTCDay() + 6) % 7) * kDay)
}

// The midnights of the `count` days from a midnight on; a day of a change has 23 or 25 hours.
export function midnights(zone, from, count) {
  const day = Math.round(wall(zone, from) / kDay)
  return Array.from({length: count + 1}, (_, i) => instant(zone, (day + i) * kDay))
}

export const viewerZone = Intl.DateTimeFormat().resolvedOptions().timeZone
export const clockIn = (zone, time) => new Intl.DateTimeFormat(undefined, {timeZone: zone, hour: "2-digit", minute: "2-digit", hourCycle: "h23"}).format(time)
export const dayIn = (zone, time) => new Intl.DateTimeFormat(undefined, {timeZone: zone, weekday: "short", day: "numeric", month: "short"}).format(time)
