import { assert, describe, it } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import * as EvmSource from "@headwater/indexer/families/evm/EvmSource"
import * as JsonRpc from "@headwater/indexer/families/node/JsonRpc"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { HDNodeWallet, Wallet, Transaction, getCreateAddress } from "ethers"
import * as Anvil from "../../../../../test/Anvil.ts"
import * as Bytecode from "./Bytecode.ts"

const devnet = Result.getOrThrow(Chain.find("ethereum", "devnet"))
const hex = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString("hex")}`
const seeds = (process.env.SEEDS ?? "1").split(",").map(Number)
const rounds = Number(process.env.ROUNDS ?? 20)
const rng = (seed: number) => { let s = seed >>> 0 || 1; return (below: number) => { s ^= s << 13; s >>>= 0; s ^= s >>> 17; s ^= s << 5; s >>>= 0; return s % below } }

describe("fuzz", () => {
  for (const seed of seeds) it.live(`7702 ${seed}`, () => Effect.gen(function* () {
    const anvil = yield* Anvil.start({ args: ["--hardfork", "prague"] })
    yield* anvil.rpc("evm_setAutomine", [false])
    const rpc = yield* JsonRpc.make({ urls: [anvil.url], attempts: 1 })
    const random = rng(seed * 7919)
    const wallets = Array.from({ length: 8 }, (_, i) => new Wallet(HDNodeWallet.fromPhrase("test test test test test test test test test test test junk", undefined, `m/44'/60'/0'/0/${i}`).privateKey))
    const nonces = new Map<string, number>()
    const lower = (w: Wallet) => w.address.toLowerCase()
    const contracts: string[] = []
    const sinks = Array.from({ length: 6 }, (_, i) => `0x${(0xd0 + i).toString(16).repeat(20)}`)
    const place = () => { const all = [...sinks, ...wallets.map(lower), ...contracts, "0x0000000000000000000000000000000000000004"]; return all[random(all.length)]! }
    const program = (depth: number): string => {
      const steps = Array.from({ length: 1 + random(4) }, () => {
        const r = random(13)
        const value = random(4) === 0 ? 0 : random(5_000)
        if (r < 4) return Bytecode.call(place(), value, random(6) === 0 ? 30_000 : undefined)
        if (r === 4) return Bytecode.callSelf(value)
        if (r === 5) return Bytecode.delegateCall(place())
        if (r === 6) return Bytecode.callCode(place(), value)
        if (r === 7) return Bytecode.staticCall(place())
        if (r === 8 && depth > 0) return Bytecode.create(program(depth - 1), value)
        if (r === 9 && depth > 0) return Bytecode.create2(program(depth - 1), value, random(3))
        if (r === 10 && depth > 0) return Bytecode.create2(Bytecode.selfDestruct(place()), value, random(3))
        if (r === 11) return Bytecode.create(Bytecode.deploy(program(0)), value)
        return Bytecode.call(place(), value)
      })
      const end = random(10)
      return (random(3) === 0 ? Bytecode.stopIfPaid : "") + steps.join("") + (end === 0 ? Bytecode.revert : end === 1 ? Bytecode.selfDestruct(place()) : end === 2 ? Bytecode.invalid : Bytecode.stop)
    }
    const nonceOf = (w: Wallet) => nonces.get(lower(w)) ?? 0
    const sign = Effect.fnUntraced(function* (w: Wallet, tx: Record<string, any>) {
      const nonce = nonceOf(w)
      const raw = yield* Effect.promise(() => w.signTransaction({ chainId: 31337, nonce, gasLimit: 2_000_000n, type: 2, maxFeePerGas: 3_000_000_000n, maxPriorityFeePerGas: 1n, ...tx } as any))
      return raw
    })
    const tree = yield* EvmSource.make(devnet, rpc, { internal: true, tracers: ["debug_traceBlockByHash"] } as any)
    const list = yield* EvmSource.make(devnet, rpc, { internal: true, tracers: ["trace_block"] } as any)
    let txs = 0, internals = 0, type4 = 0, bad = 0, failed = 0
    for (let round = 0; round < rounds; round++) {
      const hashes: string[] = []
      const base = BigInt((yield* anvil.rpc<any>("eth_getBlockByNumber", ["latest", false])).baseFeePerGas)
      for (const w of wallets) nonces.set(lower(w), Number(yield* anvil.rpc("eth_getTransactionCount", [w.address, "latest"])))
      const fees = { maxFeePerGas: base * 2n + 1_000_000_000n }
      // one transaction a wallet a block; authorities drawn from those that do not send, or the sender itself
      const senders = wallets.filter(() => random(3) > 0)
      const idle = wallets.filter((w) => !senders.includes(w))
      const authNonce = new Map<string, number>()
      for (const w of senders) {
        const kind = random(8)
        const n = nonceOf(w)
        let tx: Record<string, any>
        if (kind === 0 || kind === 7) { tx = { to: null, data: `0x${random(5) ? Bytecode.deploy(program(2)) : program(1)}`, value: BigInt(random(3) ? 1_000_000 : 0) } }
        else if (kind < 4) {
          const auths: any[] = []
          for (let k = 0; k < 1 + random(3); k++) {
            const self = random(3) === 0
            const a = self ? w : idle[random(Math.max(1, idle.length))] ?? w
            const isSelf = a === w
            const expected = isSelf ? n + 1 + (authNonce.get(lower(w)) ?? 0) : nonceOf(a) + (authNonce.get(lower(a)) ?? 0)
            const wrong = random(6) === 0
            if (!wrong) authNonce.set(lower(a), (authNonce.get(lower(a)) ?? 0) + 1)
            const target = random(6) === 0 ? "0x0000000000000000000000000000000000000000" : random(6) === 0 ? place() : contracts[random(Math.max(1, contracts.length))] ?? sinks[0]!
            auths.push(yield* Effect.promise(() => a.authorize({ chainId: random(2) ? 31337 : 0, nonce: expected + (wrong ? 3 : 0), address: target })))
          }
          tx = { type: 4, to: random(3) ? lower(wallets[random(wallets.length)]!) : place(), value: BigInt(random(50_000)), authorizationList: auths }
          type4++
        } else tx = { to: random(4) === 0 ? lower(w) : place(), value: BigInt(random(100_000)), data: random(4) === 0 ? "0x01" : "0x", type: random(3) === 0 ? 0 : 2 }
        if (tx.type === 0) { tx.gasPrice = fees.maxFeePerGas; tx.maxFeePerGas = undefined; tx.maxPriorityFeePerGas = undefined } else tx = { ...fees, ...tx }
        const raw = yield* sign(w, tx)
        const sent = yield* Effect.exit(anvil.rpc<string>("eth_sendRawTransaction", [raw]))
        if (sent._tag === "Success") { hashes.push(sent.value); if (kind === 0 || kind === 7) contracts.push(getCreateAddress({ from: w.address, nonce: n }).toLowerCase()) } else { bad++; if (process.env.DEBUG) console.log(String(sent.cause)) }
      }
      yield* anvil.rpc("evm_mine", [])
      const head = yield* anvil.rpc<any>("eth_getBlockByNumber", ["latest", true])
      const height = Number(head.number)
      const receipts: any[] = []
      for (const t of head.transactions) receipts.push(yield* anvil.rpc<any>("eth_getTransactionReceipt", [t.hash]))
      txs += receipts.length; failed += receipts.filter((r) => r.status !== "0x1").length
      const states: any[] = yield* anvil.rpc<any>("debug_traceBlockByNumber", [head.number, { tracer: "prestateTracer", tracerConfig: { diffMode: true } }])
      const told: string[][] = []
      for (const source of [tree, list]) {
        const block = yield* source.blockAt(height)
        assert.isUndefined(block.notUnderstood, JSON.stringify(block.notUnderstood, (_, v) => typeof v === "bigint" ? String(v) : v))
        const change = new Map<string, bigint>()
        const add = (a: string, v: bigint) => change.set(a, (change.get(a) ?? 0n) + v)
        told.push(block.transfers.map((t: any) => `${t.kind} ${t.transaction} ${t.operation ?? ""} ${hex(t.from)} ${t.to && hex(t.to)} ${t.amount}`))
        for (const t of block.transfers as any[]) {
          if (t.kind !== "coin" && t.kind !== "internal") continue
          if (t.kind === "internal") internals++
          add(hex(t.from!), -t.amount); add(hex(t.to!), t.amount)
        }
        for (const r of receipts) add(r.from, -BigInt(r.gasUsed) * BigInt(r.effectiveGasPrice))
        const touched = new Set([...change.keys(), ...sinks, ...wallets.map(lower), ...contracts, ...states.flatMap((s) => [...Object.keys(s.result?.pre ?? {}), ...Object.keys(s.result?.post ?? {})])].map((a) => a.toLowerCase()))
        const miner = head.miner.toLowerCase()
        for (const a of touched) {
          if (a === miner) continue
          const at = (n: number) => anvil.rpc<string>("eth_getBalance", [a, `0x${n.toString(16)}`])
          const moved = BigInt(yield* at(height)) - BigInt(yield* at(height - 1))
          if (moved !== (change.get(a) ?? 0n)) {
            console.log("DIFF", seed, height, a, "balance", moved, "told", change.get(a) ?? 0n, source === tree ? "tree" : "list")
            console.log(told.at(-1)!.filter((x) => x.includes(a)).join("\n"))
            const raw = yield* anvil.rpc<any>("debug_traceBlockByNumber", [head.number, { tracer: "callTracer" }])
            if (process.env.DEBUG) console.log(JSON.stringify(raw.map((r: any) => r.result ?? r), (k, v) => ["input", "output", "gas", "gasUsed"].includes(k) ? undefined : v, 1))
            assert.fail("differs")
          }
        }
      }
      assert.deepStrictEqual([...told[0]!].sort(), [...told[1]!].sort())
    }
    console.log(JSON.stringify({ seed, txs, failed, internals, type4, bad, contracts: contracts.length }))
  }).pipe(Effect.scoped), 300_000)
})
