import { invalid } from '../../../core/base/errors.ts'
import { type FromSchema, json } from '../../../core/base/schema.ts'
import { didYouMean } from '../../../core/base/text.ts'
import { eventTypes, isEventType } from '../../../core/events/outbound-event.ts'
import type { Services } from '../../../rest/services.ts'
import { invalidAt } from '../../../rest/validator.ts'
import { subscriptionLimits as limits } from '../limits.ts'
import type { EndpointRecord } from '../webhook-records.ts'
import { urlProblem } from './webhook-schema.ts'

export const endpointId = json.id('Id of the endpoint, or its `uid`.', { examples: ['billing'] })

/** Errors of the operations on endpoints and their deliveries, if advanced webhooks are off. */
export const advancedOff = [
  { code: 'webhook/never-configured', when: 'advanced webhooks were never configured' },
  { code: 'webhook/disabled', when: 'advanced webhooks are disabled' },
] as const

export const noSuchEndpoint = {
  code: 'webhook/endpoint-not-found',
  when: 'the endpoint does not exist',
} as const

/** Properties of an endpoint. Each property may also be null, which unsets the property. */
export const endpointProperties = {
  url: json.text('http(s) URL that receives the events.', {
    minLength: 1,
    maxLength: limits.url,
    examples: ['https://example.com/webhooks'],
  }),
  description: { type: 'string', maxLength: limits.description },
  filterTypes: json.list(
    { type: 'string', minLength: 1, maxLength: limits.eventType },
    {
      maxItems: limits.filterTypes,
      description:
        `Types of the events to send; default, or if empty: all. Types: ${eventTypes.map((type) => `\`${type}\``).join(', ')}. ` +
        'Other types are stored without effect: `warnings` lists them.',
      examples: [['comment.add', 'comment.update']],
    },
  ),
  channels: json.list(json.id(), {
    maxItems: limits.channels,
    description: 'Ids of the organizations and documents whose events to send; default, or if empty: all.',
    examples: [['acme']],
  }),
  disabled: json.boolean('True: the endpoint gets no events.', { examples: [false] }),
  rateLimit: json.integer('Maximum deliveries per second; default: unlimited.', {
    minimum: 1,
    maximum: 1_000_000,
  }),
  metadata: json.map(
    { type: 'string', maxLength: limits.metadataBytes },
    {
      description: `Any data about the endpoint, at most ${limits.metadataBytes} bytes as JSON. Replaced as a whole.`,
    },
  ),
} as const

export const uid = json.id('Your own unique name of the endpoint, accepted in place of `endpointId`.')

const time = { type: 'string', format: 'date-time', examples: ['2026-01-01T00:00:00.000Z'] } as const

/** Response members of an endpoint, without its secret. */
export const endpointAnswer = json.object({
  id: json.text('Id of the endpoint.', { examples: ['ep_9f86d081884c7d659a2feaa0'] }),
  url: endpointProperties.url,
  description: json.orNull(endpointProperties.description),
  filterTypes: json.orNull(endpointProperties.filterTypes),
  channels: json.orNull(endpointProperties.channels),
  disabled: json.boolean(
    'True: the endpoint gets no events. A call, its own response 410, or five days of only failures disabled it.',
  ),
  rateLimit: json.orNull(endpointProperties.rateLimit),
  uid: json.orNull(uid),
  metadata: json.orNull(endpointProperties.metadata),
  createdAt: time,
  updatedAt: time,
})

export const secretSchema = json.text('`whsec_` and the key as base64, as Standard Webhooks spells it.', {
  examples: ['whsec_plJ3nmyCDGBKInavdOK15jsl'],
})

/** Default grace period in seconds (1 day). */
export const graceSecondsDefault = 86_400

/** Request member of the rotation of a signing secret. */
export const graceSchema = json.integer('Time in seconds for which the replaced secret also signs.', {
  minimum: 0,
  maximum: limits.graceSeconds,
  default: graceSecondsDefault,
})

/** Schema of the signing secret of an endpoint. */
export const secretAnswer = json.object({
  endpointId: json.text('Id of the endpoint.'),
  secret: secretSchema,
})

/**
 * Converts an endpoint to its response, which contains only the listed members of the record, and no secrets.
 */
export function toEndpointResponse(endpoint: EndpointRecord): FromSchema<typeof endpointAnswer> {
  const { id, url, description, filterTypes, channels, disabledBy, rateLimit, uid, metadata } = endpoint
  const asStored = { id, url, description, filterTypes, channels, rateLimit, uid, metadata }
  return {
    ...asStored,
    disabled: disabledBy !== null,
    createdAt: new Date(endpoint.createdAt).toISOString(),
    updatedAt: new Date(endpoint.updatedAt).toISOString(),
  }
}

/** The members that need checks beyond those of their schema. */
interface Judged {
  readonly url?: string
  readonly metadata?: Readonly<Record<string, string>> | null
}

/**
 * Checks the members of an endpoint that schemas cannot check.
 * @throws ApiError INVALID_ARGUMENT with the path of the member
 */
export function checkEndpoint({ url, metadata }: Judged): void {
  const message = url === undefined ? null : urlProblem(url)
  if (message !== null) throw invalidAt({ path: '/data/url', message })
  if (metadata !== undefined && Buffer.byteLength(JSON.stringify(metadata)) > limits.metadataBytes)
    throw invalidAt({
      path: '/data/metadata',
      message: `must be at most ${limits.metadataBytes} bytes as JSON`,
    })
}

/** Checks that a change has at least one member. @throws ApiError INVALID_ARGUMENT */
export function requireChange(change: object): void {
  if (Object.values(change).every((value) => value === undefined))
    throw invalid('request/invalid-member', `at least one of ${Object.keys(change).join(', ')} must be given`)
}

/** Returns the unique items in the given order. Returns null, which means all, for an empty list. */
export const filterOf = <T>(items: readonly T[]): readonly T[] | null =>
  items.length === 0 ? null : [...new Set(items)]

/**
 * Returns the warning for a subscribed event type that Weft does not have. The warning names the type that
 * was most likely meant.
 */
const unknownEventType = (name: string): string =>
  `Weft has no event type ${JSON.stringify(name)}${didYouMean(name, eventTypes)}: it is stored and never sent.`

/** Returns the warnings for settings of an endpoint that have no effect. */
export const endpointWarnings = ({ filterTypes }: EndpointRecord): readonly string[] =>
  (filterTypes ?? []).filter((type) => !isEventType(type)).map(unknownEventType)

/** Returns the warnings for URLs to which the server will send nothing. */
export function destinationWarnings(
  { destinations }: Pick<Services, 'destinations'>,
  urls: readonly (string | null | undefined)[],
): readonly string[] {
  const problems = urls.map((url) =>
    url === null || url === undefined || !URL.canParse(url) ? null : destinations.problemOf(new URL(url)),
  )
  return [...new Set(problems.filter((problem) => problem !== null))].map(
    (problem) => `${problem}, so nothing is sent to it; add it to the option WEFT_WEBHOOK_ALLOWLIST`,
  )
}
