/** `headwater skip`: gives up blocks that none of a chain's nodes has any more, so that the chain goes on behind them. */
import * as Bytes from "@headwater/core/Bytes"
import type { Chain } from "@headwater/core/chains/Chain"
import * as Capability from "@headwater/indexer/families/Capability"
import * as Families from "@headwater/indexer/families/families"
import * as BlockRange from "@headwater/indexer/store/chain/BlockRange"
import * as Availability from "@headwater/indexer/sync/Availability"
import * as Console from "effect/Console"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { commandName } from "../CommandName.ts"
import type * as Settings from "../settings/Settings.ts"
import * as ChainArgument from "./ChainArgument.ts"
import * as HeightFlag from "./HeightFlag.ts"
import * as UnfollowedChain from "./UnfollowedChain.ts"
import * as WithSettings from "./WithSettings.ts"

/** These blocks are not given up. */
export class CannotSkip extends Schema.TaggedError<CannotSkip>()("CannotSkip", { message: Schema.String }) {}

const refuse = (message: string) => Effect.fail(new CannotSkip({ message }))

/** What one node has of the blocks above the last recorded one. */
interface Look {
  readonly host: string
  /** Why the node does not give the next block; undefined where it does. */
  readonly lack: string | undefined
  /** The first block above the last recorded one that the node gives. */
  readonly first: number | undefined
  /** Whether the node's chain has the last recorded block, or cannot have left it; undefined where nothing shows that. */
  readonly agrees: boolean | undefined
}

/** Looks at one of the chain's nodes by itself. A node that does not answer may have the blocks. */
const lookAt = (
  chain: Chain,
  settings: Settings.ChainSettings,
  node: Settings.ChainSettings["nodes"][number],
  cursor: { readonly height: number; readonly hash: Uint8Array }
) => {
  const host = new URL(Redacted.value(node)).host
  const next = cursor.height + 1
  return Effect.gen(function* () {
    const { source } = yield* Families.connect(chain, {
      ...{ ...settings, nodes: [node] as const },
      ...{ announcements: false, internalTransactions: false }
    })
    const wrong = Capability.lacking(yield* source.capabilities, Capability.network)
    if (wrong !== undefined) return yield* refuse(`${host}: ${wrong.detail}`)
    const head = yield* source.head
    const theirs = yield* Effect.catchTag(
      source.hashAt(cursor.height),
      ["BlockMissing", "NodeRejected"],
      () => Effect.undefined
    )
    // Where every block is final at once, none is ever left.
    const agrees = theirs === undefined ? head.final === head.height || undefined : Bytes.equal(theirs, cursor.hash)
    const lack = head.height < next ? `its newest block is ${head.height}` : yield* Availability.lackOf(source, next)
    const first = lack === undefined ? next : yield* Availability.firstAbove(source, next, head.height)
    return { host, lack, first, agrees } satisfies Look
  }).pipe(
    Effect.scoped,
    Effect.catchTag(["NodeUnreachable", "NodeRejected", "NodeInconsistent", "BlockMissing"], ({ message }) =>
      refuse(
        `${host} does not say what it has (${message}), and may have the blocks: see that it answers, or take it out of ` +
          "the settings"
      )
    )
  )
}

const countOf = (blocks: number) => (blocks === 1 ? "1 block" : `${blocks} blocks`)

const consequences = (next: number) =>
  "nothing of them will be recorded, and no callback sent for them; the record of every address begins anew with block " +
  `${next}: totals and balances that rest on earlier blocks are refused until a node has proved them, and lists say in ` +
  "completeFrom from where on they are whole"

/** What all nodes have together: the blocks that can be skipped, whose last one is `last`. Fails where none can. */
const gapOf = Effect.fnUntraced(function* (
  name: string,
  looks: ReadonlyArray<Look>,
  cursor: { readonly height: number },
  isFinal: boolean,
  force: boolean
) {
  const next = cursor.height + 1
  const having = looks.find(({ lack }) => lack === undefined)
  if (having !== undefined) {
    return yield* refuse(`${having.host} has block ${next}: there is nothing to skip, the chain goes on with that node`)
  }
  const other = looks.find(({ agrees }) => agrees === false)
  if (other !== undefined) {
    return yield* refuse(
      `${other.host} has another block ${cursor.height} than the store: ${commandName} doctor says what that means`
    )
  }
  const firsts = looks.flatMap(({ first }) => first ?? [])
  if (firsts.length === 0) {
    return yield* refuse(`No node has any block of ${name} above ${cursor.height}: wait until one has synchronised`)
  }
  if (!isFinal && !force && !looks.some(({ agrees }) => agrees === true)) {
    return yield* refuse(
      `No node shows block ${cursor.height} any more, which was not final: whether the chain has kept it is not known. ` +
        "--force skips all the same, and callbacks that wait for confirmations of such blocks are sent"
    )
  }
  return Math.min(...firsts) - 1
})

export const skip = Command.make(
  "skip",
  {
    config: WithSettings.config,
    json: WithSettings.json,
    chain: ChainArgument.argument,
    to: HeightFlag.flag("to", "The last block to give up; without it, nothing is changed, and the height is named"),
    force: Flag.Boolean("force").pipe(
      Flag.withDescription(
        "Also give up blocks that a node has, and go on although no node shows the last recorded block any more"
      ),
      Flag.withDefault(false)
    )
  },
  Effect.fnUntraced(function* (input) {
    const { chain, name, settings, store } = yield* UnfollowedChain.open(input.chain)
    const { hash, height } = (yield* store.cursor) ?? { hash: undefined, height: -1 }
    if (hash === undefined) {
      return yield* refuse(
        height === -1
          ? `No block of ${name} is stored: set start to a block that a node has`
          : `${name} is at block ${height}, which is not recorded itself: let the daemon go on first`
      )
    }
    const looks = yield* Effect.forEach(settings.nodes, (node) => lookAt(chain, settings, node, { height, hash }), {
      concurrency: "unbounded"
    })
    const isFinal = ((yield* store.final) ?? -1) >= height
    const last = yield* gapOf(name, looks, { height }, isFinal, input.force)
    const from = height + 1
    const to = Option.getOrUndefined(input.to)
    if (to === undefined) {
      const command = `${commandName} skip ${name} --to ${last}`
      yield* Console.log(
        input.json
          ? JSON.stringify({ chain: name, from, to: last, skipped: false, nodes: looks, command })
          : [
              `No node of ${name} has ${BlockRange.describe({ from, to: last })}; block ${height} is the last recorded one:`,
              ...looks.map(({ first, host, lack }) => `  ${host}: ${lack}; has blocks from ${first ?? "none"} on`),
              `Nothing is changed. To give up ${countOf(last - height)}: ${command}`,
              `Then ${consequences(last + 1)}.`
            ].join("\n")
      )
      return
    }
    if (to < last) return yield* refuse(`No node has block ${to + 1} either: ${commandName} skip ${name} --to ${last}`)
    if (to > last && !input.force) {
      return yield* refuse(
        `A node has ${BlockRange.describe({ from: last + 1, to })}: ${commandName} skip ${name} --to ${last}; --force gives them up as well`
      )
    }
    yield* store.skip(height, to)
    yield* Console.log(
      input.json
        ? JSON.stringify({ chain: name, from, to, skipped: true })
        : `${BlockRange.describe({ from, to })} of ${name} given up: ${consequences(to + 1)}. The chain goes on with block ${to + 1}. ` +
            `Once a node has them: ${commandName} rewind ${name} ${height}`
    )
  }, Effect.scoped)
).pipe(
  Command.withDescription(
    "Give up blocks that none of a chain's nodes has any more, so that the chain goes on behind them. They are recorded as " +
      "missing, and nothing that rests on them is called complete. Without --to the nodes are asked, and nothing is changed"
  ),
  Command.withShortDescription("Go on behind blocks that no node has any more"),
  Command.withExamples([
    {
      command: "headwater skip xrp/mainnet",
      description: "Say what the nodes have, and which blocks would be given up"
    },
    { command: "headwater skip xrp/mainnet --to 2050", description: "Give them up, and go on with block 2051" }
  ]),
  Command.provide((input) => WithSettings.withStore(input))
)
