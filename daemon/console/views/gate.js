// The gate: settings, rules, a request to try, decisions, and what a rule would change.
import {patch, post} from "../api.js"
import {jobLink, offerBooking} from "../jobs.js"
import {act, badge, card, check, code, confirm, count, data, empty, facts, field, fields, filters, form, h, link, list, more, needed, notice, outcome, p, pager, quiet, shown, strong, sub, table, time, valuesOf, wrap} from "../ui.js"

const kMachines = ["cloud1:vm", "cloud2:vm", "cloud3:vm", "cloud4:compute"]
const kOthers = {"clouddb:provision": "databases", "k8s:provision": "k8s/clusters/provision"}
const kActions = [...kMachines.map(m => `${m}:deploy`), ...Object.keys(kOthers), ...kMachines.map(m => `${m}:destroy`)]
const kDays = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]

export default page => page.tabs("Gate", [["", "Rules", rules, true], ["settings", "Settings", settings, true], ["try", "Try a request", tryRequest],
  ["decisions", "Decisions", decisions, true], ["change", "Change a rule", changeRule, true]])

const where = p => code(p.row || p.line ? `${p.file}:${p.row ?? p.line}` : p.file)

const rules = page => page.region("settings/admission", g => [
  g.fault && notice("bad", strong("Every gated action is refused. "), g.fault.message, " ", where(g.fault)),
  card("State", facts([
    ["Gate", g.enabled ? badge("on") : [badge("off", "warn"), " Nothing is evaluated. ", link("gate/settings", "Switch it on")]],
    ["Engine", [badge(g.engine.state), g.engine.sandboxed && " in its sandbox"]], ["Approvals", g.enforce_needs_approval ? "enforced" : "reported only"],
    ["Gated", g.gated_actions.length > 0 && g.gated_actions.map(a => [code(a), " "])], ["Folder", wrap(g.directory)], ["Digest", g.policy_digest && wrap(g.policy_digest)],
    ["Settings", g.settings_fault && h("span.bad", g.settings_fault)]])),
  card("Rules", table("Rules", [["Rule", r => [strong(r.rule ?? r.file), r.builtin && quiet(" built in")]], ["File", where],
    ["Evaluates", r => (r.evaluates ? badge("evaluates", "good") : badge("never evaluates", "bad"))], ["Problems", r => (r.problems.length ? list(r.problems) : "none")]], g.rules)),
  g.problems.length > 0 && card("Problems", table("Problems", [["Where", where], ["Level", "level", badge], ["What", p => [p.message, p.fix && sub(p.fix)]]], g.problems))])

const entries = text => text.split(/[,\n]/).map(t => t.trim()).filter(Boolean)
// A list may be kept as JSON or as text with commas.
const listText = value => (typeof value === "string" && value.startsWith("[") ? JSON.parse(value) : [value ?? ""].flat()).join(", ")

// What a value would be refused for, as it is typed; the instance checks again.
function problemOf(name, text) {
  const all = entries(text)
  const unknown = {admission_gated_actions: a => !/^(cloud[1-4]|aws|azure|gcp|oci):\w+:\w+$|^(clouddb|k8s):provision$/.test(a), admission_prod_window: d => !kDays.includes(d.toLowerCase())}[name]
  const wrong = unknown && all.find(unknown)
  if (wrong) return `${wrong} is none of ${name.endsWith("window") ? kDays.join(", ") : kActions.join(", ")}.`
  const twice = all.find((e, i) => all.indexOf(e) !== i)
  return twice ? `${twice} is listed twice.` : ""
}

function settings(page) {
  const lists = {admission_gated_actions: ["Gated actions", `Known are ${kActions.join(", ")}.`], admission_allowed_regions: ["Allowed regions", "Empty allows all."],
    admission_denied_instance_types: ["Denied instance types", "Separated by commas."], admission_prod_window: ["Frozen days", "Weekdays such as sat, sun, on which gated actions are refused."]}
  const input = (name, value) => {
    const wrap = field(lists[name][0], name, {rows: 2, value: listText(value), hint: lists[name][1], oninput: ({target}) => {
      target.setCustomValidity(said.textContent = problemOf(name, target.value))
      target.setAttribute("aria-invalid", String(Boolean(said.textContent)))
    }})
    const said = h("p.problem.bad", {role: "status"})
    wrap.append(said)
    return wrap
  }
  return card("Settings of the gate", page.region("setup/feature/admission_control", now => form({
    name: "gate-settings", submit: "Save",
    send: async v => {
      await patch("setup/feature/admission_control", {enabled: v.enabled, admission_enforce_needs_approval: v.approvals, ...Object.fromEntries(Object.keys(lists).map(n => [n, entries(v[n])]))})
      return "Saved. The next decision uses it."
    },
  }, check("Evaluate gated actions", "enabled", now.enabled === true), check("Hold what needs an approval", "approvals", now.admission_enforce_needs_approval === true), Object.keys(lists).map(n => input(n, now[n])))))
}

const verdict = d => [p(badge(d.verdict), " ", code(d.action), !d.gated && quiet(" is not gated")), list([...d.reasons, ...d.approval_reasons]),
  d.rules.length > 0 && table("Rules that spoke", [["Rule", "id"], ["Where", where]], d.rules), d.cause && notice("bad", d.cause), more("Input document", data(shown(d.input)))]

function tryRequest(page) {
  const out = outcome(page)
  const request = v => ({...Object.fromEntries(["region", "instance_type", "image", "name", "workgroup"].filter(k => v[k]).map(k => [k, v[k]])), ...(v.more && JSON.parse(v.more))})
  const instant = v => (v.at ? new Date(v.at).toISOString() : undefined)
  const evaluate = (v, when) => post("admission/check", {action: v.action, request: request(v), at: instant(v), when})
  const setup = form({
    name: "try", submit: "Try it", send: async v => out.show("Verdict", verdict(await evaluate(v))),
    extra: [act("When may I?", async () => {
      const {admitted_at: from, now, then} = await evaluate(valuesOf(setup), true)
      out.show("When", p(from ? ["Admitted from ", time(from), "."] : "Not within the time that was looked at. Change the request."), h("h3", "Now"), verdict(now), then && [h("h3", "Then"), verdict(then)])
    }), act("Submit it…", async () => submit(valuesOf(setup)))],
  }, field("Action", "action", {options: kActions}), fields(field("Region", "region"), field("Instance type", "instance_type"), field("Image", "image"), field("Name", "name"),
    field("Workgroup", "workgroup"), field("At", "at", {type: "datetime-local", hint: "Empty is now."})), field("More of the request, as JSON", "more", {rows: 2}))
  // What was tried becomes a job; outside of a change window a booking is offered.
  function submit(v) {
    const path = kOthers[v.action] ?? v.action.replace(/:.*/, "/deploy")
    if (v.action.endsWith("destroy")) return out.replaceChildren(notice("warn", "A teardown is submitted for its resource, by the command line or the API."))
    const send = async more => {
      const made = await post(path, {...request(v), ...more})
      out.show("Submitted", p(badge(made.status), " ", jobLink(made.job_id), " ", made.message))
    }
    confirm(`Submit ${v.action}?`, "Submit", [p("This makes a job that changes the cloud."), data(shown(request(v)))], () => send({run_at: instant(v)}).catch(error => offerBooking(error, send, out)))
  }
  return [card("Try a request", p("To try creates and audits nothing."), setup), out]
}

function decisions(page) {
  const turn = n => page.ask({page: String(n)}, all)
  const all = page.region("admission/decisions", answer => [table("Decisions", [["When", "at", time], ["Verdict", d => [badge(d.verdict), !d.enforced && !d.dry_run && quiet(" not enforced")]], ["Action", "action", code], ["User", "actor"],
    ["Why", d => [list(d.reasons), sub(d.rules.join(", "))]], ["Input", d => more("Show", data(shown(d.input)), d.id)]], answer.decisions, empty("No decision matches.", "Decisions appear when somebody submits a gated action.")), pager(answer, "decision", turn)],
  () => ({...page.asks("verdict", "action", "actor", "dry_run", "page"), page_size: 50}))
  const filter = (label, name, options) => page.filter(label, name, all, {options})
  return card("Decisions", filters("Filter decisions", filter("Verdict", "verdict", [["", "All"], "allow", "deny", ["needs_approval", "needs approval"]]), filter("Action", "action", [["", "All"], ...kActions]),
    filter("User", "actor"), filter("Of", "dry_run", [["", "changes"], ["true", "tries"]])), all)
}

function changeRule(page) {
  const out = outcome(page)
  return [card("What would this rule change?", p("The text is evaluated in the engine's sandbox against recorded decisions. Nothing is installed."), form({
    name: "rule-diff", submit: "Compare",
    send: ({rule, text}) => out.run(async signal => out.show("Outcome", drawDiff(await post("admission/diff", {rule_id: rule, text}, {signal})))),
  }, needed("Rule", "rule", {hint: "The id of the rule that the text replaces, or of a new one."}), field("Text", "text", {rows: 12, required: true, class: "mono"}))), out]
}

const drawDiff = ({changes, changed, compared}) => [p(strong(changed ? `${count(changed, "verdict")} would change` : "No verdict would change"), ` of ${count(compared, "recorded request")}.`),
  table("Verdicts that change", [["Action", c => code(c.input.action)], ["Before", c => badge(c.old.verdict)], ["After", c => badge(c.new.verdict)], ["Why", c => list(c.new.reasons)],
    ["Input", c => more("Show", data(shown(c.input)))]], changes, null)]
