/** The domains of all accounts, and which of them are verified. */
import { make, table, time } from "./elements.js"

/**
 * @typedef {import("./console.js").Ask} Ask
 * @typedef {import("./console.js").View} View
 */

/** @type {(ask: Ask) => View} */
export const domains = (ask) => ({
  title: "Domains",
  fill: async (main) => {
    const { items } = await ask("/api/domains")
    main.replaceChildren(
      make("h1", {}, "Domains"),
      items.length === 0
        ? make("p", { class: "soft" }, "No account has added a domain yet.")
        : table(
            "Domains",
            ["Domain", "Account", "State", "Added (UTC)", "Verified (UTC)"],
            items.map((/** @type {any} */ { account, created, name, verified }) => [
              ...[name, account],
              make(
                "span",
                { class: `state ${verified === null ? "wait" : "good"}` },
                verified === null ? "○ not verified" : "● verified"
              ),
              time(created),
              verified === null ? "–" : time(verified)
            ])
          )
    )
  }
})
