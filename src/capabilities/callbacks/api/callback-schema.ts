import { type FromSchema, json } from '../../../core/base/schema.ts'
import { readingFormats } from '../../../core/content/read-document.ts'
import { contentKeySchema } from '../../../rest/schemas/resource-schema.ts'
import { invalidAt } from '../../../rest/validator.ts'
import { secretSchema } from '../../webhooks/api/endpoint-schema.ts'
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

const url = json.text('http(s) URL that Weft calls.', {
  minLength: 1,
  maxLength: limits.url,
  examples: ['https://example.com/weft/callback'],
})

const timeoutMs = json.integer('Maximum time of a call in ms, including waits and retries.', {
  minimum: timeoutMsMin,
  maximum: limits.callbackMs,
  default: timeoutMsDefault,
})

const format = json.choice(readingFormats, 'Format of the content, as in `crdt/get`.', { default: 'json' })

const contentKey = {
  ...contentKeySchema,
  description: 'Root whose content is sent. Default: the root that `crdt/get` reads.',
} as const

const minSeconds = json.integer('Minimum time in seconds between two calls about the same editor.', {
  minimum: 1,
  maximum: limits.storeSeconds,
  default: minSecondsDefault,
})

const authorizeFailure = json.choice(
  authorizeFailures,
  'If a call fails: `reject` closes with 1013, `stored` applies the access type of the document.',
  { default: 'reject' },
)

const loadFailure = json.choice(
  loadFailures,
  'If a call fails: `reject` closes with 1013, `empty` treats the editor as missing.',
  { default: 'reject' },
)

const authorizeDescription =
  'Decides the role of a user whom no grant gives a role on the document. The request has the member `agent`: `model`, ' +
  '`onBehalfOf` and `policies` of an agent; null for a person.'
const loadDescription = 'Returns the initial content of an editor that does not exist.'
const storeDescription = 'Receives the content of editors after changes.'

/** Request members: the callbacks. Null removes a callback. */
export const callbacksChange = {
  authorize: {
    ...json.orNull(json.object({ url }, { timeoutMs, onFailure: authorizeFailure })),
    description: authorizeDescription,
    examples: [{ url: 'https://app.example.com/weft/authorize' }],
  },
  load: json.orNull(json.object({ url }, { timeoutMs, onFailure: loadFailure }), loadDescription),
  store: json.orNull(json.object({ url }, { format, contentKey, minSeconds }), storeDescription),
} as const

const time = { type: 'string', format: 'date-time', examples: ['2026-01-01T00:00:00.000Z'] } as const

/** Response members of the callbacks, without the signing secret. */
export const callbacksAnswer = json.object({
  authorize: json.orNull(json.object({ url, timeoutMs, onFailure: authorizeFailure }), authorizeDescription),
  load: json.orNull(json.object({ url, timeoutMs, onFailure: loadFailure }), loadDescription),
  store: json.orNull(json.object({ url, format, minSeconds }, { contentKey }), storeDescription),
  createdAt: time,
  updatedAt: time,
})

/** Schema of the signing secret of the callbacks. */
export const callbackSecretAnswer = json.object({ secret: secretSchema })

export const noCallbacks = { code: 'callback/not-configured', when: 'the API key has no callbacks' } as const

const changeRequest = json.object({}, callbacksChange)

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
