import type { LoadAtOptions, LoadedLog, LoadedVersion, LoadOptions } from '../../../core/store/engine.ts'
import { baseSnapshot, effectiveSince, rebuildStart } from '../../../core/store/log-state.ts'
import { allSettled, type DatabaseSession } from '../connection/database-session.ts'
import { type DocumentRow, readHead, rowOf } from './document-rows.ts'
import { readAttributionRow, readPostgresEntries, readSnapshotAt } from './read-entries.ts'

/** Runs reads in one transaction, so that all of them see the data of the same moment. */
async function atOneMoment<T>(
  session: DatabaseSession,
  key: Buffer,
  work: (row: DocumentRow) => Promise<T>,
): Promise<T> {
  const begun = session.command('begin isolation level repeatable read read only')
  try {
    const [, [stored]] = await allSettled([begun, session.rows(readHead, [key])])
    return await work(rowOf(stored))
  } finally {
    await session.command('commit').catch(() => undefined)
  }
}

/** Reads a log. @throws DamagedRecordError */
export function readPostgresLog(
  session: DatabaseSession,
  key: Buffer,
  options: LoadOptions,
): Promise<LoadedLog> {
  return atOneMoment(session, key, async ({ id, standing, changed }) => {
    if (standing.state !== 'live') return standing
    const { epoch, head, marks } = standing
    const log = { key, id, epoch }
    const { seq: base, at: basedAt } = baseSnapshot(marks)
    const since = effectiveSince(standing, options)
    const snapshot = since === null && base > 0 ? await readSnapshotAt(session, log, base) : null
    const after = since ?? base
    const entries = await readPostgresEntries(session, log, { after, upTo: head, bytesMax: options.bytesMax })
    const more = after + entries.length < head
    const attribution =
      options.attribution === true ? { attribution: await readAttributionRow(session, log) } : {}
    return { state: 'live', epoch, base, basedAt, head, snapshot, entries, changed, more, ...attribution }
  })
}

/**
 * Reads the parts from which a version can be rebuilt. Returns null if the version cannot be rebuilt.
 * @throws DamagedRecordError
 */
export function readPostgresVersion(
  session: DatabaseSession,
  key: Buffer,
  { epoch, seq, after, bytesMax }: LoadAtOptions & { readonly epoch: number; readonly seq: number },
): Promise<LoadedVersion | null> {
  return atOneMoment(session, key, async ({ id, standing }) => {
    const base = rebuildStart(standing, { epoch, seq, after })
    if (base === null) return null
    const log = { key, id, epoch }
    const snapshot = after === undefined && base > 0 ? await readSnapshotAt(session, log, base) : null
    const entries = await readPostgresEntries(session, log, { after: base, upTo: seq, bytesMax })
    return { snapshot, base, entries, more: base + entries.length < seq }
  })
}
