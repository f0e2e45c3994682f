// Numbers, times and words as people read them.

export function bytes(count) {
  if (count === null || count === undefined) return "–"
  const units = ["B", "KiB", "MiB", "GiB", "TiB"]
  let unit = 0
  for (; count >= 1024 && unit < units.length - 1; unit++) count /= 1024
  return `${unit ? count.toFixed(1) : count} ${units[unit]}`
}

const clock = new Intl.DateTimeFormat(undefined, {dateStyle: "medium", timeStyle: "short"})
const exact = new Intl.DateTimeFormat(undefined, {dateStyle: "full", timeStyle: "long"})
const relative = new Intl.RelativeTimeFormat(undefined, {numeric: "auto", style: "short"})

export const at = time => clock.format(new Date(time))
export const exactly = time => exact.format(new Date(time))

export function ago(time) {
  const seconds = (new Date(time) - Date.now()) / 1000
  const [unit, size] = [["day", 86400], ["hour", 3600], ["minute", 60]].find(([, s]) => Math.abs(seconds) >= s) ?? ["second", 1]
  return Math.abs(seconds) < 10 ? "now" : relative.format(Math.round(seconds / size), unit)
}

export function duration(seconds) {
  if (seconds === null || seconds === undefined) return "–"
  const parts = [["d", seconds / 86400], ["h", seconds / 3600 % 24], ["min", seconds / 60 % 60], ["s", seconds % 60]].map(([unit, n]) => [unit, Math.floor(n)])
  return parts.filter(([, n]) => n).slice(0, 2).map(([unit, n]) => `${n} ${unit}`).join(" ") || "0 s"
}

export const count = (n, one, many = `${one}s`) => `${n} ${n === 1 ? one : many}`
export const shown = value => (typeof value === "object" && value ? JSON.stringify(value, null, 2) : String(value ?? "–"))
export const sentence = text => text.trim().replace(/^./, c => c.toUpperCase()).replace(/[^.!?]$/, "$&.")
// A name of the API as words: "awaiting_approval" is "awaiting approval".
export const words = name => String(name).replaceAll("_", " ")
