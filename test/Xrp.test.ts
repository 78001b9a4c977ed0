/** XRP through the whole daemon: subscriptions, a ledger's transactions and HD wallets over a server made for tests. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { HDNodeWallet } from "ethers"
import { account, chainOf, payment, sealed } from "../packages/indexer/test/families/xrp/XrpLedgers.ts"
import * as XrpServer from "../packages/indexer/test/families/xrp/XrpServer.ts"
import { addressOf } from "../packages/indexer/test/families/xrp/XrpWallet.ts"
import * as Headwater from "./Headwater.ts"
import * as Receiver from "./Receiver.ts"
import { locations } from "./Stores.ts"

const mnemonic = "test test test test test test test test test test test junk"
const master = HDNodeWallet.fromPhrase(mnemonic, "", "m/44'/144'/0'")
const xpub = master.neuter().extendedKey
const receiving = (index: number) => addressOf(master.deriveChild(0).deriveChild(index).publicKey)
const change = (index: number) => addressOf(master.deriveChild(1).deriveChild(index).publicKey)

/** An X-address with the tag 1, and the address in it (a vector of ripple-address-codec). */
const tagged = {
  x: "X7AcgcsBL6XDcUb289X4mJ8djcdyKaGZMhc9YTE92ehJ2Fu",
  classic: "r9cZA1mLK5R5Am25ArfXFmqgNwjZgnfk59"
}

const first = 1_000
const start = 1_010

/**
 * Ledgers of two payments each; two of ledger 1015 pay to the tagged address, with and without its tag, one of 1020 to the wallet's address 30. In
 * ledger 1018 both are of odd forms that real ledgers have, or may have after an amendment.
 */
const ledgers = sealed(
  chainOf(first, 40, (height) => [
    { from: 1, to: 2, drops: BigInt(height) },
    { from: 3, to: 4, drops: 5n }
  ]).map((ledger) => {
    if (ledger.ledger_index === "1015") {
      const withTag = {
        ...payment({ from: 3, to: 4, drops: 11n }, 1015, 2),
        Destination: tagged.classic,
        DestinationTag: 1
      }
      const without = { ...payment({ from: 3, to: 4, drops: 12n }, 1015, 3), Destination: tagged.classic }
      return { ...ledger, transactions: [...ledger.transactions, withTag, without] }
    }
    if (ledger.ledger_index === "1018") {
      const transactions = ledger.transactions.map((paid: XrpServer.Json) => ({
        ...paid,
        ...(paid.Account === account(3) ? { SendMax: { vault: "00", shares: "5" } } : {}),
        metaData: { ...paid.metaData, DeliveredAmount: "-1", delivered_amount: "-1" }
      }))
      return { ...ledger, transactions }
    }
    if (ledger.ledger_index !== "1020") return ledger
    const paid = { ...payment({ from: 3, to: 4, drops: 7n }, 1020, 2), Destination: receiving(30), DestinationTag: 99 }
    return { ...ledger, transactions: [...ledger.transactions, paid] }
  })
)
const ledgerAt = (height: number) => ledgers[height - first]!
const hashAt = (height: number, index: number): string =>
  ledgerAt(height).transactions.find(({ metaData }: XrpServer.Json) => metaData.TransactionIndex === index).hash

const { location } = locations[0]!

const setup = Effect.gen(function* () {
  const server = yield* XrpServer.make({
    ledgers,
    networkId: 0,
    balances: { [receiving(0)]: "25000000", [receiving(7)]: "1000001", [change(0)]: "3" }
  })
  server.validated = start
  const receiver = yield* Receiver.start()
  const headwater = yield* Headwater.start(yield* location as Effect.Effect<never>, {
    chains: {
      "xrp/mainnet": { nodes: [server.wsUrl], start, pollMillis: 100, timeoutMillis: 1_000 },
      "xrp/testnet": { nodes: [server.wsUrl], start }
    },
    callbacks: { allowHosts: ["localhost"], extraCa: receiver.ca }
  })
  const until = <A>(what: string, ask: Effect.Effect<A>, enough: (answer: A) => boolean) =>
    Effect.gen(function* () {
      for (let i = 0; ; i++) {
        const answer = yield* ask
        if (enough(answer)) return answer
        if (i > 2_400) return yield* Effect.die(new Error(`${what}: ${JSON.stringify(answer)}\n${headwater.log()}`))
        yield* Effect.sleep("50 millis")
      }
    })
  const chains = Effect.map(headwater.get("/ready"), ({ body }) => body.chains)
  yield* until("at the head", chains, (all) => all["xrp/mainnet"].height === start)
  return { server, receiver, headwater, until, chains }
})

const transactions = (hash: string, query = "") => `/blocks/xrp/mainnet/hash/${hash}/transactions${query}`
const wallet = `/hd-wallets/xrp/mainnet/${xpub}`

describe("XRP", () => {
  it.live("calls back for each payment once, whatever the server pushes and however often it hangs up", () =>
    Effect.gen(function* () {
      const { headwater, receiver, server } = yield* setup
      const subscribe = Effect.fnUntraced(function* (path: string, item: Record<string, unknown>) {
        const { body, status } = yield* headwater.post(`/blockchain-events/xrp/mainnet/${path}`, {
          callbackUrl: `${receiver.url}/`,
          callbackSecretKey: "secret",
          ...item
        })
        assert.strictEqual(status, 201, JSON.stringify(body))
        return body.data.item
      })
      const coins = "address-coins-transactions-confirmed"
      const incoming = yield* subscribe(coins, { address: account(2) })
      const outgoing = yield* subscribe(coins, { address: account(1) })
      const blocks = yield* subscribe("block-mined", {})
      const byTag = yield* subscribe(coins, { address: tagged.x })
      assert.strictEqual(byTag.address, tagged.x)
      const byAccount = yield* subscribe(coins, { address: tagged.classic })
      assert.strictEqual(byAccount.address, tagged.classic)
      const tokens = yield* headwater.post("/blockchain-events/xrp/mainnet/address-tokens-transactions-confirmed", {
        address: account(2),
        callbackUrl: `${receiver.url}/`
      })
      assert.strictEqual(tokens.status, 501)

      for (let height = start + 1; height <= 1_030; height++) {
        server.validated = height
        server.announce(height)
        server.announce(height - 3)
        server.announce(height)
        if (height % 6 === 0) server.cut()
        yield* Effect.sleep("40 millis")
      }
      const of = ({ referenceId }: { readonly referenceId: string }) =>
        receiver.accepted().filter(({ body }) => body.referenceId === referenceId)
      yield* receiver.until(() => [incoming, outgoing, blocks].every((each) => of(each).length >= 20))
      yield* Effect.sleep("300 millis")
      const heights = Array.from({ length: 20 }, (_, i) => start + 1 + i)
      assert.deepStrictEqual(
        of(blocks).map(({ body }) => [body.data.item.height, body.data.item.hash]),
        heights.map((height) => [height, ledgerAt(height).ledger_hash])
      )
      for (const [subscription, number, direction] of [
        [incoming, 2, "incoming"],
        [outgoing, 1, "outgoing"]
      ] as const) {
        assert.deepStrictEqual(
          of(subscription).map(({ body }) => body.data.item),
          heights.map((height) => ({
            blockchain: "xrp",
            network: "mainnet",
            address: account(number),
            minedInBlock: {
              height,
              hash: ledgerAt(height).ledger_hash,
              timestamp: ledgerAt(height).close_time + 946_684_800
            },
            transactionId: hashAt(height, 0),
            amount: `0.00${height}`.replace(/0$/, ""),
            unit: "XRP",
            direction,
            transactionType: "Payment"
          }))
        )
      }
      const told = (subscription: { readonly referenceId: string }) =>
        of(subscription).map(({ body }) => {
          const { address, amount, destinationTag, minedInBlock } = body.data.item
          return [address, amount, destinationTag, minedInBlock.height]
        })
      assert.deepStrictEqual(told(byTag), [[tagged.x, "0.000011", 1, 1_015]])
      assert.deepStrictEqual(told(byAccount), [
        [tagged.classic, "0.000011", 1, 1_015],
        [tagged.classic, "0.000012", undefined, 1_015]
      ])
      assert.isAbove(server.connections(), 3)
    }).pipe(Effect.scoped)
  )

  it.live("lists the transactions of any ledger that the server has, in pages", () =>
    Effect.gen(function* () {
      const { headwater, server, chains } = yield* setup
      server.validated = 1_025
      const { ledger_hash: hash, close_time } = ledgerAt(1_020)
      const whole = yield* headwater.get(transactions(hash))
      assert.strictEqual(whole.status, 200)
      const { items, ...page } = whole.body.data
      assert.deepStrictEqual(page, { limit: 50, offset: 0, total: 3 })
      const zero = { amount: "0", unit: "XRP" }
      const drops = { amount: "0.000007", unit: "XRP" }
      assert.deepStrictEqual(items[2], {
        destinationTag: 99,
        hash: hashAt(1_020, 2),
        offer: zero,
        positionInBlock: 2,
        recipient: receiving(30),
        sender: account(3),
        status: "tesSUCCESS",
        timestamp: close_time + 946_684_800,
        type: "Payment",
        fee: { amount: "0.000012", unit: "XRP" },
        receive: drops,
        value: drops
      })
      const second = yield* headwater.get(transactions(hash.toLowerCase(), "?limit=1&offset=1"))
      assert.deepStrictEqual(second.body.data, { limit: 1, offset: 1, total: 3, items: [items[1]] })
      // What arrived although its delivered_amount says -1.
      const odd = yield* headwater.get(transactions(ledgerAt(1_018).ledger_hash))
      assert.deepStrictEqual(
        odd.body.data.items.map(({ receive }: { readonly receive: unknown }) => receive),
        [
          { amount: "0.001018", unit: "XRP" },
          { amount: "0.000005", unit: "XRP" }
        ]
      )
      // Long before the chain was followed.
      const old = yield* headwater.get(transactions(ledgerAt(1_001).ledger_hash))
      assert.strictEqual(old.body.data.total, 2)
      const none = yield* headwater.get(transactions("AB".repeat(32)))
      assert.deepStrictEqual([none.status, none.body.error.code], [404, "blockchain_data_block_not_found"])

      const states = yield* chains
      assert.strictEqual(states["xrp/testnet"].state, "stopped")
      assert.match(states["xrp/testnet"].message, /is on network 0, not 1/)
      server.override = () => "drop"
      const gone = yield* headwater.get(transactions(hash))
      assert.deepStrictEqual([gone.status, gone.body.error.code], [503, "node_unavailable"])
      assert.include(gone.body.error.message, "does not answer")
      server.override = (command) => (command === "ledger" ? { ledger: {}, validated: true } : undefined)
      const odder = yield* headwater.get(transactions(hash))
      assert.deepStrictEqual([odder.status, odder.body.error.code], [503, "node_unavailable"])
      assert.strictEqual(odder.body.error.message, "The node of xrp/mainnet gave an answer that cannot be used")
    }).pipe(Effect.scoped)
  )

  it.live("sums a wallet, and derives its next addresses behind those that are in use", () =>
    Effect.gen(function* () {
      const { headwater, server, until } = yield* setup
      const assets = headwater.get(`${wallet}/assets`)
      assert.deepStrictEqual((yield* assets).body.data.item, {
        confirmedBalance: { amount: "26.000004", unit: "XRP" }
      })
      const bip32 = yield* headwater.get(
        `/hd-wallets/xrp/mainnet/${master.deriveChild(1).neuter().extendedKey}/assets?derivation=BIP32`
      )
      assert.strictEqual(bip32.body.data.item.confirmedBalance.amount, "0.000003")
      const wrong = yield* headwater.get(`/hd-wallets/xrp/mainnet/${xpub.slice(0, -1)}x/assets`)
      assert.deepStrictEqual([wrong.status, wrong.body.error.code], [400, "invalid_xpub"])

      const derive = headwater.post(`${wallet}/addresses/derive-and-sync`, {})
      const next = until("derived", derive, ({ status }) => status !== 422)
      const one = yield* derive
      assert.strictEqual(one.status, 201, JSON.stringify(one.body))
      assert.deepStrictEqual(
        one.body.data.items,
        Array.from({ length: 100 }, (_, index) => ({
          address: receiving(index),
          format: "CLASSIC",
          index,
          derivationType: "account",
          type: "receiving"
        }))
      )
      // The accounts that are there already are found meanwhile.
      const two = yield* next
      assert.deepStrictEqual(
        [two.body.data.items[0], two.body.data.items[99].index],
        [{ ...one.body.data.items[8] }, 107]
      )
      yield* until("scanned", assets, ({ status }) => status === 200)
      server.validated = 1_025
      server.announce(1_025)
      yield* until(
        "paid",
        next,
        ({ body }) => body.data.items[0].index === 31 && body.data.items[0].address === receiving(31)
      )
    }).pipe(Effect.scoped)
  )
})
