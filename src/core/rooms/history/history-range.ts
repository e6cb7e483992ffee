/** One version of a document. */
export interface HistoryPoint {
  /** The version as text; see `versionOf`. */
  readonly version: string
  /** The whole state (V1) of a saved version; null if the version must be rebuilt from the log. */
  readonly state: Uint8Array | null
}

/** Two versions of a document. `to` null: the current version. */
export interface HistoryRange {
  readonly from: HistoryPoint
  readonly to: HistoryPoint | null
}
