import type { Change } from '../content/change.ts'
import type { PreparedContent } from '../content/prepared.ts'
import { type TargetKind, targetKind } from '../content/replace.ts'
import { ApiError } from '../errors.ts'
import type { Version } from '../model/version.ts'
import { baseOf, sizeMaxOf, tooOld } from './base-version.ts'
import {
  begin,
  type EditedRoom,
  presentVersion,
  type ReplaceOptions,
  type RestoreOptions,
  settled,
} from './edited-room.ts'
import { type ClientClock, noUpdate } from './state.ts'
import type { Thread } from './threads/pool.ts'
import { updatesAt } from './versions.ts'

/** A difference, computed on a copy and not yet merged. */
export interface Computed {
  readonly change: Change
  readonly update: Uint8Array | null
  /** The whole document after it, where that is better than to apply the update. */
  readonly state: Uint8Array | null
  /**
   * For what the document was at that version; or for what it was once, so that what came since has to be merged, if
   * the root can still hold it.
   */
  readonly made:
    | { readonly for: 'present'; readonly version: Version }
    | { readonly for: 'past'; readonly content: TargetKind }
  /** Whose clock the update goes on from, and where. */
  readonly writer: ClientClock
}

/** Computes a replacement on a thread. @throws ApiError what the content or the options are refused for */
export async function computeOnThread(
  room: EditedRoom,
  thread: Thread,
  content: PreparedContent,
  options: ReplaceOptions,
): Promise<Computed> {
  const { target } = content
  const base = await begun(room, thread, content, options)
  const version = base ?? presentVersion(room)
  const updates = await updatesOf(room, version, base === null)
  const outcome = await thread.run({
    is: 'replace',
    target,
    updates,
    writers: room.state.mergers,
    documentBytesMax: sizeMaxOf(
      room,
      updates.reduce((sum, { length }) => sum + length, 0),
    ),
    state: stateWanted(room, base !== null || options.dryRun === true),
  })
  if (outcome.is !== 'replaced') throw new TypeError(`a replacement was ${outcome.is}`)
  const { change, update, state, writer, isDear } = outcome
  if (base === null) return { change, writer, update, state, made: { for: 'present', version } }
  const kind = targetKind(target)
  const past: Computed = { change, writer, update, state: null, made: { for: 'past', content: kind } }
  // Here it would hold up everybody: because it is dear, or because the document would have to be read first.
  const mergesElsewhere = options.dryRun !== true && (isDear || room.state.bytes !== null)
  return mergesElsewhere && update !== null ? mergeOnThread(room, thread, past, kind, update) : past
}

/** Computes on a thread what gives the document the content of `past`, a whole state. @throws ApiError as `begin` does */
export async function restoreOnThread(
  room: EditedRoom,
  thread: Thread,
  past: Uint8Array,
  options: RestoreOptions,
): Promise<Computed> {
  begin(room, options)
  const version = presentVersion(room)
  const outcome = await thread.run({
    is: 'restore',
    // What a store hands out is a view of a larger buffer, which would be sent whole.
    past: new Uint8Array(past),
    updates: await updatesOf(room, version, true),
    writers: room.state.mergers,
    documentBytesMax: room.documentBytesMax,
    state: stateWanted(room, options.dryRun === true),
  })
  if (outcome.is !== 'replaced') throw new TypeError(`a restoration was ${outcome.is}`)
  const { change, update, state, writer } = outcome
  return { change, writer, update, state, made: { for: 'present', version } }
}

/** Merges what was computed for the past into the present, on the thread too. */
async function mergeOnThread(
  room: EditedRoom,
  thread: Thread,
  computed: Computed,
  content: TargetKind,
  update: Uint8Array,
): Promise<Computed> {
  const version = presentVersion(room)
  const updates = await updatesOf(room, version, true)
  const outcome = await thread.run({
    is: 'merge',
    content,
    updates,
    update,
    state: stateWanted(room, false),
  })
  if (outcome.is !== 'merged') throw new TypeError(`an update was ${outcome.is}`)
  return { ...computed, update: outcome.update, state: outcome.state, made: { for: 'present', version } }
}

/** The base of the change, once it is clear that it may be made. What is wrong with the content is said first. */
async function begun(
  room: EditedRoom,
  thread: Thread,
  { target, checked }: PreparedContent,
  options: ReplaceOptions,
): Promise<Version | null> {
  try {
    begin(room, options)
    return baseOf(room, options)
  } catch (error) {
    if (checked === null) await thread.run({ is: 'check', target })
    throw error
  }
}

/** What makes up a version: for the present one the bytes that the room keeps, if it does; else from the log. */
async function updatesOf(
  room: EditedRoom,
  version: Version,
  isPresent: boolean,
): Promise<readonly Uint8Array[]> {
  const { commits, log, doc, state } = room
  const atHand = isPresent ? state.bytes : null
  if (atHand !== null) return [atHand]
  if (commits.existence !== 'live') return [noUpdate]
  await settled(room, null)
  const updates = await updatesAt(log, doc, version)
  if (updates === null) throw isPresent ? gone() : tooOld()
  return updates
}

const stateWanted = ({ state }: EditedRoom, isCopy: boolean): 'always' | 'ifDear' | 'never' => {
  if (isCopy) return 'never'
  return state.bytes === null ? 'ifDear' : 'always'
}

const gone = (): ApiError => new ApiError('UNAVAILABLE', 'The document was deleted or made anew; try again')
