import { type Appended, AppendRefused, type Job } from '../engine/engine.ts'
import type { Delivery } from './delivery.ts'

/** An update that has not been applied yet. */
export interface ExactCommit {
  readonly delivery: Delivery
  readonly at: number
  readonly jobs: readonly Job[]
  /** Called when it is durable, before anybody is told; `among others`: the document has updates that are not yet. */
  readonly apply: (how: 'alone' | 'among others') => void
}

/** What is to be appended. */
export interface Queued {
  readonly delivery: Delivery
  readonly jobs: readonly Job[]
  readonly bytes: number
}

type Outcome =
  | { readonly is: 'done'; readonly appended: Appended }
  | { readonly is: 'failed'; readonly error: unknown }

export const outcomeOf = (append: Promise<Appended>): Promise<Outcome> =>
  append.then(
    (appended) => ({ is: 'done', appended }),
    (error: unknown) => ({ is: 'failed', error }),
  )

/** What is appended together, in bytes. */
const batchBytesMax = 8_388_608

/** As many as are appended together, at least one. */
export function firstOf(queue: readonly Queued[]): readonly Queued[] {
  const first: Queued[] = []
  let sum = 0
  for (const queued of queue) {
    sum += queued.bytes
    if (sum > batchBytesMax && first.length > 0) break
    first.push(queued)
  }
  return first
}

/** Was it refused only because somebody else has appended first? */
export const isOvertaken = (error: unknown): boolean =>
  error instanceof AppendRefused && (error.reason === 'head' || error.reason === 'exists')
