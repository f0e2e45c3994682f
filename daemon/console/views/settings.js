// Settings and history, comparison of a bundle, accounts, workgroups, tokens.
import {get, me, part, patch, post, remove, signIn} from "../api.js"
import {act, actions, ask, badge, boxes, card, check, code, confirm, count, dialog, dropZone, empty, facts, field, fields, form, h, link, list, more, needed, newPassword, open, outcome, p, quiet, region, remover, say, secretText, since, small, strong, sub, table, time, words} from "../ui.js"

const kMask = "\u2022".repeat(8)
const kGrants = ["change_windows:use", "change_windows:write", "jobs:read"]
const kShownKeys = 12
const grantsOf = user => Object.entries(user.permissions ?? {}).flatMap(([area, levels]) => levels.map(level => `${area}:${level}`))

export default page => page.tabs("Settings", [["", "My account", account], ["panels", "Panels", panels, true], ["storage", "Storage", storage, true],
  ["history", "History", history, true], ["migration", "Migration", migration, true], ["accounts", "Accounts", accounts, true], ["workgroups", "Workgroups", workgroups, true]])

function account() {
  const user = me()
  return h("div.columns", card("My account", facts([["User", user.username], ["Rights", user.is_admin ? "administrator" : grantsOf(user).join(", ") || "those of every user"], ["Workgroups", user.workgroups.join(", ") || "none"], ["Session ends", time(new Date(user.expires).toISOString())]]),
    h("h3", "Change my password"), form({
      submit: "Change it",
      send: async (v, element) => {
        await patch(`users/${part(user.username)}`, {current_password: v.current, password: v.fresh})
        await signIn(user.username, v.fresh)
        element.reset()
        return "Your password is changed. Your other sessions have ended."
      },
    }, needed("Current password", "current", {type: "password", autocomplete: "current-password"}), newPassword("New password", "fresh"))), tokens(user.username))
}

// What paths of the API answer, drawn together; draw(...answers, refresh).
function listed(path, draw) {
  const all = region(() => Promise.all([path].flat().map(p => get(p))), found => draw(...found, all.refresh))
  return all
}

function tokens(username) {
  const all = listed(`tokens?username=${part(username)}`, (found, done) => table("Tokens", [["Name", "name", strong], ["Made", "created_at", since], ["Expires", t => (t.expires_at ? time(t.expires_at) : "never")], ["Last used", "last_used_at", since],
    ["", t => (t.is_active ? remover("Revoke", `tokens/${part(t.id)}`, `Revoke ${t.name}?`, "What uses it is refused from now on.", done) : badge("revoked"))]], found, empty("No tokens.", "A token lets a script act for this user.")))
  return card(`Tokens of ${username}`, form({
    submit: "Issue a token",
    send: async (v, element) => {
      const made = await post("tokens", {name: v.name, username, ...(v.days && {expires_days: Number(v.days)})})
      element.reset()
      all.refresh()
      dialog(`Token ${made.name}`, () => [p(strong("Shown once. "), "Keep it where secrets are kept."), secretText(made.token)])
    },
  }, fields(needed("Name", "name"), field("Days", "days", {type: "number", min: "1", hint: "Empty: it does not expire."}))), all)
}

// A mask stands for a secret that stays unless it is overwritten. Only what differs is saved.
function settingsForm(values, save, done) {
  const text = value => (value === null ? "" : typeof value === "object" ? JSON.stringify(value) : String(value))
  const isSecret = (key, value) => value === kMask || /(password|secret|token|_key|credentials)$/.test(key)
  return form({
    submit: "Save",
    send: async v => {
      const changes = {}
      for (const [key, was] of Object.entries(values)) {
        const now = v[key]
        if (was === kMask ? now : text(was) !== text(now)) changes[key] = now === "" || was === kMask && now === "-" ? null : now
      }
      const changed = Object.keys(changes).length
      const answer = changed && await save(changes)
      say(changed ? `${count(changed, "setting")} saved.` : "Nothing was changed.")
      for (const warning of answer?.warnings ?? []) say(warning)
      done()
    },
  }, h("p.quiet", "Secrets are hidden. Left blank they stay; a single dash removes one."), fields(Object.entries(values).map(([key, value]) => (typeof value === "boolean" ? check(key, key, value)
    : isSecret(key, value) ? field(key, key, {type: "password", autocomplete: "new-password", placeholder: value ? "kept, hidden" : ""}) : field(key, key, {value: text(value)})))))
}

const panels = page => page.region("features", features => {
  const path = name => (name === "admission" ? "admission_control" : name)
  const chosen = page.path[1]
  const names = h("nav.panels", {"aria-label": "Panels"}, Object.keys(features).sort().map(n => h("a", {href: `#/settings/panels/${path(n)}`, "aria-current": path(n) === chosen && "page"}, words(n), features[n] && badge("on"))))
  const body = chosen && page.region(`setup/feature/${part(chosen)}`, values => settingsForm(values, changes => patch(`setup/feature/${part(chosen)}`, changes), () => body.refresh()))
  return h("div.split", names, chosen ? card(words(chosen), body) : empty("Choose a panel."))
})

function storage(page) {
  const body = page.region("storage/config", ({storage_active_backend: active, ...others}) => [p("Active backend: ", code(active || "none"), ". ", link("storage/backends", "Switch it under Storage")),
    settingsForm(others, changes => patch("storage/config", Object.fromEntries(Object.entries(changes).map(([k, v]) => [k, v ?? ""]))), () => body.refresh())])
  return card("Storage", body)
}

function history(page) {
  const all = page.region("setup/config/history", ({history: rows}) => table("Changes", [["When", ([r]) => time(r.changed_at)], ["Who", ([r]) => [r.changed_by, sub(r.origin)]],
    ["What", rs => [list(rs.slice(0, kShownKeys), r => [badge(r.what, "quiet"), " ", code(r.key)]), rs.length > kShownKeys && sub(`and ${rs.length - kShownKeys} more`)]],
    ["", ([r]) => small("Undo…", () => undo(r, all.refresh))]], [...Map.groupBy(rows, r => r.change_id).values()], empty("Nothing was changed yet.")), {limit: 300})
  return card("History", h("p.quiet", "Values are never shown. An undo takes back a whole change, secrets included, and is a change itself."), all)
}

const undo = (row, done) => confirm("Undo this change?", "Undo", p("Of ", time(row.changed_at), " by ", row.changed_by, ". Every key of it gets its former value."), async () => {
  const answer = await post("setup/rollback", {change_id: row.change_id})
  return `${count(answer.restored.length + answer.regions_restored.length, "key")} restored.`
}, {done})

// The bundle is read, sent and forgotten: nothing of the page has it afterwards.
function migration(page) {
  const out = outcome(page)
  const compare = ([file]) => out.run(async signal =>
    out.show(`Comparison with ${file.name}`, comparison(await post("setup/compare", {bundle: JSON.parse(await file.text())}, {signal}))))
  return [card("Compare a bundle with this instance", p("Values are never shown, and nothing is written or kept. To write it, run ", code("dashctl migrate import"), "."),
    dropZone("Drop a bundle here, or ", false, compare)), out]
}

const kCategories = {ADD: "Only the bundle has it.", CHANGE: "Both have it, with different values.", UNKNOWN: "It cannot be compared.", SAME: "Nothing to do."}
const comparison = answer => [Object.entries(kCategories).map(([name, hint]) => {
  const found = answer.entries.filter(e => e.category === name)
  return more([strong(name), ` ${found.length} `, quiet(hint)], h("ul.names", found.map(e => h("li", code(e.key)))), name, found.length > 0 && name !== "SAME")
}), facts([...Object.entries(answer).filter(([name, found]) => name !== "entries" && found?.length > 0).map(([name, found]) => [words(name), list(found)]), ["refused", list(Object.entries(answer.refused), ([key, why]) => [code(key), `: ${why}`])]])]

const accounts = () => card("Accounts", listed(["users", "workgroups"], (users, groups, done) => [actions(open("Add an account…", () => addUser(groups, done), "primary")),
  table("Accounts", [["User", u => [strong(u.username), " ", u.is_admin && badge("admin", "info"), " ", !u.is_active && badge("disabled", "warn")]], ["Workgroups", u => u.workgroups.join(", ") || "none"],
    ["Grants", u => grantsOf(u).join(", ") || "none"], ["Made", "created_at", since], ["", u => [small("Change…", () => editUser(u, done)), small("Tokens", () => dialog(`Tokens of ${u.username}`, () => tokens(u.username), "wide"))]]], users)]))

const named = (v, prefix) => Object.keys(v).filter(k => k.startsWith(prefix) && v[k]).map(k => k.slice(prefix.length))
const grantBoxes = has => boxes("Grants", [...new Set([...kGrants, ...has])], g => has.includes(g), "grant ")

const addUser = (groups, done) => ask("Add an account", "Add", async v => {
  await post("users", {username: v.username, password: v.password, is_admin: v.is_admin, grants: named(v, "grant "), workgroups: named(v, "group ")})
  return `${v.username} is added.`
}, [needed("User", "username", {pattern: "[A-Za-z0-9._@+\\-]{1,100}"}), newPassword("Password", "password"), check("Administrator", "is_admin"), grantBoxes([]), boxes("Workgroups", groups.map(g => g.name), () => false, "group ")], {name: "new-user", done})

function editUser(user, done) {
  const has = grantsOf(user)
  ask(`Change ${user.username}`, "Save", async v => {
    const wanted = named(v, "grant ")
    const body = {grant: wanted.filter(g => !has.includes(g)), ungrant: has.filter(g => !wanted.includes(g)), revoke_tokens: v.revoke, ...(v.password && {password: v.password})}
    for (const name of ["is_admin", "is_active"]) if (v[name] !== user[name]) body[name] = v[name]
    await patch(`users/${part(user.username)}`, body)
    return `${user.username} is changed.`
  }, [check("Enabled", "is_active", user.is_active, "A disabled account loses its sessions and tokens."), check("Administrator", "is_admin", user.is_admin), grantBoxes(has),
    user.username !== me().username && newPassword("New password", "password", "Empty leaves it.", false), check("Revoke all tokens", "revoke")], {done})
}

const workgroups = () => card("Workgroups", listed(["workgroups", "change-windows"], (groups, {windows}, done) => [actions(open("Add a workgroup…", () => editGroup(null, windows, done), "primary")),
  table("Workgroups", [["Name", g => [strong(g.name), sub(g.description)]], ["Members", g => g.members.join(", ") || "none"], ["Change window", g => (g.change_window_name ? `${g.change_window_name}${g.require_change_window ? "" : " (not required)"}` : "none")],
    ["", g => [small("Change…", () => editGroup(g, windows, done)), small("Members…", () => members(g, done)),
      remover("Remove", `workgroups/${part(g.name)}`, `Remove ${g.name}?`, "A workgroup that something uses is refused.", done)]]], groups, empty("No workgroups.", "Users of a workgroup share its jobs, assets and change window."))]))

const editGroup = (group, windows, done) => ask(group ? `Change ${group.name}` : "Add a workgroup", "Save", async v => {
  if (!group) await post("workgroups", {name: v.name, description: v.description})
  await patch(`workgroups/${part(group?.name ?? v.name.toLowerCase())}`, {description: v.description, change_window_id: v.window || null, require_change_window: v.required && v.window !== ""})
}, [!group && needed("Name", "name"), field("Description", "description", {value: group?.description}),
  field("Change window", "window", {options: [["", "none"], ...windows.map(w => [w.id, w.name])], value: group?.change_window_id}), check("Changes only inside of the window", "required", group?.require_change_window ?? true)], {done})

function members(group, done) {
  const path = `workgroups/${part(group.name)}/members`
  dialog(`Members of ${group.name}`, () => {
    const all = listed(path, (names, refresh) => table("Members", [["User", n => n], ["", n => act("Remove", async () => {
      await remove(`${path}/${part(n)}`)
      refresh()
      done()
    }, "small danger")]], names, empty("No members.")))
    return [all, form({
      submit: "Add",
      send: async (v, element) => {
        await post(path, {username: v.username})
        element.reset()
        all.refresh()
        done()
      },
    }, needed("User", "username"))]
  })
}
