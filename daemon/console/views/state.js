// Infrastructure state: what jobs have made, its versions, and locks whose holder is gone.
import {get, part} from "../api.js"
import {badge, bytes, card, code, data, dialog, empty, facts, h, p, quiet, region, remover, shown, since, small, strong, sub, table, time, wrap} from "../ui.js"

export default function states(page) {
  const all = page.region("storage/state", ({backend, items}) => [h("p.quiet", "On ", code(backend), ". Values that are sensitive are never shown."), table("States", [["Job", i => [strong(i.job), sub(i.key)]], ["Size", "bytes", bytes], ["Serial", "serial", "number"],
    ["Resources", "resources", "number"], ["Lock", i => (i.lock ? [badge("locked"), sub(i.lock.operation, " by ", i.lock.who || "nobody named", ", ", since(i.lock.created_at))] : "none")],
    ["", i => [small("Show", () => inspect(i.job, "", drawState)), small("History", () => inspect(i.job, "/history", drawHistory)), i.lock && unlock(i, all.refresh)]]],
  items, empty("No infrastructure state.", "Deploys write it here."))])
  return card("Infrastructure state", all)
}

const inspect = (job, path, draw) => dialog(`State of ${job}`, () => region(() => get(`storage/state/${part(job)}${path}`), draw), "wide")

const drawState = ({resources, outputs, serial, lineage}) => [facts([["Serial", serial], ["Lineage", lineage && wrap(lineage)]]),
  table("Resources", [["Address", "address", code], ["Type", "type"]], resources, empty("It has no resources.")),
  Object.keys(outputs).length > 0 && table("Outputs", [["Output", ([name]) => name], ["Value", ([, value]) => (value === null ? quiet("sensitive") : data(shown(value)))]], Object.entries(outputs))]

const drawHistory = ({versioning, message, versions}) => [p("Versioning ", badge(versioning, versioning === "on" ? "good" : "warn"), " ", message),
  table("Versions", [["Version", "id", wrap], ["When", "modified_at", time], ["Size", "bytes", bytes], ["", v => (v.current ? badge("current", "good") : v.deleted && badge("deleted"))]], versions, empty("No version is kept."))]

const unlock = ({job, lock}, done) => remover("Unlock", `storage/state/${part(job)}/lock`, `End the lock of ${job}?`,
  `Only when ${lock.who || "its holder"} is gone: two that write at once destroy the state.`, done, {typed: job, query: {id: lock.id}})
