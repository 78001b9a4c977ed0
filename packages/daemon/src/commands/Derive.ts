/** `headwater derive`: addresses of a wallet from its extended public key, offline. */
import * as Chain from "@headwater/core/chains/Chain"
import * as Derivation from "@headwater/core/keys/Derivation"
import * as ExtendedPublicKey from "@headwater/core/keys/ExtendedPublicKey"
import * as Console from "effect/Console"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as ChainArgument from "./ChainArgument.ts"
import { json } from "./WithSettings.ts"

interface Request {
  readonly blockchain: string
  readonly network: string
  readonly extendedPublicKey: string
  readonly derivation: string | undefined
  readonly type: string | undefined
  readonly format: string | undefined
  readonly from: number
  readonly count: number
}

/** A branch, and its addresses at the indices that BIP-32 has a key for. */
const derived = ({ blockchain, count, extendedPublicKey, from, network, ...names }: Request) =>
  Result.gen(function* () {
    const chain = yield* Chain.find(blockchain, network)
    const key = yield* ExtendedPublicKey.decode(chain, extendedPublicKey)
    const derivation = yield* Derivation.parseDerivation(names.derivation)
    const type = yield* Derivation.parseType(names.type)
    const format = yield* Derivation.parseFormat(names.format)
    yield* Derivation.checkRange(from, count)
    const branch = yield* Derivation.branch(chain, key, { derivation, type, format })
    const addresses = Derivation.derive(branch, from, count).filter(Result.isSuccess)
    return { branch, addresses: addresses.map(({ success }) => success) }
  })

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
  Effect.fnUntraced(function* ({ chain, count, extendedPublicKey, from, json: asJson, ...names }) {
    const { blockchain, network } = yield* ChainArgument.parse(chain)
    const { addresses, branch } = yield* Effect.fromResult(
      derived({
        ...{ blockchain, network, extendedPublicKey, from, count },
        derivation: Option.getOrUndefined(names.derivation),
        type: Option.getOrUndefined(names.type),
        format: Option.getOrUndefined(names.format)
      })
    )
    const { derivation: derivationType, format, type } = branch
    if (asJson) {
      const items = addresses.map(({ address, index }) => ({
        ...{ address, format: format.name, index, derivationType, type }
      }))
      yield* Console.log(JSON.stringify(items, null, 2))
    } else if (addresses.length > 0) {
      yield* Console.log(addresses.map(({ address, index }) => `${index} ${address}`).join("\n"))
    }
  })
).pipe(
  Command.withDescription("Derive a wallet's addresses from its extended public key, offline"),
  Command.withExamples([
    { command: "headwater derive bitcoin/mainnet zpub6r… --count 5", description: "The first five receiving addresses" }
  ])
)
