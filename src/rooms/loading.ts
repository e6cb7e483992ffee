import type { DocumentLog, Key, LoadedLog } from '../engine/engine.ts'
import type { LogTail } from './compaction.ts'
import { RoomState } from './state.ts'

/** Bytes of entries read from the log at once. */
const pageBytes = 8 * 1024 * 1024
/** Entries applied in one transaction before other work gets its turn. */
const entriesPerTurn = 4_000

export interface LoadedRoom {
  readonly loaded: LoadedLog
  readonly state: RoomState
  /** Number and bytes of the entries behind the snapshot. */
  readonly tail: LogTail
}

/** Reads a log into memory. Long tails are applied in slices, so that other rooms stay responsive. */
export async function loadRoom(log: DocumentLog, doc: Key): Promise<LoadedRoom> {
  let loaded = await log.load(doc, { bytesMax: pageBytes })
  if (loaded.state !== 'live')
    return { loaded, state: RoomState.fromBytes(null), tail: { entries: 0, bytes: 0 } }
  const first = loaded
  const state = RoomState.fromBytes(loaded.snapshot)
  const tail = { entries: 0, bytes: 0 }
  for (;;) {
    await applyEntries(
      state,
      loaded.entries.map((entry) => entry.bytes),
      tail,
    )
    const last = loaded.entries.at(-1)
    if (!loaded.more || last === undefined) break
    loaded = await log.load(doc, { since: last.seq, epoch: first.epoch, bytesMax: pageBytes })
    if (loaded.state !== 'live' || loaded.epoch !== first.epoch) return loadRoom(log, doc)
  }
  state.loaded()
  return { loaded: { ...first, head: Math.max(first.head, loaded.head) }, state, tail }
}

async function applyEntries(state: RoomState, updates: readonly Uint8Array[], tail: LogTail): Promise<void> {
  for (let start = 0; start < updates.length; start += entriesPerTurn) {
    const slice = updates.slice(start, start + entriesPerTurn)
    state.load(slice.map((bytes) => ({ bytes })))
    tail.entries += slice.length
    for (const bytes of slice) tail.bytes += bytes.length
    if (start + entriesPerTurn < updates.length) await new Promise((resolve) => setImmediate(resolve))
  }
}
