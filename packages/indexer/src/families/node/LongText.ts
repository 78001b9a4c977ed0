/**
 * A string of a node's answer that is too long to be made text of at once: a raw block, mostly. Whoever needs it reads it
 * in slices; to everybody else it is no string.
 */
export class LongText {
  /** As the string stands in the JSON, without its quotes. */
  readonly bytes: Buffer

  constructor(bytes: Buffer) {
    this.bytes = bytes
  }

  /** Its beginning: where a value is shown or kept, no more is. */
  toJSON(): string {
    return `${this.bytes.toString("latin1", 0, 4_096)}…`
  }
}
