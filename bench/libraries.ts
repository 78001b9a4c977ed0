/**
 * Every piece that core does by hand beside the library that is made for it, and bip32 over either library of the curve:
 * CPU time for one operation, the median of rounds that take turns in one process, and the quotient of the two with its
 * smallest and greatest value of a round. Both have to give the same result first.
 *
 *     node bench/libraries.ts [rounds]
 */
import { deepStrictEqual } from "node:assert"
import { readdirSync } from "node:fs"
import { createRequire } from "node:module"
import { pathToFileURL } from "node:url"
import * as Address from "@headwater/core/address/Address"
import * as Chain from "@headwater/core/chains/Chain"
import * as EventAbi from "@headwater/core/evm/EventAbi"
import * as EvmAddress from "@headwater/core/evm/EvmAddress"
import * as Rlp from "@headwater/core/evm/Rlp"
import * as Sighash from "@headwater/core/evm/Sighash"
import * as BaseMultiples from "@headwater/core/keys/BaseMultiples"
import * as Derivation from "@headwater/core/keys/Derivation"
import * as ExtendedPublicKey from "@headwater/core/keys/ExtendedPublicKey"
import * as Steps from "@headwater/core/Steps"
import * as LockingScript from "@headwater/core/utxo/LockingScript"
import * as WitnessSighash from "@headwater/core/utxo/WitnessSighash"
import * as Result from "effect/Result"
import * as XrpMetadata from "../packages/core/src/xrp/internal/XrpMetadata.ts"
import * as BlockBody from "../packages/indexer/src/families/utxo/internal/BlockBody.ts"
import * as MerkleRoot from "../packages/indexer/src/families/utxo/internal/MerkleRoot.ts"
import * as RawBytes from "../packages/indexer/src/families/utxo/internal/RawBytes.ts"
import * as RawTransaction from "../packages/indexer/src/families/utxo/internal/RawTransaction.ts"
import * as LedgerBinary from "../packages/indexer/src/families/xrp/internal/LedgerBinary.ts"
import * as LedgerHash from "../packages/indexer/src/families/xrp/internal/LedgerHash.ts"
import * as LedgerProof from "../packages/indexer/src/families/xrp/internal/LedgerProof.ts"
import * as Fixtures from "../packages/indexer/test/Fixtures.ts"
import type { Json } from "../packages/indexer/test/families/xrp/XrpServer.ts"
import { median, sorted } from "./Samples.ts"

// Some are dependencies of core's tests only.
const load = (name: string, of = "core") =>
  import(pathToFileURL(createRequire(new URL(`../packages/${of}/package.json`, import.meta.url)).resolve(name)).href)
const ethers = await load("ethers")
const { BIP32Factory } = await load("bip32")
const bitcoinjs = await load("bitcoinjs-lib")
const ecc = await load("tiny-secp256k1")
const codec = await load("ripple-binary-codec", "indexer")
const xrpl = await load("xrpl", "indexer")
const { hmac } = await load("@noble/hashes/hmac.js")
const { sha512 } = await load("@noble/hashes/sha2.js")

const [rounds = 9] = process.argv.slice(2).map(Number)

const cpu = (run: () => unknown): number => {
  const before = process.cpuUsage()
  run()
  const { system, user } = process.cpuUsage(before)
  return system + user
}
const table: Array<Record<string, string>> = []
/** `own` and `theirs` do `count` operations each. */
const compare = (name: string, library: string, count: number, own: () => unknown, theirs: () => unknown) => {
  deepStrictEqual(own(), theirs(), name)
  const times = { own: [] as Array<number>, theirs: [] as Array<number> }
  for (let round = 0; round < rounds; round++) {
    times.own.push(cpu(own) / count)
    times.theirs.push(cpu(theirs) / count)
  }
  const ratios = sorted(times.own.map((time, round) => times.theirs[round]! / time))
  table.push({
    piece: name,
    library,
    "own µs": median(times.own).toFixed(2),
    "library µs": median(times.theirs).toFixed(2),
    "library / own": median(ratios).toFixed(2),
    spread: `${ratios[0]!.toFixed(2)}–${ratios.at(-1)!.toFixed(2)}`
  })
}

const many = <A>(count: number, make: (index: number) => A): Array<A> =>
  Array.from({ length: count }, (_, i) => make(i))
let seed = 1
const random = (length: number) =>
  Uint8Array.from({ length }, () => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0
    return (seed >>> 16) & 0xff
  })
const hex = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString("hex")}`
const chain = (blockchain: string) => Result.getOrThrow(Chain.find(blockchain, "mainnet"))
const [bitcoin, ethereum] = [chain("bitcoin"), chain("ethereum")]
const encode = (of: Chain.Chain, bytes: Uint8Array) => Address.encode(of, Address.fromBytes(bytes))!
const decode = (of: Chain.Chain, text: string) => Result.getOrThrow(Address.decode(of, text))

// Extended keys and child keys: bip32 over the one library of the curve and over the other, then many keys at once.
const xpub =
  "xpub6CatWdiZiodmUeTDp8LT5or8nmbKNcuyvz7WyksVFkKB4RHwCD3XyuvPEbvqAQY3rAPshWcMLoP2fMFMKHPJ4ZeZXYVUhLv1VMrjPC7PW6V"
const bip32 = BIP32Factory(ecc)
const key = Result.getOrThrow(ExtendedPublicKey.decode(bitcoin, xpub))
const keyHex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")
compare(
  "extended key, read, over @noble/curves",
  "over tiny-secp256k1",
  200,
  () => many(200, () => keyHex(Result.getOrThrow(ExtendedPublicKey.decode(bitcoin, xpub)).node.publicKey)),
  () => many(200, () => keyHex(bip32.fromBase58(xpub).publicKey))
)
const node = bip32.fromBase58(xpub)
const branch = Result.getOrThrow(Derivation.branch(bitcoin, key, { derivation: "bip32", format: "P2WPKH" }))
compare(
  "child key, one at a time, over @noble/curves",
  "over tiny-secp256k1",
  200,
  () => many(200, (i) => keyHex(Derivation.publicKeyAt(branch, i)!)),
  () => many(200, (i) => keyHex(node.derive(i).publicKey))
)
/** The same batching around the library's addition: the HMAC's key is set up once. */
const children = (count: number) => {
  const keyed = hmac.create(sha512, key.node.chainCode)
  const data = new Uint8Array(37)
  data.set(key.node.publicKey)
  const view = new DataView(data.buffer)
  return many(count, (i) => {
    view.setUint32(33, i)
    return keyed.clone().update(data).digest().subarray(0, 32)
  })
}
const scalars = children(1000)
const parent = BaseMultiples.decompress(key.node.publicKey)
for (const count of [1, 20, 1000]) {
  compare(
    `parent + scalar × G, ${count} at once`,
    "tiny-secp256k1 pointAddScalar",
    1000,
    () =>
      many(1000 / count, (i) =>
        BaseMultiples.addBaseMultiples(new Array(count).fill(parent), scalars.slice(i * count, (i + 1) * count))
      )
        .flat()
        .map((point) => keyHex(BaseMultiples.compress(point!))),
    () => scalars.map((scalar) => keyHex(ecc.pointAddScalar(key.node.publicKey, scalar, true)))
  )
}
compare(
  "1,000 P2WPKH addresses",
  "same HMAC, pointAddScalar, own text",
  1000,
  () => Derivation.derive(branch, 0, 1000).map((found) => Result.getOrThrow(found).address),
  () =>
    children(1000).map((scalar) => {
      const hash = bitcoinjs.crypto.hash160(ecc.pointAddScalar(key.node.publicKey, scalar, true))
      return encode(bitcoin, Uint8Array.of(0, 20, ...hash))
    })
)
compare(
  "1,000 P2WPKH addresses",
  "bip32 + bitcoinjs-lib payments",
  1000,
  () => Derivation.derive(branch, 0, 1000).map((found) => Result.getOrThrow(found).address),
  () => many(1000, (i) => bitcoinjs.payments.p2wpkh({ pubkey: node.derive(i).publicKey }).address)
)

// Address text.
const hashes = many(1000, () => random(20))
const scripts = {
  P2PKH: hashes.map((hash) => Uint8Array.of(0x76, 0xa9, 20, ...hash, 0x88, 0xac)),
  P2SH: hashes.map((hash) => Uint8Array.of(0xa9, 20, ...hash, 0x87)),
  P2WPKH: hashes.map((hash) => Uint8Array.of(0, 20, ...hash)),
  P2WSH: many(1000, () => Uint8Array.of(0, 32, ...random(32)))
}
for (const [name, list] of Object.entries(scripts)) {
  compare(
    `${name} script → text`,
    "bitcoinjs-lib address.fromOutputScript",
    1000,
    () => list.map((script) => encode(bitcoin, script)),
    () => list.map((script) => bitcoinjs.address.fromOutputScript(script))
  )
  const texts = list.map((script) => encode(bitcoin, script))
  compare(
    `${name} text → script`,
    "bitcoinjs-lib address.toOutputScript",
    1000,
    () => texts.map((text) => hex(decode(bitcoin, text))),
    () => texts.map((text) => hex(bitcoinjs.address.toOutputScript(text)))
  )
}
const accounts = hashes.map(hex)
compare(
  "EIP-55 text of 20 bytes",
  "ethers getAddress",
  1000,
  () => hashes.map((account) => EvmAddress.encode(account)),
  () => hashes.map((account) => ethers.getAddress(ethers.hexlify(account)))
)
const mixed = accounts.map((account) => ethers.getAddress(account))
for (const [name, list] of [
  ["lower case", accounts],
  ["checksum", mixed]
] as const) {
  compare(
    `0x text (${name}) → 20 bytes`,
    "ethers getAddress",
    1000,
    () => list.map((text) => hex(decode(ethereum, text))),
    () => list.map((text) => hex(ethers.getBytes(ethers.getAddress(text))))
  )
}
// RLP, ABI and transactions of EVM chains.
const transactionItem = [9n, 2n, 20n * 10n ** 9n, 21_000n].map((n) => Rlp.integer(n))
const rlpItems = hashes.map((account) => [...transactionItem, account, Rlp.integer(10n ** 18n), random(68), []])
compare(
  "RLP of a transaction",
  "ethers encodeRlp",
  1000,
  () => rlpItems.map((item) => hex(Rlp.encode(item))),
  () => rlpItems.map((item) => ethers.encodeRlp(item))
)
const transactions = hashes.map((account, nonce) => ({
  ...{ type: 2, chainId: 1, nonce, gasLimit: 21_000, to: hex(account), value: "1000000000000000000" },
  ...{ maxFeePerGas: "20000000000", maxPriorityFeePerGas: "1000000000" }
}))
compare(
  "signing hash from JSON",
  "ethers Transaction",
  1000,
  () => transactions.map((json) => Sighash.digestText(Result.getOrThrow(Sighash.parse(json)))),
  () => transactions.map((json) => ethers.Transaction.from(json).unsignedHash)
)
const abi = Result.getOrThrow(EventAbi.parse("event Transfer(address indexed from, address indexed to, uint256 value)"))
const face = new ethers.Interface([abi])
const logs = hashes.map((account, i) => ({
  topics: [EventAbi.topicOf(abi)!, hex(account).replace("0x", `0x${"0".repeat(24)}`), `0x${"0".repeat(63)}1`],
  data: `0x${i.toString(16).padStart(64, "0")}`
}))
compare(
  "arguments of a log by its ABI",
  "ethers Interface",
  1000,
  () => logs.map((log) => EventAbi.decode(ethereum, abi, log)!.arguments.map(({ value }) => String(value))),
  () => logs.map((log) => face.parseLog(log)!.args.map(String))
)
// Raw transactions of UTXO chains: 2,000 of two witness inputs and two outputs.
const witnessed = many(2000, (number) => {
  const transaction = new bitcoinjs.Transaction()
  for (const index of [0, 1]) {
    transaction.addInput(random(32), index)
    transaction.setWitness(index, [random(71), random(33)])
    transaction.addOutput(scripts.P2WPKH[(number + index) % 1000]!, BigInt(number + 1))
  }
  return transaction.toBuffer()
})
const reversedHex = (bytes: Uint8Array) => keyHex(bytes.toReversed())
compare(
  "raw transaction → id and outputs",
  "bitcoinjs-lib Transaction",
  2000,
  () =>
    witnessed.map((bytes) => {
      const body = BlockBody.empty()
      RawTransaction.read(new RawBytes.RawBytes(bytes), bitcoin, 0, body)
      return [keyHex(body.transactions[0]!), ...body.transfers.map(({ amount }) => amount)]
    }),
  () =>
    witnessed.map((bytes) => {
      const transaction = bitcoinjs.Transaction.fromBuffer(bytes)
      return [transaction.getId(), ...transaction.outs.map(({ value }: { value: bigint }) => value)]
    })
)
const block = new bitcoinjs.Block()
block.transactions = witnessed.map((bytes) => bitcoinjs.Transaction.fromBuffer(bytes))
const ids = block.transactions.map((transaction: { getHash: () => Uint8Array }) => transaction.getHash().toReversed())
compare(
  "Merkle root of 2,000 transactions",
  "bitcoinjs-lib Block",
  2000,
  () => reversedHex(Steps.atOnce(MerkleRoot.merkleRoot(ids)).toReversed()),
  () => reversedHex(bitcoinjs.Block.calculateMerkleRoot(block.transactions))
)
const spends = many(500, (index) => ({
  ...{ transactionId: random(32), index, amount: BigInt(index + 1000) },
  script: LockingScript.pubKeyHash(hashes[index]!)
}))
const outputs = [{ script: scripts.P2WPKH[0]!, amount: 1000n }]
const spending = new bitcoinjs.Transaction()
for (const { index, transactionId } of spends) spending.addInput(transactionId.toReversed(), index, 0xffff_fffd)
for (const { amount, script } of outputs) spending.addOutput(script, amount)
compare(
  "BIP-143 hashes of 500 inputs",
  "bitcoinjs-lib hashForWitnessV0",
  500,
  () =>
    Steps.atOnce(
      WitnessSighash.ofVersion0(
        { version: 1, locktime: 0, sequence: 0xffff_fffd, inputs: spends, outputs },
        bitcoinjs.Transaction.SIGHASH_ALL
      )
    ).map(keyHex),
  () =>
    spends.map(({ amount, script }, index) =>
      keyHex(spending.hashForWitnessV0(index, script, amount, bitcoinjs.Transaction.SIGHASH_ALL))
    )
)

// Recorded ledgers of the XRP Ledger.
const folder = "xrp/rippled-historical-database/test/mock/ledgers/"
if (!Fixtures.exist) console.log("The XRP Ledger is left out: ../shared/fixtures is not there.")
const xrp = chain("xrp")
const ledgers = (Fixtures.exist ? readdirSync(Fixtures.path(folder)) : [])
  .sort()
  .map((name) => Fixtures.json(encodeURI(folder + name)) as Json)
  .filter(({ transaction_hash, transactions }) => xrpl.hashes.hashTxTree(transactions) === transaction_hash)
const entries: ReadonlyArray<Json> = ledgers.flatMap(({ transactions }) => transactions)
if (entries.length > 0) {
  compare(
    "JSON of a transaction's metadata → bytes",
    "ripple-binary-codec encode",
    entries.length,
    () => {
      const writer = LedgerBinary.make(xrp)
      return entries.map(({ metaData: { delivered_amount: _, ...metadata } }) =>
        keyHex(Result.getOrThrow(writer.bytesOf(metadata))).toUpperCase()
      )
    },
    () => entries.map(({ metaData }) => codec.encode(metaData))
  )
  compare(
    "root of a ledger's transactions, from JSON",
    "xrpl hashTxTree",
    entries.length,
    () =>
      ledgers.map(({ transaction_hash, transactions }) => {
        const { mismatch, unproven } = Steps.atOnce(LedgerProof.ofTransactions(xrp, transactions, transaction_hash))
        return mismatch === undefined && unproven.length === 0
      }),
    () => ledgers.map(({ transaction_hash, transactions }) => xrpl.hashes.hashTxTree(transactions) === transaction_hash)
  )
  const drops = (changes: ReadonlyMap<string, bigint>, payer: string, fee: string) =>
    [...changes].map(([account, change]) => [account, account === payer ? change - BigInt(fee) : change] as const)
  compare(
    "balances that a transaction changed",
    "xrpl getBalanceChanges",
    entries.length,
    () =>
      entries.map((entry) =>
        drops(
          XrpMetadata.balanceChanges(entry.metaData.AffectedNodes, entry.Account, BigInt(entry.Fee))!,
          entry.Account,
          entry.Fee
        )
          .filter(([, change]) => change !== 0n)
          .map(([account, change]) => `${account} ${change}`)
          .sort()
      ),
    () =>
      entries.map(({ metaData }) =>
        xrpl
          .getBalanceChanges(metaData)
          .flatMap(({ account, balances }: Json) =>
            balances
              .filter(({ currency }: Json) => currency === "XRP")
              .map(({ value }: Json) => `${account} ${BigInt(Math.round(Number(value) * 1e6))}`)
          )
          .sort()
      )
  )
}
const headers = many(200, (number) => ({
  ...{ ledgerIndex: 80_000_000 + number, totalCoins: 99_988_000_000_000_000n, closeFlags: 0, closeTimeResolution: 10 },
  ...{ parentHash: random(32), transactionHash: random(32), accountHash: random(32) },
  ...{ parentCloseTime: 700_000_000 + number, closeTime: 700_000_010 + number }
}))
compare(
  "hash of a ledger's header",
  "xrpl hashLedgerHeader",
  200,
  () => headers.map((header) => keyHex(LedgerHash.of(header)).toUpperCase()),
  () =>
    headers.map((header) =>
      xrpl.hashes.hashLedgerHeader({
        ...{ ledger_index: header.ledgerIndex, total_coins: String(header.totalCoins) },
        ...{ parent_hash: keyHex(header.parentHash), transaction_hash: keyHex(header.transactionHash) },
        ...{ account_hash: keyHex(header.accountHash), parent_close_time: header.parentCloseTime },
        ...{ close_time: header.closeTime, close_time_resolution: header.closeTimeResolution, close_flags: 0 }
      })
    )
)
console.table(table)
