import {
  type Appended,
  type AppendOptions,
  AppendRejectedError,
  type AppendRejection,
  type AppendTo,
  type Fence,
  type Job,
  type LogUpdate,
  type Term,
} from '../../../core/store/engine.ts'
import { checkJobs, copyOfJob } from '../../../core/store/job-state.ts'
import { resolveAppend } from '../../../core/store/log-state.ts'
import { copyOfUpdate } from '../../../core/store/stored-author.ts'
import type { DocumentCall, KnownHead } from './append-batch.ts'
import type { DocumentChangeSet } from './document-change-set.ts'

/** The change that a call makes to a document. `do` makes the change; it throws if the call is rejected. */
interface Work<T> {
  readonly do: (change: DocumentChangeSet) => T
  readonly bytes: number
  readonly jobs: readonly Job[]
  readonly fence?: Fence | undefined
  readonly term?: Term | undefined
  readonly known?: KnownHead | null
}

/** A call that changes one document. It exists until the promise of the call settles. */
export class PendingCall<T> implements DocumentCall {
  readonly key: Buffer
  readonly line: string
  readonly bytes: number
  readonly jobs: readonly Job[]
  readonly fence: Fence
  readonly term: Term | null
  readonly known: KnownHead | null
  readonly ended: Promise<T>
  isDurable = false
  readonly #work: Work<T>
  #resolve!: (value: T) => void
  #reject!: (error: unknown) => void
  #outcome: { readonly value: T } | { readonly refusal: unknown } | null = null

  constructor(key: Buffer, work: Work<T>) {
    this.key = key
    this.line = key.toString('latin1')
    this.bytes = work.bytes
    this.jobs = work.jobs
    this.fence = work.fence ?? []
    this.term = work.term ?? null
    this.known = work.known ?? null
    this.#work = work
    this.ended = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
  }

  apply(change: DocumentChangeSet, rejection: AppendRejection | null): boolean {
    try {
      if (rejection !== null) throw new AppendRejectedError(rejection)
      this.#outcome = { value: this.#work.do(change) }
      return true
    } catch (refusal) {
      this.#outcome = { refusal }
      return false
    }
  }

  durable(): void {
    this.isDurable = true
    if (this.#outcome !== null && 'value' in this.#outcome) this.#resolve(this.#outcome.value)
    else this.#reject(this.#outcome?.refusal)
  }

  lost(error: unknown): void {
    this.#reject(error)
  }
}

/**
 * Creates the call for an append. Copies the updates and jobs, because the caller may reuse their buffers.
 * @throws RangeError, TypeError for values that no transaction can write
 */
export function appendCall(
  key: Buffer,
  {
    to,
    updates,
    options,
    at,
  }: { to: AppendTo; updates: readonly LogUpdate[]; options: AppendOptions; at: number },
): PendingCall<Appended> {
  if (updates.length === 0) throw new RangeError('an append without updates')
  checkJobs(options.jobs ?? [])
  const { expectHead: head } = options
  const copies = updates.map(copyOfUpdate)
  return new PendingCall(key, {
    bytes: copies.reduce((sum, { bytes }) => sum + bytes.length, 0),
    jobs: (options.jobs ?? []).map(copyOfJob),
    fence: options.fence,
    term: options.term,
    known: typeof to === 'number' && head !== undefined ? { epoch: to, head } : null,
    do: (change) => {
      const log = resolveAppend(change.standing, to, options)
      change.append(log, copies, at)
      const { epoch, head } = log
      return { epoch, first: head + 1, last: head + copies.length }
    },
  })
}

/**
 * Creates the call for a removal.
 * @param only the expected epoch: if the document has another epoch, nothing changes; default: any epoch
 * @param term as for an append
 */
export const removalCall = (
  key: Buffer,
  { only, term }: { readonly only?: number; readonly term?: Term | undefined },
): PendingCall<void> =>
  new PendingCall<void>(key, { bytes: 0, jobs: [], term, do: (change) => change.destroy(only) })
