/**
 * A bcoin full node on an empty regtest chain, in memory, for tests: `node node.cjs` prints the port of its RPC once it
 * answers, with the key `password`, and ends when its standard input does.
 *
 * What bcoin's RPC cannot do is added to it from bcoin's own parts: `headwater*` methods, which only tests call.
 */
const Module = require("node:module")
const secp256k1 = require("tiny-secp256k1")

// Its bindings are not built here: nothing but files on a disk would need that of the database, and that of the curve is
// libsecp256k1, which is here as WebAssembly. The curve in JavaScript takes many times as long.
const load = Module._load
Module._load = (request, ...rest) => {
  if (request === "leveldown") return class {}
  const loaded = load(request, ...rest)
  return request === "secp256k1/js" ? Object.assign(loaded, curve) : loaded
}
const curve = {
  publicKeyCreate: (key, isCompressed) => Buffer.from(secp256k1.pointFromScalar(key, isCompressed)),
  verify: (hash, signature, key) => secp256k1.verify(hash, key, signature)
}

// This bcoin is older than the prefixes that Bitcoin's regtest has today.
const { regtest } = require("bcoin/lib/protocol/networks")
Object.assign(regtest.addressPrefix, { pubkeyhash: 0x6f, scripthash: 0xc4, bech32: "bcrt" })
Object.assign(regtest.keyPrefix, { xpubkey: 0x043587cf, xprivkey: 0x04358394, xpubkey58: "tpub", xprivkey58: "tprv" })

// Segwit is active from the fourth window of blocks on, which are fewer here than the 144 that they have.
Object.assign(regtest, { minerWindow: 20, activationThreshold: 15 })

const Chain = require("bcoin/lib/blockchain/chain")
const FullNode = require("bcoin/lib/node/fullnode")
const HDPrivateKey = require("bcoin/lib/hd/private")
const Address = require("bcoin/lib/primitives/address")
const Block = require("bcoin/lib/primitives/block")
const KeyRing = require("bcoin/lib/primitives/keyring")
const MTX = require("bcoin/lib/primitives/mtx")
const TX = require("bcoin/lib/primitives/tx")

const flags = process.argv.slice(2)
/** For benchmarks: the port at which it speaks to other nodes, or another node's `host:port`, the only one it asks. */
const [port, peer] = flags.filter((flag) => !flag.startsWith("-"))
const listen = port ? { listen: true, host: "127.0.0.1", port: Number(port) } : { listen: false }
const peers = peer === undefined ? {} : { only: [peer] }

const node = new FullNode({
  ...{ network: "regtest", memory: true, workers: false, logLevel: "none" },
  ...listen,
  ...peers,
  ...{
    indexTx: !flags.includes("-txindex=0"),
    indexAddress: true,
    apiKey: "password",
    httpHost: "127.0.0.1",
    httpPort: 0
  }
})
node.on("error", () => undefined)

const readTransaction = (hex) => TX.fromRaw(Buffer.from(hex, "hex"))
const reversed = (id) => Buffer.from(id, "hex").reverse().toString("hex")

/** Keys by the address that they sign for. */
const rings = new Map()

/** Mines one block of these transactions only. */
const mineOnly = async (tip, transactions) => {
  const job = await node.miner.cpu.createJob(tip)
  Object.assign(job.attempt, { items: [], fees: 0 })
  for (const transaction of transactions) {
    job.attempt.pushTX(transaction, await node.mempool.getSpentView(transaction))
  }
  job.refresh()
  const entry = await node.chain.add(await job.mineAsync())
  if (entry === null) throw new Error("the block was not taken")
  return entry
}

const accept = async (transaction) => {
  const missing = await node.mempool.addTX(transaction)
  if (missing) throw new Error("the transaction spends what is not there")
  return transaction.txid()
}

const coinsOf = (where, addresses) =>
  where.getCoinsByAddress(addresses.map((text) => Address.fromString(text, "regtest")))
const shown = (coins) => coins.map((coin) => coin.getJSON("regtest"))

const methods = {
  /** P2WPKH wallet m/84'/1'/0' of a seed as hex: its public key, and addresses of both branches. */
  headwaterwallet: async ([seed, count]) => {
    const account = [84, 1, 0].reduce(
      (key, index) => key.derive(index, true),
      HDPrivateKey.fromSeed(Buffer.from(seed, "hex"))
    )
    const addresses = [0, 1].map((branch) =>
      Array.from({ length: count }, (_, index) => {
        const ring = KeyRing.fromPrivate(account.derive(branch).derive(index).privateKey, true)
        ring.witness = true
        const address = ring.getAddress("string", "regtest")
        rings.set(address, ring)
        return address
      })
    )
    return { extendedPublicKey: account.toPublic().toBase58("regtest"), addresses }
  },
  /** Address of a private key as hex; the types are those of `getnewaddress`. */
  headwateraddress: ([key, type]) => {
    const ring = KeyRing.fromPrivate(Buffer.from(key, "hex"), true)
    Object.assign(ring, { witness: type !== "legacy", nested: type === "p2sh-segwit" })
    const address = ring.getAddress("string", "regtest")
    rings.set(address, ring)
    return address
  },
  /** Signs with the keys of wallets and addresses. */
  headwatersign: async ([hex]) => {
    const transaction = MTX.fromRaw(Buffer.from(hex, "hex"))
    transaction.view = await node.mempool.getSpentView(transaction)
    for (const { prevout } of transaction.inputs) {
      const output = transaction.view.getOutputFor({ prevout })
      const ring = rings.get(output.getAddress().toString("regtest"))
      transaction.sign([ring])
    }
    return transaction.toRaw().toString("hex")
  },
  /** `sendrawtransaction` answers before the mempool has the transaction, or has refused it. */
  headwatersend: ([hex]) => accept(readTransaction(hex)),
  /** bcoin knows no replacement: the old transaction, and what spends it, is taken out by hand. */
  headwaterreplace: ([id, hex]) => {
    node.mempool.evictEntry(node.mempool.getEntry(reversed(id)))
    return accept(readTransaction(hex))
  },
  headwatermine: async ([hexes]) => (await mineOnly(undefined, hexes.map(readTransaction))).rhash(),
  /** What the newest `depth` blocks hold beside their coinbases, in order: a fork with an empty mempool forgets it. */
  headwatertransactions: async ([depth]) => {
    const found = []
    for (let height = node.chain.height - depth + 1; height <= node.chain.height; height++) {
      const { txs } = await node.chain.getBlock(height)
      for (const transaction of txs.slice(1)) found.push(transaction.toRaw().toString("hex"))
    }
    return found
  },
  /** Leaves `depth` blocks for one more empty ones, as when another miner was faster. */
  headwaterfork: async ([depth]) => {
    let tip = await node.chain.getEntry(node.chain.height - depth)
    for (let i = 0; i <= depth; i++) tip = await mineOnly(tip, [])
    return tip.rhash()
  },
  /** Mined and unspent by the address index, whatever the mempool spends. */
  headwatercoins: async ([addresses]) => shown(await coinsOf(node.chain, addresses)),
  /** Unspent by the address index, mined or waiting. */
  headwaterspendable: async ([addresses]) => shown(await coinsOf(node, addresses)),
  /** For benchmarks: takes blocks from its peer, up to a height. */
  headwatersync: async ([height, addresses]) => {
    const begin = performance.now()
    const before = process.cpuUsage()
    const done = new Promise((resolve) => node.on("connect", (entry) => entry.height === height && resolve()))
    if (!node.pool.connected) await node.connect()
    node.startSync()
    await done
    const { system, user } = process.cpuUsage(before)
    const seconds = (performance.now() - begin) / 1000
    return { seconds, cpu: (system + user) / 1e6, coins: (await coinsOf(node.chain, addresses)).length }
  },
  /** For benchmarks: a second chain in this process takes the blocks of this one, and indexes them by address. */
  headwaterreindex: async ([addresses]) => {
    const raw = []
    for (let height = 1; height <= node.chain.height; height++) raw.push(await node.chain.getRawBlock(height))
    const chain = new Chain({ network: "regtest", memory: true, indexTX: true, indexAddress: true })
    // As below a checkpoint: scripts are not checked, which without its native parts would be most of the work.
    chain.isHistorical = () => true
    await chain.open()
    const begin = performance.now()
    const before = process.cpuUsage()
    for (const bytes of raw) await chain.add(Block.fromRaw(bytes))
    const { system, user } = process.cpuUsage(before)
    const seconds = (performance.now() - begin) / 1000
    return { seconds, cpu: (system + user) / 1e6, coins: (await coinsOf(chain, addresses)).length }
  }
}
for (const [name, method] of Object.entries(methods)) node.rpc.add(name, method)

process.stdin.resume().on("end", () => process.exit())
;(async () => {
  await node.ensure()
  await node.open()
  if (port) await node.connect()
  console.log(node.http.http.address().port)
})().catch((error) => {
  console.error(error)
  process.exit(1)
})
