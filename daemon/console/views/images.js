// The image hub: images, uploads of any size, placing one that a build left, and copying one to a cloud.
import {part, post, remove} from "../api.js"
import {h} from "../dom.js"
import {bytes, shown} from "../format.js"
import {followJob} from "../jobs.js"
import {adminsOnly, ask, card, code, confirm, data, empty, field, open, rowActions, say, strong, table} from "../ui.js"
import {uploadPanel} from "../uploads.js"

const kClouds = [["cloud1", "AWS"], ["cloud2", "Azure"], ["cloud3", "Google Cloud"], ["cloud4", "Oracle Cloud"]]

export default async function images(page) {
  const barred = adminsOnly()
  if (barred) return page.element.append(barred)
  const {backends} = await page.get("storage/backends")
  const jobs = h("div")
  const follow = ({job_id: id}) => jobs.prepend(followJob(page, id, (job, box) => {
    all.refresh()
    if (job.result?.next_step) box.append(h("h3", "Next step"), data(shown(job.result.next_step)))
  }))
  const all = page.region("images", ({hub, items}) => [h("p.quiet", "On ", code(hub)), table("Images", [["Name", i => strong(i.name)], ["Format", i => i.format ?? "–"], ["Size", i => bytes(i.size), "number"],
    ["Digest", i => (i.digest ? h("code", {title: i.digest}, `${i.digest.slice(0, 15)}…`) : "unknown")],
    ["", i => rowActions(open("Promote…", () => promote(i, follow), "small"), open("Delete…", () => confirm(`Delete ${i.name}?`, "Delete", "Copies in clouds stay as they are.", async () => {
      await remove(`images/${part(i.name)}`)
      say(`${i.name} is deleted.`)
      all.refresh()
    }, i.name), "small danger"))]], items, empty("The hub has no images.", "Upload one, or place one that a build exported."))])
  page.element.append(uploadPanel(page, backends[0], "image", all.refresh), jobs, card("Images", all))
}

const promote = (image, follow) => ask(`Promote ${image.name}`, "Copy to the cloud", async ({cloud}) => follow(await post(`images/${part(image.name)}/promote`, {cloud})),
  [h("p", "It is copied to the staging place of the cloud. The hub keeps its own."), field("Cloud", "cloud", {options: kClouds})])
