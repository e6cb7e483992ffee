import { backupObjectName, type ChunkEntry, chunkName, type ObjectProblem } from './manifest.ts'
import { StorageError } from './storage/storage-error.ts'

/** A damaged object of a repository. */
export interface BackupDamage {
  readonly object: string
  readonly problem: ObjectProblem
  /** Ids of the backups that need the object. */
  readonly backups: readonly string[]
  /** The records that the object contains; null for a manifest, whose backup is lost as a whole. */
  readonly records: { readonly count: number; readonly from: string; readonly before: string | null } | null
}

/** @param nextKey first key of the next chunk in base64; undefined for the last chunk */
export function chunkDamage(
  { digest, firstKey, pairs }: ChunkEntry,
  nextKey: string | undefined,
  problem: ObjectProblem,
  backups: readonly string[],
): BackupDamage {
  const before = nextKey === undefined ? null : recordName(nextKey)
  return {
    object: chunkName(digest),
    problem,
    backups,
    records: { count: pairs, from: recordName(firstKey), before },
  }
}

export const manifestDamage = (id: string, problem: ObjectProblem): BackupDamage => ({
  object: backupObjectName(id),
  problem,
  backups: [id],
  records: null,
})

/** Describes a damage as one line. */
export function damageText({ object, problem, backups, records }: BackupDamage): string {
  const is = problem === 'missing' ? 'is missing' : `is ${problem}`
  if (records === null) return `${object} ${is}: the backup cannot be read`
  const { count, from, before } = records
  const range = before === null ? `from ${from}` : `from ${from} up to ${before}`
  return `${object} ${is}: ${count} records ${range}, in ${backups.length} backups`
}

/** Maximum number of damages that the message of an error lists. */
const listedMax = 10

/** Thrown at the end of the reading of a damaged backup, with all its damages. */
export class BackupDamageError extends StorageError {
  readonly damages: readonly BackupDamage[]

  constructor(id: string, damages: readonly BackupDamage[]) {
    const listed = damages.slice(0, listedMax).map(damageText)
    const more = damages.length > listedMax ? [`and ${damages.length - listedMax} more`] : []
    super(`the backup ${id} is damaged: ${[...listed, ...more].join('; ')}`, {
      hint: 'restore an earlier backup with --at',
    })
    this.damages = damages
  }
}

/** Returns the printable part of a key, which contains the ids of the document or the record. */
function recordName(keyInBase64: string): string {
  const text = Buffer.from(keyInBase64, 'base64').toString()
  return JSON.stringify(
    text
      .replaceAll(/[\p{Cc}\ufffd]+/gu, ' ')
      .trim()
      .slice(0, 120),
  )
}
