import type { Version } from '../../model/version.ts'
import type { DocumentLog, Key, LoadedVersion } from '../../store/engine.ts'
import { DocumentState, emptyUpdate } from '../document/document-state.ts'
import { applyInSlices, pageBytes } from './load-room.ts'

/**
 * Returns the document at a version; null if that version can no longer be rebuilt. The caller owns the
 * result: it may change the document, and should destroy it. A long tail is applied in slices, so that other
 * work can run; the snapshot is applied in one step.
 * @throws StoreUnavailableError; CorruptRecordError if the stored bytes of the version are damaged
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

/**
 * Returns the updates (V1) of the document at a version: a snapshot (or an empty update) and the updates
 * after it. Returns null if that version can no longer be rebuilt.
 */
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
    // Null means that a compaction has removed the next entries since the last page was read. A newer
    // snapshot contains them, so the read starts again.
    if (page === null) return loadVersionUpdates(log, doc, { epoch, seq })
  }
}

type LoadedPage = LoadedVersion | null
