// Starts the console and shows the view of the address: #/jobs/ID?status=failed is view, path and query.
import {get, isAdmin, me, whenSignedOut} from "./api.js"
import {onChange} from "./live.js"
import {kViews, markView, showSignIn, signInAgain, startShell} from "./shell.js"
import {byId, empty, errorBox, field, h, link, region, tabs} from "./ui.js"

// What a view is given: where it draws, what the address says, and what ends with it.
class Page {
  constructor(hash) {
    const [path, query = ""] = hash.replace(/^#\/?/, "").split("?")
    const [id, ...rest] = path.split("/").map(decodeURIComponent)
    Object.assign(this, {id, path: rest.filter(Boolean), query: new URLSearchParams(query), element: h("div"), abort: new AbortController(), ends: []})
    this.signal = this.abort.signal
  }
  append(...children) {
    this.element.append(...children.flat(Infinity).filter(Boolean))
  }
  show(title, ...children) {
    this.append(h("h1", title), children)
  }
  // Shows the tab that the address names: [id, label, draw(page), whether it is for administrators].
  async tabs(title, all) {
    const allowed = all.filter(([, , , isForAdmins]) => !isForAdmins || isAdmin())
    const [id, , draw] = all.find(([id]) => id === this.path[0]) ?? allowed[0] ?? all[0]
    this.show(title, allowed.length > 0 && tabs(title, this.id, id, allowed))
    this.append(allowed.some(([one]) => one === id) ? await draw(this) : empty("For administrators.", "Ask one to show it to you, or to make you one."))
  }
  // Asks the API, for as long as the view is shown.
  get(path, query) {
    return get(path, query, {signal: this.signal})
  }
  // A region that shows what a path of the API answers, and does so again when one of the topics changed; `query` may be a function.
  region(path, draw, query, topics = []) {
    const shown = region(() => this.get(path, typeof query === "function" ? query() : query), draw)
    this.live(topics, shown.refresh)
    return shown
  }
  live(topics, work) {
    this.ends.push(onChange(topics, work))
  }
  atEnd(work) {
    this.ends.push(work)
  }
  asked(name) {
    return this.query.get(name) ?? ""
  }
  asks(...names) {
    return Object.fromEntries(names.map(name => [name, this.asked(name)]))
  }
  // Changes what the address asks for and shows it, from the first page of a list on.
  ask(changes, region) {
    this.setQuery({page: "", ...changes})
    region.refresh()
  }
  filter(label, name, region, more) {
    return field(label, name, {...more, value: this.asked(name), onchange: ({target}) => this.ask({[name]: target.value}, region)})
  }
  // Changes the query of the address without a new view.
  setQuery(changes) {
    for (const [name, value] of Object.entries(changes)) value ? this.query.set(name, value) : this.query.delete(name)
    history.replaceState(null, "", `#/${[this.id, ...this.path.map(encodeURIComponent)].join("/")}${this.query.size ? `?${this.query}` : ""}`)
  }
  end() {
    this.abort.abort()
    for (const work of this.ends) work()
  }
}

let current = null
async function show() {
  const main = byId("main")
  delete main.dataset.shown
  current?.end()
  if (!me()) return showSignIn()
  const hash = location.hash
  const page = (current = new Page(hash))
  const label = kViews.find(([id]) => id === page.id)?.[1]
  markView(page.id)
  document.title = `${label ?? "Not found"} · dashctl`
  try {
    if (label) await (await import(`./views/${page.id || "overview"}.js`)).default(page)
    else page.append(empty("There is no such view.", link("", "Go to the overview")))
    if (page === current) main.replaceChildren(page.element)
  } catch (error) {
    if (page === current) main.replaceChildren(errorBox(error, show))
  }
  if (page !== current) return
  main.dataset.shown = hash
  performance.mark("usable")
}

whenSignedOut(signInAgain)
window.addEventListener("hashchange", () => {
  show()
  byId("main").focus({preventScroll: true})
  window.scrollTo(0, 0)
})
document.querySelector(".skip").addEventListener("click", event => {
  event.preventDefault()
  byId("main").focus()
})
startShell(show)
show()
