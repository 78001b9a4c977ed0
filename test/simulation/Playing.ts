/** Plays a story from its opening to its end. */
import * as Acting from "./Acting.ts"
import * as Ending from "./Ending.ts"
import type { Opening } from "./Opening.ts"
import * as promises from "./promises.ts"
import type { SimulatedTime } from "./SimulatedTime.ts"
import * as Stage from "./Stage.ts"
import type { Story } from "./Story.ts"

export interface Played {
  readonly broken: ReadonlyArray<promises.Broken>
  readonly lines: ReadonlyArray<string>
}

export const play = async (opening: Opening, seed: number, story: Story, time: SimulatedTime): Promise<Played> => {
  const stage = Stage.make(opening, seed, time)
  try {
    await stage.begin()
    if (stage.life() === undefined) return { broken: [promises.notStarted], lines: stage.lines }
    for (const { action, pause } of story) {
      await time.sleep(pause)
      await stage.settled()
      Acting.perform(stage, action)
    }
    await time.sleep(500)
    const ending = Ending.make(stage)
    await ending.close()
    const record = ending.record()
    await stage.stop()
    return { broken: promises.judge(record), lines: stage.lines }
  } finally {
    stage.end()
  }
}
