import { setImmediate as nextTick } from 'node:timers/promises'
import type { RunSlice } from '../../rooms/document/loop-slices.ts'
import type { Steps } from '../../update/outline.ts'
import type { UpdateSummary } from '../../update/summary.ts'
import type { Message } from '../protocols/message.ts'

/** Number of bytes from which an update is read in steps. A smaller one takes at most about 5 ms. */
export const largeUpdateBytes = 65_536

/** A message with an update of the client. */
export type UpdateMessage = Extract<Message, { kind: 'update' | 'offer' }>

/** The session whose messages are vetted. */
interface VettedSession {
  readonly hasEnded: boolean
  pauseReading(): void
  resumeReading(): void
  /** Runs `work`, and ends the session if it finds malformed bytes. */
  vetted(work: () => void): void
  /** Handles a message. For an update of several steps, this calls `add`. */
  handle(message: Message): void
  useUpdate(message: UpdateMessage, summary: UpdateSummary): void
  /** Called when all messages are handled, before the socket is read again. */
  vettingEnded(): void
  /** Ends the session after an error of the server. */
  vettingFailed(error: unknown): void
}

/**
 * Vets updates of several steps of one client in slices. The socket is not read in the meantime, and the messages that it had
 * read before wait, because the messages of a client must be handled in their order.
 */
export class UpdateVetting {
  readonly #session: VettedSession
  readonly #later: Message[] = []
  #current: { readonly message: UpdateMessage; readonly steps: Steps<UpdateSummary> } | null
  /** Resolves when all messages are handled, or the session has ended. */
  readonly done: Promise<void>

  /** @param steps the steps after the first one */
  constructor(
    session: VettedSession,
    message: UpdateMessage,
    steps: Steps<UpdateSummary>,
    runSlice: RunSlice,
  ) {
    this.#session = session
    session.pauseReading()
    this.#current = { message, steps }
    this.done = this.#run(runSlice)
  }

  /** Adds an update and its further steps. Call it only while the session handles a message that has waited. */
  add(message: UpdateMessage, steps: Steps<UpdateSummary>): void {
    this.#current = { message, steps }
  }

  /** Adds a message that has arrived in the meantime. */
  defer(message: Message): void {
    this.#later.push(message)
  }

  async #run(runSlice: RunSlice): Promise<void> {
    const session = this.#session
    try {
      await this.#handleAll(runSlice)
    } catch (error) {
      session.vettingFailed(error)
    }
    session.vettingEnded()
    session.resumeReading()
  }

  async #handleAll(runSlice: RunSlice): Promise<void> {
    const session = this.#session
    // In this tick, the message was already copied and unmasked.
    await nextTick()
    while (this.#current !== null && !session.hasEnded) {
      await runSlice(() => session.vetted(() => this.#vetFurther()))
      while (this.#current === null && !session.hasEnded) {
        const next = this.#later.shift()
        if (next === undefined) break
        session.vetted(() => session.handle(next))
      }
    }
  }

  #vetFurther(): void {
    if (this.#current === null || this.#session.hasEnded) return
    const { message, steps } = this.#current
    const step = steps.next()
    if (step.done !== true) return
    this.#current = null
    this.#session.useUpdate(message, step.value)
  }
}
