import type { UpdateSummary } from '../../update/summary.ts'
import type { Message } from '../protocols/message.ts'

/** A message with an update of the client. */
export type UpdateMessage = Extract<Message, { kind: 'update' | 'offer' }>

/** The session whose messages are vetted. */
interface VettedSession {
  readonly hasEnded: boolean
  pauseReading(): void
  resumeReading(): void
  /** Handles a message. For an update that is vetted in slices, this calls `add`. */
  handle(message: Message): void
  useUpdate(message: UpdateMessage, summary: UpdateSummary): void
  /** Called when all messages are handled, before the socket is read again. */
  vettingEnded(): void
  /** Ends the session after malformed bytes or an error of the server. */
  vettingFailed(error: unknown): void
}

/** An update that is vetted in slices. */
interface VettedUpdate {
  readonly message: UpdateMessage
  readonly summary: Promise<UpdateSummary>
}

/**
 * Waits for the updates of one client that are vetted in slices. The socket is not read in the meantime, and the
 * messages that it had read before wait, because the messages of a client must be handled in their order.
 */
export class UpdateVetting {
  readonly #session: VettedSession
  readonly #later: Message[] = []
  #current: VettedUpdate | null
  /** Resolves when all messages are handled, or the session has ended. */
  readonly done: Promise<void>

  constructor(session: VettedSession, first: VettedUpdate) {
    this.#session = session
    session.pauseReading()
    this.#current = first
    this.done = this.#run()
  }

  /** Adds a further update. Call it only while the session handles a message that has waited. */
  add(update: VettedUpdate): void {
    this.#current = update
  }

  /** Adds a message that has arrived in the meantime. */
  defer(message: Message): void {
    this.#later.push(message)
  }

  async #run(): Promise<void> {
    const session = this.#session
    try {
      await this.#handleAll()
    } catch (error) {
      session.vettingFailed(error)
    }
    session.vettingEnded()
    session.resumeReading()
  }

  async #handleAll(): Promise<void> {
    const session = this.#session
    while (this.#current !== null) {
      const { message, summary } = this.#current
      const vetted = await summary
      this.#current = null
      if (session.hasEnded) return
      session.useUpdate(message, vetted)
      while (this.#current === null && !session.hasEnded) {
        const next = this.#later.shift()
        if (next === undefined) break
        session.handle(next)
      }
    }
  }
}
