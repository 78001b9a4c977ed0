import { assert, describe, it } from "@effect/vitest"
import * as Address from "@headwater/core/address/Address"
import * as Bytes from "@headwater/core/Bytes"
import * as Chain from "@headwater/core/chains/Chain"
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js"
import * as Result from "effect/Result"
import fc from "fast-check"
import { classicAddressToXAddress, codec, encodeAccountID } from "ripple-address-codec"

const chain = (blockchain: string, network = "mainnet"): Chain.Chain =>
  Result.getOrThrow(Chain.find(blockchain, network))

const decoded = (of: Chain.Chain, text: string): string => bytesToHex(Result.getOrThrow(Address.decode(of, text)))

const canonical = (of: Chain.Chain, text: string): string | undefined =>
  Address.encode(of, Result.getOrThrow(Address.decode(of, text)))

const refusal = (of: Chain.Chain, text: string): string => {
  const result = Address.decode(of, text)
  if (Result.isSuccess(result)) assert.fail(`${text} was accepted as ${bytesToHex(result.success)}`)
  assert.strictEqual(result.failure._tag, "InvalidAddress")
  if (text.length > 5) assert.notInclude(result.failure.message, text)
  return result.failure.message
}

const script = (hex: string) => Address.fromBytes(hexToBytes(hex))

describe("base58", () => {
  it.each([
    ["bitcoin", "mainnet", "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2", "77bff20c60e522dfaa3350c39b030a5d004e839a"],
    ["bitcoin", "testnet", "mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn", "243f1394f44554f4ce3fd68649c19adc483ce924"],
    ["tron", "mainnet", "TJRabPrwbZy45sbavfcjinPJC18kjpRTv8", "5cbdd86a2fa8dc4bddd8a8f69dba48572eec07fb"]
  ])("published: %s %s %s", (blockchain, network, text, expected) => {
    assert.include(decoded(chain(blockchain, network), text), expected)
    assert.strictEqual(canonical(chain(blockchain, network), text), text)
  })

  it("reads the old P2SH version of Litecoin and writes the new one", () => {
    assert.strictEqual(
      canonical(chain("litecoin"), "3CDJNfdWX8m2NwuGUV3nhXHXEeLygMXoAj"),
      "MJRSgZ3UUFcTBTBAaN38XAXvZLwRe8WVw7"
    )
  })

  it("reads base58 of Litecoin that begins as a segwit address does", () => {
    // Blockbook's `litecoinparser_test.go`.
    const litecoin = chain("litecoin")
    const [text, bytes] = ["LTC1eqUzePT9uvpvb413Ejd6P8Cx1Ei8Di", "76a91457630115300a625f5deaab64100faa5506c1422f88ac"]
    assert.strictEqual(decoded(litecoin, text), bytes)
    assert.strictEqual(canonical(litecoin, text), text)
    assert.include(refusal(litecoin, text.replace("Di", "Dj")), "mix upper and lower case")
  })

  it.each([
    // Bitcoin Cash Node's `key_io_valid.json`.
    [
      "mainnet",
      "Brc3AngqMnEgM3xi4ANgu1coWvSRwgXvK3uMxidgWALk72ihur",
      "9597d6599cfcec094a56d68a262f351e1377bd3015f946daf11053301e6501c0"
    ],
    [
      "testnet",
      "7behgUKyQEk1WC2DCdfTs7FSfQKbvdfMbPH3t3MHhyTWKEaedtt",
      "d9839730211d32d232694aa41d295e28deadabc54834dc8a3fabca49b76f7e8a"
    ]
  ])("reads a long script hash of Bitcoin Cash: %s %s", (network, text, hash) => {
    const bitcoinCash = chain("bitcoin-cash", network)
    assert.strictEqual(decoded(bitcoinCash, text), `aa20${hash}87`)
    assert.strictEqual(decoded(bitcoinCash, canonical(bitcoinCash, text)!), `aa20${hash}87`)
    assert.strictEqual(Address.encodeLegacy(bitcoinCash, script(`aa20${hash}87`)), text)
    refusal(bitcoinCash, text.replace("g", "h"))
    refusal(chain("bitcoin", network), text)
    refusal(chain("bitcoin-cash", network === "mainnet" ? "testnet" : "mainnet"), text)
  })

  it("refuses another network, a wrong checksum, foreign characters and other lengths, each by its rule", () => {
    const bitcoin = chain("bitcoin")
    assert.include(refusal(bitcoin, "mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn"), "version of this network")
    assert.include(refusal(bitcoin, "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN3"), "checksum")
    assert.include(refusal(bitcoin, "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN0"), "base58 characters")
    assert.include(refusal(bitcoin, ""), "checksum")
    assert.include(refusal(chain("dogecoin"), "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"), "36 characters")
    // A WIF private key is base58check too.
    refusal(bitcoin, "5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ")
  })
})

describe("segwit", () => {
  // BIP-350, "Test vectors for v0-v16 native segregated witness addresses".
  it.each([
    ["BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4", "0014751e76e8199196d454941c45d1b3a323f1433bd6"],
    [
      "tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7",
      "00201863143c14c5166804bd19203356da136c985678cd4d27a1b8c6329604903262"
    ],
    [
      "bc1pw508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7kt5nd6y",
      "5128751e76e8199196d454941c45d1b3a323f1433bd6751e76e8199196d454941c45d1b3a323f1433bd6"
    ],
    ["BC1SW50QGDZ25J", "6002751e"],
    ["bc1zw508d6qejxtdg4y5r3zarvaryvaxxpcs", "5210751e76e8199196d454941c45d1b3a323"],
    [
      "tb1pqqqqp399et2xygdj5xreqhjjvcmzhxw4aywxecjdzew6hylgvsesf3hn0c",
      "5120000000c4a5cad46221b2a187905e5266362b99d5e91c6ce24d165dab93e86433"
    ],
    [
      "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0",
      "512079be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"
    ]
  ])("%s", (text, expected) => {
    const of = chain("bitcoin", text.toLowerCase().startsWith("tb") ? "testnet" : "mainnet")
    assert.strictEqual(decoded(of, text), expected)
    assert.strictEqual(Address.encode(of, script(expected)), text.toLowerCase())
  })

  it.each([
    ["tc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq5zuyut", "begin with bc1"],
    ["bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqh2y7hd", "in bech32m"],
    ["tb1z0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqglt7rf", "in bech32m"],
    ["BC1S0XLXVLHEMJA6C4DQV22UAPCTQUPFHLXM9H8Z3K2E72Q4K9HCZ7VQ54WELL", "in bech32m"],
    ["bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kemeawh", "in bech32"],
    ["tb1q0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq24jc47", "in bech32"],
    ["bc1p38j9r5y49hruaue7wxjce0updqjuyyx0kh56v8s25huc6995vvpql3jow4", "checksum"],
    ["BC130XLXVLHEMJA6C4DQV22UAPCTQUPFHLXM9H8Z3K2E72Q4K9HCZ7VQ7ZWS8R", "0 to 16"],
    ["bc1pw5dgrnzv", "2 to 40"],
    ["bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7v8n0nx0muaewav253zgeav", "2 to 40"],
    ["BC1QR508D6QEJXTDG4Y5R3ZARVARYV98GJ9P", "20 or 32"],
    ["tb1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq47Zagq", "mix"],
    ["bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7v07qwwzcrf", "padding"],
    ["tb1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vpggkg4j", "padding"],
    ["bc1gmk9yu", "0 to 16"]
  ])("refuses %s", (text, rule) => {
    assert.include(refusal(chain("bitcoin", text.startsWith("tb") ? "testnet" : "mainnet"), text), rule)
  })

  it("keeps networks apart", () => {
    for (const [blockchain, network] of [
      ["bitcoin", "testnet"],
      ["bitcoin", "regtest"],
      ["litecoin", "mainnet"]
    ] as const) {
      refusal(chain(blockchain, network), "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4")
    }
    // Longer than any address, and quadratic checks would show.
    assert.include(refusal(chain("bitcoin"), `bc1${"q".repeat(1_000_000)}`), "90 characters")
  })

  it("gives no address to Litecoin's MWEB outputs, nor to a version 0 program of another length", () => {
    const program = "751e76e8199196d454941c45d1b3a323f1433bd6751e76e8199196d454941c45"
    assert.isUndefined(Address.encode(chain("litecoin"), script(`5820${program}`)))
    assert.isUndefined(Address.encode(chain("litecoin"), script(`5920${program}`)))
    assert.isDefined(Address.encode(chain("bitcoin"), script(`5920${program}`)))
    assert.isUndefined(Address.encode(chain("bitcoin"), script("0010751e76e8199196d454941c45d1b3a323")))
  })
})

describe("CashAddr", () => {
  const bch = chain("bitcoin-cash")

  // The specification's table of legacy and new forms.
  it.each([
    ["1BpEi6DfDAUFd7GtittLSdBeYJvcoaVggu", "bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a"],
    ["1KXrWXciRDZUpQwQmuM1DbwsKDLYAYsVLR", "bitcoincash:qr95sy3j9xwd2ap32xkykttr4cvcu7as4y0qverfuy"],
    ["16w1D5WRVKJuZUsSRzdLp9w3YGcgoxDXb", "bitcoincash:qqq3728yw0y47sqn6l2na30mcw6zm78dzqre909m2r"],
    ["3CWFddi6m4ndiGyKqzYvsFYagqDLPVMTzC", "bitcoincash:ppm2qsznhks23z7629mms6s4cwef74vcwvn0h829pq"],
    ["3LDsS579y7sruadqu11beEJoTjdFiFCdX4", "bitcoincash:pr95sy3j9xwd2ap32xkykttr4cvcu7as4yc93ky28e"],
    ["31nwvkZwyPdgzjBJZXfDmSWsC4ZLKpYyUw", "bitcoincash:pqq3728yw0y47sqn6l2na30mcw6zm78dzq5ucqzc37"]
  ])("%s is %s", (legacy, text) => {
    for (const form of [legacy, text, text.slice(12), text.toUpperCase(), text.slice(12).toUpperCase()]) {
      assert.strictEqual(canonical(bch, form), text)
    }
  })

  // CashTokens CHIP and Bitcoin Cash Node: token-aware types pay to the script of the plain ones.
  it.each([
    [
      "bitcoincash:zr6m7j9njldwwzlg9v7v53unlr4jkmx6eycnjehshe",
      "76a914f5bf48b397dae70be82b3cca4793f8eb2b6cdac988ac",
      "bitcoincash:qr6m7j9njldwwzlg9v7v53unlr4jkmx6eylep8ekg2"
    ],
    [
      "bitcoincash:rpm2qsznhks23z7629mms6s4cwef74vcwv59yeyr7n",
      "a91476a04053bda0a88bda5177b86a15c3b29f55987387",
      "bitcoincash:ppm2qsznhks23z7629mms6s4cwef74vcwvn0h829pq"
    ],
    [
      "bitcoincash:rvqqqqqqqqqqqqqqqqqqqqqqzg69v7ysqqqqqqqqqqqqqqqqqqqqqn9alsp2y",
      "aa20000000000000000000000000000012345678900000000000000000000000000087",
      "bitcoincash:pvqqqqqqqqqqqqqqqqqqqqqqzg69v7ysqqqqqqqqqqqqqqqqqqqqqpkp7fqn0"
    ]
  ])("%s", (text, expected, plain) => {
    assert.strictEqual(decoded(bch, text), expected)
    assert.strictEqual(canonical(bch, text), plain)
  })

  it("refuses by rule", () => {
    const text = "bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a"
    assert.include(refusal(bch, "Bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a"), "mix")
    assert.include(refusal(bch, text.replace("6a", "6A")), "mix")
    assert.include(refusal(bch, "bchtest:pr6m7j9njldwwzlg9v7v53unlr4jkmx6eyvwc0uz5t"), "prefix bitcoincash")
    // Without its prefix the network is in the checksum.
    assert.include(refusal(bch, "pr6m7j9njldwwzlg9v7v53unlr4jkmx6eyvwc0uz5t"), "checksum")
    assert.include(refusal(chain("bitcoin-cash", "testnet"), text), "prefix bchtest")
    // 24-byte hash, valid by the specification's own table, which no script can ask for.
    assert.include(refusal(bch, "bitcoincash:q9adhakpwzztepkpwp5z0dq62m6u5v5xtyj7j3h2ws4mr9g0"), "20 or 32")
    assert.include(refusal(bch, text.replace("qpm", "qpb")), "characters")
    assert.include(refusal(bch, `bitcoincash:${"q".repeat(1_000_000)}`), "128")
    assert.include(refusal(bch, "bitcoincash:"), "checksum")
  })
})

it("reads the TEX form of a Zcash key hash (ZIP-320)", () => {
  assert.strictEqual(
    canonical(chain("zcash"), "tex1s2rt77ggv6q989lr49rkgzmh5slsksa9khdgte"),
    "t1VmmGiyjVNeCjxDZzg7vZmd99WyzVby9yC"
  )
  assert.isDefined(canonical(chain("zcash", "testnet"), "textest1qyqszqgpqyqszqgpqyqszqgpqyqszqgpfcjgfy"))
  refusal(chain("zcash", "testnet"), "tex1s2rt77ggv6q989lr49rkgzmh5slsksa9khdgte")
  assert.include(refusal(chain("zcash"), "tex1s2rt77ggv6q989lr49rkgzmh5slsksa9khdgtq"), "bech32m")
})

describe("EVM", () => {
  // EIP-55, all of its test cases.
  it.each([
    "0x52908400098527886E0F7030069857D2E4169EE7",
    "0x8617E340B3D01FA5F11F306F4090FD50E238070D",
    "0xde709f2102306220921060314715629080e2fb77",
    "0x27b1fdb04752bbc536007a920d24acb045561c26",
    "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
    "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
    "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
    "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb"
  ])("%s", (text) => {
    const ethereum = chain("ethereum")
    for (const form of [text, text.toLowerCase(), `0x${text.slice(2).toUpperCase()}`]) {
      assert.strictEqual(canonical(ethereum, form), text)
    }
  })

  it("refuses by rule", () => {
    const ethereum = chain("ethereum")
    assert.include(refusal(ethereum, "0x5aaeb6053F3E94C9b9A09f33669435E7Ef1BeAed"), "EIP-55")
    for (const text of [
      "5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
      "0X5AAEB6053F3E94C9B9A09F33669435E7EF1BEAED",
      "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAe",
      "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAedd",
      "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeg",
      "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed\n",
      ""
    ]) {
      assert.include(refusal(ethereum, text), "0x and 40 hexadecimal digits")
    }
  })
})

describe("Tron", () => {
  const tron = chain("tron")
  const text = "TJRabPrwbZy45sbavfcjinPJC18kjpRTv8"
  const account = "5cbdd86a2fa8dc4bddd8a8f69dba48572eec07fb"

  it("reads base58 and both hexadecimal forms", () => {
    for (const form of [text, `41${account}`, `41${account.toUpperCase()}`, `0x${account}`, `0x41${account}`]) {
      assert.strictEqual(decoded(tron, form), account)
      assert.strictEqual(canonical(tron, form), text)
    }
  })

  it("refuses the base58 of other chains, other versions and bare hexadecimal", () => {
    assert.include(refusal(tron, "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2"), "0x41")
    assert.include(refusal(tron, `${text.slice(0, -1)}9`), "checksum")
    refusal(tron, account)
    refusal(tron, `42${account}`)
    assert.include(refusal(tron, `0x${account.toUpperCase().replace("A", "a")}`), "EIP-55")
  })
})

describe("XRP", () => {
  const live = chain("xrp")
  const test = chain("xrp", "testnet")
  const classic = "rGWrZyQqhTp9Xu7G5Pkayo7bXjH4k4QYpf"

  // XLS-5d and the vectors of ripple-address-codec.
  it.each([
    ["XVLhHMPHU98es4dbozjVtdWzVrDjtV5fdx1mHp98tDMoQXb", undefined],
    ["XVLhHMPHU98es4dbozjVtdWzVrDjtV8AqEL4xcZj5whKbmc", 0],
    ["XVLhHMPHU98es4dbozjVtdWzVrDjtV8xvjGQTYPiAx6gwDC", 1],
    ["XVLhHMPHU98es4dbozjVtdWzVrDjtV18pX8yuPT7y4xaEHi", 4294967295]
  ])("%s has the tag %s", (text, tag) => {
    assert.strictEqual(canonical(live, text), classic)
    assert.strictEqual(Result.getOrThrow(Address.destinationTag(live, text)), tag)
    assert.include(refusal(test, text), "begins with T")
  })

  it("agrees with ripple-address-codec", () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 20, maxLength: 20 }),
        fc.oneof(fc.constant(false as const), fc.integer({ min: 0, max: 0xffffffff })),
        fc.boolean(),
        (account, tag, isTest) => {
          const of = isTest ? test : live
          const text = encodeAccountID(account)
          assert.strictEqual(canonical(of, text), text)
          const xAddress = classicAddressToXAddress(text, tag, isTest)
          assert.strictEqual(canonical(of, xAddress), text)
          assert.strictEqual(Result.getOrThrow(Address.destinationTag(of, xAddress)), tag === false ? undefined : tag)
          const bytes = Result.getOrThrow(Address.decodeWithTag(of, xAddress))
          assert.strictEqual(Address.encode(of, bytes), tag === false ? text : xAddress)
          assert.deepStrictEqual<Uint8Array>(
            bytes,
            tag === false ? account : Address.withTag(Address.fromBytes(account), tag)
          )
          assert.deepStrictEqual<Uint8Array>(Result.getOrThrow(Address.decodeWithTag(of, text)), account)
          assert.isTrue(Result.isFailure(Address.decodeWithTag(isTest ? live : test, xAddress)))
          refusal(isTest ? live : test, xAddress)
        }
      ),
      { numRuns: 50 }
    )
  })

  it("refuses an X-address with bytes to spare, with reserved ones, and with a tag that its flag denies", () => {
    const payload = codec.decodeChecked("XVLhHMPHU98es4dbozjVtdWzVrDjtV8xvjGQTYPiAx6gwDC")
    const text = (bytes: ReadonlyArray<number>) => codec.encodeChecked(Uint8Array.from(bytes))
    assert.strictEqual(canonical(live, text([...payload])), classic)
    for (const broken of [
      [...payload, 0],
      [...payload].slice(0, -1),
      [...payload].with(30, 1),
      [...payload].with(22, 0),
      [...payload].with(22, 2)
    ]) {
      assert.include(refusal(live, text(broken)), "X-address")
    }
  })

  it("refuses a seed, a Bitcoin address and a wrong checksum", () => {
    assert.include(refusal(live, "sn259rEFXrQrWyx3Q7XneWcwV6dfL"), "account address")
    refusal(live, "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2")
    assert.include(refusal(live, "rGWrZyQqhTp9Xu7G5Pkayo7bXjH4k4QYpe"), "checksum")
    assert.isTrue(Result.isFailure(Address.destinationTag(live, "r")))
    assert.isUndefined(Result.getOrThrow(Address.destinationTag(chain("tron"), "TJRabPrwbZy45sbavfcjinPJC18kjpRTv8")))
    assert.isTrue(Result.isFailure(Address.decodeWithTag(live, "r")))
    const tron = Result.getOrThrow(Address.decodeWithTag(chain("tron"), "TJRabPrwbZy45sbavfcjinPJC18kjpRTv8"))
    assert.strictEqual(tron.length, 20)
    assert.isUndefined(Address.encode(chain("tron"), Address.withTag(tron, 1)))
  })
})

describe("every chain", () => {
  const account = fc.uint8Array({ minLength: 20, maxLength: 20 })
  const bytesOf = (of: Chain.Chain): fc.Arbitrary<Uint8Array> => {
    const format = of.utxo?.address
    if (format === undefined) return account
    const around = (before: string, data: Uint8Array, after: string) =>
      hexToBytes(`${before}${bytesToHex(data)}${after}`)
    const scripts = [
      account.map((hash) => around("76a914", hash, "88ac")),
      account.map((hash) => around("a914", hash, "87"))
    ]
    const program = (size: number) => fc.uint8Array({ minLength: size, maxLength: size })
    if (format.segwit !== undefined) {
      scripts.push(
        account.map((hash) => around("0014", hash, "")),
        program(32).map((hash) => around("0020", hash, "")),
        program(32).map((key) => around("5120", key, ""))
      )
    }
    if (format.cashAddr !== undefined) scripts.push(program(32).map((hash) => around("aa20", hash, "87")))
    return fc.oneof(...scripts)
  }

  it.each(Chain.all.map((of) => [Chain.nameOf(of), of] as const))("%s: bytes → text → the same bytes", (_, of) => {
    fc.assert(
      fc.property(bytesOf(of), (bytes) => {
        const text = Address.encode(of, Address.fromBytes(bytes))!
        assert.strictEqual(decoded(of, text), bytesToHex(bytes))
        assert.strictEqual(canonical(of, text), text)
      }),
      { numRuns: 30 }
    )
  })

  const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz0"
  it.each(Chain.all.filter((of) => of.family !== "evm").map((of) => [Chain.nameOf(of), of] as const))(
    "%s: one changed character is refused",
    (_, of) => {
      fc.assert(
        fc.property(bytesOf(of), fc.nat(), fc.constantFrom(...alphabet), (bytes, at, letter) => {
          const text = Address.encode(of, Address.fromBytes(bytes))!
          const position = at % text.length
          fc.pre(text[position] !== letter)
          refusal(of, `${text.slice(0, position)}${letter}${text.slice(position + 1)}`)
        }),
        { numRuns: 100 }
      )
    }
  )

  it("never throws on any text or bytes", () => {
    fc.assert(
      fc.property(fc.constantFrom(...Chain.all), fc.string(), fc.uint8Array({ maxLength: 60 }), (of, text, bytes) => {
        Address.decode(of, text)
        Address.destinationTag(of, text)
        Address.decodeWithTag(of, text)
        Address.encode(of, Address.fromBytes(bytes))
      }),
      { numRuns: 500 }
    )
  })

  it("gives other scripts no address", () => {
    for (const hex of [
      "",
      "6a0548656c6c6f", // OP_RETURN
      "21020000000000000000000000000000000000000000000000000000000000000001ac", // pay to public key
      "76a914000000000000000000000000000000000000000088ad",
      "a915000000000000000000000000000000000000000000ac87"
    ]) {
      assert.isUndefined(Address.encode(chain("bitcoin"), script(hex)))
    }
    assert.isUndefined(Address.encode(chain("bitcoin"), script(`aa20${"00".repeat(32)}87`)))
    assert.isUndefined(Address.encode(chain("dogecoin"), script(`0014${"00".repeat(20)}`)))
    assert.isUndefined(Address.encode(chain("ethereum"), script("00")))
  })
})

it("keys are equal exactly where bytes are, and digits are those of the bytes, also of a very long script", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 3000 }), fc.uint8Array({ maxLength: 3000 }), (one, other) => {
      assert.strictEqual(Bytes.key(one) === Bytes.key(other), bytesToHex(one) === bytesToHex(other))
      assert.strictEqual(Bytes.key(one), Bytes.key(one.slice()))
      assert.strictEqual(Bytes.hex(one), bytesToHex(one))
    }),
    { numRuns: 50 }
  )
  assert.strictEqual(Bytes.key(new Uint8Array(4_000_000)).length, 4_000_000)
  assert.strictEqual(Bytes.hex(new Uint8Array(4_000_000)).length, 8_000_000)
})
