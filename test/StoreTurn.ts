/**
 * Says which store the tests run on (`taken` and others of `Stores.ts`), and which cases they try where there are many
 * (`Turn.ts`): others in another run.
 */
export default function setup() {
  process.env.HEADWATER_TURN ??= String(Math.floor(Math.random() * 8))
  console.log(
    `Again with the same stores and cases: HEADWATER_TURN=${process.env.HEADWATER_TURN}; with all: HEADWATER_EVERY_WAY=1`
  )
}
