/** A command's failure in words for who ran it: what failed, and the command that says more. */
import * as ErrorExplanations from "@headwater/http/contract/ErrorExplanations"
import * as PlatformError from "effect/PlatformError"
import { commandName } from "../CommandName.ts"
import * as FindingExplanations from "../doctor/FindingExplanations.ts"

/** What the system's refusals mean to who named the file. */
const refusals: Partial<Record<PlatformError.SystemErrorTag, string>> = {
  NotFound: "there is no such file or folder",
  PermissionDenied: "this user may not do that; see who owns the file and its folder",
  AlreadyExists: "it exists already",
  BadResource: "it is no ordinary file"
}

const ofFile = ({ reason }: PlatformError.PlatformError): string => {
  if (reason._tag === "BadArgument" || reason.pathOrDescriptor === undefined) return reason.message
  const doing = /write|make|rename|copy/i.test(reason.method) ? "written" : "read"
  const why = refusals[reason._tag] ?? reason.message
  return `${reason.pathOrDescriptor} cannot be ${doing}: ${why}`
}

type Failed = Error & { readonly _tag?: unknown; readonly code?: unknown; readonly advice?: unknown }

/** The code that `headwater explain` knows the failure by. */
const codeOf = (error: Failed): string | undefined =>
  [error.code, error._tag, error._tag === "StoreInUse" ? "store_in_use" : undefined].find(
    (code): code is string =>
      typeof code === "string" && (code in ErrorExplanations.explanations || code in FindingExplanations.explanations)
  )

/** What to do next about failures of the store and of nodes, which know no command line. */
const advice: Readonly<Record<string, string>> = {
  AccountNotFound: `${commandName} accounts list shows them; ${commandName} accounts create <name> makes one`,
  KeyNotFound: `${commandName} keys list <account> shows its keys`,
  SubscriptionNotFound: `${commandName} subscriptions list <account> <chain> shows those of a chain`,
  DatabaseError: `${commandName} doctor looks at the store`,
  NodeUnreachable: `${commandName} doctor looks at every node`
}

const messageOf = (error: Failed): string => {
  if (error instanceof PlatformError.PlatformError) return ofFile(error)
  const message =
    error._tag === "SubscriptionNotFound" ? "The account has no subscription of this reference" : error.message
  const next = typeof error.advice === "string" ? error.advice : advice[String(error._tag)]
  return next === undefined ? message : `${message}\n  ${next}`
}

/** The failure, in one or more lines. */
export const describe = (error: Error): string => {
  const code = codeOf(error)
  const message = messageOf(error)
  return code === undefined ? message : `${message}\n  More: ${commandName} explain ${code}`
}
