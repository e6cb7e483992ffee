import type { Change } from '../../content/change.ts'
import { type ContentTarget, checkContent } from '../../content/replace.ts'
import { ApiError, type Status } from '../../errors.ts'
import { replaceIn } from '../replacement.ts'
import { type ClientClock, RoomState } from '../state.ts'

/** A replacement to be computed on a copy. Everything in it can be sent to a thread. */
export interface Job {
  readonly target: ContentTarget
  /** Makes up the document: a snapshot, or an empty update, and what came after it. Null: only check the target. */
  readonly updates: readonly Uint8Array[] | null
  /** Who writes, if the copy is where this client left off; else somebody new. */
  readonly writer: ClientClock
  /** Encoded size the document may reach. */
  readonly documentBytesMax: number
}

export type Outcome =
  /** The target is sound. */
  | { readonly is: 'checked' }
  /** An ApiError, in parts. */
  | {
      readonly is: 'refused'
      readonly status: Status
      readonly message: string
      readonly details: Record<string, unknown> | undefined
    }
  | {
      readonly is: 'replaced'
      readonly change: Change
      /** The update (V1) that makes the change; null when there is nothing to change. */
      readonly update: Uint8Array | null
      /** The whole document after it, where that is better than to apply the update; else null. */
      readonly state: Uint8Array | null
      /** Whose clock the update goes on from, and where. */
      readonly writer: ClientClock
    }

/** Some thousand insertions and deletions: Yjs takes up to 50 ms to apply an update of that size to a large document. */
const appliedBytesMax = 16_384

/** Does a job. @throws what is our bug; what is wrong with the target is an outcome */
export function perform(job: Job): Outcome {
  try {
    const content = checkContent(job.target)
    if (job.updates === null) return { is: 'checked' }
    const copy = stateOf(job.updates)
    const writer = copy.writeAs(job.writer)
    const { result, added } = copy.edit(() => replaceIn(copy, content, job.documentBytesMax))
    const state = added !== null && added.length > appliedBytesMax ? copy.encode() : null
    return { is: 'replaced', change: result, update: added, state, writer }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const { status, message, details } = error
    return { is: 'refused', status, message, details }
  }
}

function stateOf([snapshot, ...entries]: readonly Uint8Array[]): RoomState {
  const state = RoomState.fromBytes(snapshot ?? null)
  state.applyPlain(entries.map((bytes) => ({ bytes })))
  return state
}
