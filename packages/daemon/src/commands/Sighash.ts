/** `headwater sighash`: the hash that an unsigned EVM transaction is signed by, for people who check before they sign. */
import * as Sighash from "@headwater/core/evm/Sighash"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import * as Result from "effect/Result"
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"

/** Some lines were bad. The error of each stands in the line's place in the output. */
class BadLines extends Schema.TaggedError<BadLines>()("BadLines", { count: Schema.Int }) {
  override readonly [Runtime.errorReported] = false
}

export const sighash = Command.make(
  "sighash",
  {},
  Effect.fnUntraced(function* () {
    const stdio = yield* Stdio.Stdio
    const bad = yield* Ref.make(0)
    const answer = (line: string) =>
      Result.match(Sighash.parseLine(line), {
        onSuccess: (transaction) => Effect.succeed(`${Sighash.digestText(transaction)}\n`),
        onFailure: ({ message }) =>
          Effect.as(
            Ref.update(bad, (count) => count + 1),
            `error: ${message}\n`
          )
      })
    yield* stdio.stdin.pipe(
      Stream.decodeText,
      Stream.splitLines,
      Stream.mapEffect(answer),
      Stream.run(stdio.stdout({ endOnDone: false }))
    )
    const count = yield* Ref.get(bad)
    if (count > 0) return yield* new BadLines({ count })
  })
).pipe(
  Command.withDescription(
    "Hash unsigned EVM transactions for signing: JSON lines on standard input, digests on standard output"
  ),
  Command.withExamples([
    {
      command: `echo '{"type":2,"chainId":1,"nonce":0,"gasLimit":21000,"to":"0x…","value":"1"}' | headwater sighash`,
      description: "The digest of one transaction"
    }
  ])
)
