/** XRP through the whole daemon: subscriptions, a ledger's transactions and HD wallets over a server made for tests. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { HDNodeWallet, SigningKey } from "ethers"
import { decode, encode } from "ripple-binary-codec"
import { deriveAddress, deriveKeypair, generateSeed, sign } from "ripple-keypairs"
import { classicAddressToXAddress, verifySignature } from "xrpl"
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
    // The account that the metadata shows to have got the drops, too.
    const text = JSON.stringify(payment({ from: 3, to: 4, drops: 7n }, 1020, 2)).replaceAll(account(4), receiving(30))
    const paid = { ...JSON.parse(text), DestinationTag: 99 }
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
        yield* Effect.sleep("200 millis")
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

      const { body: addresses } = yield* headwater.get(`${wallet}/addresses?limit=3&offset=30`)
      assert.deepStrictEqual(
        addresses.data.items,
        [30, 31, 32].map((index) => ({ address: receiving(index), index }))
      )
      const { body: changes } = yield* headwater.get(`${wallet}/addresses?isChangeAddress=true&limit=1`)
      assert.deepStrictEqual(changes.data.items, [{ address: change(0), index: 0 }])
      const listed = headwater.get(`${wallet}/transactions`)
      const { body: moved } = yield* until("listed", listed, ({ status }) => status === 200)
      const { items, ...page } = moved.data
      assert.deepStrictEqual(page, { limit: 10, offset: 0, total: 1, answeredFrom: "node" })
      assert.deepStrictEqual(items, [
        {
          ...{ hash: hashAt(1_020, 2), positionInBlock: 2, timestamp: ledgerAt(1_020).close_time + 946_684_800 },
          fee: { amount: "0.000012" },
          minedInBlock: { hash: ledgerAt(1_020).ledger_hash, height: 1_020 },
          recipient: [{ address: receiving(30), isMember: true, value: { amount: "0.000007" } }],
          sender: [{ address: account(3), isMember: false, value: { amount: "0.000007" } }]
        }
      ])
      const status = yield* headwater.get(`/hd-wallets/manage/xrp/mainnet/${xpub}/status`)
      assert.deepInclude(status.body.data.item, { isActive: true, blockchain: "xrp" })

      // Of anybody, newest first.
      const ofAccount = `/addresses-latest/xrp/mainnet/${account(1)}/transactions?limit=4&transactionType=payment`
      const { body: newest } = yield* headwater.get(ofAccount)
      const { body: next4 } = yield* headwater.get(`${ofAccount}&startingAfter=${newest.data.nextStartingAfter}`)
      assert.deepStrictEqual(
        [...newest.data.items, ...next4.data.items].map(
          // biome-ignore lint/suspicious/noExplicitAny: an answer of the server
          ({ hash, minedInBlock: { height } }: any) => [hash, height]
        ),
        Array.from({ length: 8 }, (_, i) => [hashAt(1_025 - i, 0), 1_025 - i])
      )
    }).pipe(Effect.scoped)
  )
})

describe("Managed wallets of XRP", () => {
  it.live("are synced once, as not synced while they are not active, and go on where they are again", () =>
    Effect.gen(function* () {
      const { headwater, until } = yield* setup
      const place = "/hd-wallets/manage/xrp/mainnet"
      const codeOf = ({ body, status }: Headwater.Answer) => [status, body.error?.code]
      const remove = headwater.remove(`${place}/${xpub}`)
      const sync = (item = {}) => headwater.post(`${place}/${xpub}/sync`, item)
      const activate = headwater.post(`${place}/${xpub}/activate`, {})
      const early = yield* sync({ birthHeight: 1 })
      assert.deepStrictEqual(codeOf(early), [400, "invalid_data"])
      assert.include(JSON.stringify(early.body.error.details), "birthHeight")
      assert.deepStrictEqual(codeOf(yield* remove), [404, "resource_not_found"])
      const made = yield* sync()
      assert.strictEqual(made.status, 201, JSON.stringify(made.body))
      assert.deepStrictEqual(made.body.data.item, { extendedPublicKey: xpub })
      assert.deepStrictEqual(codeOf(yield* sync()), [409, "already_exists"])
      assert.deepStrictEqual(codeOf(yield* activate), [409, "xpub_already_active"])
      const list = Effect.map(headwater.get(place), ({ body }) => body.data)
      const listed = yield* until("synced", list, ({ items }) => items[0].syncStatus === "synced")
      const named = { extendedPublicKey: xpub, derivation: "account", format: "CLASSIC" }
      assert.deepStrictEqual(listed.items, [{ ...named, isActive: true, syncStatus: "synced" }])
      const lists = ["addresses", "transactions"]
      for (const what of lists) assert.strictEqual((yield* headwater.get(`${wallet}/${what}`)).status, 200)

      assert.strictEqual((yield* remove).status, 200)
      assert.deepStrictEqual(codeOf(yield* remove), [409, "invalid_data"])
      for (const what of lists) {
        const answer = yield* headwater.get(`${wallet}/${what}`)
        assert.deepStrictEqual([what, ...codeOf(answer)], [what, 400, "xpub_not_synced"])
      }
      const derive = headwater.post(`${wallet}/addresses/derive-and-sync`, {})
      assert.deepStrictEqual(codeOf(yield* derive), [409, "invalid_data"])
      assert.deepStrictEqual(codeOf(yield* sync()), [409, "already_exists"])
      assert.deepInclude((yield* headwater.get(`${place}/${xpub}/status`)).body.data.item, { isActive: false })
      // Anybody's, as of a wallet that is not synced.
      assert.strictEqual((yield* headwater.get(`${wallet}/assets`)).status, 200)

      const activated = yield* activate
      assert.deepStrictEqual(activated.body.data.item, {
        ...{ blockchain: "xrp", extendedPublicKey: xpub, isActive: true, network: "mainnet", syncStatus: "synced" }
      })
      const next = yield* derive
      assert.deepStrictEqual([next.status, next.body.data.items[0].index], [201, 8])
    }).pipe(Effect.scoped)
  )
})

/** The field that is named, the request, what accounts are otherwise, and the status: 409 if not given. */
type Refused = readonly [
  attribute: string,
  item: Record<string, unknown>,
  changed?: Record<string, Record<string, unknown>> | undefined,
  status?: number
]

/** A signature of secp256k1 as rippled reads it: two whole numbers in DER. */
const derOf = (...numbers: ReadonlyArray<string>) => {
  const body = numbers.flatMap((text) => {
    const bytes = [...Buffer.from(text.slice(2), "hex")]
    while (bytes[0] === 0) bytes.shift()
    if (bytes[0]! >= 0x80) bytes.unshift(0)
    return [0x02, bytes.length, ...bytes]
  })
  return [0x30, body.length, ...body]
}

describe("payments of XRP", () => {
  it.live(
    "are prepared to be signed by the key that is named, and refused where the ledger would take the fee alone",
    () =>
      Effect.gen(function* () {
        const { headwater, server } = yield* setup
        const keys = ["ecdsa-secp256k1", "ed25519", "ed25519"].map((algorithm) =>
          deriveKeypair(generateSeed({ algorithm: algorithm as "ed25519" }))
        )
        const [first, second, third] = keys
        const [sender, other, keeper] = keys.map(({ publicKey }) => deriveAddress(publicKey))
        const recipient = account(2)
        // As rippled answers; what differs from test to test stands in `accounts`.
        const accounts: Record<string, Record<string, unknown>> = {
          [sender!]: { Balance: "26000000", Flags: 0, OwnerCount: 2, Sequence: 7 },
          [recipient]: { Balance: "1000000", Flags: 0, OwnerCount: 0, Sequence: 1 },
          [keeper!]: { Balance: "101399988", Flags: 0, OwnerCount: 2, Sequence: 7 }
        }
        server.override = (command, { account }) => {
          switch (command) {
            case "fee":
              return { drops: { base_fee: "10", median_fee: "5000", minimum_fee: "10", open_ledger_fee: "12" } }
            case "account_info": {
              const data = accounts[account as string]
              if (data === undefined) return { error: "actNotFound" }
              const { queue_data, ...account_data } = data
              return { account_data: { Account: account, ...account_data }, ...(queue_data ? { queue_data } : {}) }
            }
            case "server_info": {
              const validated = { reserve_base_xrp: 1, reserve_inc_xrp: 0.2, seq: server.validated }
              return { info: { complete_ledgers: `${start}-${start}`, network_id: 0, validated_ledger: validated } }
            }
            case "deposit_authorized":
              return { deposit_authorized: false }
            default:
              return undefined
          }
        }
        const prepare = (item: Record<string, unknown>) =>
          headwater.post("/prepare-transactions/xrp/mainnet/payments", {
            ...{ amount: "24.6", sender, recipient, publicKey: first!.publicKey, reserve: false },
            ...item
          })
        // To the last drop beside the reserve, 1 and twice 0.2, which the fee may be taken from.
        const { body, status } = yield* prepare({ destinationTag: 0, additionalData: "Rechnung 4711 ü" })
        assert.strictEqual(status, 201, JSON.stringify(body))
        const { item } = body.data
        assert.deepInclude(item, { sequence: 7, lastLedgerSequence: server.validated + 20, destinationTag: 0 })
        assert.deepStrictEqual(item.fee, { amount: "0.000012", unit: "XRP" })
        const described = decode(item.transactionHex)
        assert.deepStrictEqual(described, {
          ...{ TransactionType: "Payment", Account: sender, Destination: recipient, DestinationTag: 0, Flags: 0 },
          ...{ Amount: "24600000", Fee: "12", Sequence: 7, LastLedgerSequence: server.validated + 20 },
          SigningPubKey: first!.publicKey,
          Memos: [{ Memo: { MemoData: Buffer.from("Rechnung 4711 ü").toString("hex").toUpperCase() } }]
        })
        const signed = encode({ ...described, TxnSignature: sign(item.signingData, first!.privateKey) })
        assert.isTrue(verifySignature(signed))
        // The digest alone is enough for a signer of secp256k1.
        const digest = Buffer.from(item.sighash, "hex")
        const signature = new SigningKey(`0x${first!.privateKey.slice(-64)}`).sign(digest)
        const inDer = Buffer.from(derOf(signature.r, signature.s)).toString("hex").toUpperCase()
        assert.isTrue(verifySignature(encode({ ...described, TxnSignature: inDer })))

        const keep = (item: Record<string, unknown>) =>
          prepare({ sender: keeper, publicKey: third!.publicKey, reserve: true, ...item })
        const kept = yield* keep({ amount: "40" })
        // As long as 20 ledgers take: after its last ledger the payment could not be validated any more.
        assert.closeTo(kept.body.data.item.reservedUntil, Date.now() / 1_000 + 100, 60)
        // The next payment gets the next sequence, and what the others leave; one that is named, or not to be kept, is as asked.
        for (const [own, sequence] of [
          [{ amount: "59.999977" }, undefined],
          [{ amount: "50" }, 8],
          [{ amount: "49.999976", sequence: 7, reserve: false }, 7],
          [{ amount: "49.999977", sequence: 7 }, undefined],
          [{ amount: "49.999976", reserve: false }, 7],
          [{ amount: "9.999965", sequence: 9 }, undefined],
          [{ amount: "9.999964" }, 9]
        ] as const) {
          const { body } = yield* keep(own)
          assert.strictEqual(body.data?.item.sequence, sequence, JSON.stringify([own, body]))
          if (sequence === undefined) assert.match(body.error.message, /^amount: the sender can spend 100 XRP/)
        }

        // Another key that the account has named, of Ed25519; and one that it has not.
        accounts[sender!] = { ...accounts[sender!], RegularKey: other }
        const byOther = yield* prepare({ publicKey: second!.publicKey })
        const blob = { ...decode(byOther.body.data.item.transactionHex) }
        const byEd25519 = sign(byOther.body.data.item.signingData, second!.privateKey)
        assert.isTrue(verifySignature(encode({ ...blob, TxnSignature: byEd25519 })))

        const owner = accounts[sender!]!
        const receiver = accounts[recipient]!
        const refused: ReadonlyArray<Refused> = [
          ["amount", { amount: "24.600001" }],
          ["amount", { amount: "24", fee: { exactAmount: "2000001" } }],
          ["amount", {}, { [sender!]: { ...owner, queue_data: { txn_count: 1, max_spend_drops_total: "1" } } }],
          ["publicKey", { publicKey: deriveKeypair(generateSeed()).publicKey }],
          ["publicKey", {}, { [sender!]: { ...owner, Flags: 0x0010_0000 } }],
          ["destinationTag", {}, { [recipient]: { ...receiver, Flags: 0x0002_0000 } }],
          ["recipient", {}, { [recipient]: { ...receiver, Flags: 0x0008_0000 } }],
          ["recipient", {}, { [recipient]: { ...receiver, Flags: 0x0100_0000 } }],
          ["recipient", { amount: "1.000001" }, { [recipient]: { ...receiver, Flags: 0x0100_0000 } }],
          ["recipient", { amount: "1" }, { [recipient]: { ...receiver, Balance: "1000001", Flags: 0x0100_0000 } }],
          ["recipient", {}, { [recipient]: { ...receiver, AMMID: "AB".repeat(32) } }],
          ["sequence", { sequence: 6 }],
          ["additionalData", { additionalData: "ü".repeat(510) }, undefined, 400],
          ["amount", { amount: "0.999999", recipient: account(5) }],
          ["sender", { sender: account(6) }],
          ["fee.exactAmount", { amount: "1", fee: { exactAmount: "9" } }],
          // A hundred times what the open ledger asks for.
          ["fee.exactAmount", { amount: "1", fee: { exactAmount: "1201" } }, undefined, 400],
          ["recipient", { recipient: sender }, undefined, 400],
          ["recipient", { recipient: "rGWrZyQqhTp9Xu7G5Pkayo7bXjH4k4QYpg" }, undefined, 400],
          ["destinationTag", { recipient: tagged.x, destinationTag: 2 }, undefined, 400],
          ["amount", { amount: "0" }, undefined, 400],
          ["amount", { amount: "0.0000001" }, undefined, 400]
        ]
        for (const [attribute, item, changed = {}, wrong = 409] of refused) {
          const before = { ...accounts }
          Object.assign(accounts, changed)
          const { body, status } = yield* prepare(item)
          assert.deepStrictEqual(
            [status, body.error?.details?.[0]?.attribute],
            [wrong, attribute],
            JSON.stringify(body)
          )
          Object.assign(accounts, before)
        }
        // One that replaces a queued payment may spend what that one might have spent, and no other.
        const queued = (seq: number, fee: string, fee_level: string) => ({
          ...{ auth_change: false, fee, fee_level, LastLedgerSequence: server.validated + 20 },
          ...{ max_spend_drops: "1000000", seq }
        })
        const transactions = [queued(7, "40", "1024"), queued(8, "40", "1024")]
        const queue_data = { txn_count: 2, highest_sequence: 8, max_spend_drops_total: "2000000", transactions }
        accounts[sender!] = { ...owner, queue_data }
        assert.strictEqual((yield* prepare({ sequence: 8, amount: "23.600001" })).status, 409)
        // For more than a quarter more than it pays; the account's first one may go past the queue instead.
        for (const [sequence, priority, drops] of [
          [7, "slow", "12"],
          [7, "fast", "15"],
          [8, "slow", "51"],
          [8, "standard", "51"],
          [9, "slow", "10"]
        ] as const) {
          const { body, status } = yield* prepare({ sequence, amount: "22.6", fee: { priority } })
          assert.strictEqual(status, 201, JSON.stringify(body))
          assert.strictEqual(decode(body.data.item.transactionHex).Fee, drops, `${sequence} ${priority}`)
        }
        // The first payment of the queue is over: the next one fills the gap, and that behind it has none of the waiting ones' places.
        accounts[keeper!] = {
          ...{ Balance: "200000000", Flags: 0, OwnerCount: 2, Sequence: 20 },
          queue_data: {
            ...{ txn_count: 1, lowest_sequence: 21, highest_sequence: 21, max_spend_drops_total: "1000000" },
            transactions: [queued(21, "40", "1024")]
          }
        }
        for (const sequence of [20, 22]) {
          assert.strictEqual((yield* keep({ amount: "40" })).body.data?.item.sequence, sequence)
        }
        // A sequence is kept where nothing is said of that; coins are where that is asked for.
        for (const [own, sequence] of [
          [{ amount: "117" }, 23],
          [{ amount: "117" }, 24],
          [{ amount: "118" }, undefined],
          [{ amount: "117", reserve: true }, 25],
          [{ amount: "1" }, undefined]
        ] as const) {
          const { body } = yield* keep({ reserve: undefined, ...own })
          assert.strictEqual(body.data?.item.sequence, sequence, JSON.stringify([own, body]))
        }
        for (const [sequence, exactAmount, wanted] of [
          [7, "11", 409],
          [7, "12", 201],
          [8, "50", 409],
          [8, "51", 201]
        ] as const) {
          const { body, status } = yield* prepare({ sequence, amount: "23.6", fee: { exactAmount } })
          assert.strictEqual(status, wanted, JSON.stringify(body))
          if (wanted === 409)
            assert.match(body.error.message, /^fee\.exactAmount: in the place of the queued transaction/)
        }
        const dear = [queued(7, "40", "1024"), queued(8, "2000000", "51200000")]
        accounts[sender!] = { ...owner, queue_data: { ...queue_data, transactions: dear } }
        const tooDear = yield* prepare({ sequence: 8, amount: "1" })
        assert.match(tooDear.body.error.message, /^fee: the place of the queued transaction .* asks for 2\.5\d* XRP/)
        accounts[sender!] = owner
        // An account of the reserve alone gets as much from anybody, whomever it has authorised.
        accounts[recipient] = { ...receiver, Flags: 0x0100_0000 }
        assert.strictEqual((yield* prepare({ amount: "1" })).status, 201)
        accounts[recipient] = receiver
        // A first payment that makes the account, and one to an X-address.
        assert.strictEqual((yield* prepare({ amount: "1", recipient: account(5) })).status, 201)
        accounts[tagged.classic] = receiver
        const toTag = yield* prepare({ amount: "1", recipient: tagged.x })
        assert.deepInclude(toTag.body.data.item, { recipient: tagged.classic, destinationTag: 1 })
        // The longest memo that rippled takes: 1,024 bytes with all around it.
        const longest = yield* prepare({ amount: "1", additionalData: "m".repeat(1_019) })
        const { Memos } = decode(longest.body.data.item.transactionHex)
        assert.strictEqual(encode({ Memos } as never).length / 2, 1_024 + 2)
        // An X-address of the sender says which of its users pays.
        const fromTag = yield* prepare({ amount: "1", sender: classicAddressToXAddress(sender!, 77, false) })
        assert.deepInclude(decode(fromTag.body.data.item.transactionHex), { Account: sender, SourceTag: 77 })
      }).pipe(Effect.scoped)
  )
})
