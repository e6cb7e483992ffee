import type { DocumentLog, Key, LoadedLog } from '../../engine/engine.ts'
import { type LoadedRoom, type LoadRoomOptions, type LogTail, loadRoom } from './load-room.ts'

/** As `keepSince`: no older version is kept. */
export const keepNone = Number.POSITIVE_INFINITY

/** Yjs applies an update of a keystroke in the time in which it reads so many bytes of a snapshot (8 µs, measured). */
const bytesPerEntryRead = 256
/** What an update takes on disk beside its bytes: its key, its user, its header. */
const bytesPerEntryStored = 128
/** Of a log in its final form the tail takes at most this share of the snapshot, or so many bytes. */
const finalTail = { share: 0.25, bytes: 4_096 }

/**
 * The tail may have this share of the bytes of the snapshot: what opening reads stays within so much more than the
 * state, and an edit that makes the document longer writes 1 / share + 2 times its own size, snapshots included.
 */
const tailShareMax = 0.75

export const isLarge = ({ bytes }: LogTail, snapshotBytes: number): boolean =>
  bytes > tailShareMax * snapshotBytes

/** Is opening the log about twice as slow as its snapshot alone, or is the tail large? */
export const isSlowToOpen = (tail: LogTail, snapshotBytes: number): boolean =>
  isLarge(tail, snapshotBytes) || tail.entries * bytesPerEntryRead > snapshotBytes

/** Does the tail take so much space that a document nobody edits any more is better stored anew? */
export const isTailLarge = ({ entries, bytes }: LogTail, snapshotBytes: number): boolean =>
  bytes + entries * bytesPerEntryStored > Math.max(finalTail.bytes, finalTail.share * snapshotBytes)

/** Of a log that is left the tail takes at most this share of the snapshot, or so many bytes. */
const leftTail = { share: 1 / 16, bytes: 4_096 }

/**
 * Is a document that everybody leaves better stored anew, so that who comes next finds it ready to be handed out? To
 * put a tail into a large document takes a Y.Doc of all of it.
 */
export const isWorthCompactingOnClose = ({ entries, bytes }: LogTail, snapshotBytes: number): boolean =>
  bytes + entries * bytesPerEntryStored > Math.max(leftTail.bytes, leftTail.share * snapshotBytes)

/** Entries in a tail that may be bulky: what has fewer is not even looked at. */
export const bulkyEntriesMin = 32

/**
 * Puts one snapshot in the place of the whole log of a document, older versions included. Nobody may have the document
 * open. For commands: it may take long. @throws CorruptRecordError, StoreUnavailableError
 */
export const compactWhole = (log: DocumentLog, doc: Key): Promise<void> =>
  compactIf(log, doc, async () => true, { isBounded: false })

/** Like `compactWhole`, where nobody has edited since, and as far as it is worth it. */
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

/** Are there versions in the log from before its snapshot? @throws CorruptRecordError, StoreUnavailableError */
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
