/** How a change reached the document. */
export type ChangeSource = 'socket' | 'rest' | 'import' | 'restore' | 'undo' | 'branch'

/** What a backend says about its change: up to 16 members whose values are no objects or arrays. */
export type ChangeMeta = Readonly<Record<string, string | number | boolean | null>>

/** Who made a change, when, and how. */
export interface ChangeOrigin {
  /** Id of the user who sent the change; '' if the user is unknown. */
  readonly by: string
  /** Time at which the change was stored, in epoch milliseconds; 0 if the time is unknown. */
  readonly at: number
  readonly source: ChangeSource
  readonly meta: ChangeMeta | null
}
