import { ApiError } from '../../base/errors.ts'
import type { HistoryUpdates } from '../../content/history/document-history.ts'
import { parseVersion, type Version, versionOf } from '../../model/version.ts'
import type { DocumentLog, Key } from '../../store/engine.ts'
import { emptyUpdate } from '../document/document-state.ts'
import { loadVersionUpdates, pageBytes } from '../log/load-room.ts'

/** The updates of a range, and its versions. */
export interface LoadedHistory {
  readonly updates: Required<HistoryUpdates>
  readonly from: string
  readonly to: string
}

/**
 * Loads the updates between two versions, and those up to the current version. If the log no longer has the single
 * updates after a version, loads a whole state instead. After the empty document, it loads the oldest state of the log
 * and the updates after it, so that the history contains all deleted content that the log still has.
 * @param present the current version of the document, which must be durable
 * @throws ApiError FAILED_PRECONDITION if a version cannot be rebuilt; StoreUnavailableError, CorruptRecordError
 */
export async function loadHistory(
  log: DocumentLog,
  doc: Key,
  { from, to }: HistoryRange,
  present: Version,
): Promise<LoadedHistory> {
  const last = versionOf(present)
  const later = to ?? { version: last, state: null }
  const isCurrent = later.version === last && later.state === null
  const start = from ?? { version: versionOf({ epoch: present.epoch, seq: 0 }), state: emptyUpdate }
  const earlier = await stateAt(log, doc, start, present)
  const between =
    (await entriesBetween(log, doc, start, later, present)) ??
    (from === null ? await sinceOldest(log, doc, later, present) : null) ??
    (await stateAt(log, doc, later, present))
  const end: HistoryPoint = { version: last, state: null }
  const after = isCurrent
    ? []
    : ((await entriesBetween(log, doc, later, end, present)) ?? (await stateAt(log, doc, end, present)))
  return { updates: { from: earlier, to: between, after }, from: start.version, to: later.version }
}

/** Returns the updates that make up a version. @throws ApiError as for `loadHistory` */
async function stateAt(
  log: DocumentLog,
  doc: Key,
  { version, state }: HistoryPoint,
  present: Version,
): Promise<readonly Uint8Array[]> {
  if (state !== null) return [state]
  const wanted = parseVersion(version)
  const isPast = wanted !== null && wanted.epoch === present.epoch && wanted.seq <= present.seq
  const updates = isPast ? await loadVersionUpdates(log, doc, wanted) : null
  if (updates === null) throw await tooOld(log, doc)
  return updates
}

/** Returns the oldest state of a log and the entries after it up to a version; null if the log does not have them. */
async function sinceOldest(
  log: DocumentLog,
  doc: Key,
  to: HistoryPoint,
  present: Version,
): Promise<readonly Uint8Array[] | null> {
  const [head = null] = await log.heads([doc])
  if (head === null) return null
  const oldest = { epoch: present.epoch, seq: Math.max(1, head.oldest) }
  const state = await loadVersionUpdates(log, doc, oldest)
  const entries = await entriesBetween(log, doc, { version: versionOf(oldest), state: null }, to, present)
  return state === null || entries === null ? null : [...state, ...entries]
}

/** Returns the entries after one version up to another; null if the log no longer has all of them. */
async function entriesBetween(
  log: DocumentLog,
  doc: Key,
  from: HistoryPoint,
  to: HistoryPoint,
  { epoch, seq }: Version,
): Promise<readonly Uint8Array[] | null> {
  const [start, end] = [parseVersion(from.version), parseVersion(to.version)]
  if (start?.epoch !== epoch || end?.epoch !== epoch || end.seq > seq || start.seq > end.seq) return null
  const updates: Uint8Array[] = []
  for (let after = start.seq; after < end.seq; ) {
    const page = await log.loadAt(doc, epoch, end.seq, { after, bytesMax: pageBytes })
    if (page === null) return null
    for (const { bytes } of page.entries) updates.push(bytes)
    after = page.entries.at(-1)?.seq ?? end.seq
  }
  return updates
}

async function tooOld(log: DocumentLog, doc: Key): Promise<ApiError> {
  const [head = null] = await log.heads([doc])
  const oldest = head === null ? null : versionOf({ epoch: head.epoch, seq: Math.max(1, head.oldest) })
  return new ApiError(
    'crdt/version-too-old',
    `the version is unknown or too old; the oldest version that the log can rebuild is ${oldest ?? 'none'}: send a later version, or a saved version`,
    { details: { oldest } },
  )
}

/** One version of a document. */
export interface HistoryPoint {
  /** The version as text; see `versionOf`. */
  readonly version: string
  /** The whole state (V1) of a saved version; null if the version must be rebuilt from the log. */
  readonly state: Uint8Array | null
}

/** Two versions of a document. `from` null: the empty document. `to` null: the current version. */
export interface HistoryRange {
  readonly from: HistoryPoint | null
  readonly to: HistoryPoint | null
}
