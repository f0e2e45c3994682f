// The audit log: entries with filters, export, and its verification, which this page computes by itself.
import {get, send} from "../api.js"
import {parseEntries, readCheckpoint, verifyLog} from "../proof.js"
import {act, actions, badge, card, code, count, data, download, empty, facts, field, filters, form, list, more, notice, outcome, p, shown, strong, table, time, wrap} from "../ui.js"

const kPage = 500 // the most that the API gives at once
const entriesOf = n => count(n, "entry", "entries")

export default page => page.tabs("Audit", [["", "Entries", entries, true], ["verify", "Verify", () => [claim(page), ownProof(page)], true]])

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
  const query = () => ({...page.asks("action", "username", "target"), since: instant("since"), until: instant("until")})
  const turn = (label, before) => act(label, () => page.ask({page: before}, all))
  const all = page.region("audit", answer => [table("Entries", [["No.", "seq", "number"], ["When", "at", time], ["User", "username"], ["Action", "action", code], ["Target", "target"], ["Address", "ip_address"],
    ["Details", e => more("Show", [data(shown(e.details)), facts([["Request", code(e.request_id)], ["Hash", wrap(e.entry_hash)]]),
      actions(act("Download its proof", async () => download(`audit-${e.seq}.proof.json`, JSON.stringify(await get("audit/prove", {seq: e.seq}), null, 2)), "small"))], `e${e.seq}`)]],
  answer.entries, empty("No entry matches.")), actions(page.asked("page") && turn("Newest", ""), answer.next_before && turn("Older", answer.next_before))], () => ({...query(), before: page.asked("page"), limit: 100}))
  const filter = (label, name, more) => page.filter(label, name, all, more)
  const day = {type: "datetime-local"}, out = outcome(page)
  return card("Entries", filters("Filter entries", filter("Action", "action", {placeholder: "user.*"}), filter("User", "username"), filter("Target", "target"), filter("From", "since", day), filter("Until", "until", day),
    act("Export", () => exportLog(query(), out))), out, all)
}

// As filtered; the whole log is what `dashctl audit verify --file` takes.
const exportLog = (query, out) => out.run(async (signal, tell) => {
  const lines = []
  for await (const found of wholeLog(query, signal)) {
    lines.push(...found.map(entry => `${JSON.stringify({schema: 1, ...entry})}\n`))
    tell(null, entriesOf(lines.length))
  }
  download("audit.jsonl", lines)
  out.replaceChildren(notice("good", `${entriesOf(lines.length)} exported.`))
})

const claim = page => card("What the instance says", page.region("audit/verify", found => [p(badge(found.ok ? "intact" : "broken"), ` ${entriesOf(found.count)}`), found.problems.map(p => notice("bad", p)),
  facts([["First broken", found.first_broken_seq], ["Root", wrap(found.head.root)],
    ["Checkpoint", found.checkpoint ? `The newest one that is kept covers ${entriesOf(found.checkpoint.size)}. ${found.checkpoint.beyond} lie beyond it: no anchor vouches for those yet.`
      : "None is kept. With DASHCTL_ANCHOR_FILE or an active object store a rewrite of the whole log shows too."],
    ["Anchors", list(found.anchors, a => `${a.name}: ${a.error ?? entriesOf(a.size)}`)], ["Public key", wrap(found.public_key)]])]))

// With a checkpoint and a key from elsewhere the page believes not even the instance.
function ownProof(page) {
  const out = outcome(page)
  return card("Computed in this page", p("Every entry is read, and the chain, the tree and the signature are computed here. With a checkpoint and a key that you kept, the instance need not be believed."), form({
    submit: "Verify in this page",
    send: ({note, key}) => out.run(async (signal, tell) => out.replaceChildren(...await prove(note.trim(), key.trim(), signal, tell))),
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
  return [p(badge(result.ok ? "proved" : "broken", result.ok ? "good" : "bad"), ` ${entriesOf(result.count)} computed in this page`), notice(result.ok ? "good" : "bad", result.ok ? vouched : strong(result.problem)),
    facts([["Root", result.root && wrap(result.root)], ["Signed", `${entriesOf(fresh.size)} at ${fresh.time}`], ["Key", wrap(verifier)], ["First broken", result.first_broken_seq]])]
}
