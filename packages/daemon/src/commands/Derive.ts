/** `headwater derive`: addresses of a wallet from its extended public key, offline. */
import * as Derivation from "@headwater/core/keys/Derivation"
import * as Console from "effect/Console"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as ChainArgument from "./ChainArgument.ts"
import { json } from "./WithSettings.ts"

export const derive = Command.make(
  "derive",
  {
    json,
    chain: Argument.String("chain").pipe(
      Argument.withDescription("A chain: bitcoin/mainnet, ethereum/sepolia …; or in two words")
    ),
    extendedPublicKey: Argument.String("xpub").pipe(
      Argument.withDescription("Extended public key of the account: xpub, ypub, zpub, Ltub …; a private key is refused")
    ),
    derivation: Flag.String("derivation").pipe(
      Flag.withDescription("account (m/0/i and m/1/i, the default) or bip32 (m/i)"),
      Flag.optional
    ),
    type: Flag.String("type").pipe(Flag.withDescription("receive (the default) or change"), Flag.optional),
    from: Flag.Int("from").pipe(Flag.withDescription("First index"), Flag.withDefault(0)),
    count: Flag.Int("count").pipe(Flag.withDescription("Number of addresses"), Flag.withDefault(20)),
    format: Flag.String("format").pipe(
      Flag.withDescription("p2wpkh, p2sh-p2wpkh, p2pkh …; by default that of the key or of the chain"),
      Flag.optional
    )
  },
  Effect.fnUntraced(function* ({ chain, derivation, format, type, ...input }) {
    const { blockchain, network } = yield* ChainArgument.parse(chain)
    const lines = yield* Effect.fromResult(
      Derivation.lines({
        ...{ ...input, blockchain, network },
        derivation: Option.getOrUndefined(derivation),
        type: Option.getOrUndefined(type),
        format: Option.getOrUndefined(format)
      })
    )
    if (lines.length > 0) yield* Console.log(lines.join("\n"))
  })
).pipe(
  Command.withDescription("Derive a wallet's addresses from its extended public key, offline"),
  Command.withExamples([
    { command: "headwater derive bitcoin/mainnet zpub6r… --count 5", description: "The first five receiving addresses" }
  ])
)
