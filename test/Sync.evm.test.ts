/**
 * Addresses that were used long before they are watched: what rests on the record is refused until their past has been
 * read, and is the chain's own word from then on, also where the reading was killed.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { formatEther, HDNodeWallet, type Wallet } from "ethers"
import * as Anvil from "./Anvil.ts"
import * as Contracts from "./Contracts.ts"
import * as EvmOracle from "./EvmOracle.ts"
import * as Headwater from "./Headwater.ts"
import * as LocalServer from "./LocalServer.ts"
import { taken } from "./Stores.ts"
import { everyWay, half } from "./Turn.ts"

const mnemonic = "legal winner thank year wave sausage worth useful legal winner thank yellow"
const branch = HDNodeWallet.fromPhrase(mnemonic, undefined, "m/44'/60'/0'").deriveChild(0)
const usedCount = everyWay ? 50 : 20
const gapLimit = 8
/** More addresses than the gap has hold tokens alone, which leave no trace in an account, and every third one behind them. */
const holdsTokensAlone = (i: number) => i <= gapLimit || i % 3 === 0
const wallets = Array.from({ length: usedCount + gapLimit }, (_, i) => branch.deriveChild(i))
const addresses = wallets.map(({ address }) => address)
const used = addresses.slice(0, usedCount)

/** A node in front of anvil that counts calls, answers logs of few blocks at a time, and may be told to stand still. */
const proxy = (url: string, largest: number) =>
  Effect.gen(function* () {
    const calls = new Map<string, number>()
    let allowed = Number.POSITIVE_INFINITY
    const answer = async (call: LocalServer.Call) => {
      calls.set(call.method, (calls.get(call.method) ?? 0) + 1)
      if (call.method === "eth_getLogs") {
        const [{ fromBlock, toBlock }] = call.params
        if (Number(toBlock) - Number(fromBlock) >= largest) {
          return {
            jsonrpc: "2.0",
            id: call.id,
            error: { code: -32005, message: "query returns more than 10000 results" }
          }
        }
        while (allowed <= 0) await new Promise((resolve) => setTimeout(resolve, 20))
        allowed--
      }
      return await LocalServer.ask(url, call)
    }
    return {
      url: yield* LocalServer.jsonRpc(answer),
      calls,
      /** Logs are answered so many times more. */
      allow: (count: number) => {
        allowed = count
      }
    }
  })

const ether = (wei: bigint) => formatEther(wei).replace(/\.0$/, "")
const sum = (amounts: ReadonlyArray<bigint>) => amounts.reduce((total, amount) => total + amount, 0n)

const ways = ["single addresses", "a wallet"] as const

for (const { location, name } of taken(import.meta.url)) {
  describe(`The past of EVM addresses on ${name}`, () => {
    it.live.each(half("ways", ways))(
      "is refused before it was read, and whole afterwards: %s",
      (how) =>
        Effect.gen(function* () {
          const anvil = yield* Anvil.start({})
          const sender = yield* Contracts.sender(anvil)
          const coin = yield* sender.deploy("Coin")
          const collectible = yield* sender.deploy("Collectible")
          const multi = yield* sender.deploy("Multi")
          const mover = yield* sender.deploy("Mover")
          for (const [i, address] of used.entries()) {
            if (!holdsTokensAlone(i))
              yield* sender.send({ to: address, value: 10n ** 18n + BigInt(i), gasLimit: 21_000n })
            if (i % 3 === 1 && !holdsTokensAlone(i)) yield* sender.send(mover.call("split", [[address]], 5n))
            yield* sender.send(coin.call("transfer", [address, BigInt(1_000 + i)]))
            if (i % 5 === 0) yield* sender.send(collectible.call("mint", [address, BigInt(i)]))
            if (i % 7 === 0) yield* sender.send(multi.call("mintBatch", [address, [1n, BigInt(i)], [2n, 3n]]))
          }
          for (const [i, wallet] of wallets.slice(0, usedCount).entries()) {
            if (i % 3 !== 2 || holdsTokensAlone(i)) continue
            const own = yield* Contracts.sender(anvil, wallet as unknown as Wallet)
            yield* own.send({ to: used[(i + 1) % usedCount]!, value: 7n, gasLimit: 21_000n })
            yield* own.send({ ...coin.call("transfer", [used[0], 3n]), gasLimit: 200_000n })
          }
          yield* anvil.rpc("anvil_mine", ["0x80"])

          const node = yield* proxy(anvil.url, 60)
          const headwater = yield* Headwater.start(yield* location as Effect.Effect<never>, {
            chains: {
              "ethereum/devnet": {
                ...{
                  nodes: [node.url],
                  start: "latest",
                  record: "watched",
                  gapLimit,
                  pollMillis: 200,
                  syncBlocks: 100_000
                }
              }
            }
          })
          const manage = "/addresses-historical/manage/ethereum/devnet"
          const assets = headwater.get(
            `/hd-wallets/evm/ethereum/devnet/${branch.neuter().extendedKey}/assets?derivation=bip32`
          )
          const tokens = (address: string) =>
            headwater.get(
              `/addresses-historical/evm/ethereum/devnet/${address}/tokens-transfers?sortingOrder=ascending`
            )
          const until = (condition: Effect.Effect<boolean>) =>
            Effect.gen(function* () {
              while (!(yield* condition)) yield* Effect.sleep("200 millis")
            })
          yield* until(Effect.map(assets, ({ status }) => status !== 503))
          assert.strictEqual((yield* assets).body.error.code, "xpub_not_synced")
          assert.strictEqual((yield* tokens(used[0]!)).body.error.code, "address_not_synced")

          // What was used before its first watching is told from what was not.
          node.allow(4)
          const calls = new Map(node.calls)
          const began = Date.now()
          const wallet = `/hd-wallets/manage/ethereum/devnet/${branch.neuter().extendedKey}`
          if (how === "a wallet") {
            const sync = headwater.post(`${wallet}/sync?derivation=bip32`, { birthHeight: 0 })
            assert.strictEqual((yield* sync).status, 201)
            assert.strictEqual((yield* sync).status, 409)
          } else {
            for (const address of addresses) {
              const { body, status } = yield* headwater.post(manage, { address, birthHeight: 0 })
              assert.strictEqual(status, 201, JSON.stringify(body))
              assert.strictEqual(body.data.item.syncStatus, "syncing")
            }
            assert.strictEqual((yield* headwater.post(manage, { address: used[0], birthHeight: 0 })).status, 409)
          }
          const early = yield* tokens(used[0]!)
          assert.strictEqual(early.status, 200)
          assert.isAbove(early.body.data.completeFrom, 0)
          yield* until(Effect.map(assets, ({ body }) => body.error?.code === "xpub_sync_in_progress"))

          yield* headwater.kill
          node.allow(Number.POSITIVE_INFINITY)
          yield* headwater.launch
          yield* until(
            Effect.gen(function* () {
              if (how === "a wallet") {
                // Each reading of the wallet gets further, until a gap of unused addresses is behind the last used one.
                const { body, status } = yield* assets
                if (status !== 200) assert.include(["xpub_sync_in_progress", "node_unavailable"], body.error.code)
                return status === 200
              }
              const half = `${manage}?limit=${addresses.length / 2}`
              const first = (yield* headwater.get(half)).body.data
              const second = (yield* headwater.get(`${half}&startingAfter=${first.nextStartingAfter}`)).body.data
              const all = [...first.items, ...second.items] as ReadonlyArray<Record<string, unknown>>
              assert.strictEqual(all.length, addresses.length)
              return all.every(({ syncStatus }) => syncStatus === "synced")
            })
          )
          const minutes = (Date.now() - began) / 60_000

          const compare = Effect.gen(function* () {
            const history = yield* EvmOracle.history(anvil)
            yield* until(
              Effect.map(
                headwater.get(`/hd-wallets/evm/ethereum/devnet/${branch.neuter().extendedKey}/assets?derivation=bip32`),
                ({ status }) => status !== 503
              )
            )
            const { body, status } = yield* assets
            assert.strictEqual(status, 200, JSON.stringify(body))
            const { item } = body.data
            const moves = [...history.coins, ...history.internals]
            const balances = yield* Effect.forEach(used, (address) =>
              anvil.rpc<string>("eth_getBalance", [address, "latest"])
            )
            assert.strictEqual(item.confirmedBalance, ether(sum(balances.map(BigInt))))
            const received = moves.filter(({ to }) => addresses.includes(to)).map(({ amount }) => amount)
            const spent = moves.filter(({ from }) => addresses.includes(from)).map(({ amount }) => amount)
            assert.strictEqual(item.totalReceived, ether(sum(received)))
            assert.strictEqual(item.totalSpent, ether(sum(spent)))
            const coins = yield* Effect.forEach(used, (address) =>
              anvil.rpc<string>("eth_call", [
                { to: coin.address, data: coin.abi.encodeFunctionData("balanceOf", [address]) },
                "latest"
              ])
            )
            assert.strictEqual(Number(item.fungibleTokens[0].amount), Number(sum(coins.map(BigInt))) / 1e6)
            const ids = history.tokens.filter(({ to, tokenId }) => tokenId !== undefined && addresses.includes(to))
            assert.strictEqual(
              item.nonFungibleTokens.length,
              new Set(ids.map(({ contract, tokenId }) => `${contract} ${tokenId}`)).size
            )
            assert.isUndefined(item.completeFrom)
            for (const address of addresses) {
              const listed = (yield* tokens(address)).body.data
              assert.isUndefined(listed.completeFrom)
              assert.deepStrictEqual(
                listed.items.map((found: { readonly transactionHash: string }) => found.transactionHash),
                history.tokens
                  .filter(({ from, to }) => from === address || to === address)
                  .map(({ transaction }) => transaction)
              )
            }
          })
          yield* compare
          const made = [...node.calls].map(([method, count]) => [method, count - (calls.get(method) ?? 0)] as const)
          yield* Effect.logInfo(
            `${Math.round(addresses.length / minutes)} addresses a minute; calls ` +
              made.map(([method, count]) => `${method} ${count}`).join(", ")
          )

          const tip = Number(yield* anvil.rpc<string>("eth_blockNumber", []))
          yield* sender.send(coin.call("transfer", [used[3], 9n]))
          yield* sender.send({ to: used[3]!, value: 11n, gasLimit: 21_000n })
          yield* until(
            Effect.map(tokens(used[3]!), ({ body }) =>
              body.data?.items.some(
                (found: { readonly minedInBlock: { readonly height: number } }) => found.minedInBlock.height > tip
              )
            )
          )
          yield* compare
          if (how === "a wallet") {
            const { body } = yield* headwater.get("/hd-wallets/manage/ethereum/devnet")
            assert.deepInclude(body.data.items[0], { isActive: true, syncStatus: "synced" })
            const activate = headwater.post(`${wallet}/activate?derivation=bip32`, {})
            const refused = yield* activate
            assert.deepStrictEqual([refused.status, refused.body.error.code], [409, "xpub_already_active"])
          } else {
            const [address] = used
            const headers = { "x-api-key": headwater.apiKey }
            const stopped = yield* Effect.promise(() =>
              fetch(`${headwater.url}${manage}/${address}`, { method: "DELETE", headers })
            )
            assert.strictEqual(stopped.status, 200)
            const of = (kind: string, what: string) =>
              Effect.map(
                headwater.get(`/addresses-${kind}/evm/ethereum/devnet/${address}/${what}`),
                ({ body, status }) => [what, status, body.error?.code]
              )
            for (const what of ["tokens-transfers", "tokens", "transactions", "transactions/from-timestamp/0"]) {
              assert.deepStrictEqual(yield* of("historical", what), [what, 405, "sync_address_not_active"])
            }
            // The interface has the code for the history alone.
            for (const what of ["tokens-transfers", "transactions"]) {
              assert.deepStrictEqual(yield* of("latest", what), [what, 403, "address_not_synced"])
            }
            const activate = headwater.post(`${manage}/${address}/activate`, {})
            assert.strictEqual((yield* activate).status, 201)
            const refused = yield* activate
            assert.deepStrictEqual([refused.status, refused.body.error.code], [409, "sync_address_already_active"])
            assert.strictEqual((yield* tokens(address!)).status, 200)
          }
        }).pipe(Effect.scoped),
      300_000
    )

    it.live("is not taken for read before the chain has a block", () =>
      Effect.gen(function* () {
        const anvil = yield* Anvil.start({})
        const sender = yield* Contracts.sender(anvil)
        const { address } = wallets[0]!
        yield* sender.send({ to: address, value: 10n ** 18n, gasLimit: 21_000n })
        yield* sender.send({ to: address, value: 5n, gasLimit: 21_000n })
        const headwater = yield* Headwater.start(yield* location as Effect.Effect<never>, {
          chains: { "ethereum/devnet": { nodes: [anvil.url], start: 5, record: "watched", gapLimit, pollMillis: 200 } }
        })
        const key = branch.neuter().extendedKey
        const manage = "/addresses-historical/manage/ethereum/devnet"
        const sync = headwater.post(`/hd-wallets/manage/ethereum/devnet/${key}/sync?derivation=bip32`, {
          birthHeight: 0
        })
        const derive = headwater.post(
          `/hd-wallets/evm/ethereum/devnet/${key}/addresses/derive-and-sync?derivation=bip32`,
          {}
        )
        const early = [
          sync,
          derive,
          headwater.post(manage, { address, birthHeight: 0 }),
          headwater.post(manage, { address })
        ]
        for (const { body, status } of yield* Effect.all(early)) {
          assert.deepStrictEqual([status, body.error?.code], [503, "node_unavailable"])
        }
        yield* anvil.rpc("anvil_mine", ["0x8"])
        const { body, status } = yield* Headwater.until(sync, ({ status }) => status !== 503)
        assert.strictEqual(status, 201, JSON.stringify(body))
        const assets = `/hd-wallets/evm/ethereum/devnet/${key}/assets?derivation=bip32`
        assert.strictEqual((yield* headwater.data(assets, [422, 503])).item.totalReceived, "1.000000000000000005")
      }).pipe(Effect.scoped)
    )
  })
}
