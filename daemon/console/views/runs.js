// Runs of assets on hosts, the hosts, and the agents that reach what this instance cannot.
import {isAdmin, me, part, patch, post} from "../api.js"
import {followJob, offerBooking} from "../jobs.js"
import {act, actions, ask, badge, card, check, code, confirm, dialog, empty, facts, field, fields, form, h, link, needed, notice, open, outcome, p, remover, secretText, shown, since, small, strong, sub, table, time, wrap} from "../ui.js"

const kShownJobs = 8
const split = text => text.split(/[\s,]+/).filter(Boolean)
const json = map => (Object.keys(map ?? {}).length ? JSON.stringify(map) : "")

export default page => page.tabs("Runs", [["", "Run", run], ["hosts", "Hosts", hosts], ["agents", "Agents", agents, true]])

async function run(page) {
  const [{items}, {hosts: kept}, groups] = await Promise.all([page.get("storage/list-all"), page.get("hosts"), page.get("workgroups")])
  const runnable = items.filter(a => a.type)
  if (!runnable.length) return empty("There is no asset to run.", link("storage", "Upload a playbook, a script or a package"))
  const out = outcome(page)
  const secrets = h("fieldset", h("legend", "Secret variables"), act("Add one", async () => secrets.append(fields(field("Name"), field("Value", "", {type: "password", minlength: "6", autocomplete: "new-password"}))), "small"))
  const send = async (v, element) => {
    const [backend, ...name] = v.asset.split("/")
    const pairs = [...secrets.querySelectorAll(".fields")].map(f => [...f.querySelectorAll("input")].map(i => i.value)).filter(([n]) => n)
    const body = {asset: name.join("/"), asset_backend: backend, check: v.check, hosts: [...kept.map(x => x.name).filter(n => v[`host ${n}`]), ...split(v.address ?? "")],
      ...(v.workgroup && {workgroup: v.workgroup}), ...(v.variables && {extra_vars: JSON.parse(v.variables)}), ...(pairs.length && {secret_vars: Object.fromEntries(pairs)})}
    const submit = async booking => {
      const answer = await post(v.each ? "config-mgmt/run-bulk" : "config-mgmt/run", {...body, ...booking})
      element.querySelectorAll("input[type=password]").forEach(i => {i.value = "";})
      const ids = answer.jobs?.map(j => j.job_id) ?? [answer.job_id]
      out.show("Started", answer.batch_id && p(link(`jobs?batch=${part(answer.batch_id)}`, "All jobs of this batch")), ids.slice(0, kShownJobs).map(id => followJob(page, id)),
        answer.failed?.map(f => notice("bad", shown(f))))
    }
    await submit({}).catch(error => offerBooking(error, submit, out))
  }
  return [card("Run an asset", form({name: "run", submit: "Run", send},
    fields(field("Asset", "asset", {options: runnable.map(a => [`${a.backend}/${a.name}`, `${a.name} (${a.type})`]), value: `${page.asked("backend")}/${page.asked("asset")}`}),
      field("Workgroup", "workgroup", {options: [["", "–"], ...groups.map(g => g.name).filter(n => isAdmin() || me().workgroups.includes(n))]})),
    h("fieldset.days", h("legend", "Hosts"), kept.length ? kept.map(x => check(`${x.name} (${x.address})`, `host ${x.name}`)) : p("No host is kept. ", link("runs/hosts", "Add one"))),
    isAdmin() && field("Other addresses", "address", {hint: "DNS names or IP addresses."}), check("Check only, change nothing", "check"), check("A job for each host", "each"),
    field("Variables, as JSON", "variables", {rows: 3, class: "mono"}), secrets)), out]
}

function hosts(page) {
  const all = page.region("hosts", ({hosts: found}) => table("Hosts", [["Name", x => [strong(x.name), sub(x.groups.join(", "))]], ["Address", x => [code(`${x.address}:${x.port}`), sub(x.connection, x.user && ` as ${x.user}`)]],
    ["Workgroup", x => x.workgroup ?? "administrators"], ["Key", x => (x.fingerprint ? wrap(x.fingerprint) : x.connection === "local" ? "–" : badge("not pinned", "warn"))], ["Secret", x => x.secret_kind ?? "none"],
    ["", x => [act("Test", () => test(x, false, all.refresh), "small", "Connecting…"), isAdmin() && [small("Edit…", () => edit(x, all.refresh)),
      remover("Remove", `hosts/${part(x.name)}`, `Remove ${x.name}?`, "The host itself is not touched.", all.refresh)]]]], found, empty("No hosts.", "An administrator adds the machines that runs reach.")))
  return card("Hosts", isAdmin() && actions(open("Add a host…", () => edit(null, all.refresh), "primary")), all)
}

async function test(host, accept, done) {
  const answer = await post(`hosts/${part(host.name)}/test`, {accept_new_key: accept})
  if (accept) done()
  dialog(`Test of ${host.name}`, close => [p(badge(answer.ok ? "ok" : "failed"), " ", answer.error ?? "Connected and signed in."), facts([["Fingerprint", answer.fingerprint && wrap(answer.fingerprint)]]),
    !answer.ok && !accept && answer.fingerprint && answer.reason === "invalid" && isAdmin() && [p("Compare the fingerprint with the one that the host itself shows."), actions(act("Trust this key", async () => {
      await test(host, true, done)
      close()
    }, "primary"))]])
}

const edit = (host, done) => ask(host ? `Change ${host.name}` : "Add a host", "Save", async v => {
  const {address, connection, secret} = v
  const body = {address, connection, port: v.port ? Number(v.port) : null, user: v.user || null, workgroup: v.workgroup || null, groups: split(v.groups),
    variables: JSON.parse(v.variables || "{}"), host_key: v.host_key || null, ...(secret && {secret})}
  await (host ? patch(`hosts/${part(host.name)}`, body) : post("hosts", {name: v.name, ...body}))
  return "Saved."
}, [fields(!host && needed("Name", "name"), needed("Address", "address"), field("Port", "port", {type: "number", hint: "Empty is 22, or 5986 for winrm."}),
  field("Connection", "connection", {options: ["ssh", "winrm", "local"]}), field("User", "user"), field("Workgroup", "workgroup", {hint: "Empty: administrators only."}), field("Groups", "groups")),
field("Host key", "host_key", {rows: 2, class: "mono", hint: "Empty: a test offers the key that the host shows."}),
field("Password or private key", "secret", {rows: 2, class: "mono", "data-secret": "", hint: host?.secret_kind ? `A ${host.secret_kind} is kept. Empty leaves it.` : "Written here, never shown again."}),
field("Variables, as JSON", "variables", {rows: 2, class: "mono"})],
{wide: true, done, name: host ? "" : "new-host", values: host ? {...host, groups: host.groups.join(", "), variables: json(host.variables)} : {}})

function agents(page) {
  const all = page.region("agents", ({agents: found}) => table("Agents", [["Name", a => [strong(a.name), sub([a.site, a.description].filter(Boolean).join(" · "))]], ["Status", a => [badge(a.status), a.warning && sub(a.warning)]], ["Version", a => a.agent_version || "–"],
    ["Last seen", a => [since(a.last_seen_at), sub(a.last_seen_ip)]], ["Granted", a => (a.allowed_job_types?.length ? a.allowed_job_types.join(", ") : badge("nothing", "warn"))], ["Running", "running_jobs", "number"],
    ["", a => agentActions(a, all.refresh)]], found, empty("No agents.", "An agent runs jobs where this instance cannot reach. It calls out, and needs no open port.")), {}, ["agents"])
  const add = () => ask("Add an agent", "Add", async v => showCode(v.name, await post("agents", {name: v.name, ...granted(v)})),
    [needed("Name", "name", {maxlength: "64"}), agentFields()], {name: "new-agent", done: all.refresh})
  return card("Agents", actions(open("Add an agent…", add, "primary")), all)
}

const granted = ({site, description, types}) => ({site, description, allowed_job_types: split(types)})
const agentFields = () => [field("Site", "site"), field("Description", "description"), field("Granted job types", "types", {
  hint: "Such as agent_storage. It does only what is granted here and by its own policy."})]

function agentActions(a, done) {
  const path = `agents/${part(a.id)}`
  return [small("Grants…", () => ask(`Grants of ${a.name}`, "Save", v => patch(path, granted(v)),
    [p("It reports: ", (a.reported_job_types ?? []).join(", ") || "nothing yet"), agentFields()], {done, values: {...a, types: a.allowed_job_types?.join(", ")}})),
  small("New code…", () => confirm(`New enrolment code for ${a.name}?`, "Issue a code", "A code that was issued before no longer works.", async () => showCode(a.name, await post(`${path}/enrollment-code`, {})))),
  a.status === "revoked" ? remover("Remove", `${path}/record`, `Remove the record of ${a.name}?`, "The audit log keeps what it did.", done)
    : remover("Revoke", path, `Revoke ${a.name}?`, "Its key is deleted, its running job fails and its queued ones are cancelled.", done, {typed: a.name})]
}

// The code is in this answer alone.
function showCode(name, {enrollment_code: secret, enroll_expires_at: expires, install}) {
  dialog(`Enrolment of ${name}`, () => [p(strong("This code is shown once. "), expires && ["It expires ", time(expires), ". "], "Put it into a file on the agent's machine:"), secretText(secret),
    p("Name that file here:"), secretText(install.command)], "wide")
}
