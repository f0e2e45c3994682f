// Builds and replaces elements. Text becomes text nodes only: nothing in the console parses markup.

const asProperty = new Set(["value", "checked", "disabled", "hidden", "open", "required", "readOnly", "multiple"])

// h("button.primary", {onclick, title}, "Save"): an element with classes, attributes, listeners and children.
export function h(tag, ...rest) {
  const [name, ...classes] = tag.split(".")
  const element = document.createElement(name)
  if (classes.length) element.className = classes.join(" ")
  if (name === "button") element.type = "button"
  const [first] = rest
  if (first && typeof first === "object" && !(first instanceof Node) && !Array.isArray(first)) set(element, rest.shift())
  add(element, rest)
  return element
}

function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false && !asProperty.has(name)) continue
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value)
    else if (name === "class") element.classList.add(...value.split(" ").filter(Boolean))
    else if (name === "vars") for (const [key, text] of Object.entries(value)) element.style.setProperty(key, text)
    else if (asProperty.has(name)) element[name] = value
    else element.setAttribute(name, value === true ? "" : value)
  }
}

function add(element, children) {
  for (const child of children.flat(Infinity)) if (child || child === 0) element.append(child)
}

// What a control is known by after its region was drawn again.
const nameOf = e => e.id || e.getAttribute("href") || `${e.getAttribute("aria-label") ?? e.textContent}|${e.closest("tr, li, section")?.textContent.slice(0, 80)}`
const kControls = "a[href], button, input, select, summary"
const kStateful = "button, input, select, textarea"

// Replaces what a region shows. An equal tree without controls stays; focus and open details are kept.
export function swap(region, ...children) {
  const next = h("div", children)
  const isSame = region.childNodes.length === next.childNodes.length && !next.querySelector(kStateful) &&
    [...region.childNodes].every((node, i) => node.isEqualNode(next.childNodes[i]))
  if (isSame) return
  const focused = region.contains(document.activeElement) && nameOf(document.activeElement)
  const open = new Set([...region.querySelectorAll("details[open]")].map(d => d.dataset.key))
  region.replaceChildren(...next.childNodes)
  for (const details of region.querySelectorAll("details[data-key]")) if (open.has(details.dataset.key)) details.open = true
  if (focused) [...region.querySelectorAll(kControls)].find(e => nameOf(e) === focused)?.focus()
}

export const byId = id => document.getElementById(id)
let lastId = 0
export const newId = () => `e${++lastId}`
