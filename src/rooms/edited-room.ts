import type { DocumentLog, Health, Key } from '../engine/engine.ts'
import { ApiError } from '../errors.ts'
import { type Version, versionOf } from '../model/version.ts'
import { readUpdate } from '../update/read.ts'
import type { CommitLine } from './commits.ts'
import type { RoomUpdate } from './delivery.ts'
import { noUpdate, type RoomState } from './state.ts'
import type { Threads } from './threads/pool.ts'

/** What a room gives to those who edit it on behalf of REST. */
export interface EditedRoom {
  readonly log: DocumentLog
  readonly doc: Key
  readonly state: RoomState
  readonly commits: CommitLine
  readonly threads: Threads
  /** Threads for reading, which does not wait until replacements are done. */
  readonly readers: Threads
  /** Encoded size the document may reach. */
  readonly documentBytesMax: number
  /** Can the store write? */
  readonly health: () => Health
  /** Applies what has arrived, unless the room is held. @throws ApiError UNAVAILABLE when the room is closed */
  readonly begin: () => void
  /** From now on what arrives waits; until what is returned is called, once. */
  readonly hold: () => () => void
  /** Null when nobody holds the room, so that it may change; else resolves when that may be so again. */
  readonly held: () => Promise<void> | null
  /** Counts a replacement by where it was computed; `held`: on a thread, while what arrived waited. */
  readonly replaced: (where: 'loop' | 'thread' | 'held') => void
  readonly commit: (update: RoomUpdate) => void
  /** The document in memory can't be trusted any more. */
  readonly fail: (error: unknown) => void
}

/** What a change needs to find. */
export interface Expectation {
  /** `nothing`: the change makes the document; `either`: it may. */
  readonly expects: 'content' | 'nothing' | 'either'
  /** Refuse unless the document is at this version. */
  readonly ifVersion?: string | undefined
  /** What has to be done before the document is made, and only if what it is made of is sound. */
  readonly making?: (() => Promise<void>) | undefined
}

export interface RestoreOptions extends Expectation {
  /** Only find out what would change. */
  readonly dryRun?: boolean | undefined
}

export interface ReplaceOptions extends RestoreOptions {
  /** Make the change to the document as it was at this version, and merge it: what came since stays. */
  readonly baseVersion?: string | undefined
}

export interface Changed<T> {
  readonly result: T
  /** The document's version after the change. */
  readonly version: string
  /** Size of the update that clients received; 0 when nothing changed. */
  readonly bytes: number
}

export const presentVersion = ({ commits }: EditedRoom): Version => ({
  epoch: commits.epoch,
  seq: commits.head,
})

export const noContent = (): ApiError => new ApiError('NOT_FOUND', 'there is no CRDT data for this editor id')

/** Does what has to be done first, where a change is going to make the document. */
export async function makeWay({ commits }: EditedRoom, { expects, making }: Expectation): Promise<void> {
  if (commits.existence !== 'live' && expects !== 'content') await making?.()
}

/**
 * From here to the change nothing else may happen to the document.
 * @throws ApiError UNAVAILABLE, NOT_FOUND, ALREADY_EXISTS, ABORTED
 */
export function begin(room: EditedRoom, { expects, ifVersion }: Expectation): void {
  const { commits } = room
  const store = room.health()
  if (!store.ok) throw new ApiError('UNAVAILABLE', `The store is away: ${store.reason}`)
  room.begin()
  const exists = commits.existence === 'live'
  if (!exists && expects === 'content') throw noContent()
  if (exists && expects === 'nothing') {
    throw new ApiError('ALREADY_EXISTS', 'this editor id has CRDT data: use /v2/crdt/update')
  }
  const version = versionOf(presentVersion(room))
  if (ifVersion !== undefined && ifVersion !== version) {
    throw new ApiError('ABORTED', 'the document has moved on from ifVersion', { details: { version } })
  }
}

/** Sends an applied change on its way to the log; null when there was nothing to change. */
export function commit(room: EditedRoom, by: string, added: Uint8Array | null): void {
  const { state, commits } = room
  // Even nothing makes a document: what was added empty can be found empty.
  const bytes = added ?? (commits.existence === 'live' ? null : noUpdate)
  if (bytes === null) return
  const summary = readUpdate(bytes, { allowSubdocuments: true })
  state.advance(summary)
  room.commit({ bytes, by, from: null, summary })
}

/** Resolves when all that has been applied so far is durable and sent. @throws ApiError UNAVAILABLE */
export async function settled<T>(
  { commits }: EditedRoom,
  result: T,
): Promise<{ result: T; version: string }> {
  try {
    const seq = await commits.durable
    return { result, version: versionOf({ epoch: commits.epoch, seq }) }
  } catch (cause) {
    throw new ApiError('UNAVAILABLE', 'The change could not be stored; try again', { cause })
  }
}

/** A refusal tells of the document, and is given only when what it tells of is durable, like any answer. */
export async function refusedWhenDurable<T>(room: EditedRoom, change: Promise<T>): Promise<T> {
  try {
    return await change
  } catch (error) {
    if (error instanceof ApiError && error.status !== 'UNAVAILABLE') await settled(room, null)
    throw error
  }
}
