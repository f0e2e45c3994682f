// The parts that views are made of, with elements and words.
import {ApiError, keep, load, me, remove} from "./api.js"
import {byId, h, newId, swap} from "./dom.js"
import {ago, at, bytes, count, duration, exactly, words} from "./format.js"

export * from "./dom.js"
export * from "./format.js"

// Says a sentence to screen readers and shows it for a moment.
export function say(sentence) {
  const note = h("p.toast", sentence)
  byId("status").append(note)
  setTimeout(() => note.remove(), 6000)
}

export function errorBox(error, again) {
  if (error?.name === "AbortError") return ""
  const isKnown = error instanceof ApiError || error instanceof SyntaxError
  if (!isKnown) console.error(error)
  const [what, next] = error instanceof SyntaxError ? ["This is not JSON. ", `Correct it: ${error.message}.`]
    : isKnown ? [error.message, error.next] : ["This page failed to show the answer.", "Reload it; if that does not help, report what the browser's console shows."]
  return h("div.notice.bad", {role: "alert"}, p(strong(what)), p(next, again && [" ", h("button.link", {onclick: again}, "Try again")]),
    error.requestId && h("p.quiet", "Request ", code(error.requestId)))
}

export const notice = (kind, ...children) => h(`div.notice.${kind}`, {role: "note"}, children)
export const empty = (title, ...hint) => h("div.empty", p(strong(title)), hint.length > 0 && p(hint))
export const loading = () => h("p.quiet.loading", "Loading…")
const timed = show => text => (text ? h("time", {datetime: text, title: exactly(text)}, show(text)) : "–")
export const time = timed(at)
export const since = timed(ago)
const made = tag => (...children) => h(tag, children)
export const p = made("p"), sub = made("div.quiet"), quiet = made("span.quiet"), strong = made("strong"), code = made("code"), wrap = made("code.wrap"), data = made("pre.data")
export const fields = made("div.fields"), actions = made("div.actions"), rowActions = made("div.row-actions")
export const digest = text => (text ? h("code", {title: text}, `${text.slice(0, 15)}…`) : quiet("unknown"))
export const open = (label, onclick, kind = "") => h("button", {onclick, class: kind}, label)
export const small = (label, onclick, kind = "") => open(label, onclick, `small ${kind}`)
export const link = (path, ...text) => h("a", {href: `#/${path}`}, text)
export const card = (title, ...children) => h("section.card", h("h2", title), children)
export const list = (items, draw = x => x) => items?.length > 0 && h("ul", items.map(item => h("li", draw(item))))
// `key` names it among others of a region, so that it stays open when that is drawn again.
export const more = (summary, content, key = summary, open = false) => h("details", {"data-key": key, open}, h("summary", summary), content)

// Where a view shows what became of a request: as a card, and until then with progress and a way to stop.
export function outcome(page) {
  const out = h("div", {role: "region", "aria-label": "Outcome", "aria-live": "polite"})
  out.show = (title, ...children) => out.replaceChildren(card(title, children))
  // work(signal, tell); tell(share, text) moves the bar. Answers false when it failed.
  out.run = async work => {
    const abort = new AbortController()
    const bar = h("progress", {"aria-label": "Progress"}), said = h("span.quiet", {"aria-live": "off"})
    const tell = (share, text = "") => {
      if (share !== null) bar.value = share
      said.textContent = text
    }
    out.replaceChildren(h("div.card", bar, actions(open("Cancel", () => abort.abort()), said)))
    try {
      await work(AbortSignal.any([page.signal, abort.signal]), tell)
    } catch (error) {
      out.replaceChildren(error.name === "AbortError" ? notice("info", "Cancelled.") : errorBox(error))
      return false
    }
  }
  return out
}

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
export function field(label, name, {hint, options, rows, value, type = rows ? "textarea" : options ? "select" : "text", ...others} = {}) {
  const id = newId()
  const tag = options ? "select" : rows ? "textarea" : "input"
  const control = h(tag, {id, name, autocomplete: "off", ...(tag === "input" && {type}), rows, ...(hint && {"aria-describedby": `${id}h`}), ...others},
    options?.map(o => [o].flat()).map(([v, text = v]) => h("option", {value: v}, text || "–")))
  if (value !== undefined && value !== null) control.value = value
  if (options && control.selectedIndex < 0) control.selectedIndex = 0
  const parts = [h("label", {for: id}, label), control]
  return h(type === "checkbox" ? "div.field.check" : "div.field", type === "checkbox" ? parts.reverse() : parts, hint && h("p.hint", {id: `${id}h`}, hint))
}

export const needed = (label, name, others) => field(label, name, {required: true, ...others})
export const newPassword = (label, name, hint = "At least 8 characters.", required = true) => field(label, name, {type: "password", autocomplete: "new-password", minlength: "8", required, hint})
export const check = (label, name, checked, hint) => field(label, name, {type: "checkbox", checked: Boolean(checked), hint})
// A box of a table; take(isOn).
export const box = (label, checked, take) => h("input", {type: "checkbox", "aria-label": label, checked, onchange: event => take(event.target.checked)})
export const boxes = (legend, names, has, prefix) => h("fieldset.days", h("legend", legend), names.map(n => check(n, prefix + n, has(n))))
export const search = (label, value, oninput) => h("div.field", h("span.label", {"aria-hidden": "true"}, label),
  h("input", {type: "search", "aria-label": label, value, oninput: event => oninput(event.target.value)}))
export const filters = (label, ...all) => h("div.filters", {role: "search", "aria-label": label}, all)

// What a form holds, by name; boxes are booleans.
export const valuesOf = form => Object.fromEntries([...form.elements].filter(c => c.name).map(c => [c.name, c.type === "checkbox" ? c.checked : c.value]))

// A form, its fields filled from `values`; send(values, form) may throw, and a sentence that it returns is said. With a name
// what was typed survives a reload, but for secrets.
export function form({name, values = {}, submit, send, kind, cancel, extra}, ...children) {
  const errors = h("div")
  const go = h("button.primary", submit)
  go.type = "submit"
  const element = h("form", {class: kind, "aria-label": submit}, children, errors, actions(go, cancel && h("button", {onclick: cancel}, "Cancel"), extra))
  for (const c of element.elements) if (values[c.name] !== undefined) c[c.type === "checkbox" ? "checked" : "value"] = values[c.name] ?? ""
  const kept = `draft:${me()?.username}:${name}`
  if (name) keepDraft(element, kept)
  element.addEventListener("submit", async event => {
    event.preventDefault()
    go.disabled = true
    errors.replaceChildren()
    try {
      const done = await send(valuesOf(element), element)
      if (name && done !== false) sessionStorage.removeItem(kept)
      if (typeof done === "string") say(done)
    } catch (error) {
      errors.append(errorBox(error))
    } finally {
      go.disabled = false
    }
  })
  return element
}

function keepDraft(element, key) {
  const draft = load(key) ?? {}
  const open = () => [...element.elements].filter(c => c.name && c.type !== "password" && !("secret" in c.dataset))
  for (const c of open()) if (c.name in draft) c[c.type === "checkbox" ? "checked" : "value"] = draft[c.name]
  element.addEventListener("input", () => {
    const values = valuesOf(element)
    keep(key, Object.fromEntries(open().map(c => [c.name, values[c.name]])))
  })
}

// A table that becomes a list of cards where it would not fit. columns: [label, cell(row), class, plain label], or [label, name, format]
// for format(row[name]); one without a label has the actions of its row.
export function table(caption, columns, rows, none = empty("Nothing here yet.")) {
  if (!rows.length) return none
  const plain = ([label, , , text]) => text ?? (label || "Actions")
  const kind = ([, , format = ""]) => (format === bytes ? "number" : format === code ? "code" : typeof format === "string" ? format : "")
  const value = ([, show, format], row) => (typeof show === "function" ? show(row) : typeof format === "function" ? format(row[show]) : row[show] ?? "–")
  const cell = (column, row) => h("div", column[0] ? value(column, row) : rowActions(value(column, row)))
  return h("table", {role: "table"}, h("caption.unseen", caption),
    h("thead", {role: "rowgroup"}, h("tr", {role: "row"}, columns.map(c => h("th", {role: "columnheader", scope: "col", class: kind(c)}, c[0] || h("span.unseen", plain(c)))))),
    h("tbody", {role: "rowgroup"}, rows.map(row => h("tr", {role: "row"},
      columns.map(c => h("td", {role: "cell", "data-label": plain(c), class: kind(c)}, cell(c, row)))))))
}

export const failures = failed => table("Failed", [["Name", f => f.name], ["Error", f => f.error]], failed, null)

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
  const close = () => {
    element.close()
    element.remove()
  }
  element.append(h("header.dialog-head", h("h2", {id}, title), h("button.plain", {onclick: close, "aria-label": "Close"}, "✕")), h("div.dialog-body", [build(close)].flat(Infinity).filter(Boolean)))
  document.body.append(element)
  element.showModal()
  return element
}

// A dialog with a form that closes when send(values) is done; then done() is called.
export const ask = (title, submit, send, content, {wide, done, ...more} = {}) => dialog(title, close => form({
  ...more, submit, cancel: close,
  send: async values => {
    const said = await send(values)
    close()
    done?.()
    return said
  },
}, content), wide ? "wide" : "")

// Asks before something that cannot be taken back. With `typed`, that has to be typed.
export const confirm = (title, action, text, run, {typed, done} = {}) => ask(title, action, run, [h("div", text), typed && typing(typed)], {kind: "danger", done})
export const typing = text => field(`Type ${text} to go on`, "", {required: true, pattern: text.replace(/[^\w-]/g, "\\$&"), title: text})

// A button that asks before it removes what is at a path of the API.
export const remover = (label, path, title, text, done, {typed, query} = {}) =>
  open(`${label}…`, () => confirm(title, label, text, async () => (await remove(path, query))?.message, {typed, done}), "small danger")

// Which page of an answer is shown; turn(page) shows another.
export function pager({total, page: now, page_size: size}, what, turn) {
  const pages = Math.ceil(total / size)
  const to = (label, n) => h("button", {disabled: n < 1 || n > pages, onclick: () => turn(n)}, label)
  return h("div.pager", quiet(count(total, what)), pages > 1 && [to("Newer", now - 1), `Page ${now} of ${pages}`, to("Older", now + 1)])
}

export const tabs = (label, base, current, entries) => h("nav.tabs", {"aria-label": label}, entries.map(([id, text]) =>
  h("a", {href: `#/${base}${id && `/${id}`}`, "aria-current": id === current && "page"}, text)))

// A region that loads, shows errors, and is drawn again on demand.
export function region(load, draw) {
  const element = h("div.region", loading())
  element.refresh = async () => {
    element.ariaBusy = "true"
    try {
      swap(element, draw(await load()))
    } catch (error) {
      if (error.name !== "AbortError") element.replaceChildren(errorBox(error, element.refresh))
    } finally {
      element.ariaBusy = null
    }
  }
  element.refresh()
  return element
}

export function dropZone(text, multiple, take) {
  const picker = h("input.unseen", {type: "file", multiple, id: newId(), onchange: () => {
    take([...picker.files])
    picker.value = ""
  }})
  const over = isOver => event => {
    event.preventDefault()
    zone.classList.toggle("over", isOver)
  }
  const zone = h("div.drop", {ondragover: over(true), ondragleave: over(false)}, p(text), picker, h("label.button", {for: picker.id}, multiple ? "choose files" : "choose a file"))
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

// A text to be copied.
export const secretText = text => [data(text), actions(act("Copy", async () => {
  await navigator.clipboard.writeText(text)
  say("Copied.")
}))]
