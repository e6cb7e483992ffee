import { ApiError, errorMessage } from '../../base/errors.ts'
import type { Version } from '../../model/version.ts'
import {
  CorruptRecordError,
  type DocumentLog,
  type Key,
  type LoadedLog,
  type LoadedVersion,
} from '../../store/engine.ts'
import { IntegrationTooExpensiveError, Placements } from '../../update/integration.ts'
import { readOutline } from '../../update/outline.ts'
import { deletionSteps } from '../../update/predict-steps.ts'
import { splitUpdate } from '../../update/split-update.ts'
import { DocumentState, emptyUpdate } from '../document/document-state.ts'
import { bytesPerTick, loopStepsMax, structsPerTick } from '../document/integration-limits.ts'
import { inEachTick, type RunSlice } from '../document/loop-slices.ts'
import { DocumentDamagedError, DocumentExpensiveError } from '../document/unreadable-documents.ts'

/** Maximum bytes of entries in one read of the log. */
export const pageBytes = 8 * 1024 * 1024
/** Maximum number of entries that are joined as bytes. */
const joinedMax = 4_000
/**
 * Number of bytes at which a slice of entries ends, and at which an entry is split. Other work runs between two slices.
 * It takes 10 ms to apply this many bytes of keystrokes.
 */
const bytesPerSlice = 32_768

/** The entries after the newest snapshot of a log. */
export interface LogTail {
  entries: number
  bytes: number
}

export interface LoadedRoom {
  readonly loaded: LoadedLog
  readonly state: DocumentState
  readonly tail: LogTail
}

/**
 * Whether the stored bytes are known to be readable. `doubted`: they were damaged before, so Yjs must read
 * them as a check.
 */
type ReadTrust = 'trusted' | 'doubted'

/**
 * A document that a thread has read: `state` is the whole state (V1), `placements` are the positions of its
 * items.
 */
export interface PlacedDocument {
  readonly state: Uint8Array
  readonly placements: readonly number[]
}

/** Thrown if a stored update deletes too much for one slice. The document can be read fast when its log is compacted. */
export class LargeDeletionError extends DocumentExpensiveError {}

export interface LoadRoomOptions {
  /** Default: `trusted`. */
  readonly trust?: ReadTrust
  /**
   * Reads a document from its updates, on a thread. Present if the document is too expensive for the event
   * loop. Default: no thread is used.
   */
  readonly place?: (updates: readonly Uint8Array[]) => Promise<PlacedDocument>
  /** Splits a state or an update as `splitUpdate` does, on a thread. Default: `splitUpdate` in this thread. */
  readonly split?: (bytes: Uint8Array) => Promise<readonly Uint8Array[]>
  /** Runs one slice of the work. Default: `inEachTick`. */
  readonly runSlice?: RunSlice
  /** As in `StateOptions`. */
  readonly isBounded?: boolean
}

/**
 * Reads a log into memory. If the log is compacted or created again during the read, starts again.
 * @throws CorruptRecordError, StoreUnavailableError; DocumentExpensiveError if a thread must read the
 * document
 */
export async function loadRoom(
  log: DocumentLog,
  doc: Key,
  options: LoadRoomOptions = {},
): Promise<LoadedRoom> {
  const { trust = 'trusted', place, isBounded = true } = options
  let loaded = await log.load(doc, { bytesMax: pageBytes })
  if (loaded.state !== 'live')
    return { loaded, state: DocumentState.fromBytes(null), tail: { entries: 0, bytes: 0 } }
  const asBytes = trust === 'trusted' && place === undefined ? storedAsBytes(loaded, isBounded) : null
  if (asBytes !== null) return { loaded, ...asBytes }
  const first = loaded
  const state = DocumentState.fromBytes(loaded.snapshot, { isBounded })
  const updates = [loaded.snapshot ?? emptyUpdate]
  const tail = { entries: 0, bytes: 0 }
  for (;;) {
    tail.entries += loaded.entries.length
    for (const { bytes } of loaded.entries) tail.bytes += bytes.length
    if (place === undefined) await applyStored(state, doc, loaded.entries, options)
    else updates.push(...loaded.entries.map(({ bytes }) => bytes))
    const last = loaded.entries.at(-1)
    if (!loaded.more || last === undefined) break
    loaded = await log.load(doc, { since: last.seq, epoch: first.epoch, bytesMax: pageBytes })
    if (loaded.state !== 'live' || loaded.epoch !== first.epoch || loaded.base !== first.base) {
      return loadRoom(log, doc, options)
    }
  }
  const whole = { ...first, head: Math.max(first.head, loaded.head) }
  if (place !== undefined) return { loaded: whole, state: placedState(await place(updates)), tail }
  if (tail.entries > 0) state.recount()
  return { loaded: whole, state, tail }
}

const placedState = ({ state, placements }: PlacedDocument): DocumentState =>
  DocumentState.fromBytes(state, { placements: new Placements(placements) })

/**
 * Joins the snapshot and the entries that were read to one state, as bytes. Returns null if more entries
 * follow, or if joining the entries needs a Y.Doc.
 */
function storedAsBytes(
  { snapshot, entries, more }: LiveLog,
  isBounded: boolean,
): Pick<LoadedRoom, 'state' | 'tail'> | null {
  if (more || entries.length > joinedMax) return null
  const updates = entries.map(({ bytes }) => bytes)
  const state = DocumentState.fromStored(snapshot, updates, { isBounded })
  const bytes = updates.reduce((sum, update) => sum + update.length, 0)
  return state && { state, tail: { entries: entries.length, bytes } }
}

/**
 * Applies stored entries to the state.
 * @throws CorruptRecordError if Yjs cannot read the stored bytes, including the snapshot;
 * DocumentExpensiveError
 */
async function applyStored(
  state: DocumentState,
  doc: Key,
  entries: LoadedEntries,
  options: Slicing,
): Promise<void> {
  const place = `document ${JSON.stringify(doc)} is damaged: `
  try {
    await applyInSlices(state, entries, options, state.isBounded ? loopStepsMax : undefined)
    state.check()
  } catch (error) {
    if (error instanceof IntegrationTooExpensiveError) throw new DocumentExpensiveError(error)
    if (error instanceof DocumentDamagedError)
      throw new CorruptRecordError(place + error.record.message, { cause: error })
    // The document is too expensive for the event loop, or too many jobs wait for a thread.
    if (error instanceof ApiError) throw error
    throw new CorruptRecordError(`${place}Yjs cannot read it: ${errorMessage(error)}`, { cause: error })
  }
}

type LiveLog = Extract<LoadedLog, { state: 'live' }>
type LoadedEntries = LiveLog['entries']

type Slicing = Pick<LoadRoomOptions, 'split' | 'runSlice'>
const splitHere: NonNullable<Slicing['split']> = async (bytes) =>
  splitUpdate(bytes, structsPerTick, bytesPerTick)

/**
 * Applies the entries in slices, so that other rooms stay responsive while a long tail is applied. A slice ends at a
 * number of bytes, and at a number of steps for what its entries delete.
 * @param deletionsMax maximum steps for what one update deletes
 * @throws LargeDeletionError
 */
async function applyInSlices(
  state: DocumentState,
  entries: readonly { readonly bytes: Uint8Array }[],
  { split = splitHere, runSlice = inEachTick }: Slicing = {},
  deletionsMax = Number.POSITIVE_INFINITY,
): Promise<void> {
  if (state.bytesToSplit !== null) await state.openIn(await split(state.bytesToSplit), runSlice)
  let slice: { readonly bytes: Uint8Array }[] = []
  let bytesOfSlice = 0
  let stepsOfSlice = 0
  for (const { bytes } of entries) {
    for (const part of bytes.length > bytesPerSlice ? await split(bytes) : [bytes]) {
      const steps = deletionSteps(part, readOutline(part), state.doc)
      if (steps > deletionsMax) throw new LargeDeletionError(new IntegrationTooExpensiveError(deletionsMax))
      const isFull = bytesOfSlice + part.length > bytesPerSlice || stepsOfSlice + steps > loopStepsMax
      if (bytesOfSlice > 0 && isFull) {
        await runSlice(() => state.applyPlain(slice))
        slice = []
        bytesOfSlice = 0
        stepsOfSlice = 0
      }
      slice.push({ bytes: part })
      bytesOfSlice += part.length
      stepsOfSlice += steps
    }
  }
  state.applyPlain(slice)
}

/**
 * Returns the document at a version; null if that version can no longer be rebuilt. The caller owns the
 * result: it may change the document, and should destroy it. It is made in slices, so that other work can run.
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
