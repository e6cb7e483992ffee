import type { LoadAtOptions, LoadedLog, LoadedVersion, LoadOptions } from '../engine.ts'
import { honouredSince, rebuiltFrom } from '../heads.ts'
import { baseOf } from '../marks.ts'
import { type DocumentRow, readHead, rowOf } from './document-rows.ts'
import { readEntries, readSnapshotAt } from './read-entries.ts'
import { all, type Session } from './session.ts'

/** Reads of one moment. */
export async function atOneMoment<T>(
  session: Session,
  key: Buffer,
  work: (row: DocumentRow) => Promise<T>,
): Promise<T> {
  const begun = session.command('begin isolation level repeatable read read only')
  try {
    const [, [stored]] = await all([begun, session.rows(readHead, [key])])
    return await work(rowOf(stored))
  } finally {
    await session.command('commit').catch(() => undefined)
  }
}

/** @throws DamagedRecord */
export function readLog(session: Session, key: Buffer, options: LoadOptions): Promise<LoadedLog> {
  return atOneMoment(session, key, async ({ id, standing, changed }) => {
    if (standing.state !== 'live') return standing
    const { epoch, head, marks } = standing
    const log = { key, id, epoch }
    const { seq: base, at: basedAt } = baseOf(marks)
    const since = honouredSince(standing, options)
    const snapshot = since === null && base > 0 ? await readSnapshotAt(session, log, base) : null
    const after = since ?? base
    const entries = await readEntries(session, log, { after, upTo: head, bytesMax: options.bytesMax })
    const more = after + entries.length < head
    return { state: 'live', epoch, base, basedAt, head, snapshot, entries, changed, more }
  })
}

/** @throws DamagedRecord */
export function readVersion(
  session: Session,
  key: Buffer,
  { epoch, seq, after, bytesMax }: LoadAtOptions & { readonly epoch: number; readonly seq: number },
): Promise<LoadedVersion | null> {
  return atOneMoment(session, key, async ({ id, standing }) => {
    const base = rebuiltFrom(standing, { epoch, seq, after })
    if (base === null) return null
    const log = { key, id, epoch }
    const snapshot = after === undefined && base > 0 ? await readSnapshotAt(session, log, base) : null
    const entries = await readEntries(session, log, { after: base, upTo: seq, bytesMax })
    return { snapshot, base, entries, more: base + entries.length < seq }
  })
}
