// Jobs: the list with filters, and one job with its log.
import {part, readEvents} from "../api.js"
import {askToApprove, askToCancel, askToReject, askToReschedule, canCancel, canDecide, canReschedule, isFinal, jobLink, jobTable, kTopics, planWords, titleOf} from "../jobs.js"
import {actions, badge, card, code, count, data, download, duration, empty, facts, filters, h, link, list, notice, p, pager, progressBar, quiet, say, search, shown, strong, sub, table, time, words, wrap} from "../ui.js"

const kGroups = [["", "All"], ["awaiting_approval", "Awaiting approval"], ["pending,running", "Running"], ["scheduled", "Scheduled"],
  ["failed,missed,expired", "Failed"], ["completed", "Completed"], ["cancelled,rejected", "Cancelled"]]
const kPage = 50
const kShownLines = 5000

export default page => (page.path[0] ? oneJob(page, page.path[0]) : listOfJobs(page))

async function listOfJobs(page) {
  const groups = await page.get("workgroups")
  const found = page.region("jobs", answer => drawList(page, answer, n => page.ask({page: String(n)}, found)),
    () => ({...page.asks("status", "workgroup", "page"), batch_id: page.asked("batch"), page_size: kPage}), kTopics)
  const select = (label, name, options) => page.filter(label, name, found, {options})
  page.show("Jobs", filters("Filter jobs", select("Status", "status", kGroups), select("Workgroup", "workgroup", [["", "All"], ...groups.map(g => g.name)]),
    search("Search this page", page.asked("q"), q => page.ask({q, page: page.asked("page")}, found))), found)
}

function drawList(page, answer, turn) {
  const wanted = page.asked("q").toLowerCase(), batch = page.asked("batch")
  const found = answer.jobs.filter(j => [j.id, j.name, j.job_type, j.created_by, j.workgroup].join(" ").toLowerCase().includes(wanted))
  return [batch && p("Jobs of batch ", code(batch), " ", link("jobs", "Show all")),
    jobTable("Jobs", found, empty("No job matches.", answer.total ? "Loosen the filters to see more." : "Jobs appear here when somebody submits a change or a run."), [
      ["Runs", j => (j.scheduled_for ? [time(j.scheduled_for), j.change_window_name && sub(j.change_window_name)] : time(j.started_at))],
      ["Took", j => duration(j.duration_seconds), "number"]]), pager(answer, "job", turn)]
}

function oneJob(page, id) {
  let hasEnded = true
  const details = page.region(`jobs/${part(id)}`, job => {
    document.title = `${titleOf(job)} · dashctl`
    if (!hasEnded && isFinal(job)) say(`The job is ${words(job.status)}.`)
    hasEnded = isFinal(job)
    return drawJob(job, details.refresh)
  }, {}, kTopics)
  const timer = setInterval(() => hasEnded || details.refresh(), 2000) // progress is no event
  page.atEnd(() => clearInterval(timer))
  page.append(p(link("jobs", "Jobs")), details, logView(page, id))
}

function drawJob(job, refresh) {
  const dialog = (label, kind, open) => h(`button.${kind}`, {onclick: () => open(job, refresh)}, label)
  const aside = [approvals(job), job.plan && card("Plan", planWords(job.plan)), hosts(job), outputs(job)].filter(Boolean)
  const request = card("Request", data(shown(job.request)), job.result !== null && [h("h3", "Result"), data(shown(job.result))])
  return [
    h("header.title", h("h1", titleOf(job)), badge(job.status), actions(canDecide(job) && [dialog("Approve…", "primary", askToApprove), dialog("Reject…", "danger", askToReject)],
      canReschedule(job) && dialog("Reschedule…", "other", askToReschedule), canCancel(job) && dialog("Cancel…", "danger", askToCancel))),
    job.status === "running" && progressBar(job.progress), job.error_message && notice("bad", strong(job.error_message)), job.warnings?.map(w => notice("warn", w)),
    h("div.columns", h("div", card("Details", facts([
      ["Type", job.job_type], ["Reason", job.reason && words(job.reason)], ["Message", job.progress_message], ["Workgroup", job.workgroup], ["Region", job.region], ["Resource", job.resource_id],
      ["Requested", [time(job.created_at), ` by ${job.created_by}`]], ["Runs", job.scheduled_for && [time(job.scheduled_for), job.change_window_name && ` in ${job.change_window_name}`]],
      ["Started", job.started_at && time(job.started_at)], ["Ended", job.completed_at && [time(job.completed_at), ` after ${duration(job.duration_seconds)}`]],
      ["Program", job.exit_status !== null && `ended with ${job.exit_status}`], ["Signal", job.signal], ["Batch", job.batch_id && link(`jobs?batch=${part(job.batch_id)}`, job.batch_id)],
      ["Deploy", job.deploy_job_id && jobLink(job.deploy_job_id)], ["Then runs", list(job.post_deploy_jobs, j => jobLink(j))], ["Id", code(job.id)]])), aside.length > 0 && request), h("div", aside.length ? aside : request))]
}

function approvals(job) {
  const needed = Object.entries(job.approvals).filter(([, a]) => a.required)
  return needed.length > 0 && card("Approvals", table("Approvals", [["Covers", ([kind]) => kind], ["By", ([, a]) => a.by ?? badge("waiting", "warn")], ["When", ([, a]) => time(a.at)]], needed),
    facts([["Why", list(job.approval_reasons)], ["Expires", job.status === "awaiting_approval" && job.approval_expires_at && time(job.approval_expires_at)],
      ["Digest", job.approval_digest && wrap(job.approval_digest)]]))
}

const hosts = job => job.hosts?.length > 0 && card("Hosts", table("Outcome by host", [["Host", "name"], ["Outcome", x => x.outcome && badge(x.outcome)], ["Error", "error"]], job.hosts))

const outputs = job => Object.keys(job.outputs ?? {}).length > 0 && card("Outputs",
  facts(Object.entries(job.outputs).map(([name, value]) => [name, value === null ? quiet("sensitive") : wrap(shown(value))])))

// The log as it is written. All lines stay in memory, the newest are in the page.
function logView(page, id) {
  const lines = []
  const view = h("div.log", {role: "log", "aria-live": "off", tabindex: "0", "aria-label": "Log"})
  const state = h("span.quiet", {role: "status"}, "Connecting…")
  const follow = h("input", {type: "checkbox", checked: true, id: "follow"})
  let wanted = "", due = []
  const gapText = gap => `Lines ${gap.from} to ${gap.to} are not kept`
  const matches = l => l.gap || l.line.toLowerCase().includes(wanted)
  const draw = l => (l.gap ? h("div.gap", gapText(l.gap)) : h("div", {title: l.at}, h("span.n", l.n), h("span", marked(l.line, wanted))))
  function flush() {
    view.append(...due.filter(matches).slice(-kShownLines).map(draw))
    due = []
    while (view.childNodes.length > kShownLines) view.firstChild.remove()
    if (follow.checked) view.scrollTop = view.scrollHeight
  }
  const find = search("Find in the log", "", text => {
    wanted = text.toLowerCase()
    due = lines.slice()
    view.replaceChildren()
    flush()
    state.textContent = wanted ? `${lines.filter(l => l.line && matches(l)).length} of ${count(lines.length, "line")}` : count(lines.length, "line")
  })
  followLog(page, id, line => {
    lines.push(line)
    if (due.push(line) === 1) requestAnimationFrame(flush)
  }, text => {state.textContent = `${count(lines.length, "line")}, ${text}`;})
  return card("Log", h("div.filters", find, h("div.field.check", follow, h("label", {for: "follow"}, "Follow")),
    h("button", {onclick: () => download(`${id}.log`, lines.map(l => `${l.gap ? `… ${gapText(l.gap)} …` : `${l.at} ${l.line}`}\n`), "text/plain")}, "Download"), state), view)
}

function marked(text, wanted) {
  const out = []
  const low = text.toLowerCase()
  let from = 0
  for (let hit = low.indexOf(wanted); wanted && hit >= 0; hit = low.indexOf(wanted, from)) {
    out.push(text.slice(from, hit), h("mark", text.slice(hit, hit + wanted.length)))
    from = hit + wanted.length
  }
  return [...out, text.slice(from)]
}

// A stream that breaks is taken up behind its last line.
async function followLog(page, id, take, tell) {
  let after = 0, hasEnded = false
  while (!hasEnded) {
    try {
      await readEvents(`jobs/${part(id)}/logs`, {query: {follow: 1, after}, signal: page.signal}, (event, text, eventId) => {
        const body = JSON.parse(text || "{}")
        hasEnded ||= event === "end"
        if (event === "gap") take({gap: body})
        if (event === "message") take(body)
        after = Number(eventId ?? after)
        tell(hasEnded ? words(body.status) : "following")
      })
    } catch (error) {
      if (page.signal.aborted) return
      tell(error.message)
      if (![0, 429, 503, undefined].includes(error.status)) return
    }
    if (!hasEnded) await new Promise(resolve => setTimeout(resolve, 2000))
    if (page.signal.aborted) return
  }
}
