import type { DocumentLog, Key, LoadedLog } from '../../store/engine.ts'
import { type LoadedRoom, type LoadRoomOptions, type LogTail, loadRoom } from './load-room.ts'
import { compactedAttribution } from './read-attribution.ts'

/** Value of `keepSince` with which a compaction keeps no older version. */
export const keepNone = Number.POSITIVE_INFINITY

/**
 * Number of bytes of a snapshot that Yjs reads in the time that it needs to apply the update of one keystroke
 * (8 µs, measured).
 */
const bytesPerEntryRead = 256
/** Bytes that an update takes on disk in addition to its content: its key, its user and its header. */
const bytesPerEntryStored = 128
/**
 * Maximum size of the tail of a log that counts as compacted: a share of the snapshot or a number of bytes,
 * whichever is larger.
 */
const finalTail = { share: 0.25, bytes: 4_096 }

/**
 * Maximum bytes of the tail, as a share of the bytes of the snapshot. It limits the bytes that opening reads
 * in addition to the snapshot. With it, an edit that makes the document longer writes at most 1 / share + 2
 * times its own size, including its part of the snapshots.
 */
const tailShareMax = 0.75

export const isLarge = ({ bytes }: LogTail, snapshotBytes: number): boolean =>
  bytes > tailShareMax * snapshotBytes

/**
 * Returns whether the tail is large, or whether its number of entries makes opening the log take about twice
 * as long as opening its snapshot alone.
 */
export const isSlowToOpen = (tail: LogTail, snapshotBytes: number): boolean =>
  isLarge(tail, snapshotBytes) || tail.entries * bytesPerEntryRead > snapshotBytes

/** Returns whether the tail of the log of an idle document is large enough for a compaction. */
export const isTailLarge = ({ entries, bytes }: LogTail, snapshotBytes: number): boolean =>
  bytes + entries * bytesPerEntryStored > Math.max(finalTail.bytes, finalTail.share * snapshotBytes)

/**
 * Maximum size of the tail of a log that is not compacted when the last member leaves: a share of the
 * snapshot or a number of bytes, whichever is larger.
 */
const leftTail = { share: 1 / 16, bytes: 4_096 }

/**
 * Returns whether the log should be compacted when the last member leaves. After a compaction, the next
 * client receives the snapshot as it is stored. Without a compaction, the tail must be joined with a large
 * document, which may need a Y.Doc of the whole document.
 */
export const isWorthCompactingOnClose = ({ entries, bytes }: LogTail, snapshotBytes: number): boolean =>
  bytes + entries * bytesPerEntryStored > Math.max(leftTail.bytes, leftTail.share * snapshotBytes)

/** Returns whether the workspace of a document keeps the authors of changes. */
export type KeepsAttribution = (doc: Key) => Promise<boolean>

/**
 * Minimum number of entries in the tail of a log that is checked for compaction after a start. A log with
 * fewer entries is checked only if it has older versions.
 */
export const bulkyEntriesMin = 32

/**
 * Replaces the whole log of a document, including older versions, with one snapshot. The document must not be
 * open. Only commands of the command line use this function, because it may take long.
 * @throws CorruptRecordError, StoreUnavailableError
 */
export const compactWhole = (log: DocumentLog, doc: Key, keepsAttribution: KeepsAttribution): Promise<void> =>
  compactIf(log, doc, keepsAttribution, async () => true, { isBounded: false })

/**
 * Compacts a log as `compactWhole` does, if the document has no edit since `editedSince` and the log becomes
 * clearly smaller. Resolves with `later` if the document has such an edit, otherwise with `done`.
 */
export async function compactIdleLog(
  log: DocumentLog,
  doc: Key,
  editedSince: number,
  keepsAttribution: KeepsAttribution,
): Promise<'done' | 'later'> {
  let outcome: 'done' | 'later' = 'done'
  await compactIf(log, doc, keepsAttribution, async ({ loaded, state, tail }) => {
    if (loaded.changed.at >= editedSince) outcome = 'later'
    else if (isTailLarge(tail, state.sizeBytes - tail.bytes)) return true
    return outcome === 'done' && (await hasOlderVersions(log, doc))
  })
  return outcome
}

/**
 * Returns whether the log has entries that are older than its snapshot.
 * @throws CorruptRecordError, StoreUnavailableError
 */
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
  keepsAttribution: KeepsAttribution,
  isWanted: (room: LiveRoom) => Promise<boolean>,
  options: LoadRoomOptions = {},
): Promise<void> {
  const room = await loadRoom(log, doc, options)
  const { loaded, state } = room
  if (loaded.state === 'live' && (await isWanted({ ...room, loaded }))) {
    const { epoch, base, head: upTo } = loaded
    const snapshot = state.encode()
    const attribution = (await keepsAttribution(doc))
      ? await compactedAttribution(log, doc, { epoch, base, upTo })
      : null
    await log.compact(doc, epoch, base, upTo, snapshot, keepNone, attribution?.bytes)
  }
  state.drop()
}
