/** Whether a transaction of Tron took effect, by what the transaction and its info say. */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { optional, part, type Read } from "./AnswerPart.ts"

const Ret = Schema.Array(
  Schema.Struct({ contractRet: Schema.optionalKey(Schema.String), ret: Schema.optionalKey(Schema.String) })
)

/** What an info says of the outcome. */
export const fields = {
  /** `FAILED`, or left out. */
  result: Schema.optionalKey(Schema.String),
  receipt: Schema.optionalKey(Schema.Struct({ result: Schema.optionalKey(Schema.String) }))
}

const fine: ReadonlySet<string | undefined> = new Set([undefined, "SUCCESS", "DEFAULT"])

/** The other values of `contractResult` and of `code`, by their names in java-tron 4.8. */
const failed: ReadonlySet<string | undefined> = new Set([
  ...["REVERT", "BAD_JUMP_DESTINATION", "OUT_OF_MEMORY", "PRECOMPILED_CONTRACT", "STACK_TOO_SMALL", "STACK_TOO_LARGE"],
  ...["ILLEGAL_OPERATION", "STACK_OVERFLOW", "OUT_OF_ENERGY", "OUT_OF_TIME", "JVM_STACK_OVER_FLOW", "UNKNOWN"],
  ...["TRANSFER_FAILED", "INVALID_CODE", "FAILED"]
])

const isText = (json: unknown) => json === undefined || typeof json === "string"

const ret = part(
  Ret,
  (json) =>
    Array.isArray(json) &&
    json.every((one) => Predicate.isReadonlyObject(one) && isText(one.contractRet) && isText(one.ret))
)

const outcome = part(
  Schema.Struct(fields),
  (json) =>
    Predicate.isReadonlyObject(json) &&
    isText(json.result) &&
    (json.receipt === undefined || (Predicate.isReadonlyObject(json.receipt) && isText(json.receipt.result)))
)

/** Whether a transaction took effect; the failure is what cannot be read of the answer. */
export const succeeded = (
  transaction: Readonly<Record<string, unknown>>,
  info: Readonly<Record<string, unknown>> | undefined
): Read<boolean> =>
  Result.flatMap(optional(ret, transaction.ret, "ret"), (listed = []) =>
    Result.flatMap(optional(outcome, info, "info"), (of) => {
      const { receipt, result } = of ?? {}
      const said = [result, receipt?.result, ...listed.flatMap(({ contractRet, ret }) => [contractRet, ret])]
      const strange = said.find((each) => !fine.has(each) && !failed.has(each) && each !== "SUCESS")
      return strange === undefined
        ? Result.succeed(said.every((each) => !failed.has(each)))
        : Result.fail(`the result ${strange} is not known`)
    })
  )
