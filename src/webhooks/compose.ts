import type { DueMessage } from '../subscriptions/deliveries.ts'
import type { Target } from '../subscriptions/target.ts'
import type { Delivery } from './attempt.ts'
import { seal, sealingOf } from './seal.ts'
import { signatureHeaders, signingSecrets, tokenHeaders } from './sign.ts'

/**
 * What is sent of a message to its target at some moment.
 * @param now epoch milliseconds
 * @throws Error where it is to be encrypted, and there is no key
 */
export async function compose(
  target: Target,
  { message, event }: DueMessage,
  now: number,
): Promise<Delivery> {
  const sealing = sealingOf(target.config)
  if (sealing.kind === 'impossible') throw new Error('there is no public key to encrypt with')
  const body = seal(JSON.stringify({ event: event.type, data: event.data, webhookId: message.id }), sealing)
  if (target.kind === 'basic')
    return { url: target.url, headers: tokenHeaders(target.config.authToken), body }
  const secrets = signingSecrets(target.endpoint, now)
  return {
    url: target.endpoint.url,
    headers: signatureHeaders({ id: message.id, at: now, body }, secrets),
    body,
  }
}
