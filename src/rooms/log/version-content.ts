import type { DocumentLog, Key } from '../../engine/engine.ts'
import type { Version } from '../../model/version.ts'
import { DocumentState, emptyUpdate } from '../room/document-state.ts'
import { applyInSlices, pageBytes } from './load-room.ts'

/**
 * The document as it was at a version: a copy of its own, which the caller may change and should destroy. Null when
 * that version can't be rebuilt any more. Other work gets its turn while a long tail is applied; the snapshot is
 * applied at once.
 * @throws StoreUnavailableError; CorruptRecordError when what the version is made of is damaged
 */
export async function loadVersion(
  log: DocumentLog,
  doc: Key,
  version: Version,
): Promise<DocumentState | null> {
  const updates = await loadVersionUpdates(log, doc, version)
  if (updates === null) return null
  const [snapshot, ...entries] = updates
  const state = DocumentState.fromBytes(snapshot ?? null)
  await applyInSlices(
    state,
    entries.map((bytes) => ({ bytes })),
  )
  return state
}

/** The updates (V1) that make up the document at a version: a snapshot, or an empty update, and what came after it. */
export async function loadVersionUpdates(
  log: DocumentLog,
  doc: Key,
  { epoch, seq }: Version,
): Promise<Uint8Array[] | null> {
  const first = await log.loadAt(doc, epoch, seq, { bytesMax: pageBytes })
  if (first === null) return null
  const updates = [first.snapshot ?? emptyUpdate]
  let page: LoadedPage = first
  for (;;) {
    for (const { bytes } of page.entries) updates.push(bytes)
    const last = page.entries.at(-1)
    if (!page.more || last === undefined) return updates
    page = await log.loadAt(doc, epoch, seq, { after: last.seq, bytesMax: pageBytes })
    // A compaction between two pages took away what was to follow: the rest starts from another snapshot then.
    if (page === null) return loadVersionUpdates(log, doc, { epoch, seq })
  }
}

type LoadedPage = Awaited<ReturnType<DocumentLog['loadAt']>>
