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

/**
 * How a change is applied. `alone`: to exactly the document for which it was computed. `among others`: the
 * document also has updates that are not durable.
 */
export type ChangeApplication = 'alone' | 'among others'

/** An update that must be appended before it is applied. */
export interface ConditionalUpdate {
  readonly head: number
  readonly update: AppliedUpdate
  /**
   * Called when the update is durable, before it is sent. `among others`: the document has updates that are not
   * durable.
   */
  readonly apply: (how: 'alone' | 'among others') => void
}

/** The parts of a room that reads and changes by backends use. */
export interface EditContext {
  readonly log: DocumentLog
  readonly address: DocumentAddress
  readonly doc: Key
  readonly state: DocumentState
  readonly commits: Commits
  readonly threads: ThreadPool
  /** Threads for reads, so that reads do not wait until replacements are done. */
  readonly readers: ThreadPool
  /** Maximum encoded size of the document. */
  readonly documentBytesMax: number
  /** Returns the health of the store, which shows whether the store can write. */
  readonly health: () => Health
  /**
   * Applies the arrived updates, unless the document is locked. @throws ApiError UNAVAILABLE if the room is
   * closed
   */
  readonly begin: () => void
  /**
   * Locks the document: updates that arrive from now on wait. The returned function releases the lock; call
   * it once.
   */
  readonly hold: () => () => void
  /**
   * Null while the document is not locked; otherwise a promise that resolves when the document may change
   * again.
   */
  readonly held: () => Promise<void> | null
  /**
   * Counts a replacement by the place of its computation. `thread_locked`: on a thread while arriving updates
   * waited.
   */
  readonly replaced: (mode: 'inline' | 'thread' | 'thread_locked') => void
  readonly commit: (update: AppliedUpdate) => void
  /** Resolves when the workspace has event loop time left. */
  readonly share: () => Promise<void>
  /** Runs work for edits on the event loop, and counts its time against the share of the workspace. */
  readonly charged: <T>(updates: number, work: () => T) => T
  /**
   * Appends an update that is valid only for the document at `head`, and then applies it. Resolves with its
   * sequence number. Resolves with null if the document has changed; nothing is stored then.
   */
  readonly commitAt: (conditional: ConditionalUpdate) => Promise<number | null>
  /**
   * Pauses the updates that arrive at other nodes until the next change of this node, for at most `ms`
   * milliseconds.
   */
  readonly pauseOthers: (ms: number) => void
  readonly fences: Pick<FenceStore, 'isCurrent'>
  /** Ends the room because the document in memory is no longer reliable. */
  readonly fail: (error: unknown) => void
  readonly trace?: RoomTrace | undefined
}

/** The state of the document that a change requires. */
export interface EditPrecondition {
  /** `nothing`: the change creates the document. `either`: it creates the document if there is none. */
  readonly expects: 'content' | 'nothing' | 'either'
  /** The permission to make the change; undefined: no permission is checked. */
  readonly right?: WriteRight | undefined
  /** Rejects the change unless the document is at this version. */
  readonly ifVersion?: string | undefined
  /**
   * The error of a storage limit that the workspace has reached; null or undefined: none. It is thrown unless
   * the change only deletes.
   */
  readonly full?: ApiError | null | undefined
  /** Runs before the document is created, and only if the new content is valid. */
  readonly making?: (() => Promise<void>) | undefined
}

export interface RestoreOptions extends EditPrecondition {
  /** Computes the change without applying it. */
  readonly dryRun?: boolean | undefined
}

export interface ReplaceOptions extends RestoreOptions {
  /** Computes the change for the document at this version, and merges it, so that later updates stay. */
  readonly baseVersion?: string | undefined
}

export interface EditResult<T> {
  readonly result: T
  /** The version of the document after the change. */
  readonly version: string
  /** Size of the update that clients received; 0 if nothing changed. */
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

/** @throws ApiError if the update adds content although the workspace has reached its storage limit */
export function checkStorage({ full = null }: EditPrecondition, update: Uint8Array | null): void {
  if (full !== null && update !== null && addsContent(update)) throw full
}

/**
 * Returns whether an update adds content. The stored kind of an emptied root is a single deleted item, which
 * adds nothing.
 */
function addsContent(update: Uint8Array): boolean {
  // An update starts with the number of clients that have inserted something.
  if (update[0] === 0) return false
  let deleted = 0
  const item = ({ kind }: ReadItem): void => {
    if (kind === struct.deleted) deleted += 1
  }
  const { structs } = readUpdate(update, { item })
  return structs > 1 || deleted === 0
}

/** Returns whether the change will create the document. */
export const isCreating = ({ commits }: EditContext, { expects }: EditPrecondition): boolean =>
  commits.existence !== 'live' && expects !== 'content'

/**
 * Prepares the creation of the document if the change will create it.
 * @throws ApiError as for `beginEdit`; then nothing is prepared
 */
export async function prepareCreate(room: EditContext, options: EditPrecondition): Promise<void> {
  if (!isCreating(room, options)) return
  beginEdit(room, options)
  await options.making?.()
}

/**
 * Applies the arrived updates, then checks the preconditions of a change. The check is valid only until the
 * document changes.
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

/** Commits an applied change. @param added the update of the change; null if it had no effect */
export function commitEdit(
  room: EditContext,
  { by, right }: { readonly by: string; readonly right: WriteRight | undefined },
  added: Uint8Array | null,
): void {
  const { state, commits } = room
  // An update without content also creates a document, so that empty content that was added can be read.
  const bytes = added ?? (commits.existence === 'live' ? null : emptyUpdate)
  if (bytes === null) return
  const summary = readUpdate(bytes)
  state.advance(summary)
  room.commit({ bytes, by, from: null, summary, right })
}

/** Resolves when all updates applied so far are durable and sent. @throws ApiError UNAVAILABLE */
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

/** Rethrows an ApiError; reports any other error as an unavailable store. @throws ApiError */
export function toUnavailable(cause: unknown): never {
  // If a permission has ended, the store has not failed.
  if (cause instanceof ApiError) throw cause
  throw new ApiError('server/store-unavailable', 'the change could not be stored; try again', { cause })
}

/**
 * Maximum number of reads without a pause, while other nodes change the document. After that, arriving
 * updates must wait.
 */
const unheldLooks = 3

/**
 * Returns the result of `look` and the version to which it belongs, when that version is durable. The result
 * contains every update that any node has acknowledged before the call. @throws ApiError UNAVAILABLE
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
 * Locks the document, and resolves when no append is in progress. The returned function releases the lock.
 * Until then, all applied updates are durable.
 */
export async function pauseIncoming(room: EditContext): Promise<() => void> {
  while (room.held() !== null) await room.held()
  const release = room.hold()
  await room.commits.settled()
  return release
}

/**
 * Makes a change. If the change is rejected, waits before the error is returned: a rejection reveals the
 * state of the document, so that state must be durable. If this replica turns out to lack log entries, tries
 * the change a second time.
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
 * Returns false if other nodes have changed the document without a notice; their updates are then applied.
 * @throws ApiError UNAVAILABLE
 */
export const hasCaughtUp = async ({ commits }: EditContext): Promise<boolean> =>
  commits.endsAt(commits.head).catch(toUnavailable)

/**
 * Returns the base version of a change. Returns null if the change starts from the current document, which is
 * also the case if `baseVersion` is the current version.
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

/**
 * Returns the maximum size of a working copy of an earlier version. The updates since that version also take
 * space in the document.
 */
export const copySizeMax = ({ state, documentBytesMax }: EditContext, copyBytes: number): number =>
  documentBytesMax - Math.max(0, state.sizeBytes - copyBytes)

export const baseVersionExpired = (): ApiError =>
  new ApiError('crdt/base-version-too-old', 'baseVersion is unknown or too old: read the document again')
