/** A form that has callbacks sent again in bulk, after a receiver has lost what it had. */
import { make } from "./elements.js"

/**
 * @typedef {import("./console.js").Ask} Ask
 * @typedef {import("./console.js").Say} Say
 */

/** @type {(name: string, label: string, properties: Record<string, string | boolean>) => HTMLElement} */
const field = (name, label, properties) =>
  make(
    "label",
    {},
    make("span", { class: "label" }, label),
    make("input", { name, autocomplete: "off", spellcheck: "false", ...properties })
  )

/**
 * @param {Ask} ask
 * @param {Say} say
 * @param {string} path of the request that the form makes
 * @param {boolean} isOfAccount whether an account is named, and perhaps a host
 */
export const sendAgain = (ask, say, path, isOfAccount) => {
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault()
    const form = /** @type {HTMLFormElement} */ (event.currentTarget)
    const entries = [...new FormData(form)].map(([name, value]) => [name, String(value).trim()])
    const { since, ...named } = Object.fromEntries(entries.filter(([, value]) => value !== ""))
    try {
      // The field has no zone: the page shows all times in UTC.
      const { subscriptions = 1 } = await ask(path, { ...named, ...(since && { since: Date.parse(`${since}Z`) }) })
      say(`The callbacks of ${subscriptions} ${subscriptions === 1 ? "subscription" : "subscriptions"} are sent again`)
      form.reset()
    } catch (error) {
      say(/** @type {Error} */ (error).message)
    }
  }
  return make(
    "form",
    { class: "again", submit },
    ...(isOfAccount
      ? [
          field("account", "Account", { required: true }),
          field("host", "Host (all, if none is named)", { placeholder: "hooks.example.com" })
        ]
      : []),
    field("since", "Since (UTC; all, if none is named)", { type: "datetime-local" }),
    make("button", { type: "submit" }, "Send all again")
  )
}
