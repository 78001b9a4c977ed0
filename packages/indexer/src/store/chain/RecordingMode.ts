/** Which transfers and outputs of a chain are kept: those of every address, or of watched addresses alone. */
export type RecordingMode = "all" | "watched"
