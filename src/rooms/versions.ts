import type * as Y from 'yjs'
import type { DocumentLog, Key } from '../engine/engine.ts'
import { applyInTurns, pageBytes } from './loading.ts'
import { RoomState } from './state.ts'

/**
 * The document as it was when `seq` was its last update: a copy of its own, which the caller may change and should
 * destroy. Null when that version can't be rebuilt any more. Other work gets its turn while a long tail is applied; the
 * snapshot is applied at once.
 * @throws StoreUnavailable; CorruptRecord when what the version is made of is damaged
 */
export async function documentAt(
  log: DocumentLog,
  doc: Key,
  epoch: number,
  seq: number,
): Promise<Y.Doc | null> {
  for (;;) {
    const first = await log.loadAt(doc, epoch, seq, { bytesMax: pageBytes })
    if (first === null) return null
    const state = RoomState.fromBytes(first.snapshot)
    const { doc: rebuilt } = state
    if (await applyPages(log, doc, { state, epoch, seq, first })) return rebuilt
    rebuilt.destroy()
  }
}

/** False when a compaction between two pages took away what was to follow: the rest starts from another snapshot then. */
async function applyPages(
  log: DocumentLog,
  doc: Key,
  parts: { state: RoomState; epoch: number; seq: number; first: NonNullable<LoadedPage> },
): Promise<boolean> {
  const { state, epoch, seq } = parts
  let page: LoadedPage = parts.first
  for (;;) {
    await applyInTurns(state, page.entries)
    const last = page.entries.at(-1)
    if (!page.more || last === undefined) return true
    page = await log.loadAt(doc, epoch, seq, { after: last.seq, bytesMax: pageBytes })
    if (page === null) return false
  }
}

type LoadedPage = Awaited<ReturnType<DocumentLog['loadAt']>>
