import type { DocumentLog, Health, Key } from '../engine/engine.ts'
import { ApiError } from '../errors.ts'
import { type Version, versionOf } from '../model/version.ts'
import { readUpdate } from '../update/read.ts'
import type { Commits } from './commits.ts'
import type { RoomUpdate } from './delivery.ts'
import { noUpdate, type RoomState } from './state.ts'
import type { Threads } from './threads/pool.ts'

/** An update that has not been applied. */
export interface ExactUpdate {
  readonly head: number
  readonly update: RoomUpdate
  /** Called when it is durable, before anybody is told; `among others`: the document has updates that are not yet. */
  readonly apply: (how: 'alone' | 'among others') => void
}

/** Of a document that other nodes write to, too. */
export interface OtherNodes {
  /**
   * Stores an update that is right only for the document as it is at `head`, and then applies it. Resolves with its
   * number; null where the document has moved on, and nothing was stored.
   */
  readonly commitAt: (exact: ExactUpdate) => Promise<number | null>
  /** Does the log end at `head`, as this copy does? If not, what is missing is taken over. */
  readonly endsAt: (head: number) => Promise<boolean>
  /** Resolves when all that they have stored by now is here. */
  readonly reach: () => Promise<void>
  /** Asks them to have what arrives wait for the next change of this node, so many ms at most. They may not hear it. */
  readonly askToWait: (ms: number) => void
}

/** What a room gives to those who edit it on behalf of REST. */
export interface EditedRoom {
  readonly log: DocumentLog
  readonly doc: Key
  readonly state: RoomState
  readonly commits: Commits
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
  /** Null where this process is the only one that writes to the document: nothing can come in between there. */
  readonly others: OtherNodes | null
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
    return asNotStored(cause)
  }
}

/** @throws ApiError UNAVAILABLE */
export function asNotStored(cause: unknown): never {
  throw new ApiError('UNAVAILABLE', 'The change could not be stored; try again', { cause })
}

/** So often something may be read again, because others have changed the document meanwhile, before what arrives has to wait. */
const unheldLooks = 3

/**
 * What `look` sees of the document, once that is durable, with the version that it is of. What any node has acknowledged
 * before is in it. @throws ApiError UNAVAILABLE
 */
export async function seenBy<T>(room: EditedRoom, look: () => T): Promise<{ result: T; version: string }> {
  await room.others?.reach().catch(asNotStored)
  for (let looks = 0; ; looks += 1) {
    const release = looks < unheldLooks ? null : await quiet(room)
    try {
      room.begin()
      const result = look()
      const seq = await room.commits.exact.catch(asNotStored)
      if (seq !== null) return { result, version: versionOf({ epoch: room.commits.epoch, seq }) }
    } finally {
      release?.()
    }
  }
}

/** Has what arrives wait, until what is returned is called: all that is applied is durable then. */
export async function quiet(room: EditedRoom): Promise<() => void> {
  while (room.held() !== null) await room.held()
  const release = room.hold()
  await room.commits.settled()
  return release
}

/**
 * A refusal tells of the document, and is given only when what it tells of is durable, like any answer. Where this copy
 * of it turns out to be behind the log, the change is tried once more.
 */
export async function refusedWhenDurable<T>(room: EditedRoom, change: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await change()
    } catch (error) {
      if (!(error instanceof ApiError) || error.status === 'UNAVAILABLE') throw error
      await settled(room, null)
      if (tries > 1 || (await hasCaughtUp(room))) throw error
    }
  }
}

/** False where others have changed the document unheard: what they have done is here now. @throws ApiError UNAVAILABLE */
export const hasCaughtUp = async ({ commits, others }: EditedRoom): Promise<boolean> =>
  others === null || others.endsAt(commits.head).catch(asNotStored)
