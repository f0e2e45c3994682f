// The image hub: images, uploads of any size, and copying one to a cloud.
import {part, post} from "../api.js"
import {followJob} from "../jobs.js"
import {ask, bytes, card, code, data, digest, empty, field, fields, form, h, needed, p, remover, shown, small, strong, table} from "../ui.js"
import {uploadPanel} from "../uploads.js"

const kClouds = [["cloud1", "AWS"], ["cloud2", "Azure"], ["cloud3", "Google Cloud"], ["cloud4", "Oracle Cloud"]]

export default async function images(page) {
  const {backends} = await page.get("storage/backends")
  const jobs = h("div")
  const follow = ({job_id: id}) => jobs.prepend(followJob(page, id, (job, box) => {
    all.refresh()
    if (job.result?.next_step) box.append(h("h3", "Next step"), data(shown(job.result.next_step)))
  }))
  const all = page.region("images", ({hub, items}) => [h("p.quiet", "On ", code(hub)), table("Images", [["Name", "name", strong], ["Format", "format"], ["Size", "size", bytes], ["Digest", "digest", digest],
    ["", i => [small("Promote…", () => promote(i, follow)), remover("Delete", `images/${part(i.name)}`, `Delete ${i.name}?`, "Copies in clouds stay as they are.", all.refresh, {typed: i.name})]]],
  items, empty("The hub has no images.", "Upload one."))])
  const place = form({
    name: "place", submit: "Place it",
    send: async ({backend, key, name}, element) => {
      follow(await post("images", {name, source: {backend, key}}))
      element.reset()
    },
  }, fields(field("Backend", "backend", {options: backends.filter(b => b.configured).map(b => [b.id, b.label])}),
    needed("Key", "key", {hint: "From the root of the bucket, as the build printed it."}), needed("Name on the hub", "name", {hint: "With the ending of its format, such as base.vhd."})),
  p("It is copied and read back; then the build's own copy is deleted."))
  return [uploadPanel(page, backends[0], "image", all.refresh), card("Place a build's image", place), jobs, card("Images", all)]
}

const promote = (image, follow) => ask(`Promote ${image.name}`, "Copy to the cloud", async ({cloud}) => follow(await post(`images/${part(image.name)}/promote`, {cloud})),
  [p("It is copied to the cloud's staging place. The hub keeps its own."), field("Cloud", "cloud", {options: kClouds})])
