// The public API: requests with the session, and errors as sentences.
import {sentence} from "./format.js"

const kSession = "session"

// What this tab alone keeps, until it signs out.
export const load = key => JSON.parse(sessionStorage.getItem(key))
export const keep = (key, value) => sessionStorage.setItem(key, JSON.stringify(value))
// Who is signed in, as auth/me has it, with token and expires (ms).
export const me = () => load(kSession)
export const isAdmin = () => me()?.is_admin

export function may(permission) {
  const [area, level] = permission.split(":")
  return isAdmin() || Boolean(me()?.permissions?.[area]?.includes(level))
}

// `message` is a sentence, `next` what the reader can do.
export class ApiError extends Error {
  constructor({status, detail, requestId = "", retryAfter = null, body = null}) {
    super(text(detail, status))
    Object.assign(this, {status, detail, requestId, retryAfter, body})
    this.next = nextStep(this)
  }
}

function text(detail, status) {
  if (typeof detail === "string") return sentence(detail)
  if (Array.isArray(detail))
    return detail.map(d => sentence(`${d.loc.filter(l => l !== "body").join(".")}: ${d.msg}`)).join(" ")
  if (detail?.reasons?.length) return detail.reasons.map(sentence).join(" ")
  return status ? `The instance answered ${status}.` : "The instance does not answer."
}

const kNext = {
  0: "Check that it runs and is reachable, then try again.", 400: "Correct the value and send it again.", 401: "Sign in again.", 403: "Ask an administrator for the right to do this.",
  404: "It may have been removed; reload the list.", 409: "Reload to see what changed, then decide again.",
  policy: "Change the request, or try it under Gate to see which rule refuses it.", change_window: "Book a time inside of the window.",
}

const nextStep = ({status, detail, retryAfter}) => kNext[detail?.error] ?? kNext[status === 422 ? 400 : status] ?? (status === 429 || status === 503 ? `Try again${retryAfter ? ` in ${retryAfter} seconds` : " in a moment"}.`
  : "Try again; if it stays, give the request id to whoever runs this instance.")

let onSignedOut = () => {}
export const whenSignedOut = work => (onSignedOut = work)

// Sends a request to a path below /api/ and returns the Response of a success. `query` leaves out what is empty.
export async function send(method, path, {body, query, headers = {}, signal, anonymous = false} = {}) {
  const url = new URL(`/api/${path}`, location.origin)
  for (const [name, value] of Object.entries(query ?? {}))
    for (const one of [value].flat()) if (one !== undefined && one !== null && one !== "") url.searchParams.append(name, one)
  const sent = {...headers}
  const token = !anonymous && me()?.token
  if (token) sent.Authorization = `Bearer ${token}`
  let payload = body
  if (body !== undefined && !(body instanceof Blob) && !(body instanceof URLSearchParams)) {
    sent["Content-Type"] = "application/json"
    payload = JSON.stringify(body)
  }
  let answer
  try {
    answer = await fetch(url, {method, body: payload, headers: sent, signal})
  } catch (error) {
    if (error.name === "AbortError") throw error
    throw new ApiError({status: 0})
  }
  if (answer.ok) return answer
  const problem = await answer.json().catch(() => ({}))
  const failure = new ApiError({status: answer.status, detail: problem.detail, body: problem,
    requestId: answer.headers.get("X-Request-Id") ?? "", retryAfter: answer.headers.get("Retry-After")})
  if (failure.status === 401 && token) onSignedOut(failure)
  throw failure
}

async function json(method, path, options) {
  const answer = await send(method, path, options)
  return answer.status === 204 ? null : answer.json()
}

const sender = (method, member) => (path, value, options) => json(method, path, {[member]: value, ...options})
export const get = sender("GET", "query"), remove = sender("DELETE", "query")
export const post = sender("POST", "body"), put = sender("PUT", "body"), patch = sender("PATCH", "body")
export const part = encodeURIComponent

export async function signIn(username, password) {
  const form = new URLSearchParams({username, password})
  const {access_token: token} = await json("POST", "auth/login", {body: form, anonymous: true})
  const claims = JSON.parse(atob(token.split(".")[1].replaceAll("-", "+").replaceAll("_", "/")))
  const user = await get("auth/me", {}, {headers: {Authorization: `Bearer ${token}`}, anonymous: true})
  keep(kSession, {...user, token, expires: claims.exp * 1000})
}

export async function signOut() {
  try {
    await post("auth/logout")
  } finally {
    sessionStorage.clear()
  }
}

// Calls work(event, data) for each server-sent event (WHATWG HTML, section 9.2) until the stream ends.
export async function readEvents(path, {query, signal, lastId = null}, work) {
  const headers = {Accept: "text/event-stream", ...(lastId !== null && {"Last-Event-ID": lastId})}
  const answer = await send("GET", path, {query, headers, signal})
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ""
  for (;;) {
    const {done, value} = await reader.read()
    if (done) return
    const events = (rest + value).split(/\r?\n\r?\n/)
    rest = events.pop()
    for (const event of events) emit(event, work)
  }
}

function emit(event, work) {
  const fields = {event: "message", data: "", id: null}
  for (const line of event.split(/\r?\n/)) {
    const [, name, value] = /^([^:]*):? ?(.*)$/.exec(line)
    if (name === "data") fields.data += (fields.data && "\n") + value
    else if (name) fields[name] = value
  }
  if (fields.data || fields.event !== "message") work(fields.event, fields.data, fields.id)
}
