// Assets: what is stored where, uploads, scope, and deleting or moving many at once.
import {ApiError, isAdmin, part, post, put, send} from "../api.js"
import {ask, badge, box, bytes, card, check, confirm, count, digest, download, empty, failures, field, filters, h, list, more, notice, open, outcome, p, quiet, search, small, strong, sub, table} from "../ui.js"
import {secretList, secretsIn, uploadPanel} from "../uploads.js"

const kRunnable = ["playbook", "script", "powershell"]
const kShownNames = 20

const from = (module, name = "default") => async page => (await import(`./${module}.js`))[name](page)

export default page => page.tabs("Storage", [["", "Assets", assets], ["backends", "Backends", from("backends")], ["migrate", "Migrate", from("backends", "migrate"), true],
  ["images", "Images", from("images"), true], ["state", "State", from("state"), true]])

async function assets(page) {
  const [{backends}, groups] = await Promise.all([page.get("storage/backends"), page.get("workgroups")])
  const active = backends.find(b => b.active)
  const usable = backends.filter(b => b.configured).map(b => [b.id, b.label])
  const labels = new Map(usable)
  const chosen = new Map() // "backend/name" to asset
  const keyOf = a => `${a.backend}/${a.name}`
  const out = outcome(page)
  const bar = h("div.bulk", {role: "group", "aria-label": "Chosen assets"})
  const all = page.region("storage/list-all", draw)
  function drawBar() {
    const these = {assets: [...chosen.values()], out, done: clear}
    bar.hidden = !chosen.size
    bar.replaceChildren(strong(`${chosen.size} chosen`), open("Delete…", () => bulkDelete(these), "danger"),
      ...isAdmin() ? [open("Move…", () => bulkMove(these, usable)), open("Change scope…", () => changeScope(these, groups))] : [], open("Choose none", clear, "link"))
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
  function draw({items}) {
    const found = items.filter(a => a.name.toLowerCase().includes(page.asked("q").toLowerCase()) && (!page.asked("backend") || a.backend === page.asked("backend")))
    if (!items.length) return empty("No assets yet.", active ? "Drop a playbook, a script or a package above." : "An administrator has to choose an active backend first.")
    const pickAll = box("Choose all", found.length > 0 && found.every(a => chosen.has(keyOf(a))), isOn => {
      for (const asset of found) pick(asset, isOn)
      all.refresh()
    })
    return [table("Assets", [
      [pickAll, a => box(`Choose ${a.name}`, chosen.has(keyOf(a)), isOn => pick(a, isOn)), "choose", "Choose"],
      ["Name", a => [strong(a.name), secretsIn(a).length > 0 && more(badge(count(secretsIn(a).length, "possible secret"), "warn"), secretList(secretsIn(a)), a.name), sub(labels.get(a.backend) ?? a.backend, a.backend === active?.id && " (active)")]],
      ["Type", "type"], ["Scope", a => a.workgroup ?? "everybody"], ["Size", "size", bytes],
      ["Digest", "digest", digest],
      ["", a => [small("Download", () => fetchAsset(a, out)), kRunnable.includes(a.type) && h("a.button.small", {href: `#/runs?asset=${part(a.name)}&backend=${part(a.backend)}`}, "Run")]],
    ], found, empty("No asset matches.")), h("p.quiet", `${count(found.length, "asset")}, ${bytes(found.reduce((sum, a) => sum + a.size, 0))}`)]
  }
  drawBar()
  return [uploadPanel(page, active, "asset", all.refresh), card("Assets", filters("Filter assets", search("Search by name", page.asked("q"), q => page.ask({q}, all)),
    page.filter("Backend", "backend", all, {options: [["", "All"], ...usable]})), bar, out, all)]
}

const fetchAsset = (asset, out) => out.run(async (signal, tell) => {
  const answer = await send("GET", "storage/fetch", {query: {name: asset.name, backend: asset.backend, raw: 1}, signal})
  const pieces = []
  let got = 0
  for await (const piece of answer.body) {
    pieces.push(piece)
    tell((got += piece.length) / asset.size, `${asset.name}: ${bytes(got)} of ${bytes(asset.size)}`)
  }
  download(asset.name, pieces)
  out.replaceChildren()
})

const namesOf = assets => [list(assets.slice(0, kShownNames), a => [a.name, quiet(` ${a.backend}`)]), assets.length > kShownNames && p(`and ${assets.length - kShownNames} more`)]

const report = (out, text, failed) => out.replaceChildren(notice(failed.length ? "warn" : "good", text, failures(failed)))

const bulkDelete = ({assets, out, done}) => confirm(`Delete ${count(assets.length, "asset")}?`, "Delete", [p("They cannot be brought back from here."), namesOf(assets)], async () => {
  const {summary, failed} = await post("storage/bulk-delete", {items: assets.map(({name, backend}) => ({name, backend}))})
  report(out, summary, failed)
}, {done})

// One after another, so that a stop loses nothing: what was moved is moved, the rest is where it was.
const eachOf = ({assets, out, done}, work) => out.run(async (signal, tell) => {
  const failed = []
  let at = 0
  for (const asset of assets) {
    if (signal.aborted) break
    await work(asset).catch(error => {
      if (!(error instanceof ApiError)) throw error
      failed.push({name: asset.name, error: error.message})
    })
    tell(++at / assets.length, `${at} of ${assets.length}`)
  }
  report(out, `${at - failed.length} of ${assets.length} done, ${failed.length} failed.`, failed)
  done()
})

const bulkMove = (chosen, usable) => ask(`Move ${count(chosen.assets.length, "asset")}`, "Move", async ({to, overwrite}) => {
  eachOf({...chosen, assets: chosen.assets.filter(a => a.backend !== to)}, a => post("storage/move", {name: a.name, from_backend: a.backend, to_backend: to, overwrite}))
}, [namesOf(chosen.assets), field("To", "to", {options: usable}), check("Replace an asset of that name there", "overwrite")])

const changeScope = (chosen, groups) => ask(`Scope of ${count(chosen.assets.length, "asset")}`, "Change scope", async ({workgroup}) => {
  eachOf(chosen, a => put("storage/scope", {backend: a.backend, name: a.name, workgroup: workgroup || null}))
}, [namesOf(chosen.assets), chosen.assets.filter(a => secretsIn(a).length).map(a => notice("warn", strong(`${a.name} may hold secrets. `), "Whoever may use it can read them.", secretList(secretsIn(a)))), field("Who may use them", "workgroup", {options: [["", "everybody"], ...groups.map(g => g.name)]})])
