/** The credits of an account, day by day, and the balances of all accounts. */
import { bars } from "./chart.js"
import { make, number, table } from "./elements.js"

/**
 * @typedef {import("./console.js").Ask} Ask
 * @typedef {import("./console.js").View} View
 */

/** @type {(ask: Ask, account: string | null) => View} */
export const credits = (ask, account) => ({
  title: "Credits",
  everyMillis: 10_000,
  fill: async (main) => {
    const { items } = await ask("/api/accounts")
    const chosen = account ?? items[0]?.name
    const select = make(
      "select",
      {
        id: "account",
        change: (event) => {
          location.hash = `#/credits?account=${encodeURIComponent(/** @type {HTMLSelectElement} */ (event.target).value)}`
        }
      },
      ...items.map((/** @type {any} */ { name }) => make("option", { value: name, selected: name === chosen }, name))
    )
    const chart = make("div", { class: "card" })
    main.replaceChildren(
      make("h1", {}, "Credits"),
      ...(chosen === undefined
        ? [make("p", { class: "soft" }, "There is no account yet: headwater accounts create")]
        : [
            make("p", {}, make("label", {}, make("span", { class: "label" }, "Account "), select)),
            chart,
            make("h2", {}, "Balances"),
            table(
              "Balances",
              ["Account", ">Credits left"],
              items.map((/** @type {any} */ { balance, name }) => [
                make("a", { href: `#/credits?account=${encodeURIComponent(name)}`, "data-row": true }, name),
                number(balance)
              ])
            )
          ])
    )
    if (chosen === undefined) return
    const { complete, days } = await ask(`/api/credits?account=${encodeURIComponent(chosen)}`)
    chart.replaceChildren(
      bars({
        ...{ label: `Consumed by ${chosen}, each of the last 30 days`, kind: "bar" },
        days: days.map((/** @type {any} */ { consumed, day }) => [day, consumed])
      }),
      bars({
        ...{ label: "Granted", kind: "bar up" },
        days: days.map((/** @type {any} */ { day, granted }) => [day, granted])
      }),
      make(
        "figcaption",
        {},
        make("span", {}, new Date(days[0].day).toISOString().slice(0, 10)),
        make("span", {}, complete ? "today" : "today; only the newest 20,000 entries are counted")
      )
    )
  }
})
