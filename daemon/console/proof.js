// The audit log's proof, computed here: the chain of entries, the Merkle tree over them (RFC 6962) and the signature of
// a checkpoint (C2SP signed-note). docs/formats.md describes the encoding. The instance gives
// the entries, and the checkpoint and the key may come from where it cannot write.

import {ApiError} from "./api.js"

const utf8 = new TextEncoder()
const wrong = detail => new ApiError({status: 422, detail})
const kClouds = {aws: "cloud1", azure: "cloud2", gcp: "cloud3", oci: "cloud4"}
const kMachine = {"aws:ec2": "cloud1:vm", "azure:vm": "cloud2:vm", "gcp:gce": "cloud3:vm", "oci:compute": "cloud4:compute"}

const join = (...parts) => {
  const out = new Uint8Array(parts.reduce((sum, p) => sum + p.length, 0))
  let at = 0
  for (const p of parts) {
    out.set(p, at)
    at += p.length
  }
  return out
}
export const sha256 = async bytes => new Uint8Array(await crypto.subtle.digest("SHA-256", bytes))
export const hex = bytes => Array.from(bytes, b => b.toString(16).padStart(2, "0")).join("")
const fromHex = text => Uint8Array.from(text.match(/../g) ?? [], pair => parseInt(pair, 16))
export const base64 = bytes => btoa(Array.from(bytes, b => String.fromCharCode(b)).join(""))
const fromBase64 = text => Uint8Array.from(atob(text), c => c.charCodeAt(0))
const same = (a, b) => a.length === b.length && a.every((byte, i) => byte === b[i])

function integer64(value) {
  const out = new Uint8Array(8)
  new DataView(out.buffer).setBigInt64(0, BigInt(value))
  return out
}
function text(value) {
  if (value === null) return new Uint8Array([255, 255, 255, 255])
  const bytes = utf8.encode(value)
  const length = new Uint8Array(4)
  new DataView(length.buffer).setUint32(0, bytes.length)
  return join(length, bytes)
}

// Numbers keep their spelling, so that the text is the one that was hashed.
export const parseEntries = document => JSON.parse(document, (key, value, context) =>
  (typeof value === "number" && context?.source !== undefined && String(value) !== context.source ? JSON.rawJSON(context.source) : value))

// JSON with sorted names and no blanks, as the instance hashed it. Names sort by their UTF-8 bytes.
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`
  if (value === null || typeof value !== "object" || JSON.isRawJSON?.(value)) return JSON.stringify(value)
  const names = Object.keys(value).sort((a, b) => compareBytes(utf8.encode(a), utf8.encode(b)))
  return `{${names.map(n => `${JSON.stringify(n)}:${canonical(value[n])}`).join(",")}}`
}
function compareBytes(a, b) {
  for (let i = 0; i < Math.min(a.length, b.length); i++) if (a[i] !== b[i]) return a[i] - b[i]
  return a.length - b.length
}

// An instance may show the provider's spelling; the log has the canonical one.
function canonicalAction(action) {
  for (const [provider, own] of Object.entries(kMachine)) if (action.startsWith(`${provider}:`)) return own + action.slice(provider.length)
  const [first, ...rest] = action.split(":")
  return rest.length && kClouds[first] ? [kClouds[first], ...rest].join(":") : action
}

// Microseconds since 1970 of "2026-07-01T10:00:00.123456Z".
function micros(time) {
  const [, seconds, fraction = ""] = /^(.*?)(?:\.(\d+))?Z$/.exec(time)
  return BigInt(Date.parse(`${seconds}Z`)) * 1000n + BigInt(fraction.padEnd(6, "0").slice(0, 6))
}

export async function entryHash(previous, entry) {
  const details = typeof entry.details === "string" ? entry.details : canonical(entry.details)
  const body = join(new Uint8Array([0]), previous, integer64(entry.seq), integer64(micros(entry.at)), text(entry.username),
    text(canonicalAction(entry.action)), text(entry.target), text(details), text(entry.ip_address), text(entry.request_id))
  return sha256(join(body, fromHex(entry.seal)))
}

const node = (left, right) => sha256(join(new Uint8Array([1]), left, right))

// The roots of complete subtrees, largest first; one more leaf costs a hash on average.
export class Tree {
  size = 0
  roots = []
  async add(leaf) {
    let hash = leaf
    for (let n = this.size; n & 1; n >>= 1) hash = await node(this.roots.pop(), hash)
    this.roots.push(hash)
    this.size++
  }
  async root() {
    if (!this.size) return sha256(new Uint8Array())
    let hash = this.roots.at(-1)
    for (let i = this.roots.length - 2; i >= 0; i--) hash = await node(this.roots[i], hash)
    return hash
  }
}

// Reads "name+id+base64" as the 32 bytes of the key, or throws a sentence.
async function readKey(verifier) {
  const [, name, id, blob] = /^(\S+?)\+([0-9a-f]{8})\+(\S+)$/.exec(verifier.trim()) ?? []
  const bytes = blob ? fromBase64(blob) : []
  if (bytes.length !== 33 || bytes[0] !== 1) throw wrong("The public key is no verifier key (name+id+base64).")
  const digest = await sha256(join(utf8.encode(`${name}\n`), bytes))
  if (hex(digest.slice(0, 4)) !== id) throw wrong("The id of the public key does not belong to it.")
  return {name, id: digest.slice(0, 4), bytes: bytes.slice(1)}
}

// Checks the signature of a checkpoint and returns {size, root, time}, or throws a sentence.
export async function readCheckpoint(note, verifier) {
  const key = await readKey(verifier)
  const cut = note.indexOf("\n\n")
  const body = note.slice(0, cut + 1)
  const line = note.slice(cut + 2).split("\n").find(l => l.startsWith(`— ${key.name} `))
  if (cut < 0 || !line) throw wrong("The checkpoint has no signature of this key.")
  const blob = fromBase64(line.slice(key.name.length + 3))
  const imported = await crypto.subtle.importKey("raw", key.bytes, "Ed25519", false, ["verify"])
  const isSigned = blob.length === 68 && same(blob.slice(0, 4), key.id) && await crypto.subtle.verify("Ed25519", imported, blob.slice(4), utf8.encode(body))
  if (!isSigned) throw wrong("The signature of the checkpoint is wrong.")
  const [, size, root, ...more] = body.split("\n")
  return {size: Number(size), root, time: more.find(l => l.startsWith("time "))?.slice(5)}
}

// Walks all entries from the first on. pages() yields lists of entries; checkpoints are {size, root}.
// Returns {ok, count, root, first_broken_seq, problem}.
export async function verifyLog(pages, checkpoints, onProgress = () => {}) {
  const tree = new Tree()
  let previous = new Uint8Array(32)
  const broken = (seq, problem) => ({ok: false, count: tree.size, first_broken_seq: seq, problem})
  for await (const entries of pages) {
    for (const entry of entries) {
      const expected = tree.size + 1
      if (entry.seq !== expected) return broken(expected, `Entry ${entry.seq} follows entry ${tree.size}.`)
      const hash = await entryHash(previous, entry)
      if (hex(hash) !== entry.entry_hash) return broken(expected, `Entry ${expected} was altered, or an entry before it.`)
      previous = hash
      await tree.add(hash)
      for (const {size, root} of checkpoints)
        if (size === tree.size && base64(await tree.root()) !== root) return broken(expected, `A checkpoint of ${size} entries disagrees with the log.`)
    }
    onProgress(tree.size)
  }
  const missed = checkpoints.find(c => c.size > tree.size)
  if (missed) return broken(tree.size + 1, `A checkpoint covers ${missed.size} entries and the log has ${tree.size}: its end was cut.`)
  return {ok: true, count: tree.size, root: base64(await tree.root()), first_broken_seq: null, problem: null}
}
