/** An account of which the tests have the key: what tronweb signs, and whose signature it finds. */
import { TronWeb, utils } from "tronweb"
import type { Json } from "./TronNode.ts"

const privateKey = "0000000000000000000000000000000000000000000000000000000000000001"

/** Base58, and 41 with 40 digits. */
export const address = utils.address.fromPrivateKey(privateKey) as string
export const addressHex = utils.address.toHex(address).toLowerCase()

export const idOf = (rawDataHex: string): string => utils.ethersUtils.sha256(`0x${rawDataHex}`).slice(2)

/** A transaction as tronweb reads its `raw_data` bytes. */
export const read = (rawDataHex: string, type = "TransferContract"): Json => ({
  visible: false,
  txID: idOf(rawDataHex),
  raw_data: utils.deserializeTx.deserializeTransaction(type, rawDataHex),
  raw_data_hex: rawDataHex
})

/** The signature of a transaction by a key, whoever its owner is. */
export const signatureOf = (transaction: Json, key = privateKey): string =>
  (utils.crypto.signTransaction(key, { ...transaction }) as unknown as { readonly signature: readonly [string] })
    .signature[0]

/** Who has signed a transaction of this id (41 with 40 digits). */
export const signerOf = (id: string, signature: string): string => utils.crypto.ecRecover(id, signature).toLowerCase()

/** Signs a transaction, unless its parts contradict one another; who, by the signature, has signed it (base58). */
export const signer = async (transaction: Json): Promise<string> => {
  const tronWeb = new TronWeb({ fullHost: "http://127.0.0.1:1" })
  const signed: unknown = await tronWeb.trx.sign(transaction as never, privateKey)
  const { signature } = signed as { readonly signature: readonly [string] }
  return utils.address.fromHex(utils.crypto.ecRecover(transaction.txID, signature[0]))
}

/** An address of 41… hex digits as tronweb writes it. */
export const base58 = (hex: string): string => utils.address.fromHex(hex)
