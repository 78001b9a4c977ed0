/**
 * Vectors of derivation, addresses and signing hashes: those of the shared fixtures where they are, and a few published
 * ones that are always there.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { gunzipSync } from "node:zlib"
import * as Chain from "@headwater/core/chains/Chain"
import type { Derivation, Format } from "@headwater/core/keys/Derivation"
import * as bitcoinjs from "bitcoinjs-lib"
import * as Result from "effect/Result"
import { decodeBase58, decodeRlp, encodeRlp, keccak256, recoverAddress, toBeHex, Transaction } from "ethers"
import { assert } from "vitest"
import type { Vector } from "./Answers.ts"
import * as UnlockingVectors from "./UnlockingVectors.ts"

const fixtures = new URL("../../../shared/fixtures/", import.meta.url)
const read = (path: string) => JSON.parse(readFileSync(new URL(path, fixtures), "utf8"))

/** Whether the shared fixtures are there. */
export const shared = existsSync(fixtures)

// SLIP-132 and BIP-84, account 84' of the mnemonic abandon … about.
const zpub =
  "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs"
// BIP-86, account 0 of the same mnemonic.
const taproot =
  "xpub6BgBgsespWvERF3LHQu6CnqdvfEvtMcQjYrcRzx53QJjSxarj2afYWcLteoGVky7D3UKDP9QyrLprQ3VCECoY49yfdDEHGCtMMj92pReUsQ"
// BIP-32, test vector 1: m/0' and m/0'/1, and the master's private key.
const [parent, child] = [
  "xpub68Gmy5EdvgibQVfPdqkBBCHxA5htiqg55crXYuXoQRKfDBFA1WEjWgP6LHhwBZeNK1VTsfTFUHCdrfp1bgwQ9xv5ski8PX9rL2dZXvgGDnw",
  "03501e454bf00751f24b1b489aa925215d66af2234e3891c3b21a52bedb3cd711c"
]
const xprv =
  "xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi"

const published: ReadonlyArray<Vector> = [
  {
    kind: "addresses",
    question: { chain: "bitcoin/mainnet", key: zpub, count: 2 },
    expected: ["bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu", "bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g"]
  },
  {
    kind: "addresses",
    question: { chain: "bitcoin/mainnet", key: taproot, count: 1, format: "P2TR", type: "change" },
    expected: ["bc1p3qkhfews2uk44qtvauqyr2ttdsw7svhkl9nkm9s9c3x4ax5h60wqwruhk7"]
  },
  { kind: "child", question: { key: parent, index: 1 }, expected: child },
  { kind: "refused", question: { key: xprv }, expected: true },
  {
    // EIP-155.
    kind: "evm",
    question: {
      transaction: {
        ...{ type: 0, chainId: 1, nonce: 9, gasPrice: "20000000000", gasLimit: 21_000, value: "1000000000000000000" },
        to: "0x3535353535353535353535353535353535353535"
      }
    },
    expected: [
      "0xec098504a817c800825208943535353535353535353535353535353535353535880de0b6b3a764000080018080",
      "0xdaf5a779ae972f972197303d7b574746c7ef83eadac0f2791ad23db92e4c8e53"
    ]
  }
]

/** Five inputs that bitcoinjs hashes. */
const witness = (): ReadonlyArray<Vector> => {
  const sequence = 0xffff_fffd
  const inputs = [1, 2, 3, 4, 5].map((n) => ({
    ...{ id: `${n}`.repeat(64), amount: String(n * 1_000_000_007), script: `76a914${`0${n}`.repeat(20)}88ac` }
  }))
  const outputs = [{ amount: "2100000000000000", script: `5120${"ab".repeat(32)}` }]
  const transaction = new bitcoinjs.Transaction()
  transaction.version = 2
  for (const [index, { id }] of inputs.entries()) {
    transaction.addInput(Uint8Array.from(Buffer.from(id, "hex").reverse()), index, sequence)
  }
  for (const { amount, script } of outputs) transaction.addOutput(Buffer.from(script, "hex"), BigInt(amount))
  const scripts = inputs.map(({ script }) => Uint8Array.from(Buffer.from(script, "hex")))
  const amounts = inputs.map(({ amount }) => BigInt(amount))
  const text = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")
  const expected = [
    inputs.map((_, index) => text(transaction.hashForWitnessV0(index, scripts[index]!, amounts[index]!, 1))),
    inputs.map((_, index) => text(transaction.hashForWitnessV1(index, scripts, amounts, 0)))
  ]
  return [{ kind: "witness", question: { sequence, inputs, outputs }, expected }]
}

/** bip_utils: the accounts and branches of many coins. */
const accounts = (): ReadonlyArray<Vector> => {
  interface Row {
    readonly coin: string
    readonly purpose: number
    readonly account_xpub: string
    readonly chain_xpub: string
    readonly addresses: ReadonlyArray<string>
  }
  const coins: Readonly<Record<string, string>> = {
    ...{ BITCOIN_REGTEST: "bitcoin/regtest", BINANCE_SMART_CHAIN: "binance-smart-chain/mainnet" },
    ...{ AVAX_C_CHAIN: "avalanche/mainnet", RIPPLE: "xrp/mainnet" }
  }
  for (const name of ["bitcoin", "bitcoin-cash", "litecoin", "dogecoin", "dash", "zcash"]) {
    const coin = name.replace("-", "_").toUpperCase()
    Object.assign(coins, { [coin]: `${name}/mainnet`, [`${coin}_TESTNET`]: `${name}/testnet` })
  }
  for (const name of ["ethereum", "ethereum-classic", "polygon", "arbitrum", "optimism", "tron"]) {
    Object.assign(coins, { [name.replace("-", "_").toUpperCase()]: `${name}/mainnet` })
  }
  const formats: Readonly<Record<number, Format>> = { 44: "P2PKH", 49: "P2SH-P2WPKH", 84: "P2WPKH", 86: "P2TR" }
  const rows: ReadonlyArray<Row> = read("hd/derived/bip_utils-vectors.json")
  return rows.flatMap(({ account_xpub, addresses, chain_xpub, coin, purpose }) => {
    const name = coins[coin]
    if (name === undefined) return []
    const [blockchain = "", network = ""] = name.split("/")
    const chain = Result.getOrThrow(Chain.find(blockchain, network))
    const asked = (key: string, derivation: Derivation, format: Format | undefined): Vector => ({
      kind: "addresses",
      question: { chain: name, key, count: addresses.length, derivation, ...(format && { format }) },
      expected: addresses
    })
    const format = chain.family === "utxo" ? formats[purpose] : undefined
    // Where version or chain say the format, it need not be asked for.
    const isDefault =
      /^[yzuv]pub/.test(account_xpub) || (purpose === 44 && chain.utxo !== undefined && !chain.utxo.address.segwit)
    return [
      asked(account_xpub, "account", format),
      asked(chain_xpub, "bip32", format),
      ...(isDefault ? [asked(account_xpub, "account", undefined)] : [])
    ]
  })
}

/** BIP-32 and bitcoinjs: each chain node and each public step, and what is no extended public key. */
const extendedKeys = (): ReadonlyArray<Vector> => {
  interface Node {
    readonly path: string
    readonly pub: string
    readonly prv: string
  }
  const { invalid, vectors } = read("hd/derived/bip32-official.json")
  const other = read("hd/bitcoinjs-bip32/test/fixtures/index.json")
  const chains: ReadonlyArray<{ readonly chains: ReadonlyArray<Node> }> = vectors
  return [
    ...chains.flatMap(({ chains }) =>
      chains.flatMap(({ path, prv, pub }, at): ReadonlyArray<Vector> => {
        const index = Number(path.split("/").at(-1))
        const parent = chains[at - 1]
        return [
          { kind: "extendedKey", question: { key: pub }, expected: [pub, publicKeyOf(pub)] },
          { kind: "refused", question: { key: prv }, expected: true },
          ...(parent === undefined || !Number.isInteger(index)
            ? []
            : [{ kind: "child", question: { key: parent.pub, index }, expected: publicKeyOf(pub) } as const])
        ]
      })
    ),
    ...[
      ...invalid.map(({ key }: { readonly key: string }) => key),
      ...other.invalid.fromBase58.map(({ string }: { readonly string: string }) => string)
    ].map((key): Vector => ({ kind: "refused", question: { key }, expected: true }))
  ]
}

/** The last 33 of a key's 78 bytes, by ethers. */
const publicKeyOf = (key: string) => toBeHex(decodeBase58(key), 82).slice(2 + 2 * 45, 2 + 2 * 78)

/** Bitcoin Core: addresses of every form, and what is none. */
const addressTexts = (): ReadonlyArray<Vector> => {
  const folder = "utxo-blocks/bitcoin-core/src/test/data/"
  const networks: Readonly<Record<string, string>> = { main: "mainnet", test: "testnet", regtest: "regtest" }
  type Row = readonly [string, string, { readonly chain: string; readonly isPrivkey: boolean }]
  const valid: ReadonlyArray<Row> = read(`${folder}key_io_valid.json`)
  const invalid: ReadonlyArray<readonly [string]> = read(`${folder}key_io_invalid.json`)
  return [
    ...valid.map(([address, script, { chain, isPrivkey }]): Vector => {
      const network = networks[chain] ?? "testnet"
      return {
        kind: "script",
        question: { chain: `bitcoin/${network}`, address },
        expected: isPrivkey ? null : script
      }
    }),
    ...invalid.flatMap(([address]) =>
      Object.values(networks).map(
        (network): Vector => ({
          kind: "script",
          question: { chain: `bitcoin/${network}`, address },
          expected: null
        })
      )
    )
  ]
}

/** What must be given, which ethers' cases leave out. */
const given = { gasLimit: 0, to: null }

/** ethers: every digest, unsigned and signed form. */
const ethersCases = (): ReadonlyArray<Vector> => {
  interface Case {
    readonly scheme: "legacy" | "eip155" | "eip2930" | "eip1559"
    readonly transaction: Record<string, unknown>
    readonly unsigned: string
    readonly sighash: string
    readonly signed: string
  }
  const file = readFileSync(new URL("evm-sighash/derived/ethers-sighash.shared.json.gz", fixtures))
  const { cases }: { readonly cases: ReadonlyArray<Case> } = JSON.parse(gunzipSync(file).toString())
  const types = { legacy: 0, eip155: 0, eip2930: 1, eip1559: 2 }
  return cases.map(({ scheme, sighash, signed, transaction, unsigned }, at): Vector => {
    const { chainId, ...rest } = transaction
    const question = {
      ...{ ...given, type: types[scheme], ...rest },
      ...(scheme !== "legacy" && chainId !== undefined && { chainId })
    }
    if (at % 20 !== 0) return { kind: "evm", question: { transaction: question }, expected: [unsigned, sighash] }
    const { r, s, yParity } = Transaction.from(signed).signature!
    return {
      kind: "evm",
      question: { transaction: question, signature: { r, s, yParity } },
      expected: [unsigned, sighash, signed]
    }
  })
}

/** ethereum/tests: valid transactions, whose digest recovers their sender, and nonces that are too great. */
const ethereumTests = (): ReadonlyArray<Vector> => {
  type File = Readonly<
    Record<
      string,
      {
        readonly txbytes: string
        readonly result: { readonly London: { readonly sender?: string; readonly exception?: string } }
      }
    >
  >
  const folder = "evm-sighash/ethereum-tests/TransactionTests/"
  const files = readdirSync(new URL(folder, fixtures), { recursive: true, encoding: "utf8" })
  return files
    .filter((path) => path.endsWith(".json"))
    .flatMap((path) => Object.values(read(encodeURI(folder + path)) as File))
    .flatMap(({ result: { London: london }, txbytes }): ReadonlyArray<Vector> => {
      if (/NONCE_TOO_BIG/.test(london.exception ?? "")) {
        const transaction = { ...given, type: 0, nonce: `0x${txbytes.slice(8, 24)}` }
        return [{ kind: "evmRefused", question: { transaction }, expected: "nonce" }]
      }
      if (london.sender === undefined) return []
      const fields = decodeRlp(txbytes) as ReadonlyArray<string>
      const [nonce, gasPrice, gasLimit, to, value, data, v, r, s] = fields.map((field) =>
        field === "0x" ? "0x0" : field
      )
      const chainId = Number(v) >= 35 ? (Number(v) - 35) >> 1 : undefined
      const protection = chainId === undefined ? [] : [`0x${chainId.toString(16).padStart(2, "0")}`, "0x", "0x"]
      const unsigned = encodeRlp([...fields.slice(0, 6), ...protection])
      const digest = keccak256(unsigned)
      const word = (text: string) => `0x${text.slice(2).padStart(64, "0")}`
      const signature = { r: word(r!), s: word(s!), yParity: ((Number(v) + 1) % 2) as 0 | 1 }
      assert.strictEqual(recoverAddress(digest, signature).toLowerCase(), london.sender.toLowerCase())
      const transaction = {
        ...{ type: 0, nonce, gasPrice, gasLimit, value, to: to === "0x0" ? null : to },
        ...{ data: data === "0x0" ? "0x" : data, ...(chainId !== undefined && { chainId }) }
      }
      return [{ kind: "evm", question: { transaction, signature }, expected: [unsigned, digest, txbytes] }]
    })
}

/** Recorded transactions of many kinds. */
const tron = (): ReadonlyArray<Vector> =>
  (
    read("tron/collected/tx-sha256-verified.shared.json") as ReadonlyArray<{
      readonly tx: { readonly raw_data_hex: string; readonly txID: string }
    }>
  ).map(({ tx }) => ({ kind: "tron", question: { rawData: tx.raw_data_hex }, expected: tx.txID }))

/** All of them. */
export const all = (): ReadonlyArray<Vector> => [
  ...published,
  ...witness(),
  ...(shared
    ? [
        ...[...accounts(), ...extendedKeys(), ...addressTexts(), ...ethersCases(), ...ethereumTests(), ...tron()],
        ...UnlockingVectors.all(new URL("utxo-blocks/bitcoin-core/src/test/data/", fixtures))
      ]
    : [])
]
