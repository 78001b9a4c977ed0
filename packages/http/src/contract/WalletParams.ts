/** How requests name an HD wallet: its key, its derivation, and the form of its addresses. */
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"

/** One of some words, in any letter case. */
const inAnyCase = <const Words extends ReadonlyArray<string>>(
  words: Schema.Literals<Words>,
  message: string,
  about: { readonly description: string; readonly examples?: readonly [string, ...Array<string>] }
) =>
  Schema.optionalKey(
    Schema.String.check(Schema.isPattern(new RegExp(`^(${words.literals.join("|")})$`, "i"), { message }))
      .annotate(about)
      .pipe(
        Schema.decodeTo(
          words,
          SchemaTransformation.transform({
            decode: (text): Words[number] => words.literals.find((word) => word.toLowerCase() === text.toLowerCase())!,
            encode: (word: Words[number]): string => word
          })
        )
      )
  )

export const Derivation = Schema.Literals(["account", "bip32"])

/** How the wallet derives. */
export const derivation = {
  derivation: inAnyCase(Derivation, "must be account or bip32", {
    description: "`account` (m/0/i and m/1/i, the default) or `bip32` (m/i)"
  })
}

export const Format = Schema.Literals(["P2PKH", "P2SH-P2WPKH", "P2WPKH", "P2TR", "STANDARD", "CLASSIC"])

/** The form of the wallet's addresses. */
export const format = {
  format: inAnyCase(Format, `must be one of ${Format.literals.join(", ")}`, {
    description:
      "Form of the wallet's addresses, one that the chain has: by default the form that the key's version says " +
      "(ypub, zpub …), else P2WPKH where the chain has it. The same key in another form is another wallet",
    examples: ["P2WPKH"]
  })
}

/** The words of clients of the hosted service for the forms of addresses, and our own, in lower case. */
const formatOf: Readonly<Record<string, typeof Format.Type>> = {
  ...{ p2pkh: "P2PKH", p2sh: "P2SH-P2WPKH", "p2sh-p2wpkh": "P2SH-P2WPKH", p2wpkh: "P2WPKH", p2tr: "P2TR" },
  ...{ "p2pkh-cash": "P2PKH", "p2sh-cash": "P2SH-P2WPKH", classic: "CLASSIC", standard: "STANDARD" }
}
const formatWords = Object.keys(formatOf)

/** A word for a form of addresses, in any letter case. */
export const FormatWord = Schema.String.check(
  Schema.isPattern(new RegExp(`^(${formatWords.join("|")})$`, "i"), {
    message: `must be one of ${formatWords.join(", ")}`
  })
)

/** The form of addresses that a {@link FormatWord} is for. */
export const formatOfWord = (word: typeof FormatWord.Type): typeof Format.Type => formatOf[word.toLowerCase()]!

/** Of test vector 1 of BIP-32. */
export const exampleKey =
  "xpub661MyMwAqRbcFtXgS5sYJABqqG9YLmC4Q1Rdap9gSE8NqtwybGhePY2gZ29ESFjqJoCu1Rupje8YtGqsefD265TMg7usUDFdp6W1EGMcet8"

export const extendedPublicKeyParam = {
  extendedPublicKey: Schema.String.annotate({
    description: "Extended public key of the account (xpub, ypub, zpub …)",
    examples: [exampleKey]
  })
}
