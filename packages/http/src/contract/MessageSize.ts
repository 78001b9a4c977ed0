/** Which operations take large bodies or give long answers. */
import * as Context from "effect/Context"

/** The largest body of an operation's request, in bytes; undefined for the server's own limit. */
export const LargestBody = Context.Reference<number | undefined>("@headwater/http/contract/MessageSize/LargestBody", {
  defaultValue: () => undefined
})

/** Whether an operation's answer may be so long that others would wait for several of these made side by side. */
export const IsLongAnswer = Context.Reference<boolean>("@headwater/http/contract/MessageSize/IsLongAnswer", {
  defaultValue: () => false
})
