import { signingSecrets } from '../subscriptions/endpoints/signing-secrets.ts'
import type { WebhookTarget } from '../subscriptions/target.ts'
import type { OutgoingRequest } from './delivery-attempt.ts'
import {
  advancedPayload,
  basicPayload,
  type PayloadInput,
  processedPayload,
  type RecipientResolver,
} from './payload.ts'
import { encodePayload, encodingFor } from './payload-encryption.ts'
import { signatureHeaders, tokenHeaders } from './sign.ts'
import type { OutgoingMessage } from './target-sender.ts'

/** Builds the HTTP request for a message. */
export class RequestComposer {
  readonly #recipients: RecipientResolver

  constructor(recipients: RecipientResolver) {
    this.#recipients = recipients
  }

  /**
   * Builds the request with the configuration that the target has at `now`.
   * @param now epoch milliseconds
   * @throws Error if the payload must be encrypted and there is no key
   */
  async compose(
    target: WebhookTarget,
    { message, event }: OutgoingMessage,
    now: number,
  ): Promise<OutgoingRequest> {
    const sealing = encodingFor(target.config)
    if (sealing.kind === 'impossible') throw new Error('there is no public key to encrypt with')
    const detail = isProtected(target) ? 'protected' : 'whole'
    const payload = await this.#payload(target, { webhookId: message.id, event, detail })
    const body = encodePayload(JSON.stringify(payload), sealing)
    if (target.kind === 'basic')
      return { url: target.url, headers: tokenHeaders(target.config.authToken), body }
    const secrets = signingSecrets(target.endpoint, now)
    const headers = signatureHeaders({ id: message.id, at: now, body }, secrets)
    return { url: target.endpoint.url, headers, body }
  }

  async #payload(target: WebhookTarget, input: PayloadInput): Promise<object> {
    if (target.kind === 'endpoint') return advancedPayload(input)
    if (target.form === 'raw') return basicPayload(input)
    return processedPayload(input, await this.#recipients.of(input.event))
  }
}

const isProtected = (target: WebhookTarget): boolean =>
  target.kind === 'endpoint'
    ? target.config.enableDataProtection
    : target.config.triggers.enableDataProtection === true
