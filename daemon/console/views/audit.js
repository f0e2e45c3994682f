// The audit log: entries with filters, export, and its verification, which this page computes by itself.
import {get, send} from "../api.js"
import {h} from "../dom.js"
import {count, shown} from "../format.js"
import {parseEntries, readCheckpoint, verifyLog} from "../proof.js"
import {act, actions, adminsOnly, badge, card, code, data, download, empty, facts, field, filters, form, list, more, notice, open, outcome, strong, table, tabs, time, wrap} from "../ui.js"

const kPage = 500 // the most that the API gives at once
const entriesOf = n => count(n, "entry", "entries")

export default function audit(page) {
  const tab = page.path[0] ?? ""
  page.show("Audit", adminsOnly() || h("div", tabs("Audit", "audit", tab, [["", "Entries"], ["verify", "Verify"]]), tab === "verify" ? [claim(page), ownProof(page)] : entries(page)))
}

// Yields the pages of the log, oldest first.
async function* wholeLog(query, signal) {
  for (let after = 0; after !== null;) {
    const found = parseEntries(await (await send("GET", "audit", {query: {...query, after, limit: kPage}, signal})).text())
    yield found.entries
    after = found.next_after
  }
}

function entries(page) {
  const instant = name => page.asked(name) && new Date(page.asked(name)).toISOString()
  const query = () => ({action: page.asked("action"), username: page.asked("username"), target: page.asked("target"), since: instant("since"), until: instant("until")})
  let before = ""
  const turn = (label, to) => act(label, () => {
    before = to
    return all.refresh()
  })
  const all = page.region("audit", answer => [table("Entries", [["No.", e => e.seq, "number"], ["When", e => time(e.at)], ["User", e => e.username], ["Action", e => code(e.action)], ["Target", e => e.target ?? "–"], ["Address", e => e.ip_address],
    ["Details", e => more("Show", [data(shown(e.details)), facts([["Request", code(e.request_id)], ["Hash", wrap(e.entry_hash)]]),
      actions(act("Download its proof", async () => download(`audit-${e.seq}.proof.json`, JSON.stringify(await get("audit/prove", {seq: e.seq}), null, 2)), "small"))], `e${e.seq}`)]],
  answer.entries, empty("No entry matches.")), actions(before && turn("Newest", ""), answer.next_before && turn("Older", answer.next_before))], () => ({...query(), before, limit: 100}))
  const filter = (label, name, type) => field(label, name, {type, placeholder: name === "action" ? "user.*" : "", value: page.asked(name), onchange: event => {
    before = ""
    page.setQuery({[name]: event.target.value})
    all.refresh()
  }})
  return card("Entries", filters("Filter entries", filter("Action", "action"), filter("User", "username"), filter("Target", "target"), filter("From", "since", "datetime-local"), filter("Until", "until", "datetime-local")),
    exporter(query), all)
}

function exporter(query) {
  const said = h("span.quiet", {role: "status"}, "As filtered. The whole log is what dashctl audit verify --file takes.")
  let abort = null
  const stop = h("button", {hidden: true, onclick: () => abort.abort()}, "Cancel")
  return actions(act("Export", async () => {
    abort = new AbortController()
    stop.hidden = false
    const lines = []
    try {
      for await (const found of wholeLog(query(), abort.signal)) {
        lines.push(...found.map(entry => `${JSON.stringify({schema: 1, ...entry})}\n`))
        said.textContent = entriesOf(lines.length)
      }
      download("audit.jsonl", lines)
    } finally {
      stop.hidden = true
    }
  }, "", "Exporting…"), stop, said)
}

const claim = page => card("What the instance says", page.region("audit/verify", found => [h("p", badge(found.ok ? "intact" : "broken"), ` ${entriesOf(found.count)}`), found.problems.map(p => notice("bad", p)),
  facts([["First broken", found.first_broken_seq], ["Root", wrap(found.head.root)],
    ["Checkpoint", found.checkpoint ? `The newest one that is kept covers ${entriesOf(found.checkpoint.size)}. ${found.checkpoint.beyond} lie beyond it: no anchor vouches for those yet.`
      : "None is kept. Set DASHCTL_ANCHOR_FILE, or make an object store active, so that a rewrite of the whole log shows too."],
    ["Anchors", list(found.anchors, a => `${a.name}: ${a.error ?? entriesOf(a.size)}`)], ["Public key", wrap(found.public_key)]])]))

// With a checkpoint and a key from elsewhere the page believes not even the instance.
function ownProof(page) {
  const out = outcome()
  return card("Computed in this page", h("p", "Every entry is read, and the chain, the tree and the signature are computed here. With a checkpoint and a key that you kept elsewhere, the instance need not be believed."), form({
    submit: "Verify in this page",
    send: async ({note, key}) => {
      const abort = new AbortController()
      page.atEnd(() => abort.abort())
      const bar = h("progress", {"aria-label": "Progress"})
      out.replaceChildren(bar, actions(open("Cancel", () => abort.abort())))
      try {
        out.replaceChildren(...await prove(note.trim(), key.trim(), abort.signal, share => {bar.value = share;}))
      } catch (error) {
        out.replaceChildren(error.name === "AbortError" ? "Cancelled." : notice("bad", strong(error.message)))
      }
    },
  }, field("Kept checkpoint", "note", {rows: 4, class: "mono", hint: "Empty: the instance signs one now, which proves only that the log agrees with itself."}),
  field("Kept public key", "key", {class: "mono", hint: "Empty: the one that the instance shows."})), out)
}

async function prove(note, key, signal, onProgress) {
  const now = await get("audit/prove", {from: 0}, {signal})
  const verifier = key || now.public_key
  const fresh = await readCheckpoint(now.checkpoint, verifier)
  const kept = note && await readCheckpoint(`${note}\n`, verifier)
  const result = await verifyLog(wholeLog({}, signal), [fresh, kept].filter(Boolean), done => onProgress(Math.min(1, done / fresh.size)))
  const vouched = note && key ? `The ${entriesOf(kept.size)} up to ${kept.time} are those that were signed then, whatever the instance says. ${result.count - kept.size} came later.`
    : `The log agrees with itself and with the key that ${key ? "you gave" : "the instance shows"}. A checkpoint and a key that you kept elsewhere would prove more.`
  return [h("p", badge(result.ok ? "proved" : "broken", result.ok ? "good" : "bad"), ` ${entriesOf(result.count)} computed in this page`), notice(result.ok ? "good" : "bad", result.ok ? vouched : strong(result.problem)),
    facts([["Root", result.root && wrap(result.root)], ["Signed", `${entriesOf(fresh.size)} at ${fresh.time}`], ["Key", wrap(verifier)], ["First broken", result.first_broken_seq]])]
}
