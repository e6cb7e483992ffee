import { setTimeout as sleep } from 'node:timers/promises'
import type { WriteRight } from '../../directory/write-right.ts'
import { ApiError } from '../../errors.ts'
import { versionOf } from '../../model/version.ts'
import { readUpdate } from '../../update/read-update.ts'
import { emptyUpdate } from '../room/document-state.ts'
import {
  type ConditionalUpdate,
  type EditContext,
  type EditResult,
  pauseIncoming,
  toUnavailable,
} from './edit-context.ts'

/** A change that was made on a copy. */
export interface ProposedChange<T> {
  readonly result: T
  /** For the document as it was at this number of its log. */
  readonly head: number
  /** Null: there is nothing to change. */
  readonly update: Uint8Array | null
  readonly apply: ConditionalUpdate['apply']
}

export interface AgreedChange {
  readonly by: string
  readonly right: WriteRight | undefined
  /** Only find out what would change. */
  readonly dryRun?: boolean | undefined
}

/** Maximum number of tries of one change. A try fails if another node has changed the document meanwhile. */
const triesMax = 5
/** The pause before the next try, a try, at most; in ms. */
const pauseMs = 20

/** Minimum and maximum time in ms for which the other nodes pause their updates, after the first try. */
const waitMsMin = 50
const waitMsMax = 2_000

/**
 * Makes a change that is right only for the document as it is: it is computed on a copy, and stored only if the log still
 * ends where the copy was. Updates that arrive at this node meanwhile wait; from the second try on also at the others.
 * @throws ApiError ABORTED where others were faster each time; UNAVAILABLE, and what `propose` throws
 */
export async function commitIfUnchanged<T>(
  room: EditContext,
  change: AgreedChange,
  propose: () => Promise<ProposedChange<T>>,
): Promise<EditResult<T>> {
  const { dryRun = false } = change
  let waitMs = waitMsMin
  for (let tries = 1; tries <= triesMax; tries += 1) {
    if (tries > 1) room.pauseOthers(waitMs)
    const release = await pauseIncoming(room)
    const begun = performance.now()
    try {
      const proposal = await propose()
      const changed = dryRun ? proposed(room, proposal) : await stored(room, change, proposal)
      if (changed !== null) return changed
    } finally {
      release()
    }
    // Twice the time of this try.
    waitMs = Math.min(waitMsMax, waitMsMin + 2 * Math.ceil(performance.now() - begun))
    await sleep(Math.random() * pauseMs * tries)
  }
  throw headConflict()
}

const proposed = <T>(
  { commits }: EditContext,
  { result, head, update }: ProposedChange<T>,
): EditResult<T> => ({
  result,
  version: versionOf({ epoch: commits.epoch, seq: head }),
  bytes: update?.length ?? 0,
})

/** Null where others have been faster. */
async function stored<T>(
  room: EditContext,
  { by, right }: AgreedChange,
  { result, head, update, apply }: ProposedChange<T>,
): Promise<EditResult<T> | null> {
  const { commits, state } = room
  // Even nothing makes a document.
  const bytes = update ?? (commits.existence === 'live' ? null : emptyUpdate)
  if (bytes === null) {
    // There is nothing to change only if there is nothing new.
    const isCurrent = await commits.endsAt(head).catch(toUnavailable)
    return isCurrent ? proposed(room, { result, head, update, apply }) : null
  }
  const summary = readUpdate(bytes, { allowSubdocuments: true })
  const seq = await room
    .commitAt({
      head,
      update: { bytes, by, from: null, summary, right },
      apply: (how) => {
        if (update !== null) apply(how)
        state.advance(summary)
      },
    })
    .catch(toUnavailable)
  if (seq === null) return null
  return { result, version: versionOf({ epoch: commits.epoch, seq }), bytes: update?.length ?? 0 }
}

export const headConflict = (): ApiError =>
  new ApiError('crdt/document-changed', 'the document has moved on; try again')
