/** Accounts and what they may spend: balances, bandwidth, and the prices that the chain has set. */
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { NodeError } from "../../node/NodeError.ts"
import type { TronHttp } from "../TronHttp.ts"
import * as TronJson from "./TronJson.ts"

/** The owner's, which transactions use that name no other one. */
const Permission = Schema.Struct({
  threshold: Schema.optionalKey(TronJson.Sun),
  keys: Schema.optionalKey(Schema.Array(Schema.Struct({ weight: Schema.optionalKey(TronJson.Sun) })))
})

const Account = Schema.Struct({
  balance: Schema.optionalKey(TronJson.Sun),
  owner_permission: Schema.optionalKey(Permission),
  create_time: Schema.optionalKey(TronJson.Count),
  type: Schema.optionalKey(Schema.Union([Schema.String, Schema.Int]))
})

export interface TronAccount {
  /** Sun. */
  readonly balance: bigint
  /** When it was activated, in milliseconds since the Unix epoch; 0 where the node does not say. */
  readonly created: number
  readonly isContract: boolean
  /** The fewest keys that may sign a transaction together. */
  readonly signatures: number
}

const fewestKeys = ({ keys = [], threshold = 1 }: typeof Permission.Type): number => {
  const weights = keys.map(({ weight = 0 }) => BigInt(weight)).sort((a, b) => (a < b ? 1 : a > b ? -1 : 0))
  let sum = 0n
  let count = 0
  for (; count < weights.length && sum < BigInt(threshold); count++) sum += weights[count]!
  return Math.max(1, count)
}

const body = (address: AddressBytes) => JSON.stringify({ address: TronJson.addressHex(address) })

/** The account after the newest block; undefined where it was never activated. */
export const fetch = (http: TronHttp, address: AddressBytes): Effect.Effect<TronAccount | undefined, NodeError> =>
  Effect.map(
    http.find(Account, "/wallet/getaccount", body(address)),
    (account) =>
      account && {
        balance: BigInt(account.balance ?? 0),
        created: account.create_time ?? 0,
        isContract: account.type === "Contract" || account.type === 2,
        signatures: fewestKeys(account.owner_permission ?? {})
      }
  )

const Resource = Schema.Struct({
  freeNetUsed: Schema.optionalKey(TronJson.Count),
  freeNetLimit: Schema.optionalKey(TronJson.Count),
  NetUsed: Schema.optionalKey(TronJson.Count),
  NetLimit: Schema.optionalKey(TronJson.Count),
  EnergyUsed: Schema.optionalKey(TronJson.Count),
  EnergyLimit: Schema.optionalKey(TronJson.Count)
})

/** Bandwidth points that an account has left: from its stake, and of what everybody has for free each day. */
export interface Bandwidth {
  readonly staked: number
  readonly free: number
}

/** What an account may use without paying for it. */
export interface Resources {
  readonly bandwidth: Bandwidth
  /** From its stake. */
  readonly energy: number
}

export const resources = (http: TronHttp, address: AddressBytes): Effect.Effect<Resources, NodeError> =>
  Effect.map(
    http.read(Resource, "/wallet/getaccountresource", body(address)),
    ({ EnergyLimit = 0, EnergyUsed = 0, NetLimit = 0, NetUsed = 0, freeNetLimit = 0, freeNetUsed = 0 }) => ({
      bandwidth: {
        staked: Math.max(0, NetLimit - NetUsed),
        free: Math.max(0, freeNetLimit - freeNetUsed)
      },
      energy: Math.max(0, EnergyLimit - EnergyUsed)
    })
  )

export const bandwidth = (http: TronHttp, address: AddressBytes): Effect.Effect<Bandwidth, NodeError> =>
  Effect.map(resources(http, address), ({ bandwidth }) => bandwidth)

/** What points of bandwidth cost, in sun: each kind that an account has is taken as a whole or not at all. */
export const bandwidthFee = (points: number, { free, staked }: Bandwidth, prices: Prices): bigint =>
  staked >= points || free >= points ? 0n : BigInt(points) * prices.bandwidth

/** What the signatures of a transaction cost beside their bytes, in sun: more than one where one key alone may not sign. */
export const signatureFee = (signatures: number, prices: Prices): bigint =>
  signatures > 1 ? prices.multiSignature : 0n

const Parameters = Schema.Struct({
  chainParameter: Schema.Array(
    Schema.Struct({ key: Schema.String, value: Schema.optionalKey(Schema.Union([Schema.Int, Schema.String])) })
  )
})

/** What the chain charges, in sun. */
export interface Prices {
  /** For a point of bandwidth that an account has not. */
  readonly bandwidth: bigint
  /** For a unit of energy that an account has not. */
  readonly energy: bigint
  /** The most that a call may burn for energy. */
  readonly maxFeeLimit: bigint
  /** For activating the recipient's account: always, and instead of bandwidth from a stake. */
  readonly activation: bigint
  readonly activationWithoutStake: bigint
  /** Bandwidth from a stake that an activation takes, per point. */
  readonly activationRate: number
  readonly memo: bigint
  /** For a transaction of more than one signature. */
  readonly multiSignature: bigint
  /** Whether a plain transfer to a contract is refused. */
  readonly forbidsContracts: boolean
}

export const prices = (http: TronHttp): Effect.Effect<Prices, NodeError> =>
  Effect.map(http.read(Parameters, "/wallet/getchainparameters"), ({ chainParameter }) => {
    const values = new Map(chainParameter.map(({ key, value = 0 }) => [key, value]))
    const sun = (key: string, usual: bigint) => {
      const value = String(values.get(key) ?? usual)
      return /^\d{1,19}$/.test(value) ? BigInt(value) : usual
    }
    return {
      bandwidth: sun("getTransactionFee", 1_000n),
      energy: sun("getEnergyFee", 420n),
      maxFeeLimit: sun("getMaxFeeLimit", 15_000_000_000n),
      activation: sun("getCreateNewAccountFeeInSystemContract", 1_000_000n),
      activationWithoutStake: sun("getCreateAccountFee", 100_000n),
      activationRate: Number(sun("getCreateNewAccountBandwidthRate", 1n)),
      memo: sun("getMemoFee", 0n),
      multiSignature: sun("getMultiSignFee", 1_000_000n),
      forbidsContracts: sun("getForbidTransferToContract", 0n) === 1n
    }
  })
