// What changed at the instance: server-sent events, or a question every five seconds.
import {ApiError, readEvents} from "./api.js"

const kPause = 5000 // between questions, and before a broken stream is opened again
const listeners = new Set()
let stream = new AbortController()
let timer = null

// Calls work() after a change of a topic: "jobs", "approvals" or "agents". Returns how to stop.
export function onChange(topics, work) {
  const listener = {topics, work, due: null}
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function tell(topic) {
  for (const listener of listeners) {
    if (topic && !listener.topics.includes(topic)) continue
    // Many changes within a moment are one question.
    listener.due ??= setTimeout(() => {
      listener.due = null
      if (listeners.has(listener)) listener.work()
    }, 150)
  }
}

export const tellAll = () => tell(null)

const topicOf = event => ["jobs", "approvals", "agents"].find(topic => topic.startsWith(event.split(/[._:]/)[0]))

export function stopLive() {
  stream.abort()
  clearTimeout(timer)
}

export function startLive() {
  stopLive()
  stream = new AbortController()
  follow(stream.signal)
}

async function follow(signal) {
  try {
    await readEvents("events", {signal}, event => tell(topicOf(event)))
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return
  }
  if (signal.aborted) return
  tell(null)
  timer = setTimeout(() => follow(signal), kPause)
}
