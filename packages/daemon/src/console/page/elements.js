/** Elements of the page, made one by one: nothing is ever parsed as HTML. */

/**
 * @typedef {string | number | Node | null | undefined | false} Child
 * @typedef {Record<string, string | number | boolean | undefined | ((event: Event) => unknown)>} Properties
 */

/**
 * @param {Element} element
 * @param {Properties} properties
 */
const assign = (element, properties) => {
  for (const [name, value] of Object.entries(properties)) {
    if (typeof value === "function") element.addEventListener(name, value)
    else if (value === true) element.setAttribute(name, "")
    else if (value !== undefined && value !== false) element.setAttribute(name, String(value))
  }
}

/**
 * @param {string} tag
 * @param {Properties} [properties] attributes, and listeners by the name of their event
 * @param {...Child} children
 */
export const make = (tag, properties = {}, ...children) => {
  const element = document.createElement(tag)
  assign(element, properties)
  for (const child of children) {
    if (child !== null && child !== undefined && child !== false)
      element.append(child instanceof Node ? child : String(child))
  }
  return element
}

/**
 * @param {string} tag
 * @param {Properties} properties
 * @param {...Element} children
 */
export const svg = (tag, properties, ...children) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag)
  assign(element, properties)
  element.append(...children)
  return element
}

/**
 * A table in a box that scrolls by itself where it is too wide.
 * @param {string} caption what a screen reader calls it
 * @param {ReadonlyArray<string>} heads names of columns; one that begins with `>` is aligned to the right
 * @param {ReadonlyArray<ReadonlyArray<Child>>} rows
 */
export const table = (caption, heads, rows) => {
  const side = heads.map((head) => (head.startsWith(">") ? "right" : undefined))
  return make(
    "div",
    { class: "table", tabindex: 0, role: "region", "aria-label": caption },
    make(
      "table",
      {},
      make(
        "thead",
        {},
        make("tr", {}, ...heads.map((head, i) => make("th", { scope: "col", class: side[i] }, head.replace(/^>/, ""))))
      ),
      make(
        "tbody",
        {},
        ...rows.map((cells) => make("tr", {}, ...cells.map((cell, i) => make("td", { class: side[i] }, cell))))
      )
    )
  )
}

/** @param {number} value */
export const number = (value) => value.toLocaleString("en")

/** @param {number} millis since the Unix epoch */
export const time = (millis) => {
  const text = new Date(millis).toISOString()
  return make("time", { datetime: text, title: text }, text.slice(0, 19).replace("T", " "))
}

/** @param {number} millis */
export const duration = (millis) => {
  const seconds = Math.max(0, Math.round(millis / 1000))
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} m ${seconds % 60} s`
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} m`
  return `${Math.floor(seconds / 86_400)} d ${Math.floor((seconds % 86_400) / 3600)} h`
}
