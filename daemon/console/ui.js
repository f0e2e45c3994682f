// The parts that views are made of.
import {ApiError, isAdmin, session} from "./api.js"
import {h, newId, swap} from "./dom.js"
import {ago, at, bytes, duration, exactly, words} from "./format.js"

// Says a sentence to screen readers and shows it for a moment.
export function say(sentence) {
  const note = h("p.toast", sentence)
  document.getElementById("status").append(note)
  setTimeout(() => note.remove(), 6000)
}

export function errorBox(error, again) {
  if (error?.name === "AbortError") return ""
  const isKnown = error instanceof ApiError || error instanceof SyntaxError
  if (!isKnown) console.error(error)
  const [what, next] = error instanceof SyntaxError ? ["This is not JSON. ", `Correct it: ${error.message}.`]
    : isKnown ? [error.message, error.next] : ["This page failed to show the answer.", "Reload it; when that does not help, report what the browser's console shows."]
  return h("div.notice.bad", {role: "alert"}, h("p", strong(what)), h("p", next, again && [" ", h("button.link", {onclick: again}, "Try again")]),
    error.requestId && h("p.quiet", "Request ", code(error.requestId)))
}

export const notice = (kind, ...children) => h(`div.notice.${kind}`, {role: "note"}, children)
export const empty = (title, ...hint) => h("div.empty", h("p", strong(title)), hint.length > 0 && h("p", hint))
export const loading = () => h("p.quiet.loading", "Loading…")
const timed = show => text => (text ? h("time", {datetime: text, title: exactly(text)}, show(text)) : "–")
export const time = timed(at)
export const since = timed(ago)
export const code = text => h("code", text)
export const sub = (...text) => h("div.quiet", text)
export const quiet = (...text) => h("span.quiet", text)
export const strong = (...text) => h("strong", text)
export const wrap = (...text) => h("code.wrap", text)
export const open = (label, onclick, kind = "") => h("button", {onclick, class: kind}, label)
export const link = (path, ...text) => h("a", {href: `#/${path}`}, text)
export const card = (title, ...children) => h("section.card", h("h2", title), children)
export const data = text => h("pre.data", text)
export const fields = (...all) => h("div.fields", all)
export const actions = (...all) => h("div.actions", all)
export const rowActions = (...all) => h("div.row-actions", all)
export const outcome = () => h("div", {role: "region", "aria-label": "Outcome", "aria-live": "polite"})
export const list = (items, draw = x => x) => items?.length > 0 && h("ul", items.map(item => h("li", draw(item))))
// `key` names it among others of a region, so that it stays open when that is drawn again.
export const more = (summary, content, key = summary, open = false) => h("details", {"data-key": key, open}, h("summary", summary), content)

const kTones = {
  good: "completed ok allow ready online good enabled active on intact durable", info: "changed running pending scheduled building enrolling sending",
  warn: "awaiting_approval needs_approval warning missed locked stopped unfinished",
  bad: "failed deny rejected broken unavailable unreachable error expired refused offline",
}
export const badge = (word, tone = Object.keys(kTones).find(t => kTones[t].split(" ").includes(word)) ?? "quiet") => h(`span.badge.${tone}`, words(word))

// A button that is held while work() runs; what goes wrong appears behind it.
export function act(label, work, kind = "", busy = label) {
  const button = h("button", {class: kind}, label)
  button.addEventListener("click", async () => {
    const host = button.closest(".actions, .row-actions, li") ?? button
    if (host.nextSibling?.className === "side-error") host.nextSibling.remove()
    button.disabled = true
    button.textContent = busy
    try {
      await work()
    } catch (error) {
      host.after(h("div.side-error", errorBox(error)))
    } finally {
      button.disabled = false
      button.textContent = label
    }
  })
  return button
}

// field("Name", name, {value, type, hint, options, rows, required}): a labelled control.
export function field(label, name, {hint, options, rows, value, type = rows ? "textarea" : options ? "select" : "text", onchange, ...others} = {}) {
  const id = newId()
  const tag = options ? "select" : rows ? "textarea" : "input"
  const control = h(tag, {id, name, onchange, autocomplete: "off", ...(tag === "input" && {type}), rows, ...(hint && {"aria-describedby": `${id}h`}), ...others},
    options?.map(o => [o].flat()).map(([v, text = v]) => h("option", {value: v}, text || "–")))
  if (value !== undefined && value !== null) control.value = value
  if (options && control.selectedIndex < 0) control.selectedIndex = 0
  const parts = [h("label", {for: id}, label), control]
  return h(type === "checkbox" ? "div.field.check" : "div.field", type === "checkbox" ? parts.reverse() : parts, hint && h("p.hint", {id: `${id}h`}, hint))
}

export const check = (label, name, checked, hint) => field(label, name, {type: "checkbox", checked: Boolean(checked), hint})
export const boxes = (legend, names, has, prefix) => h("fieldset.days", h("legend", legend), names.map(n => check(n, prefix + n, has(n))))
export const search = (label, value, oninput) => h("div.field", h("span.label", {"aria-hidden": "true"}, label),
  h("input", {type: "search", "aria-label": label, value, oninput: event => oninput(event.target.value)}))
export const filters = (label, ...all) => h("div.filters", {role: "search", "aria-label": label}, all)

// What a form holds, by name; boxes are booleans.
export const valuesOf = form => Object.fromEntries([...form.elements].filter(c => c.name).map(c => [c.name, c.type === "checkbox" ? c.checked : c.value]))

// A form; send(values, form) may throw. With a name its values survive a reload, but for secrets.
export function form({name, submit, send, kind, cancel, extra}, ...children) {
  const errors = h("div")
  const go = h("button.primary", submit)
  go.type = "submit"
  const element = h("form", {class: kind, "aria-label": submit}, children, errors, actions(go, cancel && h("button", {onclick: cancel}, "Cancel"), extra))
  const kept = `draft:${session.get()?.username}:${name}`
  if (name) keepDraft(element, kept)
  element.addEventListener("submit", async event => {
    event.preventDefault()
    go.disabled = true
    errors.replaceChildren()
    try {
      await send(valuesOf(element), element)
      if (name) sessionStorage.removeItem(kept)
    } catch (error) {
      errors.append(errorBox(error))
    } finally {
      go.disabled = false
    }
  })
  return element
}

function keepDraft(element, key) {
  const draft = JSON.parse(sessionStorage.getItem(key) ?? "{}")
  const open = () => [...element.elements].filter(c => c.name && c.type !== "password" && !("secret" in c.dataset))
  for (const c of open()) if (c.name in draft) c[c.type === "checkbox" ? "checked" : "value"] = draft[c.name]
  element.addEventListener("input", () => {
    const values = valuesOf(element)
    sessionStorage.setItem(key, JSON.stringify(Object.fromEntries(open().map(c => [c.name, values[c.name]]))))
  })
}

// A table that becomes a list of cards where it would not fit. columns: [label, cell(row), kind, plain label].
export function table(caption, columns, rows, none = empty("Nothing here yet.")) {
  if (!rows.length) return none
  const plain = ([label, , , text]) => text ?? (label || "Actions")
  return h("table", {role: "table"}, h("caption.unseen", caption),
    h("thead", {role: "rowgroup"}, h("tr", {role: "row"}, columns.map(c => h("th", {role: "columnheader", scope: "col", class: c[2] ?? ""}, c[0] || h("span.unseen", plain(c)))))),
    h("tbody", {role: "rowgroup"}, rows.map(row => h("tr", {role: "row"},
      columns.map(c => h("td", {role: "cell", "data-label": plain(c), class: c[2] ?? ""}, h("div", c[1](row))))))))
}

// facts([["Status", badge("ok")]]): names and values; one without a value is left out.
export const facts = rows => h("dl.facts", rows.filter(([, value]) => value || value === 0).map(([name, value]) => h("div", h("dt", name), h("dd", value))))

export function progressBar(progress) {
  if (!progress) return null
  const {bytes_done, bytes_total, items_done, items_total, bytes_per_second: rate, eta_seconds: left} = progress
  const [done, total] = bytes_total ? [bytes_done, bytes_total] : [items_done, items_total]
  const said = [items_total && `${items_done} of ${items_total}`, bytes_total && `${bytes(bytes_done)} of ${bytes(bytes_total)}`, rate && `${bytes(rate)}/s`,
    left !== null && left !== undefined && `${duration(left)} left`]
  return h("div.progress", h("progress", {"aria-label": "Progress", ...(total && {value: Math.min(1, done / total)})}), sub(said.filter(Boolean).join(" · ")))
}

// Opens a dialog; build(close) gives its content. Escape closes it.
export function dialog(title, build, kind = "") {
  const id = newId()
  const element = h("dialog", {"aria-labelledby": id, class: kind, onclose: () => element.remove()})
  const close = () => element.close()
  element.append(h("header.dialog-head", h("h2", {id}, title), h("button.plain", {onclick: close, "aria-label": "Close"}, "✕")), h("div.dialog-body", [build(close)].flat(Infinity).filter(Boolean)))
  document.body.append(element)
  element.showModal()
  return element
}

// A dialog with a form that closes when send(values) is done.
export const ask = (title, submit, send, content, {kind, wide, name} = {}) => dialog(title, close => form({
  name, submit, kind, cancel: close,
  send: async values => {
    await send(values)
    close()
  },
}, content), wide ? "wide" : "")

// Asks before something that cannot be taken back. With `typed`, that has to be typed.
export const confirm = (title, action, text, run, typed) => ask(title, action, run, [h("div", text), typed && typing(typed)], {kind: "danger"})
export const typing = text => field(`Type ${text} to go on`, "", {required: true, pattern: text.replace(/[^\w-]/g, "\\$&"), title: text})

export const tabs = (label, base, current, entries) => h("nav.tabs", {"aria-label": label}, entries.filter(Boolean).map(([id, text]) =>
  h("a", {href: `#/${base}${id && `/${id}`}`, "aria-current": id === current && "page"}, text)))

// A region that loads, shows an error with a way on, and is drawn again on demand.
export function region(load, draw) {
  const element = h("div.region", {"aria-busy": "true"}, loading())
  element.refresh = async () => {
    try {
      swap(element, draw(await load()))
    } catch (error) {
      if (error.name !== "AbortError") element.replaceChildren(errorBox(error, element.refresh))
    } finally {
      element.removeAttribute("aria-busy")
    }
  }
  element.refresh()
  return element
}

// Where files are dropped or picked.
export function dropZone(text, multiple, take) {
  const picker = h("input.unseen", {type: "file", multiple, id: newId(), onchange: () => {
    take([...picker.files])
    picker.value = ""
  }})
  const over = isOver => event => {
    event.preventDefault()
    zone.classList.toggle("over", isOver)
  }
  const zone = h("div.drop", {ondragover: over(true), ondragleave: over(false)}, h("p", text), picker, h("label.button", {for: picker.id}, multiple ? "choose files" : "choose a file"))
  zone.addEventListener("drop", event => {
    over(false)(event)
    take([...event.dataTransfer.files])
  })
  return zone
}

export function download(name, parts, type = "application/octet-stream") {
  const url = URL.createObjectURL(new Blob([parts].flat(), {type}))
  h("a", {href: url, download: name}).click()
  setTimeout(() => URL.revokeObjectURL(url), 60000)
}

export const copyButton = text => act("Copy", async () => {
  await navigator.clipboard.writeText(text)
  say("Copied.")
})

export const adminsOnly = () => !isAdmin() && empty("For administrators.", "Ask one to show it to you, or to make you one.")
