// Uploads: a small file goes in one request, a large one in parts that survive a reload, a broken connection and a
// session that ends. The handle of an open upload is kept in the tab; the file has to be picked again.
import {ApiError, get, keep, load, me, post, send} from "./api.js"
import {act, actions, badge, bytes, card, code, count, dropZone, h, list, notice, quiet, say, strong, words} from "./ui.js"
import {base64, hex, sha256} from "./proof.js"

const kEndings = /\.(ya?ml|sh|ps1|rpm|deb)$/i
const kOneRequest = 4 << 20 // up to here one request beats begin, part and commit
const kTries = 6
const kNameBytes = 255
const kFound = "found:" // and the digest of an asset
const kPaths = {asset: "storage/upload", image: "images/upload"}
const uploads = [] // of this tab, whatever view is shown
const watchers = new Set()
const changed = () => watchers.forEach(work => work())
const prefix = () => `upload:${me()?.username}:`
const digestOf = async blob => sha256(await blob.arrayBuffer())
const different = detail => new ApiError({status: 409, detail})

// Why this file would be refused, or nothing: asked at the pick, before a byte is sent.
export function refusal({name, size}, backend, kind) {
  if (!backend) return "No backend is active. An administrator has to choose one under Backends."
  if (new TextEncoder().encode(name).length > kNameBytes) return `The name is longer than ${kNameBytes} bytes.`
  if (/^\.|[/\\\p{Cc}]/u.test(name)) return "The name begins with a dot, or has a separator or a control character."
  if (kind === "image") return ""
  if (!kEndings.test(name)) return "This type is not taken. Allowed are .yml, .yaml, .sh, .ps1, .rpm and .deb."
  if (size > backend.max_upload_bytes) return `${bytes(size)} is more than ${bytes(backend.max_upload_bytes)}, the most that ${backend.label} takes. ${backend.upload_limit_reason}`
  if (backend.via_agent && !/^[A-Za-z0-9][\w.-]*$/.test(name)) return "The agent's share takes names of letters, digits, dots, underscores and hyphens."
  return ""
}

class Upload {
  constructor(file, backend, kind, kept = null) {
    const {name, size} = file ?? kept
    Object.assign(this, {file, kind, kept, name, size, sent: 0, state: file ? "waiting" : "unfinished", error: null, findings: kept?.findings ?? []})
    this.isChunked = kind === "image" || Boolean(kept) || size > kOneRequest && backend?.chunked_upload
    this.path = kPaths[kind]
    if (kept) this.count()
  }

  count() {
    this.sent = Math.min(this.kept.parts.length * this.kept.part_bytes, this.size)
    changed()
  }

  async run() {
    this.abort = new AbortController()
    Object.assign(this, {state: "sending", error: null})
    changed()
    try {
      await (this.isChunked ? this.sendParts(this.abort.signal) : this.sendWhole())
      this.state = "completed"
      say(`${this.name} is uploaded.`)
    } catch (error) {
      if (this.state === "cancelled") return
      Object.assign(this, {state: this.kept ? "stopped" : "failed", error})
    }
    changed()
  }

  async sendWhole() {
    const content = await new Promise((resolve, reject) => {
      const reader = Object.assign(new FileReader(), {onload: () => resolve(reader.result.split(",")[1] ?? ""), onerror: () => reject(reader.error)})
      reader.readAsDataURL(this.file)
    })
    this.found(await post(this.path, {filename: this.name, content_b64: content}, this.abort))
  }

  async sendParts(signal) {
    if (this.kept) await this.compare(signal)
    else {
      const begun = await post(`${this.path}/begin`, {filename: this.name, size: this.size}) // a cancel needs its handle
      this.kept = {handle: begun.handle, name: this.name, size: this.size, part_bytes: begun.part_bytes, kind: this.kind, parts: []}
      if (signal.aborted) await this.drop()
      signal.throwIfAborted()
    }
    this.keep()
    for (let n = this.kept.parts.length + 1; n <= Math.max(1, Math.ceil(this.size / this.kept.part_bytes)); n++) {
      const piece = this.slice(n)
      const digest = await digestOf(piece)
      const answer = await this.sendPart(n, piece, digest, signal)
      this.kept.parts.push({part: n, ref: answer.ref, digest: hex(digest)})
      if (n === 1) this.findings = this.kept.findings = answer.secret_findings ?? []
      this.keep()
      this.count()
    }
    this.found(await post(`${this.path}/commit`, {handle: this.kept.handle, parts: this.kept.parts.map(({part, ref}) => ({part, ref}))}, {signal}))
    this.forget()
  }

  slice(n) {
    return this.file.slice((n - 1) * this.kept.part_bytes, n * this.kept.part_bytes)
  }

  async sendPart(n, body, digest, signal) {
    const headers = {"Content-Type": "application/octet-stream", "X-Upload-Handle": this.kept.handle, "Content-Digest": `sha-256=:${base64(digest)}:`}
    for (let tried = 1; ; tried++) {
      try {
        return await (await send("PUT", `${this.path}/part/${n}`, {body, signal, headers})).json()
      } catch (error) {
        if (![0, 429, 502, 503].includes(error.status) || tried === kTries) throw error
        await new Promise(resolve => setTimeout(resolve, Math.min(500 * 2 ** tried, 8000)))
        signal.throwIfAborted()
      }
    }
  }

  // The picked file has to be the one whose parts are staged: by name, size and the digest of every part.
  async compare(signal) {
    const status = await get(`${this.path}/status`, {}, {signal, headers: {"X-Upload-Handle": this.kept.handle}})
    const refs = new Map(status.refs.map(r => [r.part, r.ref]))
    const parts = []
    for (const n of status.staged) {
      const digest = hex(await digestOf(this.slice(n)))
      const known = this.kept.parts[n - 1]
      if (known && known.digest !== digest) throw different(`Part ${n} of this file is not what was uploaded. Pick the same file, or cancel and upload this one.`)
      const ref = known?.ref ?? refs.get(n)
      if (!ref) break // it is sent again, as the last part may be
      parts.push({part: n, ref, digest})
    }
    this.kept.parts = parts
    this.count()
  }

  found({digest, secret_findings: findings = this.findings}) {
    this.findings = findings
    if (findings.length) keep(kFound + digest, findings)
  }

  get key() {
    return prefix() + this.kept.handle.slice(-24)
  }

  keep() {
    keep(this.key, this.kept)
  }

  forget() {
    if (this.kept) sessionStorage.removeItem(this.key)
  }

  pick([file]) {
    if (file.name === this.name && file.size === this.size) {
      this.file = file
      return this.run()
    }
    this.error = different(`This is another file: the upload is ${this.name} of ${bytes(this.size)}, the file is ${file.name} of ${bytes(file.size)}.`)
    changed()
  }

  async drop() {
    await post(`${this.path}/abort`, {handle: this.kept.handle})
    this.forget()
  }

  async cancel() {
    this.state = "cancelled"
    this.abort?.abort()
    changed()
    if (this.kept) await this.drop()
    say(`The upload of ${this.name} is cancelled.`)
  }
}

// What the upload of an asset's content found: {rule, line, match}. Known to the tab that sent it, until it signs out.
export const secretsIn = asset => load(kFound + asset.digest) ?? []
export const secretList = found => list(found, f => [`line ${f.line}: ${words(f.rule)} `, code(f.match)])

// One at a time, in the order of the pick: parts of one file already fill the line.
let isRunning = false
async function work() {
  if (isRunning) return
  isRunning = true
  for (let next; (next = uploads.find(u => u.state === "waiting"));) await next.run()
  isRunning = false
}

function addFiles(files, backend, kind) {
  for (const file of files) {
    const message = refusal(file, backend, kind)
    uploads.push(Object.assign(new Upload(file, backend, kind), message && {state: "refused", error: {message, next: "Change or rename the file, and pick it again."}}))
  }
  changed()
  work()
}

function findUnfinished(kind) {
  for (const key of Object.keys(sessionStorage).filter(k => k.startsWith(prefix()))) {
    const kept = load(key)
    if (kept.kind === kind && !uploads.some(u => u.kept?.handle === kept.handle)) uploads.push(new Upload(null, null, kind, kept))
  }
}

// The zone that takes files, and what became of them; done() after each that is complete.
export function uploadPanel(page, backend, kind, done) {
  findUnfinished(kind)
  const rows = h("ul.uploads", {"aria-label": "Uploads"})
  const ready = () => uploads.filter(u => u.state === "completed").length
  let before = ready()
  const draw = () => {
    rows.replaceChildren(...uploads.filter(u => u.kind === kind).map(row))
    if (ready() > before) done()
    before = ready()
  }
  watchers.add(draw)
  page.atEnd(() => watchers.delete(draw))
  draw()
  return card("Upload", dropZone("Drop files here, or ", true, files => addFiles(files, backend, kind)), rows)
}

function row(upload) {
  const {state, name, size, sent, error, findings, isChunked} = upload
  const isOpen = ["waiting", "sending", "stopped", "unfinished"].includes(state)
  return h("li", h("div.upload-head", strong(name), quiet(`${bytes(size)}, ${isChunked ? "in parts" : "in one request"}`), badge(state)),
    isOpen && [h("progress", {max: Math.max(1, size), "aria-label": `Progress of ${name}`, value: isChunked || state !== "sending" ? sent : undefined}), isChunked && h("div.quiet", `${bytes(sent)} of ${bytes(size)}`)],
    error && h("p.bad", {role: "alert"}, error.message, " ", error.next, error.requestId && quiet(` Request ${error.requestId}`)),
    findings.length > 0 && notice("warn", strong(`${count(findings.length, "possible secret")} in this file. `), "Everybody who sees the asset can read them.", secretList(findings)),
    state === "unfinished" && dropZone("Begun before this page was loaded. To go on, drop the same file here, or ", false, files => upload.pick(files)),
    isOpen && actions(state === "stopped" && act("Resume", () => upload.run(), "primary"), act("Cancel", () => upload.cancel())))
}
