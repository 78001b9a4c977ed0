/**
 * Prepared transactions of UTXO wallets on a real node: signed elsewhere, mined, and right to the unit. `npm test` has a few
 * wallets; HEADWATER_PREPARED_WALLETS says how many.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Headwater from "./Headwater.ts"
import * as Litecoind from "./Litecoind.ts"
import {
  coinsText,
  formats,
  type Prepared,
  type PreparedWallet,
  satoshisOf,
  signHashes,
  signPsbt,
  wallet
} from "./PreparedWallets.ts"
import * as SeededRandom from "./SeededRandom.ts"
import { locations, taken } from "./Stores.ts"

const asked = process.env.HEADWATER_PREPARED_WALLETS
const seed = Number(process.env.HEADWATER_SEED ?? 18)
const wallets = "/hd-wallets/utxo/litecoin/regtest"
/** Of a P2PKH, P2SH, P2WPKH and P2TR output on Litecoin, whose nodes have 30,000 litoshi for 1,000 bytes as the rate of dust. */
const dust = { P2PKH: 5_460n, "P2SH-P2WPKH": 5_400n, P2WPKH: 2_940n, P2TR: 3_300n }
/** Taproot first, so that it is among two wallets too. */
const every = ["P2TR", ...formats] as const

interface Funded extends PreparedWallet {
  readonly coins: Map<string, bigint>
  /** What a recipient elsewhere has got is not among it. */
  balance: bigint
}

const outpoint = ({ outputIndex, transactionId }: { readonly outputIndex: number; readonly transactionId: string }) =>
  `${transactionId}:${outputIndex}`

for (const { location, name } of taken(import.meta.url)) {
  const count = Number(asked ?? (name === "sqlite" ? 5 : 2))
  describe.skipIf(!Litecoind.installed)(`prepared UTXO transactions, ${name}`, () => {
    it.live(
      "are signed by PSBT and by hash, mined, and right to the unit",
      () =>
        Effect.gen(function* () {
          const random = SeededRandom.integers(seed)
          const node = yield* Litecoind.start()
          yield* node.mine(120)
          const headwater = yield* Headwater.start(yield* location as Effect.Effect<never>, {
            chains: { "litecoin/regtest": { nodes: [node.url], start: 0, pollMillis: 200 } },
            limits: { wallets: 2 * count },
            credits: { perSecond: 1_000_000_000 }
          })
          const prepare = ({ extendedPublicKey, format }: PreparedWallet, item: Record<string, unknown>) =>
            headwater.post(`${wallets}/${extendedPublicKey}/transactions/prepare?format=${format}`, item)
          const recorded = ({ balance, extendedPublicKey, format }: Funded) =>
            Headwater.until(headwater.get(`${wallets}/${extendedPublicKey}/assets?format=${format}`), ({ body }) => {
              const found = body.data?.item.confirmedBalance.amount
              return found !== undefined && satoshisOf(found) === balance
            })

          const all: Array<Funded> = []
          for (let i = 0; i < count; i++) {
            const made = wallet(seed * 100_000 + i, every[i % every.length]!, Math.floor(i / every.length) % 3)
            // The daemon may not have asked its node yet.
            const path = `${wallets}/${made.extendedPublicKey}/addresses/derive-and-sync?format=${made.format}`
            const derived = yield* Headwater.until(headwater.post(path, {}), ({ status }) => status !== 503)
            assert.strictEqual(derived.status, 201, JSON.stringify(derived.body))
            assert.strictEqual(derived.body.data.items[3].address, made.address(0, 3))
            all.push({ ...made, coins: new Map(), balance: 0n })
          }
          // Coins of all sizes, some of them dust at any rate.
          for (const [i, funded] of all.entries()) {
            // A node relays no long chains of waiting transactions.
            if (i % 10 === 9) yield* node.mine(1)
            const pays: Record<string, string> = {}
            for (let coins = 1 + random(10); coins > 0; coins--) {
              const amount = BigInt(6_000 + random(10 ** (4 + random(5))))
              const address = funded.address(random(2), random(12))
              if (address in pays) continue
              pays[address] = coinsText(amount)
              funded.balance += amount
            }
            yield* node.rpc("sendmany", "", pays)
          }
          yield* node.mine(1)
          for (const funded of all) yield* recorded(funded)

          const figures = { prepared: 0, refused: 0, withChange: 0, inputs: 0 }
          const pending = new Set<string>()
          const stranger = yield* node.rpc<string>("getnewaddress")
          const check = Effect.fnUntraced(function* (
            funded: Funded,
            item: {
              readonly recipients: ReadonlyArray<{ readonly address: string; readonly amount: string }>
              readonly fee: { readonly exactAmount?: string; readonly address?: string }
            },
            prepared: Prepared
          ) {
            const { inputs, outputs, size } = prepared
            const fee = satoshisOf(prepared.fee.amount)
            const taken = inputs.reduce((sum, { satoshis }) => sum + BigInt(satoshis), 0n)
            const paid = outputs.reduce((sum, { satoshis }) => sum + BigInt(satoshis), 0n)
            assert.strictEqual(taken, paid + fee)
            for (const input of inputs) {
              assert.strictEqual(input.address, funded.address(input.change, input.derivationIndex))
              assert.isFalse(pending.has(outpoint(input)), "a coin is in two pending preparations")
              pending.add(outpoint(input))
            }
            const { recipients } = item
            assert.deepStrictEqual(
              outputs.slice(0, recipients.length).map(({ address, satoshis }) => ({ address, satoshis })),
              recipients.map(({ address, amount }) => ({ address, satoshis: Number(satoshisOf(amount)) }))
            )
            const change = outputs.slice(recipients.length)
            assert.isAtMost(change.length, 1)
            for (const { address, satoshis } of change) {
              const next = [...Array(30).keys()].map((index) => funded.address(1, index))
              if (item.fee.address === undefined) assert.include(next, address)
              else assert.strictEqual(address, item.fee.address)
              assert.isTrue(BigInt(satoshis) >= dust[funded.format])
            }
            if (item.fee.exactAmount !== undefined && change.length > 0) {
              assert.strictEqual(fee, satoshisOf(item.fee.exactAmount))
            }

            const signed = signPsbt(funded, prepared)
            assert.strictEqual(signHashes(funded, prepared).toHex(), signed.toHex())
            // Signatures are one or two bytes shorter than they may be.
            assert.isAtLeast(size, signed.virtualSize())
            assert.isAtMost(size - signed.virtualSize(), 2 * inputs.length)
            const [accepted] = yield* node.rpc<ReadonlyArray<{ readonly allowed: boolean }>>("testmempoolaccept", [
              signed.toHex()
            ])
            assert.deepInclude(accepted, { allowed: true })
            figures.prepared++
            figures.inputs += inputs.length
            figures.withChange += change.length
            const own = change.length === 1 ? BigInt(change[0]!.satoshis) : 0n
            return { signed, taken, own }
          })

          const waiting: Array<string> = []
          for (const funded of all) {
            const sent: Array<Transaction> = []
            for (let round = 0; round < 2; round++) {
              const part = (funded.balance * BigInt(1 + random(60))) / 100n
              const recipients = Array.from({ length: 1 + random(3) }, () => ({
                address: stranger,
                amount: coinsText(BigInt(Math.max(5_460, Number(part) / 3) | 0))
              }))
              const priorities = ["slow", "standard", "fast"] as const
              const item = {
                recipients,
                fee: {
                  ...(random(4) === 0 ? { exactAmount: coinsText(BigInt(2_000 + random(3_000))) } : {}),
                  ...(random(4) === 0 ? { address: funded.address(0, 11) } : {}),
                  priority: priorities[random(3)]
                },
                ...[
                  {},
                  { prepareStrategy: "none" },
                  { prepareStrategy: "minimize-dust" },
                  { prepareStrategy: "optimize-size" }
                ][random(4)],
                ...(random(2) === 0 ? { replaceable: random(2) === 0 } : {}),
                ...(random(3) === 0 ? { locktime: 100 } : {})
              }
              const { body, status } = yield* prepare(funded, item)
              if (status === 409) {
                figures.refused++
                assert.match(body.error.message, /the payment needs|nodes and miners take no less/)
                continue
              }
              assert.strictEqual(status, 200, JSON.stringify(body))
              sent.push(yield* check(funded, item, body.data.item))
            }
            for (const { own, signed, taken } of sent) {
              const id = yield* node.rpc<string>("sendrawtransaction", signed.toHex(), 0)
              assert.strictEqual(id, signed.getId())
              waiting.push(id)
              funded.balance += own - taken
            }
          }
          yield* node.mine(1)
          for (const id of waiting) {
            const { confirmations } = yield* node.rpc<{ readonly confirmations?: number }>(
              "getrawtransaction",
              id,
              true
            )
            assert.strictEqual(confirmations, 1)
          }
          for (const funded of all) yield* recorded(funded)
          assert.isAbove(figures.prepared, count / 2)
          assert.isAbove(figures.withChange, 0)
          console.log(
            `${name}, seed ${seed}: ${count} wallets, ${figures.prepared} transactions prepared, signed twice, mined; ` +
              `${figures.inputs} inputs, ${figures.withChange} with change, ${figures.refused} refused`
          )
        }),
      3_600_000
    )
  })
}

describe.skipIf(!Litecoind.installed)("refused preparations of UTXO transactions", () => {
  it.live(
    "say what is wrong, or what the wallet lacks, and requests at once never share a coin",
    () =>
      Effect.gen(function* () {
        const node = yield* Litecoind.start()
        yield* node.mine(110)
        const { account, address, extendedPublicKey } = wallet(seed, "P2WPKH", 2)
        const headwater = yield* Headwater.start(yield* locations[0]!.location as Effect.Effect<never>, {
          chains: { "litecoin/regtest": { nodes: [node.url], start: 0, pollMillis: 200 } }
        })
        const stranger = yield* node.rpc<string>("getnewaddress")
        const path = `${wallets}/${extendedPublicKey}`
        const prepare = (item: Record<string, unknown>) =>
          headwater.post(`${path}/transactions/prepare`, {
            ...{ recipients: [{ address: stranger, amount: "0.1" }], fee: {} },
            ...item
          })
        const refused = Effect.fnUntraced(function* (item: Record<string, unknown>, status: number, message: RegExp) {
          const answer = yield* prepare(item)
          assert.strictEqual(answer.status, status, JSON.stringify(answer.body))
          assert.match(answer.body.error.message, message)
        })
        const balance = Effect.fnUntraced(function* (expected: string) {
          const { body } = yield* Headwater.until(
            headwater.get(`${path}/assets`),
            ({ body }) => body.data?.item.confirmedBalance.amount === expected
          )
          const details = yield* headwater.get(`${path}/details`)
          assert.deepStrictEqual(details.body.data.item, { ...body.data.item, confirmedBalance: expected, unit: "LTC" })
        })
        yield* refused({}, 400, /has not synced/)
        // The daemon may not have asked its node yet.
        yield* Headwater.until(headwater.post(`${path}/addresses/derive-and-sync`, {}), ({ status }) => status === 201)

        const to = (address: string, amount: string) => ({ recipients: [{ address, amount }] })
        yield* refused(to("ltc1qnowhere", "0.1"), 400, /recipients\.0\.address/)
        yield* refused(to(stranger, "0.000000001"), 400, /recipients\.0\.amount: must have at most 8 digits/)
        yield* refused(to(stranger, "0.0000293"), 400, /must be at least 0\.0000294 LTC/)
        yield* refused({ fee: { address: "nowhere" } }, 400, /fee\.address/)
        yield* refused({ fee: { address: stranger } }, 400, /fee\.address: must be an address of the wallet/)
        yield* refused({ additionalData: "é".repeat(41) }, 400, /at most 80 bytes/)
        yield* refused({}, 409, /has 0 LTC to spend, and the payment needs 0\.1\d* LTC, 0\.0000\d* LTC of it as fee/)

        // What a miner gets is spent after a hundred blocks.
        yield* node.mine(1, address(0, 0))
        yield* balance("50")
        yield* refused({}, 409, /beside that 50 LTC is the reward of blocks and too young/)
        yield* node.rpc("sendmany", "", Object.fromEntries([1, 2, 3, 4].map((i) => [address(0, i), "1"])))
        yield* node.mine(1)
        yield* balance("54")
        yield* refused(
          { fee: { exactAmount: "0.00000001" } },
          409,
          /nodes and miners take no less than 0\.00000\d+ LTC/
        )
        // A hundred times ten times the least.
        yield* refused(
          { fee: { exactAmount: "0.1" } },
          400,
          /fee\.exactAmount: the fee must be at most 1000000 .* maximumFee/
        )
        yield* refused(to(stranger, "5"), 409, /has 4 LTC to spend, and the payment needs 5\.0\d* LTC/)

        const data = yield* prepare({ ...to(stranger, "0.9"), additionalData: "é".repeat(40) })
        assert.strictEqual(data.status, 200, JSON.stringify(data.body))
        const first: Prepared = data.body.data.item
        assert.deepInclude(first.outputs[1], { address: "", satoshis: 0 })
        const { asm } = (yield* node.rpc<{
          readonly vout: ReadonlyArray<{ readonly scriptPubKey: { readonly asm: string } }>
        }>("decoderawtransaction", signPsbt(wallet(seed, "P2WPKH", 2), first).toHex())).vout[1]!.scriptPubKey
        assert.strictEqual(asm, `OP_RETURN ${Buffer.from("é".repeat(40)).toString("hex")}`)

        const answers = yield* Effect.forEach(Array.from({ length: 8 }), () => prepare(to(stranger, "0.9")), {
          concurrency: "unbounded"
        })
        const made = answers.flatMap(({ body, status }) => (status === 200 ? [body.data.item as Prepared] : []))
        assert.lengthOf(made, 3)
        const spent = [first, ...made].flatMap(({ inputs }) => inputs.map(outpoint))
        assert.strictEqual(new Set(spent).size, 4)
        for (const { body, status } of answers.filter(({ status }) => status !== 200)) {
          assert.strictEqual(status, 409)
          assert.match(body.error.message, /4 LTC is reserved .* until 20\d\d-\d\d-\d\dT/)
        }

        // What waits is spent where it is named, and its fee is made up for.
        const poor = yield* node.rpc<string>("sendtoaddress", address(0, 6), 3)
        const child = yield* prepare({ ...to(stranger, "2.5"), parentTransactionId: poor })
        assert.strictEqual(child.status, 200, JSON.stringify(child.body))
        assert.deepStrictEqual(
          child.body.data.item.inputs.map(({ transactionId }: { readonly transactionId: string }) => transactionId),
          [poor]
        )
        const signedChild = signPsbt(wallet(seed, "P2WPKH", 2), child.body.data.item)
        const childId = yield* node.rpc<string>("sendrawtransaction", signedChild.toHex(), 0)
        const grandchild = yield* prepare({ ...to(stranger, "0.1"), parentTransactionId: childId })
        assert.strictEqual(grandchild.status, 200, JSON.stringify(grandchild.body))
        const last = signPsbt(wallet(seed, "P2WPKH", 2), grandchild.body.data.item)
        yield* node.rpc("sendrawtransaction", last.toHex(), 0)
        yield* refused({ ...to(stranger, "0.1"), parentTransactionId: poor }, 409, /must have an unspent output/)
        yield* refused({ ...to(stranger, "0.1"), parentTransactionId: "0".repeat(64) }, 409, /must wait in the node/)
        yield* node.mine(1)
        const paidBack = Number(grandchild.body.data.item.outputs[1].satoshis) / 1e8
        yield* balance((54 + paidBack).toFixed(8).replace(/0+$/, ""))

        // What the owner is spending elsewhere, and no block has spent yet.
        yield* node.rpc("sendtoaddress", address(0, 5), 2)
        yield* node.mine(1)
        yield* balance((56 + paidBack).toFixed(8).replace(/0+$/, ""))
        const elsewhere = yield* node.wallet("elsewhere")
        yield* elsewhere("importprivkey", account.derive(0).derive(5).toWIF())
        yield* elsewhere("sendtoaddress", stranger, 1)
        yield* refused(to(stranger, "1.9"), 409, /4 LTC is reserved|2 LTC is being spent/)
        yield* refused(to(stranger, "5"), 409, /beside that 2 LTC is being spent by transactions that wait for a block/)
      }),
    300_000
  )
})

type Transaction = {
  readonly signed: ReturnType<typeof signPsbt>
  readonly taken: bigint
  readonly own: bigint
}
