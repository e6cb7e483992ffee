import type { WriteRight } from '../../directory/write-right.ts'
import type { DocumentLog, FenceStore, Health, Key } from '../../engine/engine.ts'
import { ApiError } from '../../errors.ts'
import type { DocumentAddress } from '../../model/address.ts'
import { parseVersion, type Version, versionOf } from '../../model/version.ts'
import { struct } from '../../update/item-content.ts'
import { type ReadItem, readUpdate } from '../../update/read-update.ts'
import type { Commits } from '../log/commits.ts'
import type { AppliedUpdate } from '../room/broadcast.ts'
import { type DocumentState, emptyUpdate } from '../room/document-state.ts'
import type { RoomTrace } from '../room/room-trace.ts'
import { isStale, StaleRightError } from '../room/write-rights.ts'
import type { ThreadPool } from '../threads/thread-pool.ts'

/** How a durable or current change is applied. `among others`: the document has updates that are not durable. */
export type ChangeApplication = 'alone' | 'among others'

/** An update that has not been applied. */
export interface ConditionalUpdate {
  readonly head: number
  readonly update: AppliedUpdate
  /**
   * Called when the update is durable, before it is sent. `among others`: the document has updates that are not
   * durable.
   */
  readonly apply: (how: 'alone' | 'among others') => void
}

/** The part of a room that changes and reads of backends use. */
export interface EditContext {
  readonly log: DocumentLog
  readonly address: DocumentAddress
  readonly doc: Key
  readonly state: DocumentState
  readonly commits: Commits
  readonly threads: ThreadPool
  /** Threads for reading, which does not wait until replacements are done. */
  readonly readers: ThreadPool
  /** Encoded size the document may reach. */
  readonly documentBytesMax: number
  /** The health of the store: whether it can write. */
  readonly health: () => Health
  /** Applies the arrived updates, unless the room is held. @throws ApiError UNAVAILABLE when the room is closed */
  readonly begin: () => void
  /** Holds back updates that arrive from now on. Call the returned function once to let them continue. */
  readonly hold: () => () => void
  /** Null while the document is not locked; otherwise resolves when it may change again. */
  readonly held: () => Promise<void> | null
  /** Counts a replacement by where it was computed; `thread_locked`: on a thread, while arriving updates waited. */
  readonly replaced: (mode: 'inline' | 'thread' | 'thread_locked') => void
  readonly commit: (update: AppliedUpdate) => void
  /** Resolves when the workspace has not spent its share of the event loop. */
  readonly share: () => Promise<void>
  /** Runs work for edits on the event loop, and counts its time against the share of the workspace. */
  readonly charged: <T>(updates: number, work: () => T) => T
  /**
   * Stores an update that is right only for the document as it is at `head`, and then applies it. Resolves with its
   * number; null if the document has changed since, and then nothing was stored.
   */
  readonly commitAt: (conditional: ConditionalUpdate) => Promise<number | null>
  /** Has updates that arrive at other nodes wait for the next change of this one, for `ms` at most. */
  readonly pauseOthers: (ms: number) => void
  readonly fences: Pick<FenceStore, 'isCurrent'>
  /** Call if the document in memory is no longer reliable. */
  readonly fail: (error: unknown) => void
  readonly trace?: RoomTrace | undefined
}

/** The state of the document that a change requires. */
export interface EditPrecondition {
  /** `nothing`: the change makes the document; `either`: it may. */
  readonly expects: 'content' | 'nothing' | 'either'
  /** The permission to make the change; undefined: nothing is checked. */
  readonly right?: WriteRight | undefined
  /** Refuse unless the document is at this version. */
  readonly ifVersion?: string | undefined
  /** The storage limit that the workspace has reached, thrown unless the change only deletes; null or undefined: none. */
  readonly full?: ApiError | null | undefined
  /** Work before the creation of the document. It runs only if the new content is valid. */
  readonly making?: (() => Promise<void>) | undefined
}

export interface RestoreOptions extends EditPrecondition {
  /** Computes the change without making it. */
  readonly dryRun?: boolean | undefined
}

export interface ReplaceOptions extends RestoreOptions {
  /** Compute the change for the document at this version, and merge it: later updates stay. */
  readonly baseVersion?: string | undefined
}

export interface EditResult<T> {
  readonly result: T
  /** The document's version after the change. */
  readonly version: string
  /** Size of the update that clients received; 0 when nothing changed. */
  readonly bytes: number
}

export const presentVersion = ({ commits }: EditContext): Version => ({
  epoch: commits.epoch,
  seq: commits.head,
})

export const noContent = (): ApiError =>
  new ApiError(
    'crdt/no-content',
    'there is no CRDT data for this editor id; create it with upsert: true or /v2/crdt/add',
  )

/** @throws ApiError when an update adds content to a workspace that is full */
export function checkStorage({ full = null }: EditPrecondition, update: Uint8Array | null): void {
  if (full !== null && update !== null && addsContent(update)) throw full
}

/** The stored kind of an emptied root is a single deleted item: it adds nothing. */
function addsContent(update: Uint8Array): boolean {
  // An update begins with the number of clients that have inserted something.
  if (update[0] === 0) return false
  let deleted = 0
  const item = ({ kind }: ReadItem): void => {
    if (kind === struct.deleted) deleted += 1
  }
  const { structs } = readUpdate(update, { allowSubdocuments: true }, { item })
  return structs > 1 || deleted === 0
}

/** Returns whether the change is going to create the document. */
export const isCreating = ({ commits }: EditContext, { expects }: EditPrecondition): boolean =>
  commits.existence !== 'live' && expects !== 'content'

/**
 * Prepares the creation of the document, if the change is going to create it.
 * @throws ApiError as `beginEdit` does; then nothing is prepared
 */
export async function prepareCreate(room: EditContext, options: EditPrecondition): Promise<void> {
  if (!isCreating(room, options)) return
  beginEdit(room, options)
  await options.making?.()
}

/**
 * Applies the arrived updates, then checks the preconditions of a change. The result is valid only until the document
 * changes.
 * @throws ApiError UNAVAILABLE, NOT_FOUND, ALREADY_EXISTS, ABORTED; StaleRightError
 */
export function beginEdit(room: EditContext, { expects, ifVersion, right, full }: EditPrecondition): void {
  const { commits } = room
  const store = room.health()
  if (!store.ok)
    throw new ApiError('server/store-unavailable', `the store is not available: ${store.reason}; try again`)
  if (right !== undefined && isStale(room.fences, right)) throw new StaleRightError()
  room.begin()
  const exists = commits.existence === 'live'
  if (!exists && expects === 'content') throw full ?? noContent()
  if (exists && expects === 'nothing') {
    throw new ApiError('crdt/content-exists', 'this editor id has CRDT data: use /v2/crdt/update')
  }
  const version = versionOf(presentVersion(room))
  if (ifVersion !== undefined && ifVersion !== version) {
    throw new ApiError(
      'crdt/version-conflict',
      'the document has moved on from ifVersion; read it again and send its version',
      { details: { version } },
    )
  }
}

/** Commits an applied change. @param added null if the change had no effect */
export function commitEdit(
  room: EditContext,
  { by, right }: { readonly by: string; readonly right: WriteRight | undefined },
  added: Uint8Array | null,
): void {
  const { state, commits } = room
  // An update without content also creates a document: content that was added empty can be read as empty.
  const bytes = added ?? (commits.existence === 'live' ? null : emptyUpdate)
  if (bytes === null) return
  const summary = readUpdate(bytes, { allowSubdocuments: true })
  state.advance(summary)
  room.commit({ bytes, by, from: null, summary, right })
}

/** Resolves when all updates that are applied so far are durable and sent. @throws ApiError UNAVAILABLE */
export async function waitUntilDurable<T>(
  { commits }: EditContext,
  result: T,
): Promise<{ result: T; version: string }> {
  try {
    const seq = await commits.durable
    return { result, version: versionOf({ epoch: commits.epoch, seq }) }
  } catch (cause) {
    return toUnavailable(cause)
  }
}

/** @throws ApiError UNAVAILABLE */
export function toUnavailable(cause: unknown): never {
  // The store has not failed when a permission has ended.
  if (cause instanceof ApiError) throw cause
  throw new ApiError('server/store-unavailable', 'the change could not be stored; try again', { cause })
}

/** Maximum reads of the document, while other nodes change it, before arriving updates must wait. */
const unheldLooks = 3

/**
 * Returns the result of `look` and the version that it belongs to, when that version is durable. It contains every
 * update that any node has acknowledged before. @throws ApiError UNAVAILABLE
 */
export async function readDurable<T>(
  room: EditContext,
  look: () => T,
): Promise<{ result: T; version: string }> {
  await room.commits.reach().catch(toUnavailable)
  for (let looks = 0; ; looks += 1) {
    const release = looks < unheldLooks ? null : await pauseIncoming(room)
    try {
      room.begin()
      const result = look()
      const seq = await room.commits.exact.catch(toUnavailable)
      if (seq !== null) return { result, version: versionOf({ epoch: room.commits.epoch, seq }) }
    } finally {
      release?.()
    }
  }
}

/**
 * Holds back arriving updates, and resolves when no append is in progress. Call the returned function to let them
 * continue. Until that call, all applied updates are durable.
 */
export async function pauseIncoming(room: EditContext): Promise<() => void> {
  while (room.held() !== null) await room.held()
  const release = room.hold()
  await room.commits.settled()
  return release
}

/**
 * Makes a change. A rejection reveals the state of the document, so, like any response, it waits until that state is
 * durable. If this replica turns out to be behind the log, the change is tried a second time.
 */
export async function rejectWhenDurable<T>(room: EditContext, change: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await change()
    } catch (error) {
      if (!(error instanceof ApiError) || error.status === 'UNAVAILABLE') throw error
      await waitUntilDurable(room, null)
      if (tries > 1 || (await hasCaughtUp(room))) throw error
    }
  }
}

/**
 * Returns false if other nodes have changed the document without a notice: their updates are applied then. @throws
 * ApiError UNAVAILABLE
 */
export const hasCaughtUp = async ({ commits }: EditContext): Promise<boolean> =>
  commits.endsAt(commits.head).catch(toUnavailable)

/**
 * Returns the base version of a change; null if the change starts from the present document, which `baseVersion` may
 * also name.
 * @throws ApiError FAILED_PRECONDITION if `baseVersion` is not a version of this document
 */
export function resolveBase(
  room: EditContext,
  { baseVersion }: { readonly baseVersion?: string | undefined },
): Version | null {
  if (baseVersion === undefined) return null
  const base = parseVersion(baseVersion)
  const present = presentVersion(room)
  if (base === null || room.commits.existence !== 'live' || base.epoch !== present.epoch)
    throw baseVersionExpired()
  return base.seq === present.seq ? null : base
}

/** Returns the size that a working copy of the document may reach: the updates since its version also take space. */
export const copySizeMax = ({ state, documentBytesMax }: EditContext, copyBytes: number): number =>
  documentBytesMax - Math.max(0, state.sizeBytes - copyBytes)

export const baseVersionExpired = (): ApiError =>
  new ApiError('crdt/base-version-too-old', 'baseVersion is unknown or too old: read the document again')
