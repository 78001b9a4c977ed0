/** The forms of addresses over HTTP. */
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { stores } from "../../../../test/Stores.ts"
import { operationNamed, wrongWith } from "../Contract.ts"
import { send, TestServer, testServer } from "../TestServer.ts"

const [store] = stores

layer(testServer(store!), { excludeTestServices: true })("Forms of addresses over HTTP", (it) => {
  const ask = Effect.fnUntraced(function* (operation: string, path: string, address?: string) {
    const { alice, url } = yield* TestServer
    const sent = address === undefined ? { method: "GET" } : { method: "POST", body: { data: { item: { address } } } }
    const answer = yield* send(url, { path: `/utils/${path}`, key: alice, ...sent })
    assert.isUndefined(wrongWith(operationNamed(`addressForms.${operation}`), answer.status, answer.body))
    return answer
  })
  const classic = "rGWrZyQqhTp9Xu7G5Pkayo7bXjH4k4QYpf"
  // XLS-5, and Bitcoin Cash's cashaddr.md
  const [x, withoutTag] = [
    "XVLhHMPHU98es4dbozjVtdWzVrDjtV8xvjGQTYPiAx6gwDC",
    "XVLhHMPHU98es4dbozjVtdWzVrDjtV5fdx1mHp98tDMoQXb"
  ]
  const [legacy, cash] = [
    "1BpEi6DfDAUFd7GtittLSdBeYJvcoaVggu",
    "bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a"
  ]

  it.effect("says whether an address is one of the chain", () =>
    Effect.gen(function* () {
      const cases = [
        ["evmValidate", "evm/ethereum/mainnet", "0x52908400098527886E0F7030069857D2E4169EE7", true],
        // A checksum that is wrong by one letter's case (EIP-55).
        ["evmValidate", "evm/ethereum/mainnet", "0x5aaeb6053F3E94C9b9A09f33669435E7Ef1BeAed", false],
        ["utxoValidate", "utxo/bitcoin/mainnet", "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", true],
        ["utxoValidate", "utxo/bitcoin/mainnet", "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx", false],
        ["utxoValidate", "utxo/bitcoin/mainnet", "", false],
        ["xrpValidate", "xrp/xrp/mainnet", classic, true],
        ["xrpValidate", "xrp/xrp/mainnet", x!, true],
        ["xrpValidate", "xrp/xrp/mainnet", "rGWrZyQqhTp9Xu7G5Pkayo7bXjH4k4QYpg", false]
      ] as const
      for (const [operation, place, address, isValid] of cases) {
        const { body, status } = yield* ask(operation, `${place}/validate-address`, address)
        assert.deepStrictEqual([status, body.data.item], [200, { address, isValid }])
      }
      const { body } = yield* ask("evmValidate", "evm/bitcoin/mainnet/validate-address", legacy)
      assert.strictEqual(body.error.code, "invalid_blockchain")
      assert.strictEqual(body.error.message, "The operation is for EVM and Tron blockchains, which bitcoin is not")
    })
  )

  it.effect("reads and makes X-addresses", () =>
    Effect.gen(function* () {
      const of = (operation: string, path: string) => ask(operation, `xrp/mainnet/${path}`)
      const read = yield* of("decodeX", `decode-x-address/${x}`)
      assert.deepStrictEqual(read.body.data.item, { classicAddress: classic, addressTag: 1 })
      const untagged = yield* of("decodeX", `decode-x-address/${withoutTag}`)
      assert.deepStrictEqual(untagged.body.data.item, { classicAddress: classic })
      const made = yield* of("encodeX", `encode-x-address/${classic}/1`)
      assert.deepStrictEqual(made.body.data.item, { xAddress: x })
      for (const [operation, path, attribute] of [
        ["decodeX", `decode-x-address/${classic}`, "xAddress"],
        ["encodeX", `encode-x-address/${x}/1`, "classicAddress"],
        ["encodeX", `encode-x-address/${classic}/4294967296`, "addressTag"]
      ] as const) {
        const { body, status } = yield* of(operation, path)
        assert.deepStrictEqual([status, body.error.details[0].attribute], [400, attribute])
      }
    })
  )

  it.effect("changes an address of Bitcoin Cash into its other form", () =>
    Effect.gen(function* () {
      const convert = (address: string, chain = "bitcoin-cash") =>
        ask("convert", `${chain}/mainnet/convert-address`, address)
      const there = yield* convert(legacy!)
      assert.deepStrictEqual([there.status, there.body.data.item], [201, { convertedAddress: cash }])
      assert.deepStrictEqual((yield* convert(cash!)).body.data.item, { convertedAddress: legacy })
      assert.deepStrictEqual((yield* convert(cash!.slice("bitcoincash:".length))).body.data.item, {
        convertedAddress: legacy
      })
      assert.strictEqual((yield* convert("nonsense")).status, 400)
      assert.strictEqual((yield* convert(legacy!, "bitcoin")).status, 501)
    })
  )

  it.effect("derives addresses, and records nothing", () =>
    Effect.gen(function* () {
      // BIP-84's test vector.
      const zpub =
        "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs"
      const derive = (query: string, place = "bitcoin/mainnet") =>
        ask("derive", `${place}/xpubs/${zpub}/derive-addresses?${query}`)
      const first = yield* derive("")
      assert.strictEqual(first.body.data.item.addresses.length, 10)
      assert.deepStrictEqual(first.body.data.item.addresses[0], {
        address: "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu",
        index: 0
      })
      const change = yield* derive("isChange=true&addressesCount=1&addressFormat=P2WPKH")
      assert.deepStrictEqual(change.body.data.item.addresses, [
        { address: "bc1q8c6fshw2dlwun7ekn9qwf37cu2rn755upcp6el", index: 0 }
      ])
      for (const query of ["isChange=TRUE&addressFormat=p2wpkh", "isChange=1"]) {
        const same = yield* derive(`${query}&addressesCount=1`)
        assert.deepStrictEqual(same.body.data.item, change.body.data.item)
      }
      const receiving = yield* derive("isChange=0&addressesCount=1")
      assert.deepStrictEqual(receiving.body.data.item, (yield* derive("addressesCount=1")).body.data.item)
      const later = yield* derive("startIndex=1&addressesCount=1")
      assert.deepStrictEqual(later.body.data.item.addresses, [
        { address: "bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g", index: 1 }
      ])
      const nested = yield* derive("addressFormat=p2sh&addressesCount=1")
      assert.match(nested.body.data.item.addresses[0].address, /^3/)
      for (const query of [
        "addressesCount=101",
        "addressesCount=-1",
        "addressFormat=p2sh-gold",
        "isChange=yes",
        "addressFormat=p2pkh-cash",
        "addressFormat=P2SH-CASH"
      ]) {
        assert.strictEqual((yield* derive(query)).status, 400, query)
      }
      assert.strictEqual((yield* ask("derive", "bitcoin/mainnet/xpubs/xpub1/derive-addresses")).status, 400)
    })
  )

  it.effect("derives addresses of Bitcoin Cash in the text that the word for their form is for", () =>
    Effect.gen(function* () {
      // The key of BIP-84's test vector as an xpub, and its first key's hashes in both texts by bitcoincashjs's rules.
      const xpub =
        "xpub6CatWdiZiodmUeTDp8LT5or8nmbKNcuyvz7WyksVFkKB4RHwCD3XyuvPEbvqAQY3rAPshWcMLoP2fMFMKHPJ4ZeZXYVUhLv1VMrjPC7PW6V"
      const first = Effect.fnUntraced(function* (word: string) {
        const path = `bitcoin-cash/mainnet/xpubs/${xpub}/derive-addresses?addressesCount=1&addressFormat=${word}`
        return (yield* ask("derive", path)).body.data.item.addresses[0].address as string
      })
      assert.deepStrictEqual(yield* Effect.forEach(["p2pkh", "p2pkh-cash", "p2sh", "p2sh-cash"], first), [
        "1JaUQDVNRdhfNsVncGkXedaPSM5Gc54Hso",
        "bitcoincash:qrqva0xkc0fu4rr4m30vvt4725esa7gsug52ypqews",
        "3GtVZYzsKF6Feikdjd4bDyPdAiyeHANY9b",
        "bitcoincash:pznttzy0mhy05xfa6dfazrju6k5wa2cxfcdde8my37"
      ])
    })
  )
})
