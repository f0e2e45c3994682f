// What waits, what failed, what runs, and the state of everything that jobs need.
import {isAdmin, may, me} from "../api.js"
import {jobTable, kTopics} from "../jobs.js"
import {badge, bytes, card, count, empty, h, link, more, notice, region, strong, sub} from "../ui.js"

export default function overview(page) {
  const jobs = (title, status, path, query, draw) => card(link(`jobs?status=${status}`, title), page.region(path, draw, query, kTopics))
  const some = (title, status, none) => jobs(title, status, "jobs", {status, page_size: 8}, a => jobTable(title, a.jobs, none))
  page.append(h("h1.unseen", "Overview"), durable(page), h("div.columns",
    h("div", jobs("Waiting for me", "awaiting_approval", "change-windows/approvals", {page_size: 50}, ({jobs: all}) => {
      const mine = may("change_windows:use") ? all.filter(job => job.created_by !== me().username) : []
      return jobTable("Waiting for me", mine, empty("Nothing waits for you.", all.length > 0 && `${count(all.length, "job")} of yours await another person.`))
    }), some("Running", "pending,running", empty("Nothing runs now.", link("runs", "Run an asset"))), some("Failed", "failed,missed,expired", empty("No job has failed."))),
    h("div", card("State", stateRows(page)), isAdmin() && doctor(page))))
}

// The one thing that loses infrastructure when a machine is lost.
const durable = page => page.region("storage/backends", ({durable_state: isDurable, durable_state_reason: reason}) =>
  !isDurable && notice("warn", strong("Infrastructure state is not durable. "), reason, " ", isAdmin() && link("storage/backends", "Choose an object store")))

function stateRows(page) {
  const row = (label, path, value) => h("div", h("dt", path ? link(path, label) : label), h("dd", value))
  const agents = isAdmin() && page.region("agents", ({agents: all}) => {
    const of = status => all.filter(a => a.status === status).length
    return all.length ? [badge(`${of("online")} online`, of("online") ? "good" : "quiet"), of("offline") > 0 && [" ", badge(`${of("offline")} offline`, "bad")]] : "None is enrolled."
  }, {}, ["agents"])
  return h("dl.facts.state",
    isAdmin() && row("Gate", "gate", page.region("settings/admission", g => {
      const errors = g.problems.filter(p => p.level === "error").length
      return [g.enabled ? badge("on") : badge("off"), " engine ", badge(g.engine.state), errors > 0 && [" ", badge(count(errors, "problem"), "bad")], `, ${count(g.rules.filter(r => r.evaluates).length, "rule")}`]
    })),
    row("Stores", "storage/backends", page.region("storage/backends", ({backends}) => {
      const used = backends.find(b => b.active)
      return used ? [badge("active"), ` ${used.label}`, used.usage && `, ${count(used.usage.items, "object")}, ${bytes(used.usage.bytes)}`] : [badge("none", "warn"), " No backend is active."]
    })),
    agents && row("Agents", "runs/agents", agents),
    isAdmin() && row("Audit", "audit/verify", page.region("audit/verify", a => (a.ok
      ? [badge("intact"), ` ${count(a.count, "entry", "entries")}, `, a.checkpoint ? `${a.checkpoint.beyond} beyond the newest checkpoint` : "no checkpoint is kept"] : [badge("broken"), ` ${a.problems[0]}`]))),
    // /readyz answers 503 with the same document.
    row("Process", "", region(async () => (await fetch("/readyz", page)).json(), ({ready, checks, degraded = []}) => [
      ready ? degraded.length ? badge("degraded", "warn") : badge("ready") : badge("not ready", "bad"),
      Object.entries(checks).filter(([, text]) => text !== "ok").map(([name, text]) => sub(`${name}: ${text}`))])))
}

const doctor = page => card("Findings", page.region("doctor", ({checks}) => {
  const good = checks.filter(c => c.state === "good")
  const list = some => h("ul.findings", some.map(c => h("li", badge(c.state), " ", strong(c.check), " ", c.message)))
  return [good.length < checks.length ? list(checks.filter(c => c.state !== "good")) : empty("The doctor found nothing wrong."), more(`${count(good.length, "check")} passed`, list(good))]
}))
