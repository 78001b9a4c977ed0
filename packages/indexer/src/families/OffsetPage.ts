/** Part of a list that is paged by offset. */
export interface OffsetPage {
  readonly limit: number
  readonly offset: number
}
