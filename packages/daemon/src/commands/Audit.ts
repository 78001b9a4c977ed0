/** `headwater audit`: whether what a UTXO chain's subscriptions were told, and its wallets' balances, are true. */
import * as Amount from "@headwater/core/Amount"
import { type Chain, nameOf } from "@headwater/core/chains/Chain"
import * as StoredBlocks from "@headwater/indexer/store/chain/StoredBlocks"
import * as BalanceAudit from "@headwater/indexer/sync/BalanceAudit"
import * as CallbackAudit from "@headwater/indexer/sync/CallbackAudit"
import * as Console from "effect/Console"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"
import { commandName } from "../CommandName.ts"
import { table } from "../internal/Table.ts"
import * as Progress from "../Progress.ts"
import * as ChainArgument from "./ChainArgument.ts"
import * as ChainNodes from "./ChainNodes.ts"
import * as HeightFlag from "./HeightFlag.ts"
import * as WithSettings from "./WithSettings.ts"

/** The chain, or the range of blocks, cannot be audited. */
export class CannotAudit extends Schema.TaggedError<CannotAudit>()("CannotAudit", { message: Schema.String }) {}

/** Something is wrong or cannot be decided. The findings are printed already: only the exit code is left to set. */
export class NotRight extends Schema.TaggedError<NotRight>()("NotRight", { count: Schema.Int }) {
  override readonly [Runtime.errorReported] = false
}

/** Findings that are printed one by one; the others are counted. */
const listed = 10_000

const blocksOf = Effect.fnUntraced(function* (
  chain: Chain,
  wanted: { readonly from: Option.Option<number>; readonly to: Option.Option<number> }
) {
  const name = nameOf(chain)
  if (chain.ledger !== "outputs") {
    return yield* new CannotAudit({
      message: `Only chains of the Bitcoin family are audited: on ${name}, nothing was told that rests on unknown inputs`
    })
  }
  const { first, last } = yield* StoredBlocks.of(chain)
  if (first === undefined || last === undefined) {
    return yield* new CannotAudit({ message: `Nothing of ${name} is stored yet: ${commandName} serve records it` })
  }
  const from = Math.max(
    first,
    Option.getOrElse(wanted.from, () => first)
  )
  const to = Math.min(
    last,
    Option.getOrElse(wanted.to, () => last)
  )
  if (from > to) {
    return yield* new CannotAudit({ message: `Blocks ${first} to ${last} of ${name} are stored: name some of these` })
  }
  return { from, to }
})

const text = (movement: CallbackAudit.Movement | undefined) =>
  movement === undefined ? "-" : `${movement.direction} ${movement.amount}`

const callbackTable = (findings: ReadonlyArray<CallbackAudit.Finding>) =>
  table(
    ["BLOCK", "CALLBACK", "TRANSACTION", "ADDRESS", "SUBSCRIPTION", "TOLD", "TRUE"],
    findings.map(
      ({ actual, address, corrected, height, idempotencyKey, referenceId, told, transactionId, verdict }) => [
        ...[String(height), corrected ? "corrected" : verdict, transactionId, address, referenceId],
        told === undefined || idempotencyKey !== undefined ? text(told) : `${text(told)} (pending)`,
        text(actual)
      ]
    )
  )

/** A wallet's key, short enough for a table. */
const short = (key: string) => (key.length <= 24 ? key : `${key.slice(0, 12)}…${key.slice(-8)}`)

const balanceText = (chain: Chain, amount: bigint | undefined) =>
  amount === undefined ? undefined : Amount.format(amount, chain.decimals)

const walletTable = (chain: Chain, findings: ReadonlyArray<BalanceAudit.BalanceFinding>) =>
  table(
    ["ACCOUNT", "WALLET", "FORMAT", "BALANCE", "STORED", "TRUE", "AT BLOCK"],
    findings.map(({ actual, height, stored, verdict, wallet }) => [
      ...[wallet.account, short(wallet.publicKey), wallet.format, verdict],
      ...[
        balanceText(chain, stored) ?? "-",
        balanceText(chain, actual) ?? "-",
        height === undefined ? "-" : `${height}`
      ]
    ])
  )

const countOf = (findings: ReadonlyArray<BalanceAudit.BalanceFinding>) => {
  const count = (verdict: BalanceAudit.BalanceFinding["verdict"]) =>
    findings.filter((finding) => finding.verdict === verdict).length
  return { right: count("right"), wrong: count("wrong"), undecided: count("undecided") }
}

/** What the operator can do. */
const advice = (
  name: string,
  range: { readonly from: number; readonly to: number },
  {
    callbacks,
    reasons,
    wallets
  }: {
    readonly callbacks: CallbackAudit.Summary
    readonly wallets: ReturnType<typeof countOf>
    readonly reasons: ReadonlyMap<string, number>
  }
): ReadonlyArray<string> => [
  ...(callbacks.wrong === 0
    ? []
    : ["With --correct, each wrong callback is followed by one correction that names its key"]),
  ...(callbacks.missing === 0
    ? []
    : [
        `${commandName} replay ${name} --from ${range.from} --to ${range.to} --callbacks sends the missing ones, under the keys ` +
          "that they would have had"
      ]),
  ...(callbacks.unsettled === 0
    ? []
    : [
        `${callbacks.unsettled} blocks were left out: what others told there before a reorganisation is still being taken ` +
          "back, while the daemon runs. Run the audit again then"
      ]),
  ...[...reasons].map(([reason, count]) => `${count} undecided: ${reason}`),
  ...(callbacks.undecided === 0
    ? []
    : [
        "A node with an index of transactions (txindex=1), or one that shows what inputs spend (Bitcoin Core 23, Bitcoin " +
          "Cash Node 28), and that has all blocks, can decide: add one to `nodes` and run the audit again"
      ]),
  ...(wallets.wrong === 0 ? [] : ["The audit corrects no balance: docs/operations.md, After release 0.1"])
]

export const audit = Command.make(
  "audit",
  {
    config: WithSettings.config,
    json: WithSettings.json,
    chain: ChainArgument.argument,
    from: HeightFlag.flag("from", "The first block; without it, the first one that is stored"),
    to: HeightFlag.flag("to", "The last block; without it, the last one that is stored"),
    everyBlock: Flag.Boolean("every-block").pipe(
      Flag.withDescription(
        "Also read the blocks that no callback is about: a payment of everything that an address held may have been told " +
          "in none"
      ),
      Flag.withDefault(false)
    ),
    correct: Flag.Boolean("correct").pipe(
      Flag.withDescription(
        "Send one correction for each wrong callback, an event of its own kind that names the callback's key; put right " +
          "what is pending. Nothing else is sent"
      ),
      Flag.withDefault(false)
    )
  },
  Effect.fnUntraced(function* (input) {
    const { chain, settings } = yield* ChainArgument.find(input.chain)
    const name = nameOf(chain)
    const range = yield* blocksOf(chain, input)
    const { sideSources, source } = yield* ChainNodes.open(chain, settings)
    const findings: Array<CallbackAudit.Finding> = []
    const reasons = new Map<string, number>()
    const note = (reason: string | undefined) => {
      if (reason !== undefined) reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
    }
    let at = range.from - 1
    const callbacks = yield* Progress.track(`Auditing ${name}`, range.to - range.from + 1, (advance) =>
      CallbackAudit.run(source, sideSources.minedOutputs, {
        ...{ ...range, everyBlock: input.everyBlock, correct: input.correct },
        concurrency: settings.parallel,
        onFinding: (finding) =>
          Effect.sync(() => {
            if (findings.length < listed) findings.push(finding)
            note(finding.reason)
          }),
        onProgress: (height) =>
          Effect.suspend(() => {
            const done = height - at
            at = height
            return advance(done)
          })
      })
    )
    const balances = yield* BalanceAudit.run(source, sideSources.coinSearch)
    for (const { reason } of balances) note(reason)
    const wallets = countOf(balances)
    const { blocks, corrected, missing, right, undecided, unsettled, wrong } = callbacks
    if (input.json) {
      const ofWallet = ({
        actual,
        stored,
        wallet: { id: _, synced: __, ...wallet },
        ...rest
      }: BalanceAudit.BalanceFinding) => ({
        ...wallet,
        ...rest,
        stored: balanceText(chain, stored),
        actual: balanceText(chain, actual)
      })
      const summary = { callbacks, wallets }
      yield* Console.log(
        JSON.stringify({ chain: name, ...range, ...summary, findings, balances: balances.map(ofWallet) })
      )
    } else {
      const total = wrong + corrected + missing + undecided
      if (findings.length > 0) yield* Console.log(yield* callbackTable(findings))
      if (total > findings.length) yield* Console.log(`… and ${total - findings.length} more`)
      const doubtful = balances.filter(({ verdict }) => verdict !== "right")
      if (doubtful.length > 0) yield* Console.log(yield* walletTable(chain, doubtful))
      yield* Console.log(
        `${name}, blocks ${range.from} to ${range.to}, ${blocks} read. Callbacks: ${right} right, ${wrong} wrong, ` +
          `${corrected} corrected, ${missing} missing, ${undecided} undecided. Balances: ${wallets.right} right, ` +
          `${wallets.wrong} wrong, ${wallets.undecided} undecided`
      )
      for (const line of advice(name, range, { callbacks, reasons, wallets })) yield* Console.error(line)
    }
    if (!input.everyBlock) {
      yield* Console.error(
        "Blocks that no callback is about were not read. With --every-block they are, and payments that were never told " +
          "are found there too"
      )
    }
    const count = wrong + missing + undecided + unsettled + wallets.wrong + wallets.undecided
    if (count > 0) return yield* new NotRight({ count })
  }, Effect.scoped)
).pipe(
  Command.withDescription(
    "Compare what subscriptions to coins were told, and the balances of wallets, with what the nodes of a chain of the " +
      "Bitcoin family show: release 0.1 told a wrong movement where it did not know what an input spends. Without " +
      "--correct nothing is changed. The exit code is 0 where everything is right or corrected, else 1"
  ),
  Command.withShortDescription("Find callbacks and balances that were wrong, and send corrections"),
  Command.withExamples([
    { command: "headwater audit litecoin/mainnet", description: "Every block that a callback is about" },
    { command: "headwater audit litecoin/mainnet --from 2500000 --correct", description: "Send corrections too" }
  ]),
  Command.provide((input) => WithSettings.withStore(input))
)
