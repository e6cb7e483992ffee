import { json } from '../../../core/base/schema.ts'
import { invalidAt } from '../../../rest/validator.ts'
import { subscriptionLimits as limits } from '../limits.ts'
import { publicKeyBits, readPublicKey } from '../sending/payload-encryption.ts'
import { triggerGroups, triggerNames } from '../triggers.ts'

const groups = Object.entries(triggerGroups).map(
  ([group, members]) => `\`${group}\` (${members.map((name) => `\`${name}\``).join(', ')})`,
)

/** Members for the encoding of payloads, for basic and advanced webhooks. */
const wrapping = {
  encodeData: json.boolean('Send base64 of the JSON.'),
  encryptData: json.boolean(
    'Encrypt with `publicKey`, which must be set; there is then no further encoding.',
  ),
  publicKey: json.text(
    `RSA key of ${publicKeyBits.min} to ${publicKeyBits.max} bits: a PEM file, or its base64 body without the first ` +
      "and last line, in the form SPKI or PKCS#1; '' for none.",
    { maxLength: limits.publicKey },
  ),
} as const

const triggers = json.map(
  {
    anyOf: [json.boolean(), json.map(json.boolean())],
  },
  {
    description:
      `By name: ${triggerNames.map((name) => `\`${name}\``).join(', ')}. The last one takes names, e-mail addresses and ` +
      'content out of what is sent. Other names are stored, and switch nothing: `warnings` lists them. All together at ' +
      `most ${limits.triggersBytes} bytes as JSON.`,
  },
)

const serviceConfig = {
  authToken: json.text(
    "Sent with every request, as `Authorization: Basic …`; '' for none. Printable ASCII.",
    { maxLength: limits.authToken },
  ),
  rawNotificationUrl: json.text("http(s) URL that receives every event whose trigger is on; '' for none.", {
    maxLength: limits.url,
  }),
  processedNotificationUrl: json.text(
    "Like `rawNotificationUrl`, but its events name the recipients; '' for none.",
    { maxLength: limits.url },
  ),
  ...wrapping,
  enableDataProtection: json.boolean(
    'The trigger of this name, next to the triggers. If they differ, data are protected.',
  ),
  triggers,
} as const

const useWebhookService = json.boolean('Whether the service is on.', { examples: [true] })

/** Members of the basic service that can be changed. */
export const basicChange = json.object(
  {},
  {
    useWebhookService,
    webhookServiceConfig: json.object(
      {},
      {
        ...serviceConfig,
        triggers: {
          ...triggers,
          description: `${triggers.description} A group stands for its members, and a member goes before its group: ${groups.join(', ')}. A map switches members by their last names: \`"huddle": { "create": true }\`.`,
        },
      },
      {
        examples: [
          {
            authToken: 'a-token-for-the-receiver',
            rawNotificationUrl: 'https://example.com/webhooks',
            triggers: { 'comment.add': true, crdt: true },
          },
        ],
      },
    ),
  },
)

/** Response members of the basic service. */
export const basicAnswer = json.object({
  useWebhookService,
  webhookServiceConfig: {
    type: 'object',
    required: [
      'authToken',
      'rawNotificationUrl',
      'processedNotificationUrl',
      'encodeData',
      'encryptData',
      'publicKey',
      'triggers',
    ],
    properties: serviceConfig,
  },
})

const advanced = {
  isEnabled: json.boolean('Whether endpoints get events.', { examples: [true] }),
  ...wrapping,
  enableDataProtection: json.boolean('True: omits names, e-mail addresses and content from events.'),
} as const

/** Members of the settings for all endpoints that can be changed. */
export const advancedChange = json.object({}, advanced)

export const advancedAnswer = json.object(advanced)

/** Returns why `url` cannot be a target; null if its syntax is valid. */
export function urlProblem(url: string): string | null {
  const isWeb = /^https?:\/\/[^\s\p{Cc}]+$/iu.test(url) && URL.canParse(url)
  if (!isWeb) return 'must be an http(s) URL'
  const { username, password } = new URL(url)
  return username === '' && password === '' ? null : 'must not contain a user name or a password'
}

/** The members that need checks beyond those of their schema. */
interface Judged {
  readonly authToken?: string
  readonly rawNotificationUrl?: string
  readonly processedNotificationUrl?: string
  readonly publicKey?: string
}

/**
 * Checks a configuration.
 * @param at JSON pointer of the object
 * @throws ApiError INVALID_ARGUMENT for the first member that cannot be used
 */
export function checkWebhookConfig(at: string, config: Judged): void {
  const { authToken = '', publicKey = '', rawNotificationUrl = '', processedNotificationUrl = '' } = config
  for (const [name, url] of Object.entries({ rawNotificationUrl, processedNotificationUrl })) {
    const message = url === '' ? null : urlProblem(url)
    if (message !== null) throw invalidAt({ path: `${at}/${name}`, message })
  }
  if (!isHeaderText(authToken))
    throw invalidAt({
      path: `${at}/authToken`,
      message: 'must be printable ASCII without spaces around it',
    })
  if (publicKey !== '' && readPublicKey(publicKey) === null)
    throw invalidAt({
      path: `${at}/publicKey`,
      message: `must be an RSA public key of ${publicKeyBits.min} to ${publicKeyBits.max} bits, as a PEM file or base64 of SPKI or PKCS#1`,
    })
}

/** Returns whether a header can transfer the text unchanged. */
const isHeaderText = (text: string): boolean => /^(?:[!-~](?:[ -~]*[!-~])?)?$/.test(text)

/** Returns the warning for a stored trigger that Weft does not have. */
export const unknownTrigger = (name: string): string =>
  `Weft has no trigger ${JSON.stringify(name)}: it is stored and switches nothing.`
