import type { Clock } from '../../core/base/clock.ts'
import type { AccessRole } from '../../core/directory/store/records.ts'
import type { DocumentAddress } from '../../core/model/address.ts'
import type { RoomRegistry } from '../../core/rooms/room/room-registry.ts'
import type { CallbacksRecord } from '../subscriptions/callbacks/callback-records.ts'
import type { CallbackCaller, CallbackOutcome, CallFailure } from './callback-caller.ts'
import { readDecision } from './callback-decider.ts'
import { readLoaded } from './document-loader.ts'
import type { AnsweringCallbackName } from './limits.ts'

/** The members of a valid response that a test reports. */
interface TestAnswer {
  readonly role?: AccessRole | null
  readonly ttlSeconds?: number
  readonly notFound?: true
  readonly type?: string
  readonly contentKey?: string
  /** Size of a Yjs update. */
  readonly updateBytes?: number
}

interface CallbackTestResult {
  readonly result: 'answered' | CallFailure
  /** Why the call failed; null if it was answered. */
  readonly reason: string | null
  /** Time of the call, with waits and retries. */
  readonly durationMs: number
  readonly answer: TestAnswer | null
}

/**
 * Calls callbacks as a client would cause it, and uses their responses for nothing. Such calls count in the metrics
 * and in the circuit breakers like all others.
 */
export class CallbackTester {
  readonly #caller: CallbackCaller
  readonly #rooms: Pick<RoomRegistry, 'parse'>
  readonly #clock: Clock

  constructor(caller: CallbackCaller, rooms: Pick<RoomRegistry, 'parse'>, clock: Clock) {
    this.#caller = caller
    this.#rooms = rooms
    this.#clock = clock
  }

  /** Calls a callback about an editor; `authorize` about a user without a name and an email address. */
  async test(
    name: AnsweringCallbackName,
    callbacks: CallbacksRecord,
    address: DocumentAddress,
    userId: string,
  ): Promise<CallbackTestResult> {
    const start = this.#clock.now()
    const outcome = await this.#call(name, callbacks, address, userId)
    const durationMs = this.#clock.now() - start
    return outcome.kind === 'answered'
      ? { result: 'answered', reason: null, durationMs, answer: outcome.answer }
      : { result: outcome.failure, reason: outcome.reason, durationMs, answer: null }
  }

  #call(
    name: AnsweringCallbackName,
    callbacks: CallbacksRecord,
    address: DocumentAddress,
    userId: string,
  ): Promise<CallbackOutcome<TestAnswer>> {
    const { organizationId, documentId, editorId } = address
    const editor = { organizationId, documentId, editorId }
    const call = { tenant: address, name, callbacks, subject: 'test' }
    return name === 'authorize'
      ? this.#caller.call({
          ...call,
          userId,
          data: { ...editor, user: { userId, name: '', email: '' }, agent: null },
          read: async (body): Promise<TestAnswer> => readDecision(body),
        })
      : this.#caller.call({
          ...call,
          userId: null,
          data: editor,
          read: (body) => readLoadAnswer(this.#rooms, address, body),
        })
  }
}

async function readLoadAnswer(
  rooms: Pick<RoomRegistry, 'parse'>,
  address: DocumentAddress,
  body: Uint8Array,
): Promise<TestAnswer> {
  const content = await readLoaded(rooms, address, body)
  if (content.kind === 'none') return { notFound: true }
  if (content.kind === 'update') return { updateBytes: content.update.length }
  const { type, contentKey } = content.target
  return { type, ...(contentKey !== undefined && { contentKey }) }
}
