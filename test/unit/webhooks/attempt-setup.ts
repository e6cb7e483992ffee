import {
  type AttemptOutcome,
  AttemptSender,
} from '../../../src/capabilities/webhooks/sending/delivery-attempt.ts'
import type { OutgoingRequest, SenderOptions } from '../../../src/core/outgoing/checked-sender.ts'
import { DestinationPolicy } from '../../../src/core/outgoing/destination-policy.ts'
import { type Behavior, onRequest, Receiver } from '../../support/clients/delivery-receiver.ts'
import { HeldClock } from '../../support/time/clock.ts'

/** Loopback is listed, and every name resolves to it. */
export const loopback = new DestinationPolicy(['127.0.0.0/8'], async () => ['127.0.0.1'])

/** An attempt at a receiver of its own. */
export interface Attempting {
  readonly receiver: Receiver
  /** Stopped until the test advances it. */
  readonly clock: HeldClock
  readonly outcome: Promise<AttemptOutcome | null>
  readonly stop: AbortController
}

const receivers: Receiver[] = []

/** For `afterEach`. */
export function stopReceivers(): void {
  for (const receiver of receivers.splice(0)) receiver.stop()
}

export async function started(behavior: Behavior): Promise<Receiver> {
  const receiver = await new Receiver(behavior).start()
  receivers.push(receiver)
  return receiver
}

export async function attempting(
  behavior: Behavior,
  given: Partial<OutgoingRequest> = {},
  options: Partial<SenderOptions> = {},
): Promise<Attempting> {
  const receiver = await started(behavior)
  const clock = new HeldClock()
  const attempts = new AttemptSender({ destinations: loopback, clock, ...options })
  const stop = new AbortController()
  const url = `http://127.0.0.1:${receiver.port}/hook?a=b`
  const delivery = { url, headers: {}, body: Buffer.from('{"a":1}'), ...given }
  return { receiver, clock, outcome: attempts.make(delivery, stop.signal), stop }
}

/** Answers every request with these bytes, and leaves the connection open. */
export const saying =
  (...texts: readonly string[]): Behavior =>
  (socket) =>
    onRequest(socket, () => {
      for (const text of texts) socket.write(text)
    })

export const answer = (status: number | string, more = ''): string =>
  `HTTP/1.1 ${status} Said\r\ncontent-length: 0\r\n${more}\r\n`
