/** Says which store the tests run on (`taken` and others of `Stores.ts`): another one in another run. */
export default function setup() {
  process.env.HEADWATER_TURN ??= String(Math.floor(Math.random() * 4))
  console.log(`Again on the same stores: HEADWATER_TURN=${process.env.HEADWATER_TURN}`)
}
