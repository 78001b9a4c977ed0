/** Tron through the whole daemon: subscriptions, the endpoints and prepared transfers over a node made for tests. */
import { assert, describe, it, layer } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { HDNodeWallet } from "ethers"
import * as Tron from "../packages/indexer/test/families/tron/TronBlocks.ts"
import * as TronNode from "../packages/indexer/test/families/tron/TronNode.ts"
import * as TronWallet from "../packages/indexer/test/families/tron/TronWallet.ts"
import * as Headwater from "./Headwater.ts"
import * as Receiver from "./Receiver.ts"
import { locations } from "./Stores.ts"

type Json = TronNode.Json

const master = HDNodeWallet.fromPhrase(
  "test test test test test test test test test test test junk",
  "",
  "m/44'/195'/0'"
)
const xpub = master.neuter().extendedKey
/** The address m/branch/index of the wallet, as the API writes it. */
const derived = (...path: ReadonlyArray<number>) =>
  `41${path.reduce((node, index) => node.deriveChild(index), master).address.slice(2)}`.toLowerCase()

const start = 100
const newest = 106
const [usdt, art] = [50, 51]
/** Blocks of today, since internal transactions are shown for 14 days. */
const genesisTime = Math.floor(Date.now() / 1000) - 3 * newest - 60
const timeOf = (height: number) => genesisTime + 3 * height

const dated = ({ block, infos }: TronNode.TronBlock, height: number): TronNode.TronBlock => ({
  infos,
  block: {
    ...block,
    block_header: {
      ...block.block_header,
      raw_data: { ...block.block_header.raw_data, timestamp: timeOf(height) * 1000 }
    }
  }
})

const contents = {
  coins: Tron.transfer(1, 2, 1_500_000),
  failed: Tron.transfer(1, 2, 9, "OUT_OF_ENERGY"),
  tokens: Tron.call(3, usdt),
  nft: Tron.call(3, art),
  inner: Tron.call(3, 60, 5_000_000),
  walletTokens: Tron.call(3, usdt),
  walletArt: Tron.call(3, art),
  wallet: Tron.transaction("TransferContract", {
    owner_address: Tron.account(1),
    to_address: derived(0, 0),
    amount: 4_000_000
  })
}

/** A log with another recipient. */
const to = (address: string, log: Json): Json => ({
  ...log,
  topics: [log.topics[0], log.topics[1], address.slice(2).padStart(64, "0"), ...log.topics.slice(3)]
})

const early = Tron.call(3, 60)

type Network = "mainnet" | "nile"

/** One transaction of each kind in the blocks after the first one that is followed. */
const blocksWith = (keepsInternal: boolean, network: Network = "mainnet"): ReadonlyArray<TronNode.TronBlock> => {
  const info = (transaction: Json, height: number, more: Json = {}) => Tron.infoOf(transaction, height, more)
  const inner = keepsInternal
    ? { internal_transactions: [Tron.internal(60, 4, 2_000_000), Tron.internal(60, 5, 1, "call", { rejected: true })] }
    : {}
  /** A contract that was not called has logged: somebody called it. */
  const logged = { contract_address: Tron.account(60), log: [Tron.trc20(usdt, 6, 7, 1n)] }
  const at = (height: number): TronNode.TronBlock => {
    switch (height) {
      case 99:
        return Tron.blockOf(
          height,
          [early],
          [
            info(early, height, {
              ...logged,
              ...(keepsInternal ? { internal_transactions: [Tron.internal(60, 4, 1)] } : {})
            })
          ]
        )
      case 101:
        return Tron.blockOf(height, [contents.coins, contents.failed])
      case 102:
        return Tron.blockOf(
          height,
          [contents.tokens],
          [
            info(contents.tokens, height, {
              contract_address: Tron.account(usdt),
              log: [Tron.trc20(usdt, 3, 2, 12_345_678n), Tron.trc20(usdt, 2, 8, 5n)]
            })
          ]
        )
      case 103:
        return Tron.blockOf(
          height,
          [contents.nft],
          [info(contents.nft, height, { contract_address: Tron.account(art), log: [Tron.trc721(art, 3, 2, 77n)] })]
        )
      case 104:
        return Tron.blockOf(
          height,
          [contents.inner],
          [info(contents.inner, height, { contract_address: Tron.account(60), ...inner })]
        )
      case 105:
        return Tron.blockOf(height, [contents.wallet])
      case 106:
        return Tron.blockOf(
          height,
          [contents.walletTokens, contents.walletArt],
          [
            info(contents.walletTokens, height, {
              contract_address: Tron.account(usdt),
              log: [to(derived(0, 0), Tron.trc20(usdt, 3, 2, 7_000_000n))]
            }),
            info(contents.walletArt, height, {
              contract_address: Tron.account(art),
              log: [to(derived(1, 3), Tron.trc721(art, 3, 2, 9n))]
            })
          ]
        )
      case 0: {
        const { block, infos } = Tron.blockOf(height, [])
        return { block: { ...block, blockID: Tron.mainnet.tron!.genesis[network]! }, infos }
      }
      default:
        return Tron.blockOf(height, [])
    }
  }
  return Tron.linked(
    [0, ...Array.from({ length: newest - 98 }, (_, i) => 99 + i)].map((height) => dated(at(height), height))
  )
}

const text = (value: string) => {
  const bytes = Buffer.from(value)
  const data = bytes.toString("hex").padEnd(64, "0")
  const word = (number: number) => number.toString(16).padStart(64, "0")
  return { result: { result: true }, constant_result: [`${word(32)}${word(bytes.length)}${data}`] }
}
const number = (value: number) => ({
  result: { result: true },
  constant_result: [value.toString(16).padStart(64, "0")]
})

const options = (keepsInternal: boolean, network?: Network): TronNode.TronNodeOptions => ({
  blocks: blocksWith(keepsInternal, network),
  solid: start,
  accounts: {
    [TronWallet.addressHex]: { address: TronWallet.addressHex, balance: 10_000_000 },
    [Tron.account(2)]: { address: Tron.account(2), balance: 1 },
    // Activated by the block after.
    [derived(0, 0)]: { address: derived(0, 0), balance: 4_000_000, create_time: timeOf(104) * 1000 },
    [derived(2)]: { address: derived(2), balance: 30 }
  },
  resources: { [TronWallet.addressHex]: { freeNetUsed: 600, freeNetLimit: 600 } },
  parameters: { getEnergyFee: 100 },
  contracts: {
    [Tron.account(usdt)]: { "name()": text("Tether USD"), "symbol()": text("USDT"), "decimals()": number(6) },
    [Tron.account(art)]: { "name()": text("Art"), "symbol()": text("ART") }
  }
})

const { location } = locations[0]!

/** The chain from a node that has read no further than its first blocks, and others beside it, by their networks. */
const setup = (others: Readonly<Record<string, object>> = {}) =>
  Effect.gen(function* () {
    const node = yield* TronNode.make(options(true))
    node.height = start
    const receiver = yield* Receiver.start()
    const headwater = yield* Headwater.start(yield* location as Effect.Effect<never>, {
      chains: {
        "tron/mainnet": { nodes: [node.url], start: 99, record: "all", pollMillis: 100, timeoutMillis: 2_000 },
        ...others
      },
      callbacks: { allowHosts: ["localhost"], extraCa: receiver.ca }
    })
    /** Waits until the daemon has read a chain as far as its node goes. */
    const reached = Effect.fnUntraced(function* (network: string, height: number) {
      for (let i = 0; i < 2_400; i++) {
        const { body } = yield* headwater.get("/ready")
        if (body.chains[`tron/${network}`].height === height) return
        yield* Effect.sleep("200 millis")
      }
      return yield* Effect.die(new Error(headwater.log()))
    })
    const caughtUp = Effect.suspend(() => reached("mainnet", node.height))
    yield* caughtUp
    const grow = Effect.andThen(
      Effect.sync(() => {
        node.height = newest
      }),
      caughtUp
    )
    const subscribe = (path: string, item: Record<string, unknown>, network = "mainnet") =>
      headwater.post(`/blockchain-events/tron/${network}/${path}`, {
        callbackUrl: `${receiver.url}/`,
        callbackSecretKey: "secret",
        ...item
      })
    return { node, receiver, headwater, reached, grow, subscribe }
  })

/** A daemon that was asked for a wallet and for callbacks before the blocks came with what they are about. */
const grown = Effect.gen(function* () {
  const withoutInternal = yield* TronNode.make(options(false, "nile"))
  withoutInternal.height = start
  const daemon = yield* setup({
    "tron/nile": { nodes: [withoutInternal.url], start: 99, record: "all", pollMillis: 100, timeoutMillis: 2_000 }
  })
  const { grow, headwater, reached, subscribe } = daemon
  yield* reached("nile", start)
  const references: Array<string> = []
  for (const [path, address] of [
    ["address-coins-transactions-confirmed", Tron.account(2)],
    ["address-tokens-transactions-confirmed", `0x${Tron.bare(2)}`],
    ["address-internal-transactions-confirmed", Tron.base58(4)]
  ] as const) {
    const { body, status } = yield* subscribe(path, { address })
    assert.strictEqual(status, 201, JSON.stringify(body))
    references.push(body.data.item.referenceId)
  }
  assert.strictEqual((yield* headwater.post(`/hd-wallets/manage/tron/mainnet/${xpub}/sync`, {})).status, 201)
  yield* grow
  return { ...daemon, references }
})

/** What tests share that change nothing of it but how its node answers, which is as it was for each of them. */
class Grown extends Context.Service<Grown, Effect.Success<typeof grown>>()("Tron/Grown") {
  static readonly layer = Layer.effect(Grown, grown)
}
const shared = Effect.tap(Grown, ({ node }) =>
  Effect.sync(() => {
    node.override = undefined
  })
)

const addresses = (kind: string, address: string, what: string, network = "mainnet") =>
  `/addresses-${kind}/evm/tron/${network}/${address}/${what}`

const ids = new Map(blocksWith(true).map(({ block }) => [block.block_header.raw_data.number, block.blockID]))
const minedIn = (height: number) => ({ hash: ids.get(height), height })

layer(Grown.layer, { excludeTestServices: true })("Tron", (it) => {
  it.effect("calls back for coins, tokens and internal transactions, in base58 whatever form was subscribed", () =>
    Effect.gen(function* () {
      const { headwater, receiver, references } = yield* shared
      const accepted = yield* receiver.until((all) => all.length === 5)
      const items = references.map((reference) =>
        accepted.filter(({ body }) => body.referenceId === reference).map(({ body }) => body.data.item)
      )
      const common = (height: number) => ({
        blockchain: "tron",
        network: "mainnet",
        minedInBlock: { ...minedIn(height), timestamp: timeOf(height) }
      })
      assert.deepStrictEqual(items[0], [
        {
          ...common(101),
          address: Tron.base58(2),
          transactionId: contents.coins.txID,
          amount: "1.5",
          unit: "TRX",
          direction: "incoming"
        }
      ])
      const token = { name: "Tether USD", symbol: "USDT", decimals: "6", contractAddress: Tron.base58(usdt) }
      assert.deepStrictEqual(
        items[1]!.map(({ direction, token, tokenType }) => [tokenType, direction, token]),
        [
          ["TRC-20", "incoming", { ...token, amount: "12.345678" }],
          ["TRC-20", "outgoing", { ...token, amount: "0.000005" }],
          ["TRC-721", "incoming", items[1]![2].token]
        ]
      )
      assert.deepStrictEqual([items[1]![2].token.contractAddress, items[1]![2].token.symbol], [Tron.base58(art), "ART"])
      assert.deepStrictEqual(items[2], [
        {
          ...common(104),
          address: Tron.base58(4),
          parentTransactionId: contents.inner.txID,
          operationId: "call_0",
          amount: "2",
          unit: "TRX",
          direction: "incoming"
        }
      ])

      // What was recorded, by the endpoints.
      const internal = yield* headwater.get(addresses("latest", Tron.account(4), "internal-transactions"))
      assert.strictEqual(internal.status, 200, JSON.stringify(internal.body))
      assert.deepStrictEqual(
        internal.body.data.items.map(({ minedInBlock }: Json) => minedInBlock.height),
        [104, 99]
      )
      assert.deepStrictEqual(internal.body.data.items[0], {
        transactionHash: contents.inner.txID,
        minedInBlock: minedIn(104),
        operationId: "call_0",
        operationType: "call",
        recipient: Tron.base58(4),
        sender: Tron.base58(60),
        timestamp: timeOf(104),
        value: { amount: "2", unit: "TRX" }
      })
      const transfers = yield* headwater.get(
        `${addresses("historical", Tron.base58(2), "tokens-transfers")}?sortingOrder=ascending`
      )
      assert.deepStrictEqual(
        transfers.body.data.items.map(({ tokenData }: Json) => tokenData),
        [
          ...["12.345678", "0.000005"].map((amount) => ({
            fungibleValues: { amount },
            name: "Tether USD",
            symbol: "USDT",
            contractAddress: Tron.base58(usdt),
            standard: "TRC-20"
          })),
          {
            fungibleValues: { amount: "1" },
            name: "Art",
            nonFungibleValues: { tokenId: "77" },
            symbol: "ART",
            contractAddress: Tron.base58(art),
            standard: "TRC-721"
          }
        ]
      )
      const logs = yield* headwater.get(`/transactions/evm/tron/mainnet/${contents.tokens.txID}/logs?limit=1&offset=1`)
      const { items: listed, ...page } = logs.body.data
      assert.deepStrictEqual(page, { limit: 1, offset: 1, total: 2 })
      assert.strictEqual(listed[0].address, Tron.base58(usdt))
      assert.strictEqual(listed[0].name, "Transfer(address,address,uint256)")
      assert.strictEqual(BigInt(listed[0].data), 5n)
      assert.strictEqual(BigInt(listed[0].topics[2]), BigInt(`0x${Tron.bare(8)}`))
      const none = yield* headwater.get(`/transactions/evm/tron/mainnet/${"ab".repeat(32)}/logs`)
      assert.deepStrictEqual([none.status, none.body.error.code], [404, "blockchain_data_transaction_not_found"])
    })
  )

  it.effect("reads blocks and transactions, recorded or not, and the transactions of addresses and wallets", () =>
    Effect.gen(function* () {
      const { headwater } = yield* shared
      const blocks = (path: string) => headwater.get(`/blocks/evm/tron/mainnet/${path}`)
      const found = yield* blocks("height/102/details")
      assert.strictEqual(found.status, 200, JSON.stringify(found.body))
      const { size, ...item } = found.body.data.item
      assert.deepStrictEqual(item, {
        ...{ extraData: "0x", gasLimit: 0, gasUsed: 0, hash: ids.get(102), height: 102, minedInSeconds: 3 },
        ...{ nextBlockHash: ids.get(103), nonce: 0, previousBlockHash: ids.get(101), timestamp: timeOf(102) },
        ...{ totalDifficulty: 0, transactionsCount: 1 },
        blockchainSpecific: { bandwidthUsed: 267, energyUsed: 0, burnedTRX: "0" }
      })
      assert.isAbove(size, 200)
      assert.deepStrictEqual((yield* blocks(`hash/${ids.get(102)}/details`)).body.data.item, { ...item, size })
      const { nextBlockHash, ...latest } = (yield* blocks(`height/${newest}/details`)).body.data.item
      assert.deepStrictEqual([nextBlockHash, (yield* blocks("latest/details")).body.data.item], ["", latest])
      const list = (yield* blocks("latest?count=2")).body.data.items
      assert.deepStrictEqual(
        list.map(({ blockchainSpecific, height }: Json) => [height, blockchainSpecific]),
        [
          [106, { bandwidthUsed: 534, energyUsed: 0 }],
          [105, { bandwidthUsed: 267, energyUsed: 0 }]
        ]
      )
      for (const [path, code] of [
        [`height/${newest + 1}/details`, "blockchain_data_block_not_found"],
        [`hash/${"ab".repeat(32)}/transactions`, "blockchain_data_block_not_found"]
      ] as const) {
        const { body, status } = yield* blocks(path)
        assert.deepStrictEqual([path, status, body.error.code], [path, 404, code])
      }

      const at101 = (yield* blocks("height/101/transactions")).body.data
      assert.deepStrictEqual([at101.total, at101.items.map(({ status }: Json) => status)], [2, ["success", "failed"]])
      const { timestapm, ...coins } = at101.items[0]
      assert.deepStrictEqual(coins, {
        ...{ contract: "", fee: { amount: "0", unit: "TRX" }, gasLimit: 0, gasUsed: 0, hash: contents.coins.txID },
        ...{ inputData: "0x", positionInBlock: 0, recipient: Tron.base58(2), sender: Tron.base58(1) },
        ...{ status: "success", timestamp: timeOf(101), gasPrice: { amount: "0", unit: "TRX" } },
        ...{ minedInBlock: minedIn(101), nonce: 0, value: { amount: "1.5", unit: "TRX" } },
        blockchainSpecific: { bandwidth: 267, bandwidthUsed: 267, energy: 0, energyUsed: "0" }
      })
      assert.strictEqual(timestapm, timeOf(101))
      const second = (yield* blocks(`hash/${ids.get(101)}/transactions?limit=1&offset=1`)).body.data.items[0]
      assert.deepStrictEqual([second.hash, second.positionInBlock], [contents.failed.txID, 1])

      const transaction = (path: string) => headwater.get(`/transactions/evm/tron/mainnet/${path}`)
      assert.deepStrictEqual((yield* transaction(contents.coins.txID)).body.data.item, coins)
      const called = (yield* transaction(contents.inner.txID)).body.data.item
      assert.deepStrictEqual(
        [called.contract, called.inputData, called.value.amount, called.blockchainSpecific.signatureData],
        [Tron.base58(60), "0xa9059cbb", "5", { signature: "0xa9059cbb" }]
      )
      const internal = (yield* transaction(`${contents.inner.txID}/internal`)).body.data
      assert.deepStrictEqual(internal.items, [
        {
          ...{ operationId: "call_0", operationType: "call", recipient: Tron.base58(4), sender: Tron.base58(60) },
          ...{ timestamp: timeOf(104), value: { amount: "2", unit: "TRX" } }
        }
      ])
      const tokens = (yield* transaction(`${contents.tokens.txID}/tokens-transfers`)).body.data
      assert.deepStrictEqual(
        tokens.items.map(({ tokenData }: Json) => [tokenData.fungibleValues, tokenData.standard]),
        [
          [{ amount: "12.345678", decimals: 6 }, "TRC-20"],
          [{ amount: "0.000005", decimals: 6 }, "TRC-20"]
        ]
      )
      for (const what of ["", "/internal", "/tokens-transfers"]) {
        const { body, status } = yield* transaction(`${"ab".repeat(32)}${what}`)
        assert.deepStrictEqual([what, status, body.error.code], [what, 404, "blockchain_data_transaction_not_found"])
      }

      // What moved nothing names its parties as well.
      const own = (yield* headwater.get(addresses("latest", Tron.base58(1), "transactions"))).body.data
      assert.deepStrictEqual(
        own.items.map(({ hash, status }: Json) => [hash, status]),
        [
          [contents.wallet.txID, "success"],
          [contents.failed.txID, "failed"],
          [contents.coins.txID, "success"]
        ]
      )
      assert.deepStrictEqual(own.items[2], coins)
      const history = (yield* headwater.get(addresses("historical", Tron.base58(1), "transactions?limit=1"))).body.data
      assert.isTrue(history.hasMore)
      assert.deepStrictEqual(
        [history.items[0].vallue.amount, history.items[0].blockchainSpecific.bandwithUsed],
        ["4", 267]
      )
      const { body, status } = yield* Headwater.until(
        headwater.get(`/hd-wallets/evm/tron/mainnet/${xpub}/transactions`),
        ({ status }) => status !== 422
      )
      assert.strictEqual(status, 200, JSON.stringify(body))
      assert.deepStrictEqual(
        body.data.items.map(({ hash, recipient }: Json) => [hash, recipient[0].amount, recipient[0].isMember]),
        [[contents.wallet.txID, "4", true]]
      )
    })
  )

  it.effect("lists in every other way what was recorded, with addresses as tronweb writes them", () =>
    Effect.gen(function* () {
      const { headwater, node } = yield* shared
      const ask = Effect.fnUntraced(function* (path: string) {
        const { body, status } = yield* headwater.get(path)
        assert.strictEqual(status, 200, `${path} ${JSON.stringify(body)}`)
        return body.data
      })
      const base58 = (number: number) => TronWallet.base58(Tron.account(number))
      const placed = (height: number, { txID }: Json) => ({
        ...{ minedInBlock: minedIn(height), timestamp: timeOf(height), transactionHash: txID }
      })
      const token = (standard: string) =>
        standard === "TRC-20"
          ? { name: "Tether USD", symbol: "USDT", contractAddress: base58(usdt), standard }
          : { name: "Art", symbol: "ART", contractAddress: base58(art), standard }
      const fungible = (amount: string) => ({ ...token("TRC-20"), fungibleValues: { amount, decimals: 6 } })
      const single = {
        ...token("TRC-721"),
        fungibleValues: { amount: "1", decimals: 0 },
        nonFungibleValues: { tokenId: "77" }
      }
      const transfers = yield* ask(addresses("latest", base58(2), "tokens-transfers"))
      assert.deepStrictEqual(transfers.items, [
        { ...placed(103, contents.nft), sender: base58(3), recipient: base58(2), tokenData: single },
        { ...placed(102, contents.tokens), sender: base58(2), recipient: base58(8), tokenData: fungible("0.000005") },
        { ...placed(102, contents.tokens), sender: base58(3), recipient: base58(2), tokenData: fungible("12.345678") }
      ])
      const internal = [
        [104, contents.inner, "2"],
        [99, early, "0.000001"]
      ] as const
      for (const name of ["internal", "internal-transactions"]) {
        const { items } = yield* ask(addresses("historical", Tron.account(4), name))
        assert.deepStrictEqual(
          items,
          internal.map(([height, transaction, amount]) => ({
            ...placed(height, transaction),
            ...{ operationId: "call_0", operationType: "call", recipient: base58(4), sender: base58(60) },
            value: { amount, unit: "TRX" }
          }))
        )
      }
      // What the node says that there is now, of what has ever moved.
      const held: Record<string, number> = { [Tron.account(usdt)]: 12_345_673, [Tron.account(art)]: 1 }
      node.override = (_, { contract_address, function_selector: called, parameter }) =>
        called === "balanceOf(address)"
          ? number(parameter === Tron.bare(2).padStart(64, "0") ? held[contract_address]! : 0)
          : undefined
      const tokens = yield* ask(addresses("historical", Tron.account(2), "tokens"))
      assert.deepStrictEqual(tokens.items, [
        { ...token("TRC-20"), fungibleValues: { amount: "12.345673" } },
        { ...token("TRC-721"), fungibleValues: { amount: "1" } }
      ])
      const { item } = yield* ask(addresses("latest", Tron.account(2), "balance"))
      assert.deepStrictEqual(item, { confirmedBalance: { amount: "0.000001", unit: "TRX" } })
    })
  )

  it.effect("answers 501 for internal transactions where the node does not keep them, with what to do", () =>
    Effect.gen(function* () {
      const { headwater, subscribe } = yield* shared
      const answers = [
        yield* headwater.get(addresses("latest", Tron.base58(4), "internal-transactions", "nile")),
        yield* subscribe("address-internal-transactions-confirmed", { address: Tron.base58(4) }, "nile"),
        yield* subscribe(
          "address-internal-transactions-confirmed-each-confirmation",
          { address: Tron.base58(4), allowDuplicates: false, confirmationsCount: 3 },
          "nile"
        )
      ]
      for (const { body, status } of answers) {
        assert.deepStrictEqual([status, body.error.code], [501, "unimplemented"])
        assert.include(body.error.message, "vm.saveInternalTx = true")
      }
      const coins = yield* subscribe("address-coins-transactions-confirmed", { address: Tron.base58(4) }, "nile")
      assert.strictEqual(coins.status, 201)
    })
  )

  it.effect("answers what a token's contract says of itself, and 404 for a contract of no token", () =>
    Effect.gen(function* () {
      const { headwater, node } = yield* shared
      const answers: Readonly<Record<string, Json>> = {
        [`${Tron.account(usdt)} totalSupply()`]: number(2 ** 40),
        [`${Tron.account(usdt)} balanceOf(address)`]: number(0),
        // ERC-721's interface alone.
        [`${Tron.account(art)} supportsInterface(bytes4) ${"80ac58cd".padEnd(64, "0")}`]: number(1)
      }
      node.override = (path, asked) => {
        if (path !== "/wallet/triggerconstantcontract") return undefined
        const question = `${asked.contract_address} ${asked.function_selector}`
        return answers[question] ?? answers[`${question} ${asked.parameter}`]
      }
      const details = (contract: string) => headwater.get(`/contracts/evm/tron/mainnet/${contract}/token-details`)
      const fungible = yield* details(Tron.base58(usdt))
      assert.strictEqual(fungible.status, 200, JSON.stringify(fungible.body))
      const fungibleValues = { decimals: 6, totalSupply: "1099511.627776" }
      const tether = { name: "Tether USD", symbol: "USDT", standard: "TRC-20", fungibleValues }
      assert.deepStrictEqual(fungible.body.data.item, tether)
      const single = { name: "Art", symbol: "ART", standard: "TRC-721" }
      assert.deepStrictEqual((yield* details(Tron.base58(art))).body.data?.item, single)
      const none = yield* details(Tron.account(2))
      assert.deepStrictEqual([none.status, none.body.error?.code], [404, "blockchain_data_token_details_not_found"])
    })
  )

  it.effect("prepares transfers of tokens that tronweb signs, and refuses those that the contract would undo", () =>
    Effect.gen(function* () {
      const { headwater, node } = yield* shared
      // As java-tron answers; USDT says `false` and moves.
      const moved = { result: { result: true }, energy_used: 5_000, constant_result: ["0".repeat(64)] }
      let answer: Json = moved
      node.override = (path, asked) =>
        path === "/wallet/triggerconstantcontract" && /^(transfer|safe)/.test(asked.function_selector)
          ? answer
          : undefined
      const prepare = (kind: string, item: Record<string, unknown>) =>
        headwater.post(`/prepare-transactions/evm/tron/mainnet/${kind}`, {
          ...{ contract: Tron.base58(usdt), recipient: Tron.account(2), sender: TronWallet.address },
          ...{ fee: { priority: "standard" }, ...item }
        })
      const { body, status } = yield* prepare("fungible-tokens", { amount: "1.25" })
      assert.strictEqual(status, 201, JSON.stringify(body))
      const { item } = body.data
      const transaction = TronWallet.read(item.inputData, "TriggerSmartContract")
      assert.strictEqual(item.sigHash, transaction.txID)
      const { value } = transaction.raw_data.contract[0].parameter
      // 1.25 of six decimals.
      const data = `a9059cbb${Tron.bare(2).padStart(64, "0")}${(1_250_000).toString(16).padStart(64, "0")}`
      assert.deepStrictEqual(
        [value.owner_address, value.contract_address, value.data].map((part) => String(part).toLowerCase()),
        [TronWallet.addressHex, Tron.account(usdt), data]
      )
      assert.strictEqual(yield* Effect.promise(() => TronWallet.signer(transaction)), TronWallet.address)
      assert.deepInclude(item, {
        ...{ nonce: 0, gasLimit: 5_000, recipient: Tron.base58(usdt), sender: TronWallet.address },
        ...{ type: "TriggerSmartContract", value: { amount: "0" } }
      })
      // What it takes, what the chain charges, and what is in the bytes, signed or not.
      const gas = yield* headwater.post("/blockchain-fees/evm/tron/mainnet/estimate-token-transfer-gas-limit", {
        ...{ amount: "1.25", contract: Tron.base58(usdt), contractType: "ERC-20" },
        ...{ recipient: Tron.account(2), sender: TronWallet.address }
      })
      assert.deepStrictEqual(gas.body.data.item, { gasLimit: 5_000 })
      const prices = yield* headwater.get("/blockchain-fees/evm/tron/mainnet/mempool")
      assert.deepStrictEqual(prices.body.data.item, {
        ...{ slow: "100", standard: "100", fast: "100", bandwidthPrice: "1000", unit: "SUN" }
      })
      const decode = (rawTransactionHex: string) =>
        headwater.post("/utils/evm/tron/mainnet/decode-raw-transaction", { rawTransactionHex })
      const bare = (yield* decode(item.inputData)).body.data.item
      const feeLimit = String(transaction.raw_data.fee_limit / 1_000_000)
      assert.deepStrictEqual(bare, {
        ...{ id: item.sigHash, gasLimit: item.inputData.length / 2 + 134, gasPaidForData: 0, nonce: 0, type: 31 },
        ...{ inputData: `0x${data}`, recipient: Tron.base58(usdt), sender: TronWallet.address, r: "", s: "", v: "0" },
        fee: {
          ...{ approximateAmount: feeLimit, aproximateAmount: feeLimit },
          ...{ approximateMinimumRequiredAmount: "0", unit: "TRX" }
        },
        ...{ gasPrice: { amount: "0", unit: "SUN" }, value: { amount: "0", unit: "TRX" } },
        expirationTimestamp: Math.floor(transaction.raw_data.expiration / 1000)
      })
      const signature = TronWallet.signatureOf(transaction).replace(/^0x/, "")
      const signed = TronNode.signedHex(item.inputData, signature)
      const [r, s] = [signature.slice(0, 64), signature.slice(64, 128)].map((part) => `0x${part}`)
      const v = String(Number.parseInt(signature.slice(128), 16) % 27)
      assert.deepStrictEqual((yield* decode(`0x${signed}`)).body.data.item, { ...bare, r, s, v })
      for (const wrong of ["00", item.inputData.slice(0, -2), signed.slice(0, 40)]) {
        const answer = yield* decode(wrong)
        assert.deepStrictEqual(
          [answer.status, answer.body.error.details[0].attribute],
          [400, "rawTransactionHex"],
          JSON.stringify(answer.body)
        )
      }
      // Neither is on Tron, and the answer says so.
      for (const [path, reason] of [
        ["/blockchain-fees/evm/tron/mainnet/eip-1559", /no fee market/],
        [addresses("latest", TronWallet.address, "next-available-nonce"), /no nonces/]
      ] as const) {
        const none = yield* headwater.get(path)
        assert.deepStrictEqual([none.status, none.body.error.code], [501, "unimplemented"])
        assert.match(none.body.error.message, reason)
      }

      const art721 = yield* prepare("non-fungible-tokens", { contract: Tron.base58(art), tokenId: "9" })
      const asked = node.requests.findLast(({ path }) => path === "/wallet/triggerconstantcontract")!.body
      assert.strictEqual(asked.function_selector, "safeTransferFrom(address,address,uint256)")
      assert.strictEqual(art721.status, 201, JSON.stringify(art721.body))

      answer = { ...moved, transaction: { ret: [{ ret: "FAILED" }] } }
      for (const [item, code, attribute] of [
        [{ amount: "1" }, 409, "recipient"],
        [{ amount: "1", sender: Tron.base58(9) }, 409, "sender"],
        [{ amount: "0.0000001" }, 400, "amount"],
        [{ amount: "1", type: "legacy-transaction" }, 400, "type"],
        [{ amount: "1", fee: { priority: "slow", exactAmount: "5" } }, 400, "fee.exactAmount"]
      ] as const) {
        const refused = yield* prepare("fungible-tokens", item)
        assert.deepStrictEqual(
          [refused.status, refused.body.error.details[0].attribute],
          [code, attribute],
          JSON.stringify(refused.body)
        )
      }
    })
  )

  it.effect("prepares transfers that tronweb signs, and refuses those that the node has changed", () =>
    Effect.gen(function* () {
      const { headwater, node } = yield* shared
      const prepare = (item: Record<string, unknown> = {}) =>
        headwater.post("/prepare-transactions/evm/tron/mainnet/native-coins", {
          amount: "1.25",
          recipient: Tron.account(2),
          sender: TronWallet.addressHex,
          ...item
        })
      const { body, status } = yield* prepare({ additionalData: "Rechnung 4711 – danke" })
      assert.strictEqual(status, 201, JSON.stringify(body))
      const { expirationTimestamp, inputData, sighash, ...item } = body.data.item
      const now = Date.now() / 1000
      assert.isTrue(expirationTimestamp > now - 1 && expirationTimestamp <= now + 60)
      const transaction = TronWallet.read(inputData)
      assert.strictEqual(sighash, transaction.txID)
      const { value } = transaction.raw_data.contract[0].parameter
      assert.deepStrictEqual(
        [value.owner_address, value.to_address, value.amount].map((part) => String(part).toLowerCase()),
        [TronWallet.addressHex, Tron.account(2), "1250000"]
      )
      assert.strictEqual(yield* Effect.promise(() => TronWallet.signer(transaction)), TronWallet.address)
      const bandwidth = inputData.length / 2 + 135
      assert.isBelow(Math.abs(item.gasLimit - bandwidth), 4)
      assert.deepStrictEqual(item, {
        nonce: 0,
        recipient: Tron.base58(2),
        sender: TronWallet.address,
        value: { amount: "1.25", unit: "TRX" },
        fee: {
          gasPrice: 1000,
          maxFeePerGas: 0,
          maxPriorityFeePerGas: 0,
          unit: "SUN",
          // No bandwidth is left, and a memo costs.
          total: item.gasLimit * 1000 + 1_000_000
        },
        gasLimit: item.gasLimit,
        type: "TransferContract"
      })

      const gas = (yield* headwater.post("/blockchain-fees/evm/tron/mainnet/estimate-native-coin-transfer-gas-limit", {
        additionalData: "Rechnung 4711 – danke",
        amount: "1.25",
        recipient: Tron.account(2),
        sender: TronWallet.address
      })).body.data.item
      assert.deepStrictEqual(gas, { gasLimit: item.gasLimit })
      const decoded = (yield* headwater.post("/utils/evm/tron/mainnet/decode-raw-transaction", {
        rawTransactionHex: inputData
      })).body.data.item
      assert.deepInclude(decoded, {
        ...{ id: sighash, type: 1, recipient: Tron.base58(2), sender: TronWallet.address },
        ...{ gasLimit: item.gasLimit, value: { amount: "1.25", unit: "TRX" } },
        inputData: `0x${Buffer.from("Rechnung 4711 – danke").toString("hex")}`
      })

      // The account is new: it is activated, and all of it is taken from the amount.
      const activating = yield* prepare({
        recipient: Tron.base58(9),
        fee: { priority: "fast", substractFromAmount: true }
      })
      assert.strictEqual(activating.body.data.item.fee.total, 1_100_000)
      assert.strictEqual(activating.body.data.item.value.amount, "0.15")

      // The same from an address of a wallet.
      const wallet = `/hd-wallets/evm/tron/mainnet/${xpub}/transactions/prepare`
      const transfer = { amount: "1.25", recipient: Tron.account(2), sender: derived(0, 0), fee: {} }
      const ofWallet = (yield* headwater.post(wallet, transfer)).body.data.item
      assert.deepInclude(ofWallet, {
        ...{ change: 0, derivationIndex: 0, gasPrice: 1000, nonce: 0, value: { amount: 1_250_000, unit: "SUN" } },
        sigHash: TronWallet.idOf(ofWallet.inputData)
      })

      const refused = [
        [{ amount: "11" }, 409, "amount"],
        [{ sender: Tron.base58(9) }, 409, "sender"],
        [{ amount: "0" }, 400, "amount"],
        [{ amount: "0.0000001" }, 400, "amount"],
        [{ recipient: TronWallet.address }, 400, "recipient"],
        [{ recipient: "T123" }, 400, "recipient"],
        [{ additionalData: "x".repeat(513) }, 400, "additionalData"],
        [{ type: "legacy-transaction" }, 400, "type"],
        [{ fee: { priority: "slow", exactAmount: "5" } }, 400, "fee.exactAmount"]
      ] as const
      for (const [change, code, attribute] of refused) {
        const answer = yield* prepare(change)
        assert.deepStrictEqual(
          [answer.status, answer.body.error.code, answer.body.error.details[0].attribute],
          [code, "invalid_data", attribute],
          JSON.stringify(change)
        )
      }

      const built = (request: Json, change: Json) => {
        const bytes = (hex: string) => new Uint8Array(Buffer.from(hex, "hex"))
        const expiration = Date.now() + 60_000
        return TronNode.transactionOf({
          owner: bytes(request.owner_address.slice(2)),
          to: bytes(request.to_address.slice(2)),
          amount: BigInt(request.amount),
          memo: new Uint8Array(0),
          refBlockBytes: bytes("2927"),
          refBlockHash: bytes("939ece39d08a7abe"),
          expiration,
          timestamp: expiration - 60_000,
          ...change
        } as never)
      }
      const tampered: ReadonlyArray<readonly [string, (request: Json) => Json]> = [
        ["recipient", (request) => built(request, { to: Tron.bytesOf(66) })],
        ["amount", (request) => built(request, { amount: 9_999_999n })],
        ["expiration", (request) => built(request, { expiration: Date.now() - 1 })],
        [
          "extra contract",
          (request) => {
            const honest = built(request, {})
            const raw: string = honest.raw_data_hex
            // A second field 11, as the first: tag, length and contract.
            const from = raw.search(/5a..080112/)
            const length = Number.parseInt(raw.slice(from + 2, from + 4), 16) * 2 + 4
            const more = raw.slice(0, from + length) + raw.slice(from, from + length) + raw.slice(from + length)
            return { ...honest, raw_data_hex: more, txID: TronWallet.idOf(more) }
          }
        ],
        ["id", (request) => ({ ...built(request, {}), txID: "ab".repeat(32) })]
      ]
      for (const [what, change] of tampered) {
        node.override = (path, asked) => (path === "/wallet/createtransaction" ? change(asked) : undefined)
        const answer = yield* prepare()
        assert.deepStrictEqual([what, answer.status, answer.body.error.code], [what, 503, "node_unavailable"])
      }
      node.override = (path, asked) => (path === "/wallet/createtransaction" ? built(asked, {}) : undefined)
      assert.strictEqual((yield* prepare()).status, 201)
    })
  )
})

describe("Tron, from a node of a test's own", () => {
  it.live("reads what a wallet holds that was synced before its first use, and refuses totals of another", () =>
    Effect.gen(function* () {
      const { grow, headwater, node } = yield* setup()
      const sync = (query: string, item: Record<string, unknown> = {}) =>
        headwater.post(`/hd-wallets/manage/tron/mainnet/${xpub}/sync${query}`, item)
      assert.strictEqual((yield* sync("", { birthHeight: 99 })).body.error.code, "invalid_data")
      assert.strictEqual((yield* sync("")).status, 201)
      assert.strictEqual((yield* sync("?derivation=bip32")).status, 201)
      const assets = (query: string) => headwater.get(`/hd-wallets/evm/tron/mainnet/${xpub}/assets${query}`)
      const asked = (query: string) => Headwater.until(assets(query), ({ status }) => status !== 422)
      // The node shows the newest state alone: what is asked of it after the payments is no proof that there were none before.
      const empty = yield* asked("")
      assert.strictEqual(empty.status, 200, empty.body.error?.message)
      yield* grow
      node.override = (_, { function_selector: called, parameter }) =>
        called === "balanceOf(address)"
          ? number(parameter === derived(0, 0).slice(2).padStart(64, "0") ? 7_000_000 : 0)
          : undefined
      const details = headwater.get(`/hd-wallets/evm/tron/mainnet/${xpub}/details`)
      assert.deepStrictEqual((yield* asked("")).body.data?.item, {
        completeFrom: 99,
        confirmedBalance: "4",
        fungibleTokens: [{ amount: "7", contractAddress: Tron.base58(usdt), standard: "TRC-20", symbol: "USDT" }],
        nonFungibleTokens: [{ contractAddress: Tron.base58(art), standard: "TRC-721", symbol: "ART", tokenId: "9" }],
        totalReceived: "4",
        totalSpent: "0",
        unit: "TRX"
      })
      const whole = { completeFrom: 99, confirmedBalance: "4", totalReceived: "4", totalSpent: "0", unit: "TRX" }
      assert.deepStrictEqual((yield* details).body.data?.item, whole)
      for (const [isChange, branch] of [
        [false, 0],
        [true, 1]
      ] as const) {
        const path = `/hd-wallets/evm/tron/mainnet/${xpub}/addresses?isChangeAddress=${isChange}&limit=4`
        const { body } = yield* headwater.get(path)
        assert.deepStrictEqual(
          body.data?.items,
          [0, 1, 2, 3].map((index) => ({ address: TronWallet.base58(derived(branch, index)), index }))
        )
      }
      const status = yield* headwater.get(`/hd-wallets/manage/tron/mainnet/${xpub}/status`)
      assert.deepInclude(status.body.data?.item, { extendedPublicKey: xpub, isActive: true, syncStatus: "synced" })
      // The account of the other one is older.
      const old = yield* asked("?derivation=bip32")
      assert.deepStrictEqual([old.status, old.body.error.code], [400, "xpub_not_synced"])
      node.override = () => 503
      const gone = yield* assets("")
      assert.deepStrictEqual([gone.status, gone.body.error.code], [503, "node_unavailable"])
      node.override = undefined
      node.height = newest - 5
      const behind = yield* assets("")
      assert.deepStrictEqual([behind.status, behind.body.error.code], [503, "node_unavailable"])
    }).pipe(Effect.scoped)
  )

  it.live("follows nothing from a node of another network, and keeps the API key to itself", () =>
    Effect.gen(function* () {
      const blocks = blocksWith(true)
      const genesis = { ...blocks[0]!.block, blockID: Tron.mainnet.tron!.genesis.nile }
      const node = yield* TronNode.make({
        ...options(true),
        blocks: [{ block: genesis, infos: [] }, ...blocks.slice(1)]
      })
      const headwater = yield* Headwater.start(yield* location as Effect.Effect<never>, {
        chains: { "tron/mainnet": { nodes: [node.url], apiKey: "a-key-of-the-test" } }
      })
      const { body } = yield* Headwater.until(
        headwater.get("/ready"),
        ({ body }) => body.chains["tron/mainnet"].state === "stopped"
      )
      assert.match(body.chains["tron/mainnet"].message, /the node is on nile, not mainnet/)
      assert.isTrue(node.requests.every(({ headers }) => headers["tron-pro-api-key"] === "a-key-of-the-test"))
      assert.notInclude(headwater.log(), "a-key-of-the-test")
    }).pipe(Effect.scoped)
  )
})
