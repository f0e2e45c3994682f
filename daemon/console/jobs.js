// Jobs as several views show them: lists, and the dialogs that decide about one.
import {get, isAdmin, may, me, part, post, remove} from "./api.js"
import {act, actions, ask, at, badge, confirm, data, dialog, duration, empty, facts, field, form, h, link, list, loading, open, p, progressBar, quiet, region, say, shown, since, strong, sub, table, time, words, wrap} from "./ui.js"
import {occurrences} from "./zones.js"

const kFinal = ["completed", "failed", "cancelled", "rejected", "expired"]
export const kTopics = ["jobs", "approvals"] // whose changes a list of jobs shows
const kTwoWeeks = 14 * 86400000
export const isFinal = job => kFinal.includes(job.status)
const isMine = job => isAdmin() || job.created_by === me().username
export const canCancel = job => isMine(job) && !isFinal(job) && job.status !== "missed"
export const canReschedule = job => isMine(job) && ["awaiting_approval", "scheduled", "pending", "missed"].includes(job.status) && !job.plan // a plan is of now
export const canDecide = job => job.status === "awaiting_approval" && may("change_windows:use") && job.created_by !== me().username
export const jobLink = (id, text = id) => link(`jobs/${part(id)}`, text)
export const titleOf = job => job.name || job.description || job.id

export const jobTable = (caption, jobs, none, extra = []) => table(caption, [
  ["Job", job => [jobLink(job.id, titleOf(job)), sub(job.job_type)]],
  ["Status", job => [badge(job.status), job.status === "running" && progressBar(job.progress), job.reason && sub(words(job.reason))]],
  ["Requested", job => [since(job.created_at), sub(job.created_by, job.workgroup && ` for ${job.workgroup}`)]], ...extra], jobs, none)

export const askToCancel = (job, done) => confirm(`Cancel ${titleOf(job)}?`, ...job.status === "running" ? ["Stop the job", "Its program is asked to stop. What it already changed stays changed."]
  : ["Cancel the job", "It will not run. To run it later, submit it again."],
  async () => (await remove(`jobs/${part(job.id)}`)).message, {done})

export const planWords = plan => [h("b.good", `+${plan.add}`), " to add, ", h("b.warn", `~${plan.change}`), " to change, ", h("b.bad", `−${plan.destroy}`), " to destroy", sub("Digest ", wrap(plan.digest))]

// Everything that an approval of this job would cover, and nothing else.
const approvedThings = job => facts([
  ["Change", [strong(job.job_type), " ", job.name]], ["Requested by", job.created_by], ["Workgroup", job.workgroup],
  ["Runs", job.scheduled_for ? [time(job.scheduled_for), job.window_ends_at && [" until ", time(job.window_ends_at)]] : "as soon as it is approved"],
  ["Window", job.change_window_name], ["Why", list(job.approval_reasons)], ["Plan", job.plan && planWords(job.plan)],
  ["Request", data(shown(job.request))], ["Digest", wrap(job.approval_digest)], ["Expires", job.approval_expires_at && time(job.approval_expires_at)]])

export function askToApprove(job, done) {
  const needed = Object.entries(job.approvals).filter(([, a]) => a.required && !a.by).map(([kind]) => kind)
  const kinds = needed.includes("plan") ? ["plan"] : needed.length > 1 ? ["", ...needed] : needed
  ask(`Approve ${titleOf(job)}`, "Approve", async ({approves = kinds[0]}) => {
    const answer = await post(`change-windows/approvals/${part(job.id)}`, {digest: job.approval_digest, ...(approves && {approves})})
    return `Approved. The job is ${words(answer.status)}.`
  }, [p("You approve exactly this. If any of it changes, your approval is void."), approvedThings(job),
    kinds.length > 1 && field("Approve", "approves", {options: kinds.map(k => [k, k ? `only the ${k}` : "all of it"])})], {wide: true, done})
}

export const askToReject = (job, done) => ask(`Reject ${titleOf(job)}`, "Reject", async ({reason}) => {
  await post(`jobs/${part(job.id)}/reject`, {reason})
  return "Rejected."
}, field("Reason", "reason", {rows: 3, hint: "The requester reads it."}), {kind: "danger", done})

export const askToReschedule = (job, done) => dialog(`Reschedule ${titleOf(job)}`, close => {
  const send = async body => {
    const answer = await post(`jobs/${part(job.id)}/reschedule`, body)
    say(`The job is ${words(answer.status)}${answer.scheduled_for ? ` for ${at(answer.scheduled_for)}` : ""}.`)
    close()
    done()
  }
  return [p("Rules and windows are evaluated for the new time, and approvals are void."), bookings(send),
    form({submit: "Reschedule", cancel: close, send: ({when}) => send(when ? {run_at: new Date(when).toISOString()} : {})},
      field("Or at this time", "when", {type: "datetime-local", hint: "In your own zone. Empty: as soon as possible."}))]
})

// The next openings as buttons; book({run_at, change_window_id}).
function bookings(book, windowId) {
  return region(async () => Promise.all([get("change-windows", {enabled_only: true}), get("jobs", {scheduled: true, status: "scheduled,awaiting_approval", page_size: 100})]),
    ([{windows}, {jobs}]) => {
      const now = new Date()
      const slots = windows.filter(w => !windowId || w.id === windowId).flatMap(window => occurrences(window, now, new Date(+now + kTwoWeeks))
        .filter(slot => slot.start > now).slice(0, 4).map(slot => ({...slot, window}))).sort((a, b) => a.start - b.start).slice(0, 8)
      if (!slots.length) return empty("No window opens within two weeks.", link("windows", "Change windows"))
      const bookedIn = ({start, end}) => jobs.filter(j => new Date(j.scheduled_for) >= start && new Date(j.scheduled_for) < end).length
      return h("ul.slots", slots.map(slot => h("li", act(`${slot.window.name}, ${at(slot.start)}, ${duration((slot.end - slot.start) / 1000)}`,
        () => book({run_at: slot.start.toISOString(), change_window_id: slot.window.id})), quiet(bookedIn(slot) ? ` ${bookedIn(slot)} booked` : " free"))))
    })
}

// A refusal by a change window becomes an offer: resend({run_at, change_window_id}) books the same request.
export function offerBooking(error, resend, place) {
  if (error.detail?.error !== "change_window") throw error
  const {schedule} = error.detail
  place.show("Outside of the change window", p(error.message), schedule ? [p("Book it instead:"), bookings(resend, schedule.change_window_id)] : link("windows", "Change windows"))
}

// Follows one job until it ends: its state and progress, with a way to stop it.
export function followJob(page, id, done = () => {}) {
  const box = h("div.card", loading())
  let timer = null
  async function look() {
    const job = await page.get(`jobs/${part(id)}`)
    box.replaceChildren(p(jobLink(id, titleOf(job)), " ", badge(job.status)), progressBar(job.progress) ?? "", job.error_message ? h("p.bad", job.error_message) : "",
      canCancel(job) ? actions(open("Cancel", () => askToCancel(job, look))) : "")
    if (isFinal(job)) return done(job, box)
    again(1000)
  }
  function again(pause) {
    clearTimeout(timer)
    timer = setTimeout(() => look().catch(error => error.name === "AbortError" || again(5000)), pause)
  }
  again(0)
  page.atEnd(() => clearTimeout(timer))
  return box
}

