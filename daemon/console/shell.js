// What surrounds every view: signing in and out, the session's end, the navigation and the keys.
import {get, me, post, signIn, signOut} from "./api.js"
import {startLive, stopLive, tellAll} from "./live.js"
import {byId, dialog, field, form, h, needed, newPassword, notice, open, p, quiet, say} from "./ui.js"

const navigation = [...document.querySelectorAll("#nav a")]
export const kViews = navigation.map(a => [a.dataset.view, a.textContent, a.dataset.key])
const kWarnBefore = 5 * 60 * 1000 // of the session's end
const kMaxTimer = 2 ** 30
let show = () => {} // draws the view of the address

export function startShell(showView) {
  show = showView
  document.addEventListener("keydown", onKey)
  drawShell()
}

function drawShell() {
  const user = me()
  const menu = h("button.plain.menu", {"aria-expanded": "false", "aria-controls": "nav", onclick: () => menu.setAttribute("aria-expanded", document.body.classList.toggle("menu-open"))}, "Menu")
  byId("nav").hidden = !user
  byId("top").replaceChildren(...[user && menu, h("a.brand", {href: "#/"}, "dashctl"),
    user && h("div.who", h("a", {href: "#/settings"}, user.username, user.is_admin && quiet(" admin")),
      h("button.plain", {onclick: showKeys, "aria-label": "Keyboard shortcuts", title: "Keyboard shortcuts (?)"}, "?"), open("Sign out", leave))].filter(Boolean))
  if (!user) return
  startLive()
  watchEnd()
}

export function markView(id) {
  document.body.classList.remove("menu-open")
  document.querySelector(".menu")?.setAttribute("aria-expanded", "false")
  for (const a of navigation) a.toggleAttribute("aria-current", a.dataset.view === id) && a.setAttribute("aria-current", "page")
}

async function leave() {
  history.replaceState(null, "", "#/")
  try {
    await signOut()
    location.reload() // what the page still holds of this user goes with it
  } catch {
    show()
    say("Signed out here. The instance did not answer: there the session runs out by itself.")
  }
}

export function showSignIn() {
  drawShell()
  document.title = "Sign in · dashctl"
  byId("main").replaceChildren(h("div.sign-in", h("h1", "Sign in"), signInForm(show)))
  byId("main").querySelector("input").focus()
  performance.mark("usable")
  offerClaim()
}

// An instance without an administrator gets its first one from whoever has the code that it made at its start.
async function offerClaim() {
  const {complete} = await get("setup/status", {}, {anonymous: true}).catch(() => ({complete: true}))
  if (!complete) document.querySelector(".sign-in")?.replaceChildren(h("h1", "Set up"), p("This instance has no administrator yet. Make an account for the first one."), claimForm())
}

const enter = async ({user, password}) => {
  await signIn(user, password)
  drawShell()
}

const claimForm = () => form({
  submit: "Set up",
  send: async v => {
    await post("setup/import", {config: {}, setup_code: v.setup_code.trim(), admin_username: v.user, admin_password: v.password}, {anonymous: true})
    await enter(v)
    show()
  },
}, needed("Setup code", "setup_code", {"data-secret": "", hint: "It is in the file setup-code of the instance's data folder."}), needed("User", "user"), newPassword("Password", "password"))

const signInForm = (then, username) => form({
  submit: "Sign in",
  send: async v => {
    await enter(v)
    then()
  },
}, field("User", "user", {value: username, autocomplete: "username", required: true, readOnly: Boolean(username)}),
needed("Password", "password", {type: "password", autocomplete: "current-password"}))

// Over the page, which stays as it is, with what was typed in it; only what it lists is asked again.
function signInOver(title, text) {
  const shown = dialog(title, close => [p(text), signInForm(() => {
    close()
    byId("session-end")?.remove()
    document.querySelector("#main .view, #main div") ? tellAll() : show()
  }, me().username)])
  shown.id = "again"
  shown.querySelector("input[type=password]").focus()
}

export function signInAgain() {
  if (byId("again")) return
  stopLive()
  signInOver("Your session has ended", "What you typed is still here. Sign in to go on.")
}

let endTimer = null
// Says it before the session ends, and once it has.
function watchEnd() {
  clearTimeout(endTimer)
  byId("session-end")?.remove()
  const left = me().expires - Date.now()
  if (left <= 0) return signInAgain()
  endTimer = setTimeout(watchEnd, Math.min(left > kWarnBefore ? left - kWarnBefore : Math.min(left, 30000), kMaxTimer))
  if (left > kWarnBefore) return
  const box = notice("warn", `Your session ends in ${Math.max(1, Math.round(left / 60000))} min. `,
    h("button.link", {onclick: () => signInOver("Sign in again", "The session begins anew.")}, "Sign in again"), " to go on without a break.")
  box.id = "session-end"
  box.setAttribute("role", "alert")
  byId("top").after(box)
}

const kKeys = [["?", "This list"], ["/", "Go to the search"], ["r", "Reload the view"], ...kViews.map(([, label, key]) => [`g ${key}`, label]), ["Esc", "Close a dialog"]]
const showKeys = () => dialog("Keyboard shortcuts", () => h("dl.keys", kKeys.map(([keys, what]) => h("div", h("dt", keys.split(" ").map(k => h("kbd", k))), h("dd", what)))))

let isPrefixed = false
function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || !me() || event.target.closest?.("input, textarea, select, dialog")) return
  const view = isPrefixed && kViews.find(([, , key]) => key === event.key)
  isPrefixed = event.key === "g" && !isPrefixed
  if (view) location.hash = `#/${view[0]}`
  else if (event.key === "?") showKeys()
  else if (event.key === "r") show()
  else if (event.key === "/") document.querySelector("#main input[type=search]")?.focus()
  else return
  event.preventDefault()
}
