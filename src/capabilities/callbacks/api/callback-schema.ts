import type { FromSchema } from '../../../core/base/schema.ts'
import { readingFormats } from '../../../core/content/read-document.ts'
import { contentKeySchema } from '../../../rest/schemas/resource-schema.ts'
import { invalidAt } from '../../../rest/validator.ts'
import { nullable, secretSchema } from '../../webhooks/api/endpoint-schema.ts'
import { urlProblem } from '../../webhooks/api/webhook-schema.ts'
import {
  authorizeFailures,
  type CallbacksRecord,
  loadFailures,
  type StoreCallback,
} from '../../webhooks/callback-records.ts'
import { subscriptionLimits as limits } from '../../webhooks/limits.ts'

/** Minimum timeout of a call in ms. */
export const timeoutMsMin = 100
export const timeoutMsDefault = 5_000
/** Default of the minimum time in seconds between two deliveries of `store`. */
export const minSecondsDefault = 10

const url = {
  type: 'string',
  minLength: 1,
  maxLength: limits.url,
  description: 'http(s) URL that Weft calls.',
  examples: ['https://example.com/weft/callback'],
} as const

const timeoutMs = {
  type: 'integer',
  minimum: timeoutMsMin,
  maximum: limits.callbackMs,
  default: timeoutMsDefault,
  description: 'Maximum time of a call in ms, including waits and retries.',
} as const

const format = {
  type: 'string',
  enum: readingFormats,
  default: 'json',
  description: 'Format of the content, as in `crdt/get`.',
} as const

const contentKey = {
  ...contentKeySchema,
  description: 'Root whose content is sent. Default: the root that `crdt/get` reads.',
} as const

const minSeconds = {
  type: 'integer',
  minimum: 1,
  maximum: limits.storeSeconds,
  default: minSecondsDefault,
  description: 'Minimum time in seconds between two calls about the same editor.',
} as const

const authorizeFailure = {
  type: 'string',
  enum: authorizeFailures,
  default: 'reject',
  description:
    'If a call fails: `reject` closes with 1013, `stored` applies the access type of the document.',
} as const

const loadFailure = {
  type: 'string',
  enum: loadFailures,
  default: 'reject',
  description: 'If a call fails: `reject` closes with 1013, `empty` treats the editor as missing.',
} as const

const authorizeDescription =
  'Decides the role of a user whom no grant gives a role on the document. The request has the member `agent`: `model`, ' +
  '`onBehalfOf` and `policies` of an agent; null for a person.'
const loadDescription = 'Returns the initial content of an editor that does not exist.'
const storeDescription = 'Receives the content of editors after changes.'

/** Request members: the callbacks. Null removes a callback. */
export const callbacksChange = {
  authorize: {
    ...nullable({
      type: 'object',
      required: ['url'],
      properties: { url, timeoutMs, onFailure: authorizeFailure },
    }),
    description: authorizeDescription,
    examples: [{ url: 'https://app.example.com/weft/authorize' }],
  },
  load: {
    ...nullable({
      type: 'object',
      required: ['url'],
      properties: { url, timeoutMs, onFailure: loadFailure },
    }),
    description: loadDescription,
  },
  store: {
    ...nullable({ type: 'object', required: ['url'], properties: { url, format, contentKey, minSeconds } }),
    description: storeDescription,
  },
} as const

const time = { type: 'string', format: 'date-time', examples: ['2026-01-01T00:00:00.000Z'] } as const

/** Response members of the callbacks, without the signing secret. */
export const callbacksAnswer = {
  type: 'object',
  required: ['authorize', 'load', 'store', 'createdAt', 'updatedAt'],
  properties: {
    authorize: {
      ...nullable({
        type: 'object',
        required: ['url', 'timeoutMs', 'onFailure'],
        properties: { url, timeoutMs, onFailure: authorizeFailure },
      }),
      description: authorizeDescription,
    },
    load: {
      ...nullable({
        type: 'object',
        required: ['url', 'timeoutMs', 'onFailure'],
        properties: { url, timeoutMs, onFailure: loadFailure },
      }),
      description: loadDescription,
    },
    store: {
      ...nullable({
        type: 'object',
        required: ['url', 'format', 'minSeconds'],
        properties: { url, format, contentKey, minSeconds },
      }),
      description: storeDescription,
    },
    createdAt: time,
    updatedAt: time,
  },
} as const

/** Schema of the signing secret of the callbacks. */
export const callbackSecretAnswer = {
  type: 'object',
  required: ['secret'],
  properties: { secret: secretSchema },
} as const

export const noCallbacks = { code: 'callback/not-configured', when: 'the API key has no callbacks' } as const

const changeRequest = { type: 'object', properties: callbacksChange } as const

type ChangeRequest = FromSchema<typeof changeRequest>

/**
 * Converts the request members to a change, with the default of each absent member.
 * @throws ApiError INVALID_ARGUMENT for an invalid URL
 */
export function toCallbacksChange({ authorize, load, store }: ChangeRequest) {
  for (const [name, given] of Object.entries({ authorize, load, store })) {
    const message = given?.url === undefined ? null : urlProblem(given.url)
    if (message !== null) throw invalidAt({ path: `/data/${name}/url`, message })
  }
  return {
    authorize: authorize && { timeoutMs: timeoutMsDefault, onFailure: 'reject' as const, ...authorize },
    load: load && { timeoutMs: timeoutMsDefault, onFailure: 'reject' as const, ...load },
    store: store && { format: 'json' as const, minSeconds: minSecondsDefault, ...store },
  }
}

/** Converts the callbacks to their response, which contains no secrets. */
export const toCallbacksResponse = ({
  authorize,
  load,
  store,
  createdAt,
  updatedAt,
}: CallbacksRecord): FromSchema<typeof callbacksAnswer> => ({
  authorize: authorize && answeringResponse(authorize),
  load: load && answeringResponse(load),
  store: store && storeResponse(store),
  createdAt: new Date(createdAt).toISOString(),
  updatedAt: new Date(updatedAt).toISOString(),
})

const answeringResponse = <Failure>({
  url,
  timeoutMs,
  onFailure,
}: {
  readonly url: string
  readonly timeoutMs: number
  readonly onFailure: Failure
}) => ({ url, timeoutMs, onFailure })

const storeResponse = ({ url, format, contentKey, minSeconds }: StoreCallback) => ({
  url,
  format,
  ...(contentKey !== undefined && { contentKey }),
  minSeconds,
})
