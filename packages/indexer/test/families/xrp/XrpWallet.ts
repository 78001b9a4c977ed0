/** Addresses of XRP as ripple-keypairs derives them. */
import { deriveAddress } from "ripple-keypairs"

/** The classic address of a compressed public key in hex, with or without `0x`. */
export const addressOf = (publicKey: string): string => deriveAddress(publicKey.replace(/^0x/, "").toUpperCase())
