import * as Schema from "effect/Schema"

/** The demo cannot run, or a callback of it did not come. */
export class DemoFailed extends Schema.TaggedError<DemoFailed>()("DemoFailed", { message: Schema.String }) {}
