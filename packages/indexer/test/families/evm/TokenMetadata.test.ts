import { assert, describe, it } from "@effect/vitest"
import * as TokenMetadata from "@headwater/indexer/families/evm/TokenMetadata"
import * as JsonRpc from "@headwater/indexer/families/node/JsonRpc"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { AbiCoder, encodeBytes32String } from "ethers"
import * as fc from "fast-check"
import * as FakeNode from "../../FakeNode.ts"
import * as Fixtures from "../../Fixtures.ts"

const abi = AbiCoder.defaultAbiCoder()
const text = (value: string) => abi.encode(["string"], [value])
const word = (value: number | bigint) => `0x${value.toString(16).padStart(64, "0")}`
const { decodeText, decodeDecimals } = TokenMetadata

describe("TokenMetadata", () => {
  it("reads ABI strings and bytes32", () => {
    assert.strictEqual(decodeText(text("Tether USD")), "Tether USD")
    assert.strictEqual(decodeText(text("")), "")
    assert.strictEqual(decodeText(text("日本円 ¥🪙")), "日本円 ¥🪙")
    assert.strictEqual(decodeText(text("x".repeat(500))), "x".repeat(500))
    assert.strictEqual(decodeText(encodeBytes32String("Maker")), "Maker")
    assert.strictEqual(decodeText(encodeBytes32String("a".repeat(31))), "a".repeat(31))
    assert.strictEqual(decodeText(`0x${"61".repeat(32)}`), "a".repeat(32))
  })

  it("takes padding and what cannot be printed away", () => {
    assert.strictEqual(decodeText(text("ABC\0\0\0")), "ABC")
    assert.strictEqual(decodeText(text(" A\u202eB\u0007 ")), "AB")
    assert.strictEqual(decodeText(encodeBytes32String("")), "")
  })

  it("of garbage there is no text", () => {
    const head = (offset: number | bigint, length: number | bigint) => word(offset) + word(length).slice(2)
    for (const garbage of [
      undefined,
      null,
      5,
      "",
      "0x",
      "0x0",
      "nonsense",
      `0x${"ff".repeat(32)}`,
      `0x${"61".repeat(31)}`,
      head(32, 5),
      head(32, 2n ** 255n),
      head(32, 2 ** 40) + "61".repeat(64),
      head(2n ** 255n, 1) + "61".repeat(32),
      head(64, 1),
      head(31, 1) + "61".repeat(32),
      `${head(32, 4)}fffefdfc${"00".repeat(28)}`,
      text("x".repeat(600))
    ]) {
      assert.strictEqual(decodeText(garbage), "", String(garbage))
    }
  })

  it("reads decimals up to 255", () => {
    assert.deepStrictEqual(
      [0, 6, 18, 255].map((n) => decodeDecimals(word(n))),
      [0, 6, 18, 255]
    )
    for (const garbage of [word(256), word(2n ** 255n), "0x", "0x12", undefined, null, {}, `0x${"zz".repeat(32)}`]) {
      assert.isUndefined(decodeDecimals(garbage))
    }
  })

  it("never throws, and never gives a text longer than its bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const hex = `0x${Buffer.from(bytes).toString("hex")}`
        assert.isAtMost(decodeText(hex).length, bytes.length)
        decodeDecimals(hex)
      }),
      { numRuns: 5000 }
    )
  })

  const contracts = ["01", "02", "03"].map((byte) => new Uint8Array(20).fill(Number(byte)) as never)
  const fetched = (answer: FakeNode.Answer, ...[height]: [height?: number]) =>
    Effect.gen(function* () {
      const node = yield* FakeNode.make(answer)
      const rpc = yield* JsonRpc.make({ urls: [node.url], attempts: 1 })
      return { node, result: yield* Effect.result(TokenMetadata.fetch(rpc, contracts, height)) }
    }).pipe(Effect.scoped)

  it.live("asks all contracts in one request; one that reverts hides no other", () =>
    Effect.gen(function* () {
      const { node, result } = yield* fetched((_, [call]) => {
        const { to, data } = call as { to: string; data: string }
        if (to.endsWith("01"))
          return { "0x06fdde03": text("One"), "0x95d89b41": encodeBytes32String("ONE"), "0x313ce567": word(6) }[data]
        if (to.endsWith("02")) throw new FakeNode.RpcError(3, "execution reverted")
        return "0x"
      })
      assert.strictEqual(node.requests(), 1)
      assert.deepStrictEqual(
        result._tag === "Success" && result.success.map(({ name, symbol, decimals }) => [name, symbol, decimals]),
        [
          ["One", "ONE", 6],
          ["", "", undefined],
          ["", "", undefined]
        ]
      )
    })
  )

  it.live("a node that lacks the block of the contracts yet says nothing of them", () =>
    Effect.gen(function* () {
      const at = (newest: number) =>
        fetched((method, [tag]) => {
          if (method === "eth_getBlockByNumber") return Number(tag) <= newest ? { number: tag } : null
          return newest < 7 ? "0x" : word(6)
        }, 7)
      const behind = yield* at(6)
      assert.strictEqual(behind.result._tag === "Failure" && behind.result.failure._tag, "BlockMissing")
      // In one request, as another one may go to another node.
      assert.strictEqual(behind.node.requests(), 1)
      const { result } = yield* at(7)
      assert.deepStrictEqual(result._tag === "Success" && result.success.map(({ decimals }) => decimals), [6, 6, 6])
    })
  )

  it.live("is not held up by many contracts: the next are asked before the answers of the first are there", () =>
    Effect.gen(function* () {
      const many = Array.from({ length: 100 }, (_, index) => new Uint8Array(20).fill(index) as never)
      const allAsked = yield* Deferred.make<void>()
      let asked = 0
      const results: JsonRpc.JsonRpc["results"] = (calls) =>
        Effect.gen(function* () {
          asked += calls.length
          // A call for each word of a contract, and in each of the requests one for the block.
          if (asked === 3 * many.length + 4) yield* Deferred.succeed(allAsked, undefined)
          yield* Deferred.await(allAsked)
          return calls.map(({ params: [call] }) =>
            Result.succeed(word(Number((call as { to?: string }).to?.slice(-2))))
          )
        })
      const found = yield* TokenMetadata.fetch({ results } as JsonRpc.JsonRpc, many, 7).pipe(
        Effect.timeout("2 seconds")
      )
      assert.deepStrictEqual(
        found.map(({ contract }) => contract),
        many
      )
    })
  )

  it.live("each node's words for a failing contract are the contract's; a node in trouble is a failure", () =>
    Effect.gen(function* () {
      const failing = (code: number, message: string) =>
        Effect.map(
          fetched(() => {
            throw new FakeNode.RpcError(code, message)
          }),
          ({ result }) => result._tag
        )
      const contract: ReadonlyArray<readonly [number, string]> = [
        [3, "execution reverted: not found"],
        [-32000, "execution reverted"],
        [-32000, "invalid opcode: INVALID"],
        [-32000, "out of gas"],
        [-32000, "stack underflow (0 <=> 1)"],
        [-32015, "VM execution error."],
        [-32603, "VM Exception while processing transaction: revert"]
      ]
      for (const [code, message] of contract) assert.strictEqual(yield* failing(code, message), "Success", message)
      const node: ReadonlyArray<readonly [number, string]> = [
        [-32601, "the method eth_call does not exist/is not available"],
        [-32000, "missing trie node 5f (path ) state 0x is not available"],
        [-32000, "header not found"],
        [-32000, "execution timeout"],
        [-32005, "rate limited"]
      ]
      for (const [code, message] of node) assert.strictEqual(yield* failing(code, message), "Failure", message)
    })
  )

  it.live(
    "what a node says in passing is not taken for a contract without decimals, but where it goes on saying it",
    () =>
      Effect.gen(function* () {
        let failures = 2
        const answer: FakeNode.Answer = (_, [call]) => {
          const { to, data } = call as { to: string; data: string }
          if (data === "0x313ce567" && to.endsWith("01") && failures-- > 0) {
            throw new FakeNode.RpcError(-32603, "Internal error")
          }
          return { "0x06fdde03": text("One"), "0x95d89b41": text("ONE"), "0x313ce567": word(6) }[data]
        }
        const decimals = Effect.map(fetched(answer), ({ node, result }) => [
          node.requests(),
          result._tag === "Success" && result.success.map(({ decimals, name }) => [name, decimals])
        ])
        const known = ["One", 6]
        assert.deepStrictEqual(yield* decimals, [3, [known, known, known]])
        // As Besu says of a contract that halts: it stops no chain.
        failures = Number.POSITIVE_INFINITY
        assert.deepStrictEqual(yield* decimals, [3, [["One", undefined], known, known]])
      })
  )

  it.live("no amount is written by decimals that a node does not tell, but where the contract itself has none", () =>
    Effect.gen(function* () {
      const told = (answer: FakeNode.Answer) =>
        Effect.gen(function* () {
          const node = yield* FakeNode.make(answer)
          const rpc = yield* JsonRpc.make({ urls: [node.url], attempts: 1 })
          return yield* TokenMetadata.decimals(rpc, contracts[0]!)
        }).pipe(Effect.scoped)
      const failing = (code: number, message: string, times: number) =>
        told(() => {
          if (times-- > 0) throw new FakeNode.RpcError(code, message)
          return word(6)
        })
      assert.strictEqual(yield* failing(-32603, "Internal error", 2), 6)
      assert.strictEqual((yield* Effect.flip(failing(-32603, "Internal error", 3)))._tag, "NodeRejected")
      assert.isUndefined(yield* failing(3, "execution reverted", 1))
      assert.isUndefined(yield* told(() => "0x"))
    })
  )

  it.skipIf(!Fixtures.exist)("reads the bytes32 and garbage answers that ethereum-etl recorded", () => {
    const folder = "evm-rpc/ethereum-etl/tests/resources/test_stream/blocks_2112234_2112234"
    const answer = (selector: string) =>
      (
        Fixtures.json(
          `${folder}/web3_response.eth_call_data_${selector}_to_0xdbdacfc9eb9d42559ac1efbdb40460c728139e6a_latest.json`
        ) as { readonly result: string }
      ).result
    const expected = Fixtures.json(`${folder}/expected_tokens.json`) as Record<string, unknown>
    assert.deepStrictEqual(
      [decodeText(answer("0x06fdde03")), decodeText(answer("0x95d89b41")), decodeDecimals(answer("0x313ce567"))],
      [expected.name, expected.symbol, expected.decimals]
    )
  })
})
