// Assets: what is stored where, uploads, scope, and deleting or moving many at once.
import {ApiError, isAdmin, part, post, put, send} from "../api.js"
import {h} from "../dom.js"
import {bytes, count} from "../format.js"
import {actions, ask, badge, card, check, confirm, dialog, download, empty, errorBox, field, filters, list, open, quiet, rowActions, say, search, strong, sub, table, tabs} from "../ui.js"
import {secretsIn, uploadPanel} from "../uploads.js"

const kTabs = [["", "Assets"], ["backends", "Backends"], ["migrate", "Migrate"], ["images", "Images"]]
const kRunnable = ["playbook", "script", "powershell"]
const kShownNames = 20

export default async function storage(page) {
  const tab = page.path[0] ?? ""
  page.show("Storage", tabs("Storage", "storage", tab, isAdmin() ? kTabs : kTabs.slice(0, 2)))
  if (!tab) return assets(page)
  return (await import(tab === "images" ? "./images.js" : "./backends.js")).default(page, tab)
}

async function assets(page) {
  const [{backends}, groups] = await Promise.all([page.get("storage/backends"), page.get("workgroups")])
  const active = backends.find(b => b.active)
  const usable = backends.filter(b => b.configured).map(b => [b.id, b.label])
  const labels = new Map(usable)
  const chosen = new Map() // "backend/name" to asset
  const keyOf = a => `${a.backend}/${a.name}`
  const bar = h("div.bulk", {role: "group", "aria-label": "Chosen assets"})
  const all = page.region("storage/list-all", draw)
  const set = changes => {
    page.setQuery(changes)
    all.refresh()
  }
  function drawBar() {
    const these = [...chosen.values()]
    bar.hidden = !these.length
    bar.replaceChildren(...[strong(`${these.length} chosen`), open("Delete…", () => bulkDelete(these, clear), "danger"),
      isAdmin() && open("Move…", () => bulkMove(these, usable, clear)), isAdmin() && open("Change scope…", () => changeScope(these, groups, clear)),
      h("button.link", {onclick: clear}, "Choose none")].filter(Boolean))
  }
  function clear() {
    chosen.clear()
    drawBar()
    all.refresh()
  }
  function pick(asset, isOn) {
    isOn ? chosen.set(keyOf(asset), asset) : chosen.delete(keyOf(asset))
    drawBar()
  }
  const box = (label, checked, onchange) => h("input", {type: "checkbox", "aria-label": label, checked, onchange: event => onchange(event.target.checked)})
  function draw({items}) {
    const found = items.filter(a => a.name.toLowerCase().includes(page.asked("q").toLowerCase()) && (!page.asked("backend") || a.backend === page.asked("backend")))
    if (!items.length) return empty("No assets yet.", active ? "Drop a playbook, a script or a package above." : "An administrator has to choose an active backend first.")
    const pickAll = box("Choose all", found.length > 0 && found.every(a => chosen.has(keyOf(a))), isOn => {
      for (const asset of found) pick(asset, isOn)
      all.refresh()
    })
    return [table("Assets", [
      [pickAll, a => box(`Choose ${a.name}`, chosen.has(keyOf(a)), isOn => pick(a, isOn)), "choose", "Choose"],
      ["Name", a => [strong(a.name), " ", secretsIn(a) > 0 && badge(count(secretsIn(a), "possible secret"), "warn"), sub(labels.get(a.backend) ?? a.backend, a.backend === active?.id && " (active)")]],
      ["Type", a => a.type ?? "–"], ["Scope", a => a.workgroup ?? "everybody"], ["Size", a => bytes(a.size), "number"],
      ["Digest", a => (a.digest ? h("code", {title: a.digest}, `${a.digest.slice(0, 15)}…`) : quiet("unknown"))],
      ["", a => rowActions(open("Download", () => fetchAsset(a), "small"), kRunnable.includes(a.type) && h("a.button.small", {href: `#/runs?asset=${part(a.name)}&backend=${part(a.backend)}`}, "Run"))],
    ], found, empty("No asset matches.")), h("p.quiet", `${count(found.length, "asset")}, ${bytes(found.reduce((sum, a) => sum + a.size, 0))}`)]
  }
  drawBar()
  page.element.append(uploadPanel(page, active, "asset", all.refresh), card("Assets", filters("Filter assets", search("Search by name", page.asked("q"), q => set({q})),
    field("Backend", "", {options: [["", "All"], ...usable], value: page.asked("backend"), onchange: event => set({backend: event.target.value})})), bar, all))
}

// Downloads with progress; closing the dialog cancels.
function fetchAsset(asset) {
  const abort = new AbortController()
  const bar = h("progress", {max: Math.max(1, asset.size), value: 0, "aria-label": "Progress"})
  const shown = dialog(`Downloading ${asset.name}`, close => [bar, actions(open("Cancel", close))])
  shown.addEventListener("close", () => abort.abort())
  const run = async () => {
    const answer = await send("GET", "storage/fetch", {query: {name: asset.name, backend: asset.backend, raw: 1}, signal: abort.signal})
    const pieces = []
    for await (const piece of answer.body) {
      pieces.push(piece)
      bar.value += piece.length
    }
    download(asset.name, pieces)
    shown.close()
  }
  run().catch(error => bar.replaceWith(errorBox(error)))
}

const namesOf = assets => [list(assets.slice(0, kShownNames), a => [a.name, quiet(` ${a.backend}`)]), assets.length > kShownNames && h("p", `and ${assets.length - kShownNames} more`)]

const report = failed => failed.length > 0 && dialog("Not everything was done", () => table("Failed", [["Name", f => f.name], ["Error", f => f.error]], failed))

const bulkDelete = (assets, done) => confirm(`Delete ${count(assets.length, "asset")}?`, "Delete", [h("p", "They cannot be brought back from here."), namesOf(assets)], async () => {
  const answer = await post("storage/bulk-delete", {items: assets.map(({name, backend}) => ({name, backend}))})
  say(answer.summary)
  report(answer.failed)
  done()
})

// One after another, so that a stop loses nothing: what was moved is moved, the rest is where it was.
async function eachOf(title, assets, work, done) {
  let isStopped = false, at = 0
  const bar = h("progress", {max: assets.length, value: 0, "aria-label": "Progress"})
  const shown = dialog(title, close => [bar, actions(open("Stop after this one", close))])
  shown.addEventListener("close", () => {isStopped = true;})
  const failed = []
  for (const asset of assets) {
    if (isStopped) break
    await work(asset).catch(error => {
      if (!(error instanceof ApiError)) throw error
      failed.push({name: asset.name, error: error.message})
    })
    bar.value = ++at
  }
  shown.close()
  say(`${at - failed.length} of ${assets.length} done, ${failed.length} failed.`)
  report(failed)
  done()
}

const bulkMove = (assets, usable, done) => ask(`Move ${count(assets.length, "asset")}`, "Move", async ({to, overwrite}) => {
  eachOf("Moving assets", assets.filter(a => a.backend !== to), a => post("storage/move", {name: a.name, from_backend: a.backend, to_backend: to, overwrite}), done)
}, [namesOf(assets), field("To", "to", {options: usable}), check("Replace an asset of that name there", "overwrite")])

const changeScope = (assets, groups, done) => ask(`Scope of ${count(assets.length, "asset")}`, "Change scope", async ({workgroup}) => {
  eachOf("Changing scopes", assets, a => put("storage/scope", {backend: a.backend, name: a.name, workgroup: workgroup || null}), done)
}, [namesOf(assets), field("Who may use them", "workgroup", {options: [["", "everybody"], ...groups.map(g => g.name)]})])

