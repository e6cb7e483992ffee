import { CorruptRecord, type DocumentLog, type Key, type LoadedLog } from '../engine/engine.ts'
import { messageOf } from '../errors.ts'
import type { LogTail } from './log-tail.ts'
import { DamagedDocument } from './quarantine.ts'
import { RoomState } from './state.ts'

/** Bytes of entries read from the log at once. */
export const pageBytes = 8 * 1024 * 1024
/** Entries applied before other work gets its turn. */
const entriesPerTurn = 4_000

export interface LoadedRoom {
  readonly loaded: LoadedLog
  readonly state: RoomState
  /** Number and bytes of the entries behind the snapshot. */
  readonly tail: LogTail
}

/** How much is believed of what is stored: `doubted` where it has been found damaged before, so that Yjs has to read it. */
export type Trust = 'trusted' | 'doubted'

/**
 * Reads a log into memory; anew where another node has made it anew or compacted it meanwhile.
 * @throws CorruptRecord, StoreUnavailable
 */
export async function loadRoom(log: DocumentLog, doc: Key, trust: Trust = 'trusted'): Promise<LoadedRoom> {
  let loaded = await log.load(doc, { bytesMax: pageBytes })
  if (loaded.state !== 'live')
    return { loaded, state: RoomState.fromBytes(null), tail: { entries: 0, bytes: 0 } }
  const asBytes = trust === 'trusted' ? storedAsBytes(loaded) : null
  if (asBytes !== null) return { loaded, ...asBytes }
  const first = loaded
  const state = RoomState.fromBytes(loaded.snapshot)
  const tail = { entries: 0, bytes: 0 }
  for (;;) {
    tail.entries += loaded.entries.length
    for (const { bytes } of loaded.entries) tail.bytes += bytes.length
    await applyStored(state, doc, loaded.entries)
    const last = loaded.entries.at(-1)
    if (!loaded.more || last === undefined) break
    loaded = await log.load(doc, { since: last.seq, epoch: first.epoch, bytesMax: pageBytes })
    if (loaded.state !== 'live' || loaded.epoch !== first.epoch || loaded.base !== first.base) {
      return loadRoom(log, doc, trust)
    }
  }
  if (tail.entries > 0) state.recount()
  return { loaded: { ...first, head: Math.max(first.head, loaded.head) }, state, tail }
}

/** What has been read, if that is all of it and no Y.Doc is needed to put it together. */
function storedAsBytes({ snapshot, entries, more }: LiveLog): Pick<LoadedRoom, 'state' | 'tail'> | null {
  if (more || entries.length > entriesPerTurn) return null
  const updates = entries.map(({ bytes }) => bytes)
  const state = RoomState.fromStored(snapshot, updates)
  const bytes = updates.reduce((sum, update) => sum + update.length, 0)
  return state && { state, tail: { entries: entries.length, bytes } }
}

/** @throws CorruptRecord when Yjs can't read what was stored, the snapshot included */
async function applyStored(state: RoomState, doc: Key, entries: LoadedEntries): Promise<void> {
  const place = `document ${JSON.stringify(doc)} is damaged: `
  try {
    await applyInTurns(state, entries)
    state.check()
  } catch (error) {
    if (error instanceof DamagedDocument)
      throw new CorruptRecord(place + error.record.message, { cause: error })
    throw new CorruptRecord(`${place}Yjs cannot read it: ${messageOf(error)}`, { cause: error })
  }
}

type LiveLog = Extract<LoadedLog, { state: 'live' }>
type LoadedEntries = LiveLog['entries']

/** Long tails are applied in slices, so that other rooms stay responsive. */
export async function applyInTurns(
  state: RoomState,
  entries: readonly { readonly bytes: Uint8Array }[],
): Promise<void> {
  for (let start = 0; start < entries.length; start += entriesPerTurn) {
    state.applyPlain(entries.slice(start, start + entriesPerTurn))
    if (start + entriesPerTurn < entries.length) await new Promise((resolve) => setImmediate(resolve))
  }
}
