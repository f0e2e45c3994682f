// Backends: what each can do, the switch of the active one, the sweep, and migration between two.
import {isAdmin, patch, post} from "../api.js"
import {followJob, jobLink, titleOf} from "../jobs.js"
import {act, actions, ask, badge, box, bytes, card, check, code, confirm, count, dialog, empty, facts, failures, field, fields, form, h, link, list, needed, notice, open, outcome, p, region, since, strong, sub, table, typing, valuesOf, wrap} from "../ui.js"

export default page => [backends(page), isAdmin() && sweep(page)]

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
  dialog(`Test of ${backend.label}`, () => [p(badge(report.ok ? "ok" : "failed"), " ", wrap(report.place)),
    table("Checks", [["Check", "name"], ["Outcome", c => badge(c.ok ? "ok" : "failed")], ["Detail", "detail"]], report.checks), sub(report.message)], "wide")
}

// Shows everything that the guard of the switch looks at.
function switchTo(page, target, all, done) {
  const active = all.find(b => b.active)
  const overwrite = new Set()
  const guard = region(() => Promise.all([active ? page.get("storage/state") : {items: []}, page.get("jobs", {status: "running", page_size: 100})]), ([{items}, {jobs}]) => {
    const running = jobs.filter(j => /:(deploy|destroy|provision)/.test(j.job_type)), locks = items.filter(i => i.lock)
    return [facts([["From", active?.label ?? "none"], ["To", target.label], ["Assets", "New ones go to the new backend. The others stay where they are; Migrate copies them."]]),
      running.length > 0 && notice("bad", strong(`${count(running.length, "deploy")} running. `), "The switch is refused until they end: ", running.map(j => [jobLink(j.id, titleOf(j)), " "])),
      locks.length > 0 && notice("bad", strong(`${count(locks.length, "lock")} held. `), locks.map(l => `${l.job} by ${l.lock.who || "nobody named"}; `), "dashctl storage state unlock ends one whose holder is gone."),
      !target.durable_state && notice("warn", strong("State there is not durable. "), target.durable_state_reason),
      table("Infrastructure state that will be copied", [["Job", "job"], ["Size", "bytes", bytes], ["Resources", "resources", "number"],
        ["Replace another state there", i => box(`Replace the state of ${i.job}`, false, isOn => overwrite[isOn ? "add" : "delete"](i.job))]],
      items, empty("No infrastructure state has to be copied."))]
  })
  ask(`Make ${target.label} active`, "Switch", async ({migrate: isCopied, abandon}) => {
    const answer = await patch("storage/config", {storage_active_backend: target.id, migrate_iac_state: isCopied, ...(overwrite.size && {overwrite_iac_state: [...overwrite]}), ...(abandon && {abandon_iac_state: true})})
    if (answer.iac_state_left.length) dialog("Originals that stay", () => [p("The copies are in use. Delete these when you no longer need them."), list(answer.iac_state_left, l => code(`${l.backend}: ${l.key}`))])
    return `${target.label} is active. ${count(answer.iac_state_migrated ?? answer.terraform_state_migrated, "state")} copied.`
  }, [guard, check("Copy infrastructure state to the new backend", "migrate", true, "Each copy is read back before the switch."),
    check("Give up state that cannot be read", "abandon", false, "Only for a backend that is gone: what it deployed cannot be changed from here then."), typing(target.id)], {kind: "danger", wide: true, done})
}

function sweep(page) {
  const out = outcome(page)
  const look = (hours, apply) => out.run(async signal => {
    const {items, swept, failed} = await post("storage/gc", {older_than_hours: Number(hours), apply}, {signal})
    out.show(apply ? `${count(swept, "upload")} dropped` : "Never committed", table("Uploads", [["Backend", "backend"], ["Key", "key", wrap], ["Begun", "began_at", since], ["Size", "bytes", bytes]], items, empty("There is none.")),
      list(failed, f => `${f.backend}: ${f.error}`), !apply && items.length > 0 && actions(open("Drop them…", () => confirm(`Drop ${count(items.length, "upload")}?`, "Drop", "Who sends one of them has to begin anew.", () => look(hours, true)), "danger")))
  })
  return [card("Uploads that were never committed", form({submit: "Look for them", send: v => look(v.hours, false)}, fields(needed("Older than, in hours", "hours", {type: "number", min: "12", value: 24})))), out]
}

export function migrate(page) {
  const out = outcome(page)
  return page.region("storage/backends", ({backends: all}) => {
    const options = all.filter(b => b.configured).map(b => [b.id, b.label])
    if (options.length < 2) return empty("Migration needs two configured backends.", link("settings/storage", "Configure another"))
    const bodyOf = (v, dry_run) => ({source: v.source, target: v.target, overwrite: v.overwrite, dry_run, bwlimit: Math.round(Number(v.limit) * 1048576)})
    const setup = form({
      name: "migrate", submit: "Copy", extra: open("Preview", () => out.run(async signal => {
        const report = await post("storage/migrate", bodyOf(valuesOf(setup), true), {signal})
        out.show("Preview", p(report.summary), names("Would be copied", report.copied), names("Are there already", report.skipped), failures(report.failed))
      })),
      send: async v => {
        const {job_id: id} = await post("storage/migrate", bodyOf(v, false), {headers: {Prefer: "respond-async"}})
        out.replaceChildren(followJob(page, id, (job, box) => job.result && box.append(h("div", p(job.result.summary), failures(job.result.failed)))))
      },
    }, fields(field("From", "source", {options}), field("To", "target", {options, value: options[1][0]}),
      field("Limit, MiB a second", "limit", {type: "number", min: "0", step: "any", hint: "Empty is no limit."})), check("Replace assets that are there already", "overwrite"))
    return [card("Copy assets to another backend", setup), out]
  })
}

const names = (title, found) => found.length > 0 && [h("h3", `${title}: ${found.length}`), h("ul.names", found.map(n => h("li", n)))]
