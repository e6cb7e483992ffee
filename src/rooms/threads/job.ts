import type { Change } from '../../content/change.ts'
import { type ReadContent, type Reading, readState } from '../../content/reading.ts'
import { type ContentTarget, checkContent, checkKind, type TargetKind } from '../../content/replace.ts'
import { ApiError, type Status } from '../../errors.ts'
import { replaceIn, restoreIn } from '../replacement.ts'
import { type ClientClock, RoomState } from '../state.ts'

/** A copy of a document to work on. Everything in it can be sent to a thread. */
interface Copy {
  /** Makes up the document: a snapshot, or an empty update, and what came after it. */
  readonly updates: readonly Uint8Array[]
  /** Is the whole document wanted afterwards? `ifDear`: where it takes less than to apply the update. */
  readonly state: 'always' | 'ifDear' | 'never'
}

/** A change of a copy. */
interface Edit extends Copy {
  /** Who may write: the first whose clock on the copy is this one; else somebody new. */
  readonly writers: readonly ClientClock[]
  /** Encoded size the document may reach. */
  readonly documentBytesMax: number
}

export type Job =
  | { readonly is: 'check'; readonly target: ContentTarget }
  | (Edit & { readonly is: 'replace'; readonly target: ContentTarget })
  /** `past`: a whole state (V1), whose content the document is to have. */
  | (Edit & { readonly is: 'restore'; readonly past: Uint8Array })
  /** `updates`: one whole state (V1). */
  | { readonly is: 'read'; readonly updates: readonly [Uint8Array]; readonly reading: Reading }
  | (Copy & {
      readonly is: 'merge'
      /** The root must still be able to hold it. */
      readonly content: TargetKind
      readonly update: Uint8Array
    })

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
      /** Would applying it hold an event loop for too long? */
      readonly isDear: boolean
      readonly state: Uint8Array | null
      readonly writer: ClientClock
    }
  | { readonly is: 'read'; readonly content: ReadContent }
  | { readonly is: 'merged'; readonly update: Uint8Array | null; readonly state: Uint8Array | null }

/** Does a job. @throws what is our bug; what is wrong with the target is an outcome */
export function perform(job: Job): Outcome {
  try {
    if (job.is === 'replace') return replace(job)
    if (job.is === 'restore') return edit(job, (copy) => restoreIn(copy, job.past, job.documentBytesMax))
    if (job.is === 'merge') return merge(job)
    if (job.is === 'read') return { is: 'read', content: readState(job.updates[0], job.reading) }
    checkContent(job.target)
    return { is: 'checked' }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const { status, message, details } = error
    return { is: 'refused', status, message, details }
  }
}

function replace(job: Extract<Job, { is: 'replace' }>): Outcome {
  const content = checkContent(job.target)
  return edit(job, (copy) => replaceIn(copy, content, job.documentBytesMax))
}

function edit(job: Edit, work: (copy: RoomState) => Change): Outcome {
  const copy = stateOf(job)
  const writer = copy.writeAs(job.writers)
  const { result, added, isDear } = copy.edit(() => work(copy))
  const state = stateFor(job, copy, added !== null, isDear)
  return { is: 'replaced', change: result, update: added, isDear, state, writer }
}

function merge(job: Extract<Job, { is: 'merge' }>): Outcome {
  const copy = stateOf(job)
  checkKind(copy.doc, job.content.target, job.content.kind)
  const { added, isDear } = copy.integrate(job.update)
  return { is: 'merged', update: added, state: stateFor(job, copy, added !== null, isDear) }
}

function stateFor(job: Copy, copy: RoomState, hasChanged: boolean, isDear: boolean): Uint8Array | null {
  const isWanted = job.state === 'always' || (job.state === 'ifDear' && isDear)
  return hasChanged && isWanted ? copy.encode() : null
}

function stateOf({ updates: [snapshot, ...entries] }: Copy): RoomState {
  const state = RoomState.fromBytes(snapshot ?? null)
  state.applyPlain(entries.map((bytes) => ({ bytes })))
  return state
}
