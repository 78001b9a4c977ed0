/** How requests name an HD wallet: its key, its derivation, and the form of its addresses. */
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"

export const Derivation = Schema.Literals(["account", "bip32"])

/** How the wallet derives, in any letter case. */
export const derivation = {
  derivation: Schema.optionalKey(
    Schema.String.check(Schema.isPattern(/^(account|bip32)$/i, { message: "must be account or bip32" }))
      .annotate({ description: "`account` (m/0/i and m/1/i, the default) or `bip32` (m/i)" })
      .pipe(
        Schema.decodeTo(
          Derivation,
          SchemaTransformation.transform({
            decode: (text) => text.toLowerCase() as typeof Derivation.Type,
            encode: (derivation) => derivation
          })
        )
      )
  )
}

export const Format = Schema.Literals(["P2PKH", "P2SH-P2WPKH", "P2WPKH", "P2TR", "STANDARD", "CLASSIC"])

/** The form of the wallet's addresses, in any letter case. */
export const format = {
  format: Schema.optionalKey(
    Schema.String.check(
      Schema.isPattern(/^(P2PKH|P2SH-P2WPKH|P2WPKH|P2TR|STANDARD|CLASSIC)$/i, {
        message: `must be one of ${Format.literals.join(", ")}`
      })
    )
      .annotate({
        description:
          "Form of the wallet's addresses, one that the chain has: by default the form that the key's version says " +
          "(ypub, zpub …), else P2WPKH where the chain has it. The same key in another form is another wallet",
        examples: ["P2WPKH"]
      })
      .pipe(
        Schema.decodeTo(
          Format,
          SchemaTransformation.transform({
            decode: (text) => text.toUpperCase() as typeof Format.Type,
            encode: (format) => format
          })
        )
      )
  )
}

/** Of test vector 1 of BIP-32. */
export const exampleKey =
  "xpub661MyMwAqRbcFtXgS5sYJABqqG9YLmC4Q1Rdap9gSE8NqtwybGhePY2gZ29ESFjqJoCu1Rupje8YtGqsefD265TMg7usUDFdp6W1EGMcet8"

export const extendedPublicKeyParam = {
  extendedPublicKey: Schema.String.annotate({
    description: "Extended public key of the account (xpub, ypub, zpub …)",
    examples: [exampleKey]
  })
}
