// Backends: what each can do, the switch of the active one, and migration between two.
import {isAdmin, patch, post} from "../api.js"
import {h} from "../dom.js"
import {bytes, count} from "../format.js"
import {followJob, jobLink} from "../jobs.js"
import {act, actions, adminsOnly, ask, badge, card, check, code, dialog, empty, facts, field, fields, form, link, list, notice, outcome, region, say, since, strong, sub, table, typing, valuesOf, wrap} from "../ui.js"

export default (page, tab) => page.element.append(tab === "backends" ? backends(page) : adminsOnly() || migrate(page))

function backends(page) {
  const all = page.region("storage/backends", ({backends: found}) => h("div.cards", found.map(b => card([b.label, " ", b.active ? badge("active") : b.configured ? badge("configured", "info") : badge("not configured")],
    facts([["Name", code(b.id)], ["Largest upload", [bytes(b.max_upload_bytes), b.upload_limit_reason && sub(b.upload_limit_reason)]],
      ["Uploads", b.chunked_upload ? `in parts of ${bytes(b.chunk_part_bytes)}, resumable` : `in one request of up to ${bytes(b.inline_upload_bytes)}`],
      ["State", b.durable_state ? badge("durable") : [badge("not durable", "warn"), sub(b.durable_state_reason)]],
      ["Holds", b.usage && [`${count(b.usage.items, "object")}, ${bytes(b.usage.bytes)}, counted `, since(b.usage.at)]]]),
    isAdmin() && (b.configured ? actions(act("Test", () => test(b), "", "Testing…"), !b.active && h("button", {disabled: !b.selectable, onclick: () => switchTo(page, b, found, all.refresh)}, "Make active…"),
      !b.selectable && sub("Only while the runner of automation is local.")) : actions(link("settings/storage", "Configure it")))))))
  return all
}

async function test(backend) {
  const report = await post("storage/test", {backend: backend.id, deep: true})
  dialog(`Test of ${backend.label}`, () => [h("p", badge(report.ok ? "ok" : "failed"), " ", wrap(report.place)),
    table("Checks", [["Check", c => c.name], ["Outcome", c => badge(c.ok ? "ok" : "failed")], ["Detail", c => c.detail]], report.checks), sub(report.message)], "wide")
}

// Shows everything that the guard of the switch looks at, before it is asked.
function switchTo(page, target, all, done) {
  const active = all.find(b => b.active)
  const overwrite = new Set()
  const guard = region(() => Promise.all([active ? page.get("storage/state") : {items: []}, page.get("jobs", {status: "running", page_size: 100})]), ([{items}, {jobs}]) => {
    const running = jobs.filter(j => /:(deploy|destroy|provision)/.test(j.job_type)), locks = items.filter(i => i.lock)
    return [facts([["From", active?.label ?? "none"], ["To", target.label], ["Assets", "New ones go to the new backend. Those that exist stay where they are; Migrate copies them."]]),
      running.length > 0 && notice("bad", strong(`${count(running.length, "deploy")} running. `), "The switch is refused until they end: ", running.map(j => [jobLink(j.id, j.name || j.id), " "])),
      locks.length > 0 && notice("bad", strong(`${count(locks.length, "lock")} held. `), locks.map(l => `${l.job} by ${l.lock.who || "nobody named"}; `), "dashctl storage state unlock ends one whose holder is gone."),
      !target.durable_state && notice("warn", strong("State there is not durable. "), target.durable_state_reason),
      table("Infrastructure state that will be copied", [["Job", i => i.job], ["Size", i => bytes(i.bytes), "number"], ["Resources", i => i.resources, "number"],
        ["Replace another state there", i => h("input", {type: "checkbox", "aria-label": `Replace the state of ${i.job}`, onchange: e => overwrite[e.target.checked ? "add" : "delete"](i.job)})]],
      items, empty("No infrastructure state has to be copied."))]
  })
  ask(`Make ${target.label} active`, "Switch", async ({migrate: isCopied, abandon}) => {
    const answer = await patch("storage/config", {storage_active_backend: target.id, migrate_iac_state: isCopied, ...(overwrite.size && {overwrite_iac_state: [...overwrite]}), ...(abandon && {abandon_iac_state: true})})
    say(`${target.label} is active. ${count(answer.iac_state_migrated ?? answer.terraform_state_migrated, "state")} copied.`)
    if (answer.iac_state_left.length) dialog("Originals that stay", () => [h("p", "The copies are in use. Delete these when you no longer need them."), list(answer.iac_state_left, l => code(`${l.backend}: ${l.key}`))])
    done()
  }, [guard, check("Copy infrastructure state to the new backend", "migrate", true, "Each copy is read back before the switch."),
    check("Give up state that cannot be read", "abandon", false, "Only for a backend that is gone: what it deployed can then not be changed from here."), typing(target.id)], {kind: "danger", wide: true})
}

function migrate(page) {
  const out = outcome()
  return page.region("storage/backends", ({backends: all}) => {
    const options = all.filter(b => b.configured).map(b => [b.id, b.label])
    if (options.length < 2) return empty("Migration needs two configured backends.", link("settings/storage", "Configure another"))
    const bodyOf = (v, dry_run) => ({source: v.source, target: v.target, overwrite: v.overwrite, dry_run, bwlimit: Math.round(Number(v.limit) * 1048576)})
    const setup = form({
      name: "migrate", submit: "Copy", extra: act("Preview", async () => {
        const report = await post("storage/migrate", bodyOf(valuesOf(setup), true))
        out.replaceChildren(h("h3", "Preview"), h("p", report.summary), ...names("Would be copied", report.copied), ...names("Are there already", report.skipped), ...failures(report.failed))
      }, "", "Comparing…"),
      send: async v => {
        const {job_id: id} = await post("storage/migrate", bodyOf(v, false), {headers: {Prefer: "respond-async"}})
        out.replaceChildren(followJob(page, id, (job, box) => job.result && box.append(h("p", job.result.summary), ...failures(job.result.failed))))
      },
    }, fields(field("From", "source", {options}), field("To", "target", {options, value: options[1][0]}),
      field("Limit, MiB a second", "limit", {type: "number", min: "0", step: "any", hint: "Empty is no limit."})), check("Replace assets that are there already", "overwrite"))
    return card("Copy assets to another backend", setup, out)
  })
}

const names = (title, found) => (found.length ? [h("h3", `${title}: ${found.length}`), h("ul.names", found.map(n => h("li", n)))] : [])
const failures = failed => (failed.length ? [table("Failed", [["Name", f => f.name], ["Error", f => f.error]], failed)] : [])
