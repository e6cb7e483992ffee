import { expect, it } from 'vitest'
import type { Message } from '../../../../src/core/sync/protocols/message.ts'
import { type UpdateMessage, UpdateVetting } from '../../../../src/core/sync/session/update-vetting.ts'
import { readUpdate } from '../../../../src/core/update/read-update.ts'
import { typed } from '../../../support/clients/clients.ts'

const large: UpdateMessage = { kind: 'update', update: typed('large', 1) }
const small: Message = { kind: 'live', text: 'later' }

/** A session whose methods fail as a fault of the server would let them fail. */
class FaultySession {
  hasEnded = false
  pauses = 0
  readonly #failsAt: Message
  readonly handled: Message[] = []
  readonly faults: unknown[] = []

  constructor(failsAt: Message) {
    this.#failsAt = failsAt
  }

  pauseReading(): void {
    this.pauses += 1
  }

  resumeReading(): void {
    this.pauses -= 1
  }

  handle(message: Message): void {
    this.handled.push(message)
    if (message === this.#failsAt) throw new Error('a fault')
  }

  useUpdate(message: UpdateMessage): void {
    this.handle(message)
  }

  vettingEnded(): void {}

  vettingFailed(error: unknown): void {
    this.faults.push(error)
    this.hasEnded = true
  }
}

it.each([
  ['the vetted update', large, [large]],
  ['a later message', small, [large, small]],
])(
  '[ROOM-70] ends the session and reads the socket again after a fault of the server in %s',
  async (_, failsAt, handled) => {
    const session = new FaultySession(failsAt)
    const summary = Promise.resolve(readUpdate(large.update))
    const vetting = new UpdateVetting(session, { message: large, summary })
    vetting.defer(small)
    vetting.defer(small)
    await vetting.done
    expect(session).toMatchObject({ faults: [new Error('a fault')], handled, pauses: 0 })
  },
)
