import { readdirSync } from "node:fs"
import { assert, it } from "@effect/vitest"
import { blockchains } from "@headwater/core/chains/blockchains"
import * as Chain from "@headwater/core/chains/Chain"
import * as Result from "effect/Result"

const chain = (name: string): Chain.Chain => {
  const [blockchain, network] = name.split("/")
  return Result.getOrThrow(Chain.find(blockchain!, network!))
}

// SLIP-44 coin type, EIP-155 chain id and unit, as registered; a typing error here would send money astray.
const registered = [
  ["bitcoin/mainnet", 0, undefined, "BTC"],
  ["bitcoin-cash/mainnet", 145, undefined, "BCH"],
  ["litecoin/mainnet", 2, undefined, "LTC"],
  ["litecoin/testnet", 1, undefined, "LTC"],
  ["dogecoin/mainnet", 3, undefined, "DOGE"],
  ["dash/mainnet", 5, undefined, "DASH"],
  ["zcash/mainnet", 133, undefined, "ZEC"],
  ["ethereum/mainnet", 60, 1, "ETH"],
  ["ethereum/sepolia", 60, 11155111, "ETH"],
  ["ethereum-classic/mainnet", 61, 61, "ETC"],
  ["ethereum-classic/mordor", 61, 63, "ETC"],
  ["binance-smart-chain/mainnet", 9006, 56, "BNB"],
  ["binance-smart-chain/testnet", 9006, 97, "BNB"],
  ["polygon/mainnet", 966, 137, "POL"],
  ["polygon/amoy", 966, 80002, "POL"],
  ["arbitrum/mainnet", 9001, 42161, "ETH"],
  ["arbitrum/sepolia", 9001, 421614, "ETH"],
  ["avalanche/mainnet", 9005, 43114, "AVAX"],
  ["avalanche/fuji", 9005, 43113, "AVAX"],
  ["base/mainnet", 8453, 8453, "ETH"],
  ["base/sepolia", 8453, 84532, "ETH"],
  ["optimism/mainnet", 614, 10, "ETH"],
  ["optimism/sepolia", 614, 11155420, "ETH"],
  ["ethereum/devnet", 60, undefined, "ETH"],
  ["tron/mainnet", 195, undefined, "TRX"],
  ["xrp/mainnet", 144, undefined, "XRP"]
] as const

it.each(registered)("%s: SLIP-44 %i, chain id %s, %s", (name, slip44, chainId, unit) => {
  const found = chain(name)
  assert.strictEqual(Chain.nameOf(found), name)
  assert.strictEqual(found.slip44, slip44)
  assert.strictEqual(found.evm?.chainId, chainId)
  assert.strictEqual(found.unit, unit)
})

it("every public EVM network and every other live chain stands in the table above", () => {
  const named = new Set<string>(registered.map(([name]) => name))
  const expected = Chain.all.filter(
    ({ family, networkKind }) => networkKind === "live" || (family === "evm" && networkKind === "test")
  )
  assert.deepStrictEqual(
    expected.map(Chain.nameOf).filter((name) => !named.has(name)),
    []
  )
})

it("every file of a chain is in the list, under the chain's name", () => {
  const files = readdirSync(new URL("../../src/chains", import.meta.url)).flatMap((file) =>
    /^[a-z].*\.ts$/.test(file) && file !== "blockchains.ts" ? [file.slice(0, -3)] : []
  )
  assert.sameMembers(
    blockchains.map(({ name }) => name),
    files
  )
})

it("names are unique and every chain has the facts of its family", () => {
  assert.strictEqual(new Set(Chain.all.map(Chain.nameOf)).size, Chain.all.length)
  for (const each of Chain.all) {
    for (const family of ["utxo", "evm", "tron", "xrp"] as const) {
      assert.strictEqual(each[family] !== undefined, each.family === family)
    }
    assert.isTrue(each.events.has("BLOCK_MINED") && each.events.has("ADDRESS_COINS_TRANSACTION_CONFIRMED"))
    assert.strictEqual(each.events.has("ADDRESS_COINS_TRANSACTION_UNCONFIRMED"), each.family === "utxo")
    assert.strictEqual(
      each.events.has("ADDRESS_INTERNAL_TRANSACTION_CONFIRMED"),
      each.family === "evm" || each.family === "tron"
    )
  }
})

it("each blockchain has one live network, called mainnet, and at most one development network", () => {
  for (const { name, networks } of blockchains) {
    const of = (kind: Chain.Chain["networkKind"]) =>
      Object.keys(networks).filter((network) => networks[network]!.networkKind === kind)
    assert.deepStrictEqual(of("live"), ["mainnet"], name)
    assert.isAtMost(of("development").length, 1, name)
  }
  assert.strictEqual(Chain.live.length, blockchains.length)
})

it("a coin is one asset on every chain that has it", () => {
  for (const each of Chain.all) {
    for (const other of Chain.all) {
      assert.strictEqual(each.unit === other.unit, each.asset.slug === other.asset.slug)
      if (each.unit === other.unit) assert.deepStrictEqual([each.asset, each.decimals], [other.asset, other.decimals])
    }
  }
})

it("each coin has a place of its own in the list of coins, counted from 1", () => {
  const ranks = new Map(Chain.all.map(({ asset }) => [asset.slug, asset.rank]))
  assert.sameMembers(
    [...ranks.values()],
    Array.from(ranks, (_, index) => index + 1)
  )
})

it("first blocks are hashes, and a fork shares that of the chain from which it forked", () => {
  for (const { blockchain, network, utxo } of Chain.all) {
    for (const hash of utxo?.genesis ?? []) assert.match(hash, /^[0-9a-f]{64}$/, `${blockchain}/${network}`)
    if (utxo?.fork === undefined) continue
    assert.match(utxo.fork.hash, /^[0-9a-f]{64}$/)
    assert.include([...chain(`${utxo.fork.from}/${network}`).utxo!.genesis], utxo.genesis[0])
  }
})

it("every public network of EVM chains, Tron and the XRP Ledger's live one have a block by which they are known", () => {
  for (const each of Chain.all) {
    const { evm, family, network, networkKind, tron, xrp } = each
    if (networkKind === "development") assert.isUndefined(evm?.genesis)
    else if (family === "evm") assert.match(evm!.genesis!, /^0x[0-9a-f]{64}$/, Chain.nameOf(each))
    if (family === "tron") assert.match(tron!.genesis[network]!, /^0{16}[0-9a-f]{48}$/)
    if (family === "xrp" && networkKind === "live") assert.match(xrp!.ledger256!, /^[0-9A-F]{64}$/)
  }
})

it("of networks with the same first block, all but one have a block of their own", () => {
  const known = Chain.all.filter(({ evm }) => evm?.genesis !== undefined)
  for (const sharing of Map.groupBy(known, ({ evm }) => evm!.genesis).values()) {
    const own = sharing.flatMap(({ evm }) => evm!.ownBlock ?? [])
    assert.isAtLeast(own.length, sharing.length - 1)
    assert.lengthOf(new Set(own.map(({ hash }) => hash)), own.length)
    // One question is enough to tell them apart.
    assert.isAtMost(new Set(own.map(({ height }) => height)).size, 1)
  }
})

it("Ethereum Classic has access lists (Magneto) but no fee market", () => {
  assert.deepInclude(chain("ethereum-classic/mainnet").evm, { accessLists: true, feeMarket: false })
})

it("has blocks as often as upgrades of 2026 have made them: what is waited for in blocks is meant in seconds", () => {
  // BEP-619, PIP-86, ACP-226, Base's Denim, ZIP-218.
  const seconds = { "binance-smart-chain": 0.45, polygon: 1.5, avalanche: 1, base: 0.2, zcash: 25 }
  for (const [name, each] of Object.entries(seconds)) {
    for (const { blockSeconds, blockchain } of Chain.all)
      if (blockchain === name) assert.strictEqual(blockSeconds, each)
  }
})

it("says what there is where a name is unknown", () => {
  const message = (result: Result.Result<Chain.Chain, Chain.UnknownBlockchain | Chain.UnknownNetwork>) =>
    Result.isFailure(result) ? `${result.failure._tag} ${result.failure.message}` : assert.fail("found")
  assert.match(message(Chain.find("bitcoinz", "mainnet")), /^UnknownBlockchain .*bitcoin, bitcoin-cash/)
  assert.match(message(Chain.find("ethereum", "goerli")), /^UnknownNetwork .*mainnet, sepolia, devnet/)
  for (const name of ["constructor", "__proto__", "toString", "Bitcoin", ""]) {
    assert.match(message(Chain.find(name, "mainnet")), /^UnknownBlockchain/)
  }
  assert.match(message(Chain.find("bitcoin", "constructor")), /^UnknownNetwork/)
})
