import type { DocumentAddress } from '../../model/address.ts'
import type { Appended } from '../../store/engine.ts'
import type { Tracer, TraceWriter } from '../../tracing/trace.ts'
import { loopStepsMax } from '../document/integration-limits.ts'
import { type Change, type ClientChange, type Commit, type Member, updateBytesOf } from './change.ts'

/** Writes the trace of one room: the steps of the room, and the updates of clients whose users are traced. */
export class RoomTrace {
  readonly #tracer: Tracer
  readonly #address: DocumentAddress
  readonly #hasThreads: boolean

  private constructor(tracer: Tracer, address: DocumentAddress, hasThreads: boolean) {
    this.#tracer = tracer
    this.#address = address
    this.#hasThreads = hasThreads
  }

  /** Returns the trace of a room; undefined if no step of the room can be traced. */
  static of(
    tracer: Tracer | undefined,
    address: DocumentAddress,
    hasThreads: boolean,
  ): RoomTrace | undefined {
    if (tracer === undefined || !tracer.mayConcern(address)) return undefined
    return new RoomTrace(tracer, address, hasThreads)
  }

  /**
   * Returns the writer for a step that these users cause in the room; undefined if the step is not traced.
   */
  of(...userIds: readonly string[]): TraceWriter | undefined {
    return this.#tracer.of(this.#address, ...userIds)
  }

  /**
   * Traces the predicted steps of an update.
   * @param steps the prediction; 0 if the sizes of the update and of the document show that the update is
   * inexpensive
   */
  predicted({ bytes, from }: ClientChange, steps: number): void {
    const isOnThread = steps > loopStepsMax && this.#hasThreads
    this.of(from.user.id)?.('update_predicted', {
      userId: from.user.id,
      bytes: bytes.length,
      steps: steps === 0 ? 'few' : Number.isFinite(steps) ? steps : 'too many to predict',
      loopStepsMax,
      runs: isOnThread ? 'thread' : 'event loop',
    })
  }

  pending({ bytes, from }: ClientChange): void {
    this.of(from.user.id)?.('update_pending', { userId: from.user.id, bytes: bytes.length })
  }

  committed({ epoch, first, last }: Appended, updates: readonly Change[]): void {
    const userIds = usersOf(updates)
    const bytes = updateBytesOf(updates)
    this.of(...userIds)?.('committed', { epoch, first, last, updates: updates.length, bytes, userIds })
  }

  broadcast({ changes, bytes }: Commit, members: ReadonlySet<Member>): void {
    const receivers = [...members].filter((member) => changes.some(({ from }) => from !== member)).length
    this.of(...usersOf(changes))?.('broadcast', { updates: changes.length, bytes, receivers })
  }
}

const usersOf = (updates: readonly Change[]): readonly string[] => [
  ...new Set(updates.flatMap(({ by }) => (by === '' ? [] : by))),
]
