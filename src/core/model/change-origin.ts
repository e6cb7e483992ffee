import * as s from '../base/schema.ts'

/** Stored attributions contain the index of a source, so the order must not change. Add a new source at the end. */
export const changeSources = ['socket', 'rest', 'import', 'restore', 'undo', 'branch', 'stream'] as const

/** How a change reached the document. */
export type ChangeSource = (typeof changeSources)[number]

/** Limits of the data that a backend attaches to its change. Lengths are in UTF-16 units. */
export const changeMetaLimits = { members: 16, nameCharacters: 64, valueCharacters: 256 } as const

/** The data that a backend attaches to its change, within `changeMetaLimits`. */
export type ChangeMeta = Readonly<Record<string, string | number | boolean | null>>

/** Schema of stored data of a change. Limits of a newer version may be higher. */
export const changeMetaSchema: s.SchemaOf<ChangeMeta> = s.map(
  s.orNull(s.anyOf([s.string, s.number, s.boolean])),
)

/** The way by which a change reached the document, and the data of its sender. */
export type ChangeCause = Pick<ChangeOrigin, 'source' | 'meta'>

/** Author, time and cause of a change. */
export interface ChangeOrigin {
  /** Id of the user who sent the change; '' if the user is unknown. */
  readonly by: string
  /** Time at which the change was stored, in epoch milliseconds; 0 if the time is unknown. */
  readonly at: number
  readonly source: ChangeSource
  readonly meta: ChangeMeta | null
}
