/** What a method of the client takes and gives, from the types of its operation in the OpenAPI document. */
import type { operations } from "./Interface.ts"

export type OperationName = keyof operations

/** What a single call may say. */
export interface CallOptions {
  readonly signal?: AbortSignal
}

interface Json<Body> {
  readonly content: { readonly "application/json": Body }
}

type Params<O> = O extends { readonly parameters: { readonly path: infer Path } } ? { readonly params: Path } : unknown

type Payload<O> = O extends { readonly requestBody: Json<infer Body> }
  ? { readonly payload: Body }
  : O extends { readonly requestBody?: never }
    ? unknown
    : O extends { readonly requestBody?: Json<infer Body> }
      ? { readonly payload?: Body }
      : unknown

/** What an operation is asked: the values in its path, its query and its body. */
export type Request<Name extends OperationName> = Params<operations[Name]> &
  Pick<operations[Name]["parameters"], "query"> &
  Payload<operations[Name]>

/** What an operation answers, without the envelope. */
export type Answer<Name extends OperationName> = operations[Name]["responses"][200]["content"]["application/json"]

export type Call<Name extends OperationName> = (
  ...args: Record<never, never> extends Request<Name>
    ? [request?: Request<Name>, options?: CallOptions]
    : [request: Request<Name>, options?: CallOptions]
) => Promise<Answer<Name>>
