// Starts the console and shows the view of the address: #/jobs/ID?status=failed is view, path and query.
import {get, session, whenSignedOut} from "./api.js"
import {h} from "./dom.js"
import {onChange} from "./live.js"
import {kViews, markView, showSignIn, signInAgain, startShell} from "./shell.js"
import {empty, errorBox, link, region} from "./ui.js"

const modules = {
  "": () => import("./views/overview.js"), jobs: () => import("./views/jobs.js"), storage: () => import("./views/storage.js"),
  gate: () => import("./views/gate.js"), windows: () => import("./views/windows.js"), runs: () => import("./views/runs.js"),
  audit: () => import("./views/audit.js"), settings: () => import("./views/settings.js"),
}

// What a view is given: where it draws, what the address says, and what ends with it.
class Page {
  constructor(hash) {
    const [path, query = ""] = hash.replace(/^#\/?/, "").split("?")
    const [id, ...rest] = path.split("/").map(decodeURIComponent)
    Object.assign(this, {id, path: rest.filter(Boolean), query: new URLSearchParams(query), element: h("div"), abort: new AbortController(), ends: []})
    this.signal = this.abort.signal
  }
  // Draws the view beneath its heading.
  show(title, ...children) {
    this.element.append(h("h1", title), ...children.flat().filter(Boolean))
  }
  // Asks the API, for as long as the view is shown.
  get(path, query) {
    return get(path, query, {signal: this.signal})
  }
  // A region that shows what a path of the API answers; `query` may be a function.
  region(path, draw, query) {
    return region(() => this.get(path, typeof query === "function" ? query() : query), draw)
  }
  // Calls work() after changes of these topics.
  live(topics, work) {
    this.ends.push(onChange(topics, work))
  }
  atEnd(work) {
    this.ends.push(work)
  }
  asked(name) {
    return this.query.get(name) ?? ""
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
  const main = document.getElementById("main")
  delete main.dataset.shown
  current?.end()
  if (!session.get()) return showSignIn()
  const hash = location.hash
  const page = (current = new Page(hash))
  const label = kViews.find(([id]) => id === page.id)?.[1]
  markView(page.id)
  document.title = `${label ?? "Not found"} · dashctl`
  try {
    if (label) await (await modules[page.id]()).default(page)
    else page.element.append(empty("There is no such view.", link("", "Go to the overview")))
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
  document.getElementById("main").focus({preventScroll: true})
  window.scrollTo(0, 0)
})
document.querySelector(".skip").addEventListener("click", event => {
  event.preventDefault()
  document.getElementById("main").focus()
})
startShell(show)
show()
