/**
 * Everything on an EVM chain at once: contracts of each token standard, calls that nest, fail, delegate, create and
 * end, and reorganisations. What the endpoints answer and what the callbacks say is what an oracle reads off the chain.
 */
import { assert, describe, it, layer } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import {
  formatEther,
  formatUnits,
  getAddress,
  HDNodeWallet,
  Interface,
  isAddress,
  parseEther,
  Wallet,
  ZeroAddress,
  zeroPadValue
} from "ethers"
import * as Anvil from "./Anvil.ts"
import * as Contracts from "./Contracts.ts"
import * as EvmOracle from "./EvmOracle.ts"
import * as Headwater from "./Headwater.ts"
import * as Receiver from "./Receiver.ts"
import { locations, taken } from "./Stores.ts"
import { everyWay, half } from "./Turn.ts"

const mnemonic = "legal winner thank year wave sausage worth useful legal winner thank yellow"
const account = HDNodeWallet.fromPhrase(mnemonic, undefined, "m/44'/60'/0'")
const xpub = account.neuter().extendedKey
const receiveBranch = account.deriveChild(0).neuter().extendedKey

/** Addresses of one wallet, each within the gap of the one before, and one that is nobody's. */
const actors = [
  account.deriveChild(0).deriveChild(0),
  account.deriveChild(0).deriveChild(19),
  account.deriveChild(0).deriveChild(38),
  account.deriveChild(1).deriveChild(7)
].map(({ address }) => address)
const stranger = "0x00000000000000000000000000000000DeaDBeef"
/** The same with its last letter of the other case, which its checksum forbids. */
const flipped = (address: string) =>
  address.replace(/[a-f](?=[^a-f]*$)/i, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase()
  )

const each = 3

/** Transfers that are paged through: 200 in each block. */
const sprayed = everyWay ? 10_000 : 600

const setup = (location: (typeof locations)[number]["location"], chain: Record<string, unknown> = {}) =>
  Effect.gen(function* () {
    const anvil = yield* Anvil.start({})
    yield* anvil.rpc("evm_setAutomine", [false])
    const receiver = yield* Receiver.start()
    const headwater = yield* Headwater.start(yield* location as Effect.Effect<never>, {
      chains: { "ethereum/devnet": { nodes: [anvil.url], start: 0, pollMillis: 200, timeoutMillis: 5_000, ...chain } },
      callbacks: { allowHosts: ["localhost"], extraCa: receiver.ca }
    })
    const subscribe = Effect.fnUntraced(function* (path: string, item: Record<string, unknown>) {
      const { body, status } = yield* headwater.post(`/blockchain-events/ethereum/devnet/${path}`, {
        callbackUrl: `${receiver.url}/callbacks`,
        callbackSecretKey: "a secret of the test",
        ...item
      })
      assert.strictEqual(status, 201, JSON.stringify(body))
      return body.data.item.referenceId as string
    })
    yield* subscribe("block-mined", { callbackUrl: `${receiver.url}/witness` })
    const sender = yield* Contracts.sender(anvil)
    const mine = (blocks = 1) => anvil.rpc("anvil_mine", [`0x${blocks.toString(16)}`])
    /** Waits until the daemon has committed the node's newest block and its callbacks have gone out. */
    const caughtUp = Effect.gen(function* () {
      const { hash } = yield* anvil.rpc<{ readonly hash: string }>("eth_getBlockByNumber", ["latest", false])
      yield* receiver.until((accepted) => accepted.some(({ body }) => body.data.item.hash === hash))
    })
    return { anvil, receiver, headwater, subscribe, sender, mine, caughtUp }
  })

type Setup = Effect.Success<ReturnType<typeof setup>>

const deploy = Effect.fnUntraced(function* ({ mine, sender }: Setup) {
  const contracts = {
    coin: yield* sender.deploy("Coin"),
    collectible: yield* sender.deploy("Collectible"),
    multi: yield* sender.deploy("Multi"),
    old: yield* sender.deploy("OldCoin"),
    mover: yield* sender.deploy("Mover"),
    other: yield* sender.deploy("Mover")
  }
  yield* mine()
  return contracts
})

type Deployed = Effect.Success<ReturnType<typeof deploy>>

const described = (contracts: Deployed): ReadonlyMap<string, EvmOracle.Described> =>
  new Map([
    [contracts.coin.address, { name: "Test Coin", symbol: "COIN", decimals: 6 }],
    [contracts.collectible.address, { name: "Test Collectible", symbol: "ITEM", decimals: undefined }],
    [contracts.multi.address, { name: "", symbol: "", decimals: undefined }],
    [contracts.old.address, { name: "Old Coin", symbol: "OLD", decimals: undefined }]
  ])

/** The same numbers in every run. */
const numbers = (seed: number) => (below: number) => {
  seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff
  return Math.floor(seed / 8) % below
}

/** Mines blocks in which every kind of call happens to some of the actors. */
const activity = Effect.fnUntraced(function* (
  { mine, sender }: Setup,
  { coin, collectible, mover, multi, old, other }: Deployed,
  blocks: number,
  random: (below: number) => number,
  firstId: number
) {
  const who = () => actors[random(actors.length)]!
  const some = () => [who(), stranger, who()]
  for (let block = 0; block < blocks; block++) {
    const id = firstId + block
    const value = BigInt(1 + random(1_000_000)) * 12n
    const calls: ReadonlyArray<Contracts.Call> = [
      coin.call("transfer", [who(), BigInt(random(10_000_000))]),
      coin.call("spray", [BigInt(who()), 2n, 5n]),
      collectible.call("mint", [who(), BigInt(id)]),
      multi.call("mint", [who(), 3n, BigInt(1 + random(9))]),
      multi.call("mintBatch", [who(), [1n, BigInt(id), 2n], [4n, 1n, 0n]]),
      old.call("transfer", [who(), 777n]),
      { to: who(), value, gasLimit: 21_000n },
      mover.call("split", [some()], value),
      mover.call("nested", [other.address, some()], value),
      mover.call("halfFails", [who()], value),
      mover.call("allFails", [who()], value),
      mover.call("delegated", [other.address, some()], value),
      mover.call("create", [], value),
      mover.call("createAndEnd", [zeroPadValue(`0x${(id + 1).toString(16).padStart(8, "0")}`, 32), who()], value)
    ]
    // Each kind in turn, and two at random, so that blocks differ.
    for (const call of [calls[block % calls.length]!, calls[random(calls.length)]!, calls[random(calls.length)]!]) {
      yield* sender.send(call)
    }
    yield* mine()
  }
})

const touches = (address: string) => (moved: EvmOracle.Moved) => moved.from === address || moved.to === address

/** Every page of a list, a few items at a time. */
const pages = Effect.fnUntraced(function* ({ headwater }: Setup, path: string, order: string, limit: number) {
  // biome-ignore lint/suspicious/noExplicitAny: an answer of the server
  const items: Array<any> = []
  let after = ""
  for (;;) {
    const { body, status } = yield* headwater.get(`${path}?sortingOrder=${order}&limit=${limit}${after}`)
    assert.strictEqual(status, 200, JSON.stringify(body))
    items.push(...body.data.items)
    assert.strictEqual(body.data.hasMore, body.data.nextStartingAfter !== undefined)
    if (!body.data.hasMore) return items
    after = `&startingAfter=${body.data.nextStartingAfter}`
  }
})

const internalPath = (address: string) => `/addresses-latest/evm/ethereum/devnet/${address}/internal-transactions`
const tokenPath = (address: string) => `/addresses-historical/evm/ethereum/devnet/${address}/tokens-transfers`

const placed = ({ hash, height, time, transaction }: EvmOracle.Moved) => ({
  transactionHash: transaction,
  minedInBlock: { hash, height },
  timestamp: time
})

/** Lists of every actor, both ways round, against the oracle. */
const checkLists = Effect.fnUntraced(function* (
  test: Setup,
  history: EvmOracle.History,
  metadata: ReadonlyMap<string, EvmOracle.Described>
) {
  let compared = 0
  for (const address of [...actors, stranger]) {
    const internals = history.internals.filter(touches(address)).map((moved) => ({
      ...placed(moved),
      operationId: moved.operation,
      operationType: moved.type,
      recipient: moved.to,
      sender: moved.from,
      value: { amount: formatEther(moved.amount).replace(/\.0$/, ""), unit: "ETH" }
    }))
    const tokens = history.tokens.filter(touches(address)).map((moved) => {
      const token = metadata.get(moved.contract)!
      return {
        ...placed(moved),
        recipient: moved.to,
        sender: moved.from,
        tokenData: {
          fungibleValues: { amount: EvmOracle.amountOf(moved, token) },
          name: token.name,
          ...(moved.tokenId === undefined ? {} : { nonFungibleValues: { tokenId: moved.tokenId } }),
          symbol: token.symbol,
          contractAddress: moved.contract,
          standard: moved.standard
        }
      }
    })
    assert.deepStrictEqual(yield* pages(test, internalPath(address), "ascending", 13), internals)
    assert.deepStrictEqual(yield* pages(test, internalPath(address), "DESCENDING", 50), internals.toReversed())
    assert.deepStrictEqual(yield* pages(test, tokenPath(address), "Ascending", 50), tokens)
    assert.deepStrictEqual(yield* pages(test, tokenPath(address), "DESCENDING", 17), tokens.toReversed())
    const inHistory = (name: string) => `/addresses-historical/evm/ethereum/devnet/${address}/${name}`
    for (const name of ["internal", "internal-transactions"]) {
      assert.deepStrictEqual(yield* pages(test, inHistory(name), "descending", 19), internals.toReversed())
    }
    const latest = history.tokens.filter(touches(address)).map((moved, index) => {
      const { decimals } = metadata.get(moved.contract)!
      const { tokenData, ...rest } = tokens[index]!
      const fungibleValues = {
        ...tokenData.fungibleValues,
        decimals: moved.tokenId === undefined ? (decimals ?? 0) : 0
      }
      return { ...rest, tokenData: { ...tokenData, fungibleValues } }
    })
    const latestPath = `/addresses-latest/evm/ethereum/devnet/${address}/tokens-transfers`
    assert.deepStrictEqual(yield* pages(test, latestPath, "ascending", 23), latest)
    const held = new Map<string, bigint>()
    const first = new Map<string, EvmOracle.TokenMoved>()
    for (const moved of history.tokens.filter(touches(address))) {
      const { amount, contract, from, to } = moved
      const change = (to === address ? amount : 0n) - (from === address ? amount : 0n)
      held.set(contract, (held.get(contract) ?? 0n) + change)
      first.set(contract, moved)
    }
    const heldTokens = [...held]
      // The old coin has no balances to ask for.
      .filter(([contract, amount]) => amount > 0n && metadata.get(contract)!.symbol !== "OLD")
      .sort(([a], [b]) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1))
      .map(([contract, amount]) => {
        const { name, symbol, ...token } = metadata.get(contract)!
        const { standard, tokenId } = first.get(contract)!
        const all = { ...first.get(contract)!, amount, tokenId }
        const fungibleValues = { amount: EvmOracle.amountOf(all, { name, symbol, ...token }) }
        return { name, symbol, contractAddress: contract, fungibleValues, standard }
      })
    assert.deepStrictEqual(yield* pages(test, inHistory("tokens"), "descending", 2), heldTokens)
    compared += internals.length + tokens.length
  }
  return compared
})

const sides = (address: string, moved: EvmOracle.Moved) => [
  ...(moved.from === address ? ["outgoing"] : []),
  ...(moved.to === address ? ["incoming"] : [])
]

/** The callbacks that the present chain is worth, as sorted lines. */
const expectedCallbacks = (
  { coins, internals, tip, tokens }: EvmOracle.History,
  metadata: ReadonlyMap<string, EvmOracle.Described>,
  addresses: ReadonlyArray<string>
) => {
  const lines: Array<string> = []
  const add = (name: string, moved: EvmOracle.Moved, rest: ReadonlyArray<unknown>) => {
    for (const address of addresses) {
      for (const direction of sides(address, moved)) {
        const { hash, transaction } = moved
        const line = (event: string, confirmations: number | string) =>
          lines.push(JSON.stringify([event, address, hash, transaction, direction, ...rest, confirmations]))
        line(`ADDRESS_${name}_TRANSACTION_CONFIRMED`, "")
        for (let count = 1; count <= Math.min(each, tip - moved.height + 1); count++) {
          line(`ADDRESS_${name}_TRANSACTION_CONFIRMED_EACH_CONFIRMATION`, `${count}/${each}`)
        }
      }
    }
  }
  const coinAmount = (amount: bigint) => formatEther(amount).replace(/\.0$/, "")
  for (const moved of coins) add("COINS", moved, [coinAmount(moved.amount)])
  for (const moved of internals) add("INTERNAL", moved, [coinAmount(moved.amount), moved.operation])
  for (const moved of tokens) {
    const token = metadata.get(moved.contract)!
    const { name, symbol } = token
    const amount = EvmOracle.amountOf(moved, token)
    add("TOKENS", moved, [amount, moved.contract, moved.standard, name, symbol, moved.tokenId ?? token.decimals ?? ""])
  }
  return lines.sort()
}

// biome-ignore lint/suspicious/noExplicitAny: the body of a callback
const lineOf = ({ data: { event, item } }: any) => {
  const { currentConfirmations: current, targetConfirmations: target, token } = item
  const counts = current === undefined ? "" : `${current}/${target}`
  const { hash } = item.minedInBlock
  const start = [event, item.address, hash, item.transactionId ?? item.parentTransactionId, item.direction]
  if (token !== undefined) {
    const last = token.tokenId ?? (token.decimals === undefined ? "" : Number(token.decimals))
    const { amount, contractAddress, name, symbol } = token
    return JSON.stringify([...start, amount, contractAddress, item.tokenType, name, symbol, last, counts])
  }
  return JSON.stringify([...start, item.amount, ...(item.operationId === undefined ? [] : [item.operationId]), counts])
}

/** Callbacks for blocks that are on the chain: each exactly once, and none more. */
const checkCallbacks = Effect.fnUntraced(function* (
  { anvil, receiver }: Setup,
  history: EvmOracle.History,
  metadata: ReadonlyMap<string, EvmOracle.Described>,
  addresses: ReadonlyArray<string>
) {
  const expected = expectedCallbacks(history, metadata, addresses)
  const hashes = new Set<string>()
  for (let height = 0; height <= history.tip; height++) {
    const block = yield* anvil.rpc<{ readonly hash: string }>("eth_getBlockByNumber", [
      `0x${height.toString(16)}`,
      false
    ])
    hashes.add(block.hash)
  }
  const received = () => {
    const byKey = new Map(receiver.accepted().map(({ body }) => [body.idempotencyKey, body]))
    return [...byKey.values()]
      .filter(({ data }) => hashes.has(data.item.minedInBlock?.hash))
      .map(lineOf)
      .sort()
  }
  yield* receiver.until(() => received().length >= expected.length)
  assert.deepStrictEqual(received(), expected)
  console.log(`${expected.length} EVM callbacks compared with the oracle, 0 wrong`)
  return expected.length
})

/** Every block and transaction, by the endpoints that show them, against the node's own words and the oracle. */
const checkExplorer = Effect.fnUntraced(function* (
  { anvil, headwater, sender }: Setup,
  history: EvmOracle.History,
  metadata: ReadonlyMap<string, EvmOracle.Described>
) {
  const base = "ethereum/devnet"
  const ask = Effect.fnUntraced(function* (path: string) {
    const { body, status } = yield* headwater.get(path)
    assert.strictEqual(status, 200, `${path} ${JSON.stringify(body)}`)
    return body.data
  })
  // biome-ignore lint/suspicious/noExplicitAny: answers of a node that the test trusts
  const node = (method: string, ...params: ReadonlyArray<unknown>) => anvil.rpc<any>(method, params)
  const coins = (wei: bigint) => ({ amount: formatEther(wei).replace(/\.0$/, ""), unit: "ETH" })
  const newest = yield* ask(`/blocks/evm/${base}/latest?count=5`)
  assert.deepStrictEqual([newest.limit, newest.offset, newest.total], [5, 0, 5])
  let compared = 0
  let below: { readonly timestamp: string; readonly hash: string } | undefined
  for (let height = Math.max(0, history.tip - 15); height <= history.tip; height++) {
    const tag = `0x${height.toString(16)}`
    const block = yield* node("eth_getBlockByNumber", tag, true)
    const next = yield* node("eth_getBlockByNumber", `0x${(height + 1).toString(16)}`, false)
    const details = yield* ask(`/blocks/evm/${base}/height/${height}/details`)
    const expected = {
      extraData: block.extraData,
      gasLimit: Number(block.gasLimit),
      gasUsed: Number(block.gasUsed),
      ...{ hash: block.hash, height, nonce: Number(block.nonce), previousBlockHash: block.parentHash },
      ...{ size: Number(block.size), timestamp: Number(block.timestamp) },
      totalDifficulty: Number(block.totalDifficulty ?? 0),
      transactionsCount: block.transactions.length
    }
    const { minedInSeconds, nextBlockHash, ...rest } = details.item
    assert.deepStrictEqual(rest, expected)
    assert.strictEqual(nextBlockHash, next?.hash ?? "")
    if (below !== undefined) assert.strictEqual(minedInSeconds, Number(block.timestamp) - Number(below.timestamp))
    assert.deepStrictEqual(yield* ask(`/blocks/evm/${base}/hash/${block.hash}/details`), details)
    const place = history.tip - height
    if (place < 5) assert.deepStrictEqual(newest.items[place], { ...rest, minedInSeconds })
    below = block

    const listed = yield* ask(`/blocks/evm/${base}/hash/${block.hash.slice(2)}/transactions`)
    const byHeight = yield* ask(`/blocks/evm/${base}/height/${height}/transactions?limit=2&offset=1`)
    assert.deepStrictEqual(
      [byHeight.total, byHeight.items],
      [
        block.transactions.length,
        // biome-ignore lint/suspicious/noExplicitAny: an answer of the server
        listed.items.slice(1, 3).map((item: any) => ({ ...item, timestapm: item.timestamp }))
      ]
    )
    let spent = 0n
    for (const [position, transaction] of block.transactions.entries()) {
      const receipt = yield* node("eth_getTransactionReceipt", transaction.hash)
      const recipient = getAddress(transaction.to ?? receipt.contractAddress)
      const fee = BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice)
      const isContract = (yield* node("eth_getCode", recipient, "latest")) !== "0x"
      const { item } = yield* ask(`/transactions/evm/${base}/${transaction.hash}`)
      const succeeded = receipt.status === "0x1"
      assert.deepStrictEqual(item, {
        contract: isContract || transaction.to == null ? recipient : "",
        fee: coins(fee),
        gasLimit: Number(transaction.gas),
        gasUsed: Number(receipt.gasUsed),
        ...{ hash: transaction.hash, inputData: transaction.input, positionInBlock: position, recipient },
        sender: getAddress(transaction.from),
        status: succeeded ? "success" : "failed",
        timestamp: Number(block.timestamp),
        gasPrice: coins(BigInt(receipt.effectiveGasPrice)),
        minedInBlock: { hash: block.hash, height },
        nonce: Number(transaction.nonce),
        value: coins(BigInt(transaction.value)),
        ...(isContract && transaction.to != null && transaction.input.length >= 10
          ? { blockchainSpecific: { signatureData: { signature: transaction.input.slice(0, 10) } } }
          : {})
      })
      const { blockchainSpecific: _, ...inList } = item
      assert.deepStrictEqual(listed.items[position], inList)
      if (item.sender === sender.address)
        spent += parseEther(item.fee.amount) + (succeeded ? BigInt(transaction.value) : 0n)

      const of = (moved: EvmOracle.Moved) => moved.transaction === transaction.hash
      const internal = yield* ask(`/transactions/evm/${base}/${transaction.hash}/internal`)
      assert.deepStrictEqual(
        [internal.total, internal.items],
        [
          history.internals.filter(of).length,
          history.internals.filter(of).map((moved) => ({
            operationId: moved.operation,
            operationType: moved.type,
            ...{ recipient: moved.to, sender: moved.from, timestamp: moved.time, value: coins(moved.amount) }
          }))
        ]
      )
      const tokens = yield* ask(`/transactions/evm/${base}/${transaction.hash}/tokens-transfers`)
      assert.deepStrictEqual(
        tokens.items,
        history.tokens.filter(of).map((moved) => {
          const token = metadata.get(moved.contract)!
          const decimals = moved.tokenId === undefined ? token.decimals : undefined
          return {
            ...{ recipient: moved.to, sender: moved.from },
            tokenData: {
              name: token.name,
              ...(moved.tokenId === undefined ? {} : { nonFungibleValues: { tokenId: moved.tokenId } }),
              ...{ symbol: token.symbol, contractAddress: moved.contract, standard: moved.standard },
              fungibleValues: {
                amount: EvmOracle.amountOf(moved, token),
                ...(decimals === undefined ? {} : { decimals })
              }
            }
          }
        })
      )
      compared++
    }
    if (height === 0) continue
    // What the sender has paid is what its balance lacks.
    const balances = yield* Effect.forEach([tag, `0x${(height - 1).toString(16)}`], (at) =>
      node("eth_getBalance", sender.address, at)
    )
    assert.strictEqual(BigInt(balances[1]) - BigInt(balances[0]), spent)
  }
  return compared
})

/** The transactions of addresses against all that blocks have: also those that moved nothing, or failed. */
const checkTransactions = Effect.fnUntraced(function* (test: Setup, tip: number, addresses: ReadonlyArray<string>) {
  const { headwater } = test
  // biome-ignore lint/suspicious/noExplicitAny: answers of the server, which are compared with the node's elsewhere
  const mined: Array<any> = []
  for (let height = 0; height <= tip; height++) {
    const { body, status } = yield* headwater.get(`/blocks/evm/ethereum/devnet/height/${height}/transactions`)
    assert.strictEqual(status, 200, JSON.stringify(body))
    // biome-ignore lint/suspicious/noExplicitAny: as above
    mined.push(...body.data.items.map(({ timestapm: _, ...item }: any) => item))
  }
  let compared = 0
  for (const address of addresses) {
    const own = mined.filter(({ recipient, sender }) => recipient === address || sender === address)
    const base = (when: string) => `/addresses-${when}/evm/ethereum/devnet/${address}/transactions`
    assert.deepStrictEqual(yield* pages(test, base("latest"), "ascending", 13), own)
    const historic = own.map((item) => ({ ...item, vallue: item.value })).reverse()
    assert.deepStrictEqual(yield* pages(test, base("historical"), "descending", 50), historic)
    const moment = historic[Math.floor(historic.length / 2)]?.timestamp ?? 1
    assert.deepStrictEqual(
      yield* pages(test, `${base("historical")}/from-timestamp/${moment}`, "descending", 50),
      historic.filter(({ timestamp }) => timestamp >= moment)
    )
    compared += own.length
  }
  return compared
})

/** Lists of a wallet that is synced by deriving its next addresses. */
const checkWalletLists = Effect.fnUntraced(function* ({ headwater }: Setup, tip: number) {
  const path = `/hd-wallets/evm/ethereum/devnet/${xpub}`
  const manage = `/hd-wallets/manage/ethereum/devnet/${xpub}/status`
  for (const [each, expected] of [
    [`${path}/addresses`, "400 xpub_not_synced"],
    [`${path}/transactions`, "400 xpub_not_synced"],
    [manage, "404 resource_not_found"]
  ] as const) {
    const { body, status } = yield* headwater.get(each)
    assert.strictEqual(`${status} ${body.error?.code}`, expected)
  }
  const derived = yield* headwater.post(`${path}/addresses/derive-and-sync`, {})
  assert.strictEqual(derived.status, 201, JSON.stringify(derived.body))
  const receiving = HDNodeWallet.fromExtendedKey(xpub).deriveChild(0)
  const addressOf = (index: number) => receiving.deriveChild(index).address
  const { items } = derived.body.data
  const first: number = items[0].index
  assert.deepStrictEqual(
    items,
    Array.from({ length: 100 }, (_, i) => ({
      ...{ address: addressOf(first + i), derivationType: "account", format: "STANDARD", index: first + i },
      type: "receiving"
    }))
  )
  const last = Math.max(...actors.map((actor) => Array.from({ length: 60 }, (_, i) => addressOf(i)).indexOf(actor)))
  assert.strictEqual(first, last + 1, "behind the last used one")
  const { data } = (yield* headwater.get(`${path}/addresses?isChangeAddress=false&offset=${first}&limit=3`)).body
  assert.deepStrictEqual(
    [data.total, data.items],
    [first + 100, [0, 1, 2].map((i) => ({ address: addressOf(first + i), index: first + i }))]
  )
  assert.deepInclude((yield* headwater.get(manage)).body.data.item, { isActive: true, extendedPublicKey: xpub })

  // biome-ignore lint/suspicious/noExplicitAny: answers of the server, which are compared with the node's elsewhere
  const mined: Array<any> = []
  for (let height = 0; height <= tip; height++) {
    mined.push(...(yield* headwater.get(`/blocks/evm/ethereum/devnet/height/${height}/transactions`)).body.data.items)
  }
  const change = HDNodeWallet.fromExtendedKey(xpub).deriveChild(1)
  const members = new Set(
    Array.from({ length: first + 100 }, (_, i) => [addressOf(i), change.deriveChild(i).address]).flat()
  )
  const party = (address: string, { amount }: { readonly amount: string }) => [
    { address, amount, isMember: members.has(address) }
  ]
  const expected = mined
    .filter(({ recipient, sender }) => members.has(recipient) || members.has(sender))
    .reverse()
    .map(({ fee, hash, minedInBlock, positionInBlock, recipient, sender, status, timestamp, value }) => {
      const moved = status === "failed" ? { amount: "0" } : value
      return {
        ...{ hash, minedInBlock, positionInBlock, timestamp, fee: { amount: fee.amount } },
        ...{ recipient: party(recipient, moved), sender: party(sender, moved) }
      }
    })
  assert.isAbove(expected.length, 2)
  const listed = []
  for (let offset = 0; offset < expected.length; offset += 4) {
    const { body, status } = yield* headwater.get(`${path}/transactions?limit=4&offset=${offset}`)
    assert.strictEqual(status, 200, JSON.stringify(body))
    assert.deepInclude(body.data, { total: expected.length, answeredFrom: "record" })
    listed.push(...body.data.items)
  }
  assert.deepStrictEqual(listed, expected)
})

/** Blocks that the chain does not have, or has no more. */
const checkAbsent = Effect.fnUntraced(function* ({ headwater }: Setup, tip: number, orphan: string) {
  const absent = [`hash/${orphan}/details`, `hash/${orphan}/transactions`, `height/${tip + 1}/details`]
  for (const path of [...absent, `hash/${"12".repeat(32)}/details`, `height/${tip + 1}/transactions`]) {
    const { body, status } = yield* headwater.get(`/blocks/evm/ethereum/devnet/${path}`)
    assert.deepStrictEqual([status, body.error?.code], [404, "blockchain_data_block_not_found"], path)
  }
  for (const part of ["", "/internal", "/tokens-transfers"]) {
    const { body, status } = yield* headwater.get(`/transactions/evm/ethereum/devnet/0x${"12".repeat(32)}${part}`)
    assert.deepStrictEqual([status, body.error?.code], [404, "blockchain_data_transaction_not_found"], part)
  }
  const { status } = yield* headwater.get("/blocks/evm/ethereum/devnet/latest?count=51")
  assert.strictEqual(status, 400)
})

const subscribeAll = Effect.fnUntraced(function* ({ subscribe }: Setup, addresses: ReadonlyArray<string>) {
  for (const address of addresses) {
    for (const kind of ["tokens", "internal", "coins"]) {
      yield* subscribe(`address-${kind}-transactions-confirmed`, { address })
      yield* subscribe(`address-${kind}-transactions-confirmed-each-confirmation`, {
        ...{ address, confirmationsCount: each, allowDuplicates: false }
      })
    }
  }
})

/** The wallet of the actors against balances that the node gives and sums of the oracle. */
const checkWallet = Effect.fnUntraced(function* (
  { anvil, headwater }: Setup,
  { coin, collectible, multi, old }: Deployed,
  history: EvmOracle.History,
  key: string,
  derivation: string,
  addresses: ReadonlyArray<string>
) {
  const { body, status } = yield* headwater.get(
    `/hd-wallets/evm/ethereum/devnet/${key}/assets?derivation=${derivation}`
  )
  assert.strictEqual(status, 200, JSON.stringify(body))
  const sum = (amounts: ReadonlyArray<bigint>) => amounts.reduce((total, amount) => total + amount, 0n)
  const ether = (wei: bigint) => formatEther(wei).replace(/\.0$/, "")
  const balances = yield* Effect.forEach(addresses, (address) =>
    anvil.rpc<string>("eth_getBalance", [address, "latest"])
  )
  const balanceOf = new Interface(["function balanceOf(address) view returns (uint256)"])
  const coins = yield* Effect.forEach(addresses, (address) =>
    anvil.rpc<string>("eth_call", [
      { to: coin.address, data: balanceOf.encodeFunctionData("balanceOf", [address]) },
      "latest"
    ])
  )
  const moves = [...history.coins, ...history.internals]
  const held = new Map<string, bigint>()
  for (const { amount, contract, to, tokenId } of history.tokens) {
    if (tokenId === undefined || !addresses.includes(to)) continue
    held.set(`${contract} ${tokenId}`, (held.get(`${contract} ${tokenId}`) ?? 0n) + amount)
  }
  const { item } = body.data
  const details = yield* headwater.get(`/hd-wallets/evm/ethereum/devnet/${key}/details?derivation=${derivation}`)
  const { confirmedBalance, totalReceived, totalSpent, unit } = item
  assert.deepStrictEqual(details.body.data?.item, { confirmedBalance, totalReceived, totalSpent, unit })
  assert.strictEqual(item.confirmedBalance, ether(sum(balances.map(BigInt))))
  assert.strictEqual(
    item.totalReceived,
    ether(sum(moves.filter(({ to }) => addresses.includes(to)).map(({ amount }) => amount)))
  )
  assert.strictEqual(
    item.totalSpent,
    ether(sum(moves.filter(({ from }) => addresses.includes(from)).map(({ amount }) => amount)))
  )
  assert.strictEqual(item.unit, "ETH")
  // The old coin has no balances to ask for.
  assert.notInclude(JSON.stringify(item), old.address)
  const total = sum(coins.map(BigInt))
  assert.deepStrictEqual(item.fungibleTokens, [
    {
      amount: `${total / 1_000_000n}.${String(total % 1_000_000n).padStart(6, "0")}`.replace(/\.?0+$/, ""),
      contractAddress: coin.address,
      standard: "ERC-20",
      symbol: "COIN"
    }
  ])
  // biome-ignore lint/suspicious/noExplicitAny: an answer of the server
  const tokens = item.nonFungibleTokens.map((token: any) => [
    token.contractAddress,
    token.tokenId,
    token.standard,
    token.symbol
  ])
  assert.deepStrictEqual(
    tokens.map(String).sort(),
    [...held]
      .filter(([, amount]) => amount > 0n)
      .map(([key]) => {
        const [contract, id] = key.split(" ")
        return String([contract, id, ...(contract === multi.address ? ["ERC-1155", ""] : ["ERC-721", "ITEM"])])
      })
      .sort()
  )
  assert.include(JSON.stringify(tokens), collectible.address)
})

/** How deep the reorganisations are: above the confirmations that callbacks wait for, or below. */
const depths = half("depths", [1, everyWay ? 40 : 12])

for (const { location, name } of taken(import.meta.url)) {
  describe(`EVM on anvil, ${name}`, () => {
    for (const depth of depths) {
      it.live(
        `agrees with the oracle before and after a reorganisation ${depth} deep`,
        () =>
          Effect.gen(function* () {
            const test = yield* setup(location)
            const { anvil, caughtUp, mine, sender } = test
            yield* subscribeAll(test, actors)
            const contracts = yield* deploy(test)
            const metadata = described(contracts)
            const random = numbers(depth)
            yield* activity(test, contracts, Math.max(depth + 2, 16), random, 100)
            yield* caughtUp
            const before = yield* EvmOracle.history(anvil)
            const lists = yield* checkLists(test, before, metadata)
            const callbacks = yield* checkCallbacks(test, before, metadata, actors)
            assert.isAbove(Math.min(lists, callbacks), 40)
            const { hash: orphan } = yield* anvil.rpc<{ readonly hash: string }>("eth_getBlockByNumber", [
              "latest",
              false
            ])

            yield* anvil.rpc("anvil_reorg", [depth, []])
            yield* mine()
            yield* caughtUp
            yield* checkLists(test, yield* EvmOracle.history(anvil), metadata)

            yield* sender.resync
            yield* activity(test, contracts, depth + 14, random, 500)
            yield* mine(each)
            yield* caughtUp
            const after = yield* EvmOracle.history(anvil)
            yield* checkLists(test, after, metadata)
            const shown = yield* checkExplorer(test, after, metadata)
            assert.isAbove(shown, 30)
            const named = [...actors, stranger, sender.address, contracts.mover.address, contracts.coin.address]
            assert.isAbove(yield* checkTransactions(test, after.tip, named), 60)
            yield* checkAbsent(test, after.tip, orphan)
            yield* checkCallbacks(test, after, metadata, actors)
            yield* checkWallet(test, contracts, after, xpub, "ACCOUNT", actors)
            yield* checkWallet(test, contracts, after, receiveBranch, "bip32", actors.slice(0, 3))
            yield* checkWalletLists(test, after.tip)
          }).pipe(Effect.scoped),
        600_000
      )
    }
  })
}

/** Who reads every transfer from the first block on, for tests that leave the chain to each other as it has become. */
class Shared extends Context.Service<Shared, Setup>()("Evm/Shared") {
  static readonly layer = Layer.effect(Shared, setup(locations[0]!.location))
}

layer(Shared.layer, { excludeTestServices: true })("EVM endpoints", (it) => {
  it.effect("lists the logs of a transaction, with the names of known events, and shows balances and tokens", () =>
    Effect.gen(function* () {
      const test = yield* Shared
      const { anvil, caughtUp, headwater, mine, sender } = test
      const { coin, collectible, mover, multi } = yield* deploy(test)
      const hash = yield* sender.send({ ...coin.call("spray", [1n, 120n, 5n]), gasLimit: 10_000_000n })
      const batch = yield* sender.send(multi.call("mintBatch", [actors[0], [1n, 2n], [3n, 4n]]))
      yield* mine()
      yield* caughtUp
      const logs = (hash: string, query = "") => headwater.get(`/transactions/evm/ethereum/devnet/${hash}/logs${query}`)
      const receipt = yield* anvil.rpc<{ readonly logs: ReadonlyArray<Record<string, unknown>> }>(
        "eth_getTransactionReceipt",
        [hash]
      )
      const { body, status } = yield* logs(hash)
      assert.strictEqual(status, 200, JSON.stringify(body))
      assert.deepStrictEqual([body.data.limit, body.data.offset, body.data.total], [50, 0, 120])
      const rest = [
        ...(yield* logs(hash, "?offset=50&limit=50")).body.data.items,
        ...(yield* logs(hash, "?offset=100")).body.data.items
      ]
      assert.deepStrictEqual(
        [...body.data.items, ...rest],
        receipt.logs.map(({ data, topics }) => ({
          ...{ address: coin.address, data, topics, isRemoved: false },
          name: "Transfer(address,address,uint256)"
        }))
      )
      assert.strictEqual(
        (yield* logs(batch.slice(2).toUpperCase())).body.data.items[0].name,
        "TransferBatch(address,address,address,uint256[],uint256[])"
      )
      const balance = yield* anvil.rpc<string>("eth_getBalance", [sender.address, "latest"])
      const { body: held } = yield* headwater.get(`/addresses-latest/evm/ethereum/devnet/${sender.address}/balance`)
      const amount = formatEther(balance).replace(/\.0$/, "")
      assert.deepStrictEqual(held.data.item, { confirmedBalance: { amount, unit: "ETH" } })
      const details = Effect.fnUntraced(function* (contract: string) {
        const { body } = yield* headwater.get(`/contracts/evm/ethereum/devnet/${contract}/token-details`)
        return body.data?.item ?? body.error.code
      })
      const supply = yield* anvil.rpc<string>("eth_call", [{ to: coin.address, data: "0x18160ddd" }, "latest"])
      assert.deepStrictEqual(yield* details(coin.address), {
        ...{ name: "Test Coin", symbol: "COIN", standard: "ERC-20" },
        fungibleValues: { decimals: 6, totalSupply: formatUnits(supply, 6).replace(/\.0$/, "") }
      })
      const item = { name: "Test Collectible", symbol: "ITEM", standard: "ERC-721" }
      assert.deepStrictEqual(yield* details(collectible.address), item)
      assert.deepStrictEqual(yield* details(multi.address), { name: "", symbol: "", standard: "ERC-1155" })
      // A contract that is none of a token, and no contract.
      for (const other of [mover.address, sender.address]) {
        assert.strictEqual(yield* details(other), "blockchain_data_token_details_not_found")
      }
      const unknown = yield* logs(`0x${"12".repeat(32)}`)
      assert.deepStrictEqual([unknown.status, unknown.body.error.code], [404, "blockchain_data_transaction_not_found"])
      assert.strictEqual((yield* logs("0x12")).status, 400)
    })
  )

  it.effect("knows addresses and derives them as ethers does, and the nonce as the node", () =>
    Effect.gen(function* () {
      const { anvil, caughtUp, headwater, mine, sender } = yield* Shared
      yield* caughtUp
      for (const address of [...actors, ...actors.map((each) => each.toLowerCase()), ...actors.map(flipped), "0x12"]) {
        const { body } = yield* headwater.post("/utils/evm/ethereum/devnet/validate-address", { address })
        assert.deepStrictEqual(body.data.item, { address, isValid: isAddress(address) })
      }
      for (const [isChange, branch] of [
        [false, 0],
        [true, 1]
      ] as const) {
        const query = `isChange=${isChange}&startIndex=17&addressesCount=5`
        const { body } = yield* headwater.get(`/utils/ethereum/devnet/xpubs/${xpub}/derive-addresses?${query}`)
        const derived = [17, 18, 19, 20, 21].map((index) => ({
          ...{ address: account.deriveChild(branch).deriveChild(index).address, index }
        }))
        assert.deepStrictEqual(body.data?.item.addresses, derived)
      }
      const next = Effect.fnUntraced(function* (address: string) {
        const path = `/addresses-latest/evm/ethereum/devnet/${address}/next-available-nonce`
        const nonce = yield* anvil.rpc<string>("eth_getTransactionCount", [address, "pending"])
        assert.deepStrictEqual((yield* headwater.get(path)).body.data?.item, { nextAvailableNonce: Number(nonce) })
        return Number(nonce)
      })
      const first = yield* next(sender.address)
      yield* sender.send({ to: actors[0]!, value: 1n, gasLimit: 21_000n })
      assert.strictEqual(yield* next(sender.address), first + 1, "one waits")
      yield* mine()
      yield* sender.send({ to: actors[0]!, value: 1n, gasLimit: 21_000n })
      assert.strictEqual(yield* next(sender.address), first + 2)
      yield* next(stranger)
    })
  )

  it.effect("tells the events of contracts as the node's logs are, through a reorganisation", () =>
    Effect.gen(function* () {
      const test = yield* Shared
      const { anvil, caughtUp, receiver, sender, subscribe } = test
      const contracts = yield* deploy(test)
      const { coin, collectible, multi } = contracts
      const erc20 = "event Transfer(address indexed from, address indexed to, uint256 value)"
      const batch =
        "event TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] values)"
      const [transfer] = new Interface([erc20]).encodeFilterTopics("Transfer", []) as [string]
      const to = zeroPadValue(actors[0]!, 32)
      const asked: ReadonlyArray<{ address: string; abi?: string; topics?: ReadonlyArray<unknown> }> = [
        { address: coin.address },
        { address: coin.address, abi: erc20, topics: [null, null, [to, zeroPadValue(actors[1]!, 32)]] },
        { address: coin.address, topics: [[to, transfer], null, to] },
        { address: multi.address, abi: batch },
        // Whose second topics are no address of a recipient, and whose third is a token's id.
        { address: collectible.address, abi: erc20 },
        { address: coin.address, topics: [to] }
      ]
      const references: Array<string> = []
      for (const { address, ...filter } of asked) {
        references.push(yield* subscribe("contract-events", { address, filter, callbackUrl: `${receiver.url}/events` }))
      }
      yield* activity(test, contracts, 16, numbers(11), 100)
      yield* caughtUp
      yield* anvil.rpc("anvil_reorg", [5, []])
      yield* sender.resync
      yield* activity(test, contracts, 16, numbers(12), 500)
      yield* caughtUp

      let compared = 0
      for (const [i, { abi, address, topics = [] }] of asked.entries()) {
        const iface = abi === undefined ? undefined : new Interface([abi])
        const first =
          abi === undefined ? [] : iface!.encodeFilterTopics(iface!.fragments[0]!.format("sighash").split("(")[0]!, [])
        const wanted =
          topics.length > 0 && topics[0] === null ? [first[0] ?? null, ...topics.slice(1)] : [...first, ...topics]
        // biome-ignore lint/suspicious/noExplicitAny: answers of a node that the test trusts
        const logs = yield* anvil.rpc<ReadonlyArray<any>>("eth_getLogs", [
          { address, fromBlock: "0x0", toBlock: "latest", topics: wanted }
        ])
        const expected = logs.map((log) => {
          const decoded = log.topics.length === 4 && abi === erc20 ? null : iface?.parseLog(log)
          const text = (value: unknown): unknown =>
            typeof value === "object" && value !== null
              ? [...(value as ReadonlyArray<unknown>)].map(text)
              : String(value)
          return {
            ...{ hash: log.blockHash, height: Number(log.blockNumber), transactionId: log.transactionHash },
            ...{ logIndex: Number(log.logIndex), topics: log.topics, data: log.data },
            decoded: decoded == null ? undefined : decoded.args.map(text)
          }
        })
        const told = () =>
          [...new Map(receiver.accepted().map(({ body }) => [body.idempotencyKey, body])).values()]
            .filter(({ referenceId }) => referenceId === references[i])
            .map(({ data: { item } }) => item)
            .map(({ data, decoded, logIndex, minedInBlock: { hash, height }, topics, transactionId }) => ({
              ...{ hash, height, transactionId, logIndex, topics, data },
              // biome-ignore lint/suspicious/noExplicitAny: an answer of the server
              decoded: decoded?.arguments.map(({ value }: any) => value)
            }))
        const onChain = new Set<string>()
        const { number } = yield* anvil.rpc<{ readonly number: string }>("eth_getBlockByNumber", ["latest", false])
        for (let height = 0; height <= Number(number); height++) {
          const block = `0x${height.toString(16)}`
          onChain.add((yield* anvil.rpc<{ readonly hash: string }>("eth_getBlockByNumber", [block, false])).hash)
        }
        const now = () => told().filter(({ hash }) => onChain.has(hash))
        yield* receiver.until(() => now().length >= expected.length)
        const sorted = (all: ReadonlyArray<{ height: number; logIndex: number }>) =>
          [...all].sort((a, b) => a.height - b.height || a.logIndex - b.logIndex)
        assert.deepStrictEqual(sorted(now()), sorted(expected))
        compared += expected.length
      }
      assert.isAbove(compared, 20)
      console.log(`${compared} contract events compared with eth_getLogs, 0 wrong`)
    })
  )
})

describe("EVM endpoints of a chain of their own", () => {
  const { location } = locations[0]!

  it.live("in the record of watched addresses, refuses those of nobody and wallets that are not whole", () =>
    Effect.gen(function* () {
      const test = yield* setup(location, { record: "watched" })
      const { anvil, caughtUp, headwater, mine } = test
      yield* subscribeAll(test, actors.slice(0, 2))
      const contracts = yield* deploy(test)
      const metadata = described(contracts)
      yield* activity(test, contracts, 14, numbers(5), 100)
      yield* mine(each)
      yield* caughtUp
      const history = yield* EvmOracle.history(anvil)
      yield* checkCallbacks(test, history, metadata, actors.slice(0, 2))
      const watched = yield* pages(test, tokenPath(actors[0]!), "ASCENDING", 50)
      assert.deepStrictEqual(
        watched.map(({ transactionHash }) => transactionHash),
        history.tokens.filter(touches(actors[0]!)).map(({ transaction }) => transaction)
      )
      const refused = yield* headwater.get(tokenPath(stranger))
      assert.deepStrictEqual([refused.status, refused.body.error.code], [403, "address_not_synced"])
      // Internal transactions are recorded for everybody.
      assert.strictEqual(
        (yield* pages(test, internalPath(stranger), "ASCENDING", 50)).length,
        history.internals.filter(touches(stranger)).length
      )
      const assets = (key: string) => headwater.get(`/hd-wallets/evm/ethereum/devnet/${key}/assets`)
      const wallet = yield* assets(xpub)
      assert.deepStrictEqual([wallet.status, wallet.body.error.code], [400, "xpub_not_synced"])
      yield* subscribeAll(test, actors.slice(2))
      // Subscriptions to used addresses say nothing of the time before them.
      const late = yield* assets(xpub)
      assert.include(["xpub_not_synced", "xpub_sync_in_progress"], late.body.error.code)
      assert.include([400, 422], late.status)
      const secret = yield* assets(account.extendedKey)
      assert.deepStrictEqual([secret.status, secret.body.error.code], [400, "invalid_xpub"])
      assert.notInclude(JSON.stringify(secret.body) + headwater.log(), account.extendedKey)
    }).pipe(Effect.scoped)
  )

  it.live("refuses what a chain without traces cannot serve", () =>
    Effect.gen(function* () {
      const { caughtUp, headwater, receiver } = yield* setup(location, { internalTransactions: false })
      yield* caughtUp
      const refused = yield* headwater.post(
        "/blockchain-events/ethereum/devnet/address-internal-transactions-confirmed",
        {
          address: stranger,
          callbackUrl: receiver.url
        }
      )
      assert.deepStrictEqual([refused.status, refused.body.error.code], [501, "unimplemented"])
      assert.strictEqual((yield* headwater.get(internalPath(stranger))).status, 501)
      assert.strictEqual((yield* headwater.get(tokenPath(stranger))).status, 200)
    }).pipe(Effect.scoped)
  )

  it.live("answers 503 while it reads the chain, and when the node is gone", () =>
    Effect.gen(function* () {
      const test = yield* setup(location)
      const { anvil, caughtUp, headwater, mine } = test
      yield* deploy(test)
      yield* caughtUp
      const empty = yield* headwater.get(internalPath(Wallet.createRandom().address))
      assert.deepStrictEqual([empty.status, empty.body.data.items, empty.body.data.hasMore], [200, [], false])
      assert.strictEqual((yield* headwater.get(internalPath("0x12"))).status, 400)
      assert.strictEqual((yield* headwater.get(tokenPath(ZeroAddress))).status, 200)
      // Nobody has read these blocks when the daemon is started again.
      yield* headwater.kill
      yield* mine(200)
      yield* headwater.launch
      let reading = yield* headwater.get(tokenPath(ZeroAddress))
      assert.deepStrictEqual([reading.status, reading.body.error?.code], [503, "node_unavailable"])
      for (let i = 0; i < 1_200 && reading.status === 503; i++) {
        yield* Effect.sleep("100 millis")
        reading = yield* headwater.get(tokenPath(ZeroAddress))
      }
      assert.strictEqual(reading.status, 200)
      process.kill(anvil.pid, "SIGKILL")
      for (const path of [
        tokenPath(ZeroAddress),
        internalPath(ZeroAddress),
        `/hd-wallets/evm/ethereum/devnet/${xpub}/assets`
      ]) {
        const { body, status } = yield* headwater.get(path)
        assert.deepStrictEqual([status, body.error.code], [503, "node_unavailable"])
      }
    }).pipe(Effect.scoped)
  )

  it.live(
    `pages through ${sprayed} transfers while blocks arrive: none twice, none missing, both ways`,
    () =>
      Effect.gen(function* () {
        const test = yield* setup(location)
        const { anvil, caughtUp, headwater, mine, sender } = test
        const { coin } = yield* deploy(test)
        const spray = (count: bigint) =>
          sender.send({ ...coin.call("spray", [BigInt(stranger), count, 1n]), gasLimit: 12_000_000n })
        for (let count = 0; count < sprayed; count += 200) {
          yield* spray(200n)
          yield* mine()
        }
        yield* caughtUp
        const path = tokenPath(sender.address)
        for (const order of ["DESCENDING", "ASCENDING"]) {
          const transfers = Effect.gen(function* () {
            const tip = yield* anvil.rpc<string>("eth_blockNumber", [])
            const filter = { address: coin.address, fromBlock: "0x0", toBlock: tip }
            const logs = yield* anvil.rpc<
              ReadonlyArray<{ readonly transactionHash: string; readonly topics: ReadonlyArray<string> }>
            >("eth_getLogs", [filter])
            return logs.map(({ topics, transactionHash }) => `${transactionHash} ${topics[2]!.slice(26)}`)
          })
          const before = yield* transfers
          const arriving = yield* Effect.gen(function* () {
            yield* spray(7n)
            yield* mine()
            yield* Effect.sleep("30 millis")
          }).pipe(Effect.forever, Effect.forkScoped)
          const seen: Array<string> = []
          let after = ""
          while (true) {
            const { body, status } = yield* headwater.get(`${path}?sortingOrder=${order}${after}`)
            assert.strictEqual(status, 200, JSON.stringify(body))
            for (const { recipient, transactionHash } of body.data.items) {
              seen.push(`${transactionHash} ${recipient.slice(2).toLowerCase()}`)
            }
            if (!body.data.hasMore) break
            after = `&startingAfter=${body.data.nextStartingAfter}`
            // Upwards the end moves on; enough is what had begun.
            if (order === "ASCENDING" && seen.length > before.length + 100) break
          }
          yield* Fiber.interrupt(arriving)
          assert.isAbove(seen.length, sprayed)
          assert.strictEqual(new Set(seen).size, seen.length)
          const all = yield* transfers
          if (order === "ASCENDING") assert.deepStrictEqual(seen, all.slice(0, seen.length))
          else {
            // Downwards from whatever was newest when the first page was read.
            const start = all.length - all.toReversed().indexOf(seen[0]!)
            assert.isAtLeast(start, before.length)
            assert.deepStrictEqual(seen, all.slice(0, start).toReversed())
          }
          yield* caughtUp
        }
      }).pipe(Effect.scoped),
    600_000
  )
})
