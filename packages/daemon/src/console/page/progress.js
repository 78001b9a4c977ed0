/** Syncs under way, and movements of coins in doubt. */
import { make, number, table } from "./elements.js"

/**
 * @typedef {import("./console.js").Ask} Ask
 * @typedef {import("./console.js").View} View
 */

const blocksLeft = (/** @type {any} */ { last, next }) => (next === null || next > last ? "–" : number(last - next + 1))

/** @type {(ask: Ask) => View} */
export const progress = (ask) => {
  const syncs = make("div")
  const unresolved = make("div")
  const soft = (/** @type {string} */ text) => make("p", { class: "soft" }, text)

  const again = async () => {
    const { remedy, syncs: found, unresolved: inDoubt } = await ask("/api/progress")
    syncs.replaceChildren(
      found.length === 0
        ? soft("Nothing is being looked for.")
        : table(
            "Syncs",
            ["Chain", "Account", "Wallet or address", "State", ">Blocks left"],
            found.map((/** @type {any} */ sync) => [
              ...[sync.chain, sync.account, make("code", {}, sync.subject), sync.state, blocksLeft(sync)]
            ])
          )
    )
    if (inDoubt.length === 0) return unresolved.replaceChildren(soft("No movement of coins is in doubt."))
    unresolved.replaceChildren(
      make("p", {}, `${remedy}.`),
      table(
        "Movements in doubt",
        ["Chain", ">Block", "Transaction", "Address", "Reason"],
        inDoubt.map((/** @type {any} */ { address, chain, height, reason, transactionId }) => [
          ...[chain, number(height), make("code", {}, transactionId), make("code", {}, address), reason]
        ])
      )
    )
  }

  return {
    title: "Progress",
    everyMillis: 5_000,
    again,
    fill: async (main) => {
      main.replaceChildren(
        ...[make("h1", {}, "Progress"), make("h2", {}, "Syncs"), syncs],
        ...[make("h2", {}, "Movements in doubt"), unresolved]
      )
      await again()
    }
  }
}
