import { signingSecrets } from '../subscriptions/secrets.ts'
import type { Target } from '../subscriptions/target.ts'
import type { Delivery } from './attempt.ts'
import type { ToldMessage } from './line.ts'
import { advancedPayload, basicPayload, processedPayload, type Recipients, type Told } from './payload.ts'
import { seal, sealingOf } from './seal.ts'
import { signatureHeaders, tokenHeaders } from './sign.ts'

/** Makes of messages what is sent of them. */
export class Composer {
  readonly #recipients: Recipients

  constructor(recipients: Recipients) {
    this.#recipients = recipients
  }

  /**
   * What is sent to a target at some moment: as it is configured then.
   * @param now epoch milliseconds
   * @throws Error where it is to be encrypted, and there is no key
   */
  async compose(target: Target, { message, event }: ToldMessage, now: number): Promise<Delivery> {
    const sealing = sealingOf(target.config)
    if (sealing.kind === 'impossible') throw new Error('there is no public key to encrypt with')
    const detail = isProtected(target) ? 'protected' : 'whole'
    const payload = await this.#payload(target, { webhookId: message.id, event, detail })
    const body = seal(JSON.stringify(payload), sealing)
    if (target.kind === 'basic')
      return { url: target.url, headers: tokenHeaders(target.config.authToken), body }
    const secrets = signingSecrets(target.endpoint, now)
    const headers = signatureHeaders({ id: message.id, at: now, body }, secrets)
    return { url: target.endpoint.url, headers, body }
  }

  async #payload(target: Target, told: Told): Promise<object> {
    if (target.kind === 'endpoint') return advancedPayload(told)
    if (target.form === 'raw') return basicPayload(told)
    return processedPayload(told, await this.#recipients.of(told.event))
  }
}

const isProtected = (target: Target): boolean =>
  target.kind === 'endpoint'
    ? target.config.enableDataProtection
    : target.config.triggers.enableDataProtection === true
