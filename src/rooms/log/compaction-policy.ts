import type { DocumentLog, Key, LoadedLog } from '../../engine/engine.ts'
import { type LoadedRoom, type LoadRoomOptions, type LogTail, loadRoom } from './load-room.ts'

/** Value of `keepSince` that keeps no older version. */
export const keepNone = Number.POSITIVE_INFINITY

/**
 * Bytes of a snapshot that Yjs reads in the time in which it applies the update of one keystroke (8 µs,
 * measured).
 */
const bytesPerEntryRead = 256
/** Additional bytes that an update takes on disk: its key, its user and its header. */
const bytesPerEntryStored = 128
/** Maximum tail of a compacted log: a share of the snapshot or a number of bytes, whichever is larger. */
const finalTail = { share: 0.25, bytes: 4_096 }

/**
 * Maximum bytes of the tail as a share of the bytes of the snapshot. This limits the additional bytes that
 * opening reads. An edit that makes the document longer writes at most 1 / share + 2 times its own size,
 * including snapshots.
 */
const tailShareMax = 0.75

export const isLarge = ({ bytes }: LogTail, snapshotBytes: number): boolean =>
  bytes > tailShareMax * snapshotBytes

/**
 * Returns whether opening the log takes about twice as long as opening its snapshot alone, or the tail is
 * large.
 */
export const isSlowToOpen = (tail: LogTail, snapshotBytes: number): boolean =>
  isLarge(tail, snapshotBytes) || tail.entries * bytesPerEntryRead > snapshotBytes

/** Returns whether the tail is large enough to compact the log of a document without edits. */
export const isTailLarge = ({ entries, bytes }: LogTail, snapshotBytes: number): boolean =>
  bytes + entries * bytesPerEntryStored > Math.max(finalTail.bytes, finalTail.share * snapshotBytes)

/**
 * Maximum tail of a log when the last member has left: a share of the snapshot or a number of bytes,
 * whichever is larger.
 */
const leftTail = { share: 1 / 16, bytes: 4_096 }

/**
 * Returns whether the log should be compacted when the last member leaves. The next client then receives the
 * snapshot as it is stored. Otherwise the tail must be joined into a large document, which needs a Y.Doc of
 * the whole document.
 */
export const isWorthCompactingOnClose = ({ entries, bytes }: LogTail, snapshotBytes: number): boolean =>
  bytes + entries * bytesPerEntryStored > Math.max(leftTail.bytes, leftTail.share * snapshotBytes)

/** Minimum number of entries in a tail whose size is checked. */
export const bulkyEntriesMin = 32

/**
 * Replaces the whole log of a document, including older versions, with one snapshot. The document must not be
 * open. Only commands use this function, because it may take long.
 * @throws CorruptRecordError, StoreUnavailableError
 */
export const compactWhole = (log: DocumentLog, doc: Key): Promise<void> =>
  compactIf(log, doc, async () => true, { isBounded: false })

/**
 * Compacts like `compactWhole` if the document has no edit since `editedSince` and its log becomes clearly
 * smaller. Returns `later` if there is such an edit.
 */
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
