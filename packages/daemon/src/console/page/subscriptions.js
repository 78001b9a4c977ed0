/** The subscriptions that a search finds. */
import { make, number, table } from "./elements.js"
import { eventName, receiverState } from "./words.js"

/**
 * @typedef {import("./console.js").Ask} Ask
 * @typedef {import("./console.js").View} View
 */

const shortened = (/** @type {string | null} */ address) =>
  address === null ? "–" : address.length > 24 ? `${address.slice(0, 12)}…${address.slice(-8)}` : address

/** @type {(ask: Ask, search: string) => View} */
export const subscriptions = (ask, search) => ({
  title: "Subscriptions",
  fill: async (main) => {
    const input = make("input", {
      ...{ id: "search", type: "search", name: "search", value: search, autocomplete: "off", spellcheck: "false" },
      placeholder: "0x…, a reference, an account, a host"
    })
    const found = make("div", { "aria-live": "polite" })
    const form = make(
      "form",
      {
        class: "search",
        role: "search",
        submit: (event) => {
          event.preventDefault()
          const text = /** @type {HTMLInputElement} */ (input).value.trim()
          location.hash = text === "" ? "#/subscriptions" : `#/subscriptions?search=${encodeURIComponent(text)}`
        }
      },
      make("label", {}, make("span", { class: "label" }, "Address, reference, account or host"), input),
      make("button", { type: "submit" }, "Search")
    )
    main.replaceChildren(make("h1", {}, "Subscriptions"), form, found)
    const { hasMore, items } = await ask(`/api/subscriptions?search=${encodeURIComponent(search)}`)
    const count = hasMore ? `The newest ${items.length}` : `${items.length}`
    found.replaceChildren(
      make("p", { class: "soft" }, search === "" ? `${count}, of all accounts` : `${count} for “${search}”`),
      items.length === 0
        ? ""
        : table(
            "Subscriptions",
            ["Reference", "State", "Account", "Chain", "Event", "Address", "Callbacks go to", ">Sent"],
            items.map((/** @type {any} */ item) => [
              make(
                "a",
                { href: `#/subscriptions/${item.referenceId}`, "data-row": true, class: "mono" },
                item.referenceId.slice(0, 8)
              ),
              ...[receiverState(item.health), item.account, item.chain, eventName(item.event)],
              make("span", { class: "mono", title: item.address ?? "" }, shortened(item.address)),
              make("span", { title: item.callbackUrl }, new URL(item.callbackUrl).host),
              number(item.lastSequence)
            ])
          )
    )
  }
})
