/**
 * Statements of a transaction whose answer nobody needs, in one message to the server with the next one whose answer is
 * needed: the way to the server and back costs more than most statements do.
 */
import type { PostgresPoolClient } from "kysely"
import type { Connection, PoolClient, Query, QueryResult } from "pg"

/** As the only parameter of a query in a transaction: the statement that goes with the next one. */
export class DeferredStatement {
  readonly text: string
  readonly values: ReadonlyArray<unknown>
  constructor(text: string, values: ReadonlyArray<unknown>) {
    this.text = text
    this.values = values
  }
}

const begin = new DeferredStatement("begin", [])

const nothing: QueryResult = { command: "", rowCount: 0, rows: [], fields: [], oid: 0 }

/** In a message of several statements each has a part of its own, also one without values. */
const config = ({ text, values }: DeferredStatement) => ({ text, values: [...values], queryMode: "extended" })

/**
 * The connection for what is followed by more in the same message. The server answers each statement as soon as that has run:
 * a message of several slow ones would be taken for the silence of a server that has vanished.
 */
const withoutEnd = (connection: Connection): Connection =>
  Object.create(connection, { sync: { value: () => connection.flush() } })

class Pipeline {
  readonly #client: PoolClient
  readonly #Query: typeof Query
  /** These go before the next statement. */
  #deferred: Array<DeferredStatement> = []

  constructor(client: PoolClient, query: typeof Query) {
    this.#client = client
    this.#Query = query
  }

  async query(text: string, values: ReadonlyArray<unknown>): Promise<QueryResult> {
    const [first] = values
    if (first instanceof DeferredStatement) {
      this.#deferred.push(first)
      return nothing
    }
    if (text === begin.text) {
      this.#deferred = [begin]
      return nothing
    }
    const deferred = this.#deferred
    this.#deferred = []
    const isBegun = deferred[0] !== begin
    if (text === "rollback") return isBegun ? this.#client.query(text) : nothing
    if (text === "commit") return isBegun || deferred.length > 1 ? this.#send([...deferred, { text, values }]) : nothing
    if (deferred.length > 0) {
      // Several statements in one text, without values, are a message of another kind.
      if (values.length > 0 || !text.includes(";")) return this.#send([...deferred, { text, values }])
      await this.#send(deferred)
    }
    return this.#client.query(text, [...values])
  }

  /** The answer to the last one. Behind a statement that fails, the server passes over the others of its message. */
  #send(statements: ReadonlyArray<DeferredStatement>): Promise<QueryResult> {
    const answer = Promise.withResolvers<QueryResult>()
    const last = new this.#Query(config(statements.at(-1)!), undefined, (error, results) => {
      if (error) answer.reject(error)
      else answer.resolve([results].flat().at(-1)!)
    })
    let unsendable: Error | undefined
    const before = statements
      .slice(0, -1)
      .map((statement) => new this.#Query(config(statement), undefined, (error) => (unsendable ??= error)))
    const { submit } = last
    last.submit = (connection) => {
      const { stream } = connection
      stream.cork()
      for (const statement of before) statement.submit(withoutEnd(connection))
      // A value that cannot be sent: without the statement the transaction may not be committed, also by who passes over this.
      if (unsendable === undefined) submit.call(last, connection)
      else stream.destroy(unsendable)
      stream.uncork()
    }
    this.#client.query(last)
    return answer.promise
  }

  release(discarded?: boolean) {
    this.#client.release(discarded)
  }
}

/** A client that a pool of pg's has lent, as Kysely uses clients; without cursors, which streams alone want. */
export const make = (client: PoolClient, query: typeof Query): PostgresPoolClient =>
  new Pipeline(client, query) as unknown as PostgresPoolClient
