import { type Appended, AppendRejectedError, type Job } from '../../engine/engine.ts'
import type { UpdateBroadcast } from '../room/broadcast.ts'

/** An update that has not been applied yet. */
export interface ConditionalCommit {
  readonly delivery: UpdateBroadcast
  readonly at: number
  readonly jobs: readonly Job[]
  /** Called when it is durable, before anybody is told; `among others`: the document has updates that are not yet. */
  readonly apply: (how: 'alone' | 'among others') => void
}

/** What is to be appended. */
export interface QueuedAppend {
  readonly delivery: UpdateBroadcast
  readonly jobs: readonly Job[]
  readonly bytes: number
}

type Outcome =
  | { readonly is: 'done'; readonly appended: Appended }
  | { readonly is: 'failed'; readonly error: unknown }

export const settleAppend = (append: Promise<Appended>): Promise<Outcome> =>
  append.then(
    (appended) => ({ is: 'done', appended }),
    (error: unknown) => ({ is: 'failed', error }),
  )

/** What is appended together, in bytes. */
const batchBytesMax = 8_388_608

/** As many as are appended together, at least one. */
export function firstOf(queue: readonly QueuedAppend[]): readonly QueuedAppend[] {
  const first: QueuedAppend[] = []
  let sum = 0
  for (const queued of queue) {
    sum += queued.bytes
    if (sum > batchBytesMax && first.length > 0) break
    first.push(queued)
  }
  return first
}

/** True when it was refused because a permission has to be read again. */
export const isFenced = (error: unknown): boolean =>
  error instanceof AppendRejectedError && error.reason === 'fence'

/** Was it refused only because somebody else has appended first? */
export const isHeadConflict = (error: unknown): boolean =>
  error instanceof AppendRejectedError && (error.reason === 'head' || error.reason === 'exists')
