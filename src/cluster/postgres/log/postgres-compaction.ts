import {
  attributionNumber,
  type CompactionRequest,
  canCompact,
  oldestSnapshot,
  snapshotsAfterCompaction,
} from '../../../core/store/log-state.ts'
import type { StoreClock } from '../cluster/database-clock.ts'
import { bytesArray, numberArray } from '../connection/arrays.ts'
import type { PostgresDatabase } from '../connection/database.ts'
import { allSettled, type DatabaseSession, rollback, statement } from '../connection/database-session.ts'
import { newSnapshots } from './document-change-set.ts'
import { headValues, lockHeads, moveHeads, readHead, rowOf } from './document-rows.ts'
import { upsertSnapshot } from './snapshot-rows.ts'

const dropSnapshots = statement(
  'drop-snapshots',
  'delete from snapshot where doc = $1 and epoch = $2 and seq <> all($3::bigint[])',
)
/** Statement that deletes one slice of the entries that no version needs. */
const dropEntries = statement<{ seq: number }>(
  'drop-entries',
  `delete from entry where doc = $1 and epoch = $2 and seq in
     (select seq from entry where doc = $1 and epoch = $2 and seq <= $3 order by seq limit $4)
   returning seq`,
)
/** Maximum number of entries that one statement deletes. */
const sliceEntries = 1000

/** The entries of a log that a compaction has made unreachable. */
interface OutOfReach {
  readonly id: string
  readonly epoch: number
  readonly upTo: number
}

/** Replaces the oldest entries of a log with a snapshot. */
export class PostgresCompaction {
  readonly #database: PostgresDatabase
  readonly #clock: StoreClock

  constructor(database: PostgresDatabase, clock: StoreClock) {
    this.#database = database
    this.#clock = clock
  }

  /**
   * Writes the snapshot. Returns the entries that are now unreachable; null if the compaction was rejected.
   * Sends the snapshot before it locks the head, so that appends do not wait for a large upload.
   */
  async compact(
    key: Buffer,
    wanted: CompactionRequest,
    {
      snapshot,
      attribution,
      forget,
    }: { snapshot: Uint8Array; attribution: Uint8Array | null; forget: string | undefined },
  ): Promise<OutOfReach | null> {
    const [found] = await this.#database.read((session) => session.rows(readHead, [key]))
    const { id, standing } = rowOf(found)
    if (!canCompact(standing, wanted)) return null
    const { epoch, upTo } = wanted
    const rows = newSnapshots({ key, doc: id, epoch }, upTo, snapshot, attribution)
    return this.#database.write({
      ask: (session) => {
        const keeping = allSettled(rows.map((row) => upsertSnapshot(row)(session)))
        return allSettled([keeping, session.rows(lockHeads, [bytesArray([key])])])
      },
      act: ([, [stored]], write) => {
        const row = rowOf(stored)
        if (row.id !== id || !canCompact(row.standing, wanted)) {
          write((session) => session.rows(rollback))
          return null
        }
        const made = { seq: upTo, at: this.#clock.now() }
        const marks = snapshotsAfterCompaction(row.standing.marks, made, this.#clock.of(wanted.keepSince))
        const isForgotten = row.changed.by === forget && row.standing.head === upTo
        const changed = isForgotten ? { ...row.changed, by: '' } : row.changed
        const after = { ...row, changed, standing: { ...row.standing, marks } }
        // A mark with the number 0 represents the empty document, and must not keep an old attribution.
        const others = marks.map(({ seq }) => seq).filter((seq) => seq !== attributionNumber)
        const kept = numberArray(attribution === null ? others : [attributionNumber, ...others])
        write((session) => session.rows(moveHeads, headValues([[key, after]])))
        write((session) => session.rows(dropSnapshots, [id, epoch, kept]))
        return { id, epoch, upTo: oldestSnapshot(marks).seq }
      },
    })
  }

  /**
   * Deletes unreachable entries. If the deletion fails, a later compaction deletes the remaining entries.
   * @throws StoreUnavailableError
   */
  async sweep({ id, epoch, upTo }: OutOfReach): Promise<void> {
    const slice = (session: DatabaseSession) => session.rows(dropEntries, [id, epoch, upTo, sliceEntries])
    for (;;) if ((await this.#database.read(slice)).length < sliceEntries) return
  }
}
