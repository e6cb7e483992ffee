import type { DocumentLog, Key, LoadedLog } from '../../engine/engine.ts'
import { type LoadedRoom, type LoadRoomOptions, type LogTail, loadRoom } from './load-room.ts'

/** Value of `keepSince` with which no older version is kept. */
export const keepNone = Number.POSITIVE_INFINITY

/** Bytes of a snapshot that Yjs reads in the time in which it applies the update of a keystroke (8 µs, measured). */
const bytesPerEntryRead = 256
/** Bytes on disk of an update in addition to its own: its key, its user and its header. */
const bytesPerEntryStored = 128
/** Maximum tail of a compacted log: the larger of a share of the snapshot and a number of bytes. */
const finalTail = { share: 0.25, bytes: 4_096 }

/**
 * Maximum share of the tail in the bytes of the snapshot. It bounds the additional bytes that opening reads, and an
 * edit that makes the document longer writes 1 / share + 2 times its own size, snapshots included.
 */
const tailShareMax = 0.75

export const isLarge = ({ bytes }: LogTail, snapshotBytes: number): boolean =>
  bytes > tailShareMax * snapshotBytes

/** Returns whether opening the log is about twice as slow as its snapshot alone, or whether the tail is large. */
export const isSlowToOpen = (tail: LogTail, snapshotBytes: number): boolean =>
  isLarge(tail, snapshotBytes) || tail.entries * bytesPerEntryRead > snapshotBytes

/** Returns whether the tail takes enough space to compact the log of a document without edits. */
export const isTailLarge = ({ entries, bytes }: LogTail, snapshotBytes: number): boolean =>
  bytes + entries * bytesPerEntryStored > Math.max(finalTail.bytes, finalTail.share * snapshotBytes)

/** Maximum tail of a log that all members have left: the larger of a share of the snapshot and a number of bytes. */
const leftTail = { share: 1 / 16, bytes: 4_096 }

/**
 * Returns whether compaction is worth it when the last member leaves. The next client then receives the snapshot as it
 * is stored, because joining a tail into a large document takes a Y.Doc of all of it.
 */
export const isWorthCompactingOnClose = ({ entries, bytes }: LogTail, snapshotBytes: number): boolean =>
  bytes + entries * bytesPerEntryStored > Math.max(leftTail.bytes, leftTail.share * snapshotBytes)

/** Minimum entries of a tail that is checked for its size. */
export const bulkyEntriesMin = 32

/**
 * Replaces the whole log of a document, older versions included, by one snapshot. The document must not be open. For
 * commands, because it may take long. @throws CorruptRecordError, StoreUnavailableError
 */
export const compactWhole = (log: DocumentLog, doc: Key): Promise<void> =>
  compactIf(log, doc, async () => true, { isBounded: false })

/** Compacts like `compactWhole` if the document has no edit since `editedSince` and the result is worth it. */
export async function compactIdleLog(
  log: DocumentLog,
  doc: Key,
  editedSince: number,
): Promise<'done' | 'later'> {
  let outcome: 'done' | 'later' = 'done'
  await compactIf(log, doc, async ({ loaded, state, tail }) => {
    if (loaded.changed.at >= editedSince) outcome = 'later'
    else if (isTailLarge(tail, state.sizeBytes - tail.bytes)) return true
    return outcome === 'done' && (await hasOlderVersions(log, doc))
  })
  return outcome
}

/** Returns whether the log has versions from before its snapshot. @throws CorruptRecordError, StoreUnavailableError */
export async function hasOlderVersions(log: DocumentLog, doc: Key): Promise<boolean> {
  const [head = null] = await log.heads([doc])
  return head !== null && head.base > head.oldest
}

interface LiveRoom extends LoadedRoom {
  readonly loaded: Extract<LoadedLog, { state: 'live' }>
}

async function compactIf(
  log: DocumentLog,
  doc: Key,
  isWanted: (room: LiveRoom) => Promise<boolean>,
  options: LoadRoomOptions = {},
): Promise<void> {
  const room = await loadRoom(log, doc, options)
  const { loaded, state } = room
  if (loaded.state === 'live' && (await isWanted({ ...room, loaded }))) {
    const snapshot = state.encode()
    await log.compact(doc, loaded.epoch, loaded.base, loaded.head, snapshot, keepNone)
  }
  state.drop()
}
