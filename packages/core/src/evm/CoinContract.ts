/** Contracts that stand for a chain's own coins, and log what is moved of these in the form of ERC-20. */
import { hexToBytes } from "@noble/hashes/utils.js"
import type { AddressBytes } from "../address/Address.ts"
import * as Bytes from "../Bytes.ts"

/** EIP-7708's, since Amsterdam; and the contract in Polygon's genesis that is its coin in the form of ERC-20 (MRC20). */
const contracts = ["fffffffffffffffffffffffffffffffffffffffe", "0000000000000000000000000000000000001010"].map(
  hexToBytes
)

/** Whether a contract's logs would tell as a token what is told as coins. No key and no deployment has such an address. */
export const isCoinContract = (contract: AddressBytes): boolean => contracts.some((own) => Bytes.equal(contract, own))
