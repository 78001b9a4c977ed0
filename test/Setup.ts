/** Prepares a run: a PostgreSQL server with the stores that tests copy, and meanwhile the bundle that they start. */
import migrateStores from "./MigratedStores.ts"
import startPostgres from "./PostgresServer.ts"
import bundle from "./Program.ts"
import sayTurn from "./StoreTurn.ts"

const makeStores = async () => {
  const stopPostgres = await startPostgres()
  const removeStores = await migrateStores()
  return async () => {
    await removeStores()
    stopPostgres?.()
  }
}

export default async function setup() {
  sayTurn()
  const [stores, program] = await Promise.allSettled([makeStores(), bundle()])
  if (stores.status === "rejected") throw stores.reason
  if (program.status === "fulfilled") return stores.value
  await stores.value()
  throw program.reason
}
