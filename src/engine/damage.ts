import type { LoadedLog } from './engine.ts'

/** Something that is not what was written; `what` names it. */
export interface Damage {
  readonly kind: 'store' | 'file' | 'document' | 'version' | 'record' | 'job'
  readonly what: string
  readonly problem: string
}

export interface StoreCheck {
  readonly damages: readonly Damage[]
  /** Stored records, and the bytes of their keys and values. */
  readonly records: number
  readonly bytes: number
  /** Live documents. */
  readonly documents: number
}

export type LiveLog = Extract<LoadedLog, { state: 'live' }>

export interface CheckOptions {
  /** Why what is stored of a document is of no use although it is what was written; null when it is. */
  readonly contentProblem: (loaded: LiveLog) => Promise<string | null>
  readonly onProgress: (step: string, share: number) => void
}
