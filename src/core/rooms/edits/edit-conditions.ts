import { ApiError, invalid } from '../../base/errors.ts'
import type { OverlapPolicy } from '../../content/merge/overlap.ts'
import type { RootSchema } from '../../content/schemas/content-schema.ts'
import type { WriteRight } from '../../directory/write-right.ts'
import type { ChangeCause } from '../../model/change-origin.ts'
import { baseVersionExpired, parseVersion, type Version, versionOf } from '../../model/version.ts'
import { limitDetails } from '../../quota/limits.ts'
import type { Attribution } from '../../update/attribution/attribution.ts'
import { struct } from '../../update/item-content.ts'
import { type ReadItem, readUpdate } from '../../update/read-update.ts'
import { emptyUpdate } from '../document/document-state.ts'
import type { Room } from '../room/room.ts'
import { toUnavailable } from '../room/room-errors.ts'
import type { Change } from '../updates/change.ts'
import { isStale, StaleRightError } from '../updates/write-rights.ts'

/**
 * Factor for the time that REST updates take, before it is charged to the workspace. It is less than 1
 * because a rate limit also applies to REST updates, and because backends import documents with them.
 */
const restWeight = 0.25

/** Runs `work`, which makes an edit of a backend on the event loop, and charges a part of its time to the workspace. */
export const chargedToRest = <T>(room: Room, work: () => T): T => room.charged(1, work, restWeight)

/** The conditions under which a change is made. */
export interface EditPrecondition {
  /**
   * The required existence of the document before the change. `content`: the document exists. `nothing`: the
   * change creates the document. `either`: the change creates the document if there is none.
   */
  readonly expects: 'content' | 'nothing' | 'either'
  /** The permission to make the change; undefined: no permission is checked. */
  readonly right?: WriteRight | undefined
  /** How the change reaches the document; undefined: it is a write by REST without data of its sender. */
  readonly cause?: ChangeCause | undefined
  /** The authors of the content of an update; undefined: the caller is its author. See `Room.storeAuthors`. */
  readonly attribution?: Attribution | undefined
  /** True if the change is a copy of changes of the editor that this branch follows. */
  readonly isCopy?: boolean | undefined
  /** The version at which the document must be; otherwise the change is rejected. Undefined: any version. */
  readonly ifVersion?: string | undefined
  /**
   * The error to throw for any change that adds content, because the workspace has reached its storage limit;
   * null or undefined if it has not.
   */
  readonly full?: ApiError | null | undefined
  /**
   * The error to throw for any change that deletes content, because the caller must not; null or undefined if it may.
   * Changes that merge whole updates, and undo, ignore it.
   */
  readonly keeping?: ApiError | null | undefined
  /** Called before the document is created, and only if the new content is valid. */
  readonly making?: (() => Promise<void>) | undefined
}

/** Options of a change whose content the caller of the room does not know. */
interface SchemaOption {
  /** The schema that the document must match after the change; null or undefined: none. */
  readonly rootSchema?: RootSchema | null | undefined
}

export interface RestoreOptions extends EditPrecondition, SchemaOption {
  /** True if the change is only computed, and not applied. */
  readonly dryRun?: boolean | undefined
}

export interface ReplaceOptions extends RestoreOptions {
  /**
   * The base version: the change is computed for the document at this version and then merged, so that later
   * updates stay. Undefined: the current version.
   */
  readonly baseVersion?: string | undefined
  /** What happens if others have changed the same words or values after the base version. Default: `report`. */
  readonly onOverlap?: OverlapPolicy | undefined
}

export interface EditResult<T> {
  readonly result: T
  /** The version of the document after the change. */
  readonly version: string
  /** Size in bytes of the update that clients receive; 0 if nothing changed. */
  readonly bytes: number
}

export const noContent = (): ApiError =>
  new ApiError(
    'crdt/no-content',
    'there is no CRDT data for this editor id; create it with /v2/crdt/add, or with upsert: true in /v2/crdt/update',
  )

/**
 * Checks the storage limit.
 * @throws ApiError if the update adds content although the workspace has reached its storage limit
 */
export function checkStorage({ full = null }: EditPrecondition, update: Uint8Array | null): void {
  if (full !== null && update !== null && addsContent(update)) throw full
}

/**
 * Returns whether an update adds content. An update that only deletes adds none. An update may also record
 * the kind of an emptied root as a single deleted item; this adds no content either.
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

/**
 * Checks the size that the document has after an update.
 * @throws ApiError INVALID_ARGUMENT if the document would be too large
 */
export function checkDocumentSize({ state, dependencies }: Room, addedBytes: number): void {
  const { documentBytesMax } = dependencies.limits
  if (state.hasRoomFor(addedBytes, documentBytesMax)) return
  throw invalid(
    'crdt/document-too-large',
    `the content of an editor has at most ${documentBytesMax} bytes: divide it among several editors`,
    limitDetails('maxDocumentBytes', documentBytesMax),
  )
}

/** Returns whether the change will create the document. */
export const isCreating = ({ commits }: Room, { expects }: EditPrecondition): boolean =>
  commits.existence !== 'live' && expects !== 'content'

/**
 * Checks the preconditions and calls `making`, if the change will create the document.
 * @throws ApiError as for `beginEdit`; `making` is not called then
 */
export async function prepareCreate(room: Room, options: EditPrecondition): Promise<void> {
  if (!isCreating(room, options)) return
  beginEdit(room, options)
  await options.making?.()
}

/**
 * Checks the preconditions of a change, after applying the arrived updates. The result is valid only until
 * the document changes.
 * @throws ApiError UNAVAILABLE, NOT_FOUND, ALREADY_EXISTS, ABORTED; StaleRightError
 */
export function beginEdit(room: Room, { expects, ifVersion, right, full }: EditPrecondition): void {
  const { commits } = room
  const store = room.dependencies.health()
  if (!store.ok)
    throw new ApiError('server/store-unavailable', `the store is not available: ${store.reason}; try again`)
  if (right !== undefined && isStale(room.dependencies.fences, right)) throw new StaleRightError()
  room.begin()
  const exists = commits.existence === 'live'
  if (!exists && expects === 'content') throw full ?? noContent()
  if (exists && expects === 'nothing') {
    throw new ApiError('crdt/content-exists', 'this editor id has CRDT data: use /v2/crdt/update')
  }
  const version = versionOf(commits.version)
  if (ifVersion !== undefined && ifVersion !== version) {
    throw new ApiError(
      'crdt/version-conflict',
      'the document has moved on from ifVersion; read it again and send its version',
      { details: { version } },
    )
  }
}

/** The cause of a change whose caller has specified none. */
const defaultCause: ChangeCause = { source: 'rest', meta: null }

/** Returns the members with which an update of a backend is stored. */
export const authorshipOf = (
  by: string,
  { right, cause = defaultCause, isCopy, attribution }: Omit<EditPrecondition, 'expects'>,
): Omit<Change, 'bytes' | 'summary'> => ({ by, from: null, right, isCopy, attribution, ...cause })

/** Commits an applied change of the user `by`. @param added its update; null if it had no effect */
export function commitEdit(
  room: Room,
  by: string,
  options: EditPrecondition,
  added: Uint8Array | null,
): void {
  const { state, commits } = room
  // If the document does not exist yet, an update without content creates it, so that empty content that was
  // added can be read.
  const bytes = added ?? (commits.existence === 'live' ? null : emptyUpdate)
  if (bytes === null) return
  const summary = readUpdate(bytes)
  state.advance(summary)
  room.commit([{ bytes, summary, ...authorshipOf(by, options) }], room.dependencies.clock.now())
}

/**
 * Waits until all updates that have been applied so far are durable and sent. Resolves with `result` and the
 * version of the document at that point. @throws ApiError UNAVAILABLE
 */
export async function waitUntilDurable<T>(
  { commits }: Room,
  result: T,
): Promise<{ result: T; version: string }> {
  try {
    const seq = await commits.durable
    return { result, version: versionOf({ epoch: commits.epoch, seq }) }
  } catch (cause) {
    return toUnavailable(cause)
  }
}

/**
 * Calls `look`, which reads the document. Resolves with the result and the version that was read, when this
 * version is durable. @throws ApiError UNAVAILABLE
 */
export async function readDurable<T>(room: Room, look: () => T): Promise<{ result: T; version: string }> {
  room.begin()
  return waitUntilDurable(room, look())
}

/**
 * Calls `change`. If the change is rejected, waits until the current state of the document is durable before
 * it throws the error, because the rejection reveals this state.
 */
export async function rejectWhenDurable<T>(room: Room, change: () => Promise<T>): Promise<T> {
  try {
    return await change()
  } catch (error) {
    if (error instanceof ApiError && error.status !== 'UNAVAILABLE') await waitUntilDurable(room, null)
    throw error
  }
}

/**
 * Returns the base version of a change. Returns null if the change starts from the current document, which is
 * also the case if `baseVersion` is the current version.
 * @throws ApiError FAILED_PRECONDITION if `baseVersion` is not a version of this document
 */
export function resolveBase(
  room: Room,
  { baseVersion }: { readonly baseVersion?: string | undefined },
): Version | null {
  if (baseVersion === undefined) return null
  const base = parseVersion(baseVersion)
  const present = room.commits.version
  if (base === null || room.commits.existence !== 'live' || base.epoch !== present.epoch)
    throw baseVersionExpired()
  return base.seq === present.seq ? null : base
}

/**
 * Returns the maximum size in bytes of a working copy of an earlier version. The maximum is lower than the
 * one of the document, because the updates since that version also take space in the document.
 * @param copyBytes current size of the working copy
 */
export const copySizeMax = ({ state, dependencies }: Room, copyBytes: number): number =>
  dependencies.limits.documentBytesMax - Math.max(0, state.sizeBytes - copyBytes)
