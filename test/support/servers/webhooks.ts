import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { errorOf } from './acme-server.ts'
import { type Answer, dataOf, type TestServer } from './server.ts'

export interface Endpoint {
  readonly id: string
  readonly url: string
  readonly disabled: boolean
  readonly uid: string | null
  readonly createdAt: string
  readonly updatedAt: string
  readonly [member: string]: unknown
}

export interface EndpointPage {
  readonly endpoints: readonly Endpoint[]
  readonly iterator: string | null
  readonly prevIterator: string | null
  readonly done: boolean
}

/** URL to which the server never sends, because it rejects private addresses. */
export const nowhere = 'http://127.0.0.1:9/hook'

const adminToken = 'the-admin-token-of-webhook-tests'

/** Options that a server needs for `newKey`. */
export const webhookOptions = { adminToken } as const

/** Credentials of an API key and its workspace. */
export interface Key {
  readonly workspaceId: string
  readonly apiKey: string
  readonly authToken: string
}

/** Creates a workspace with one API key. Each test can have its own. */
export async function newKey(server: TestServer): Promise<Key> {
  const made = dataOf(
    await server.post(
      '/v2/workspace/create',
      { ownerEmail: 'ada@example.com' },
      { 'x-service-admin-token': adminToken },
    ),
  ) as { id: string; apiKey: string; apiKeyAuthToken: string }
  return { workspaceId: made.id, apiKey: made.apiKey, authToken: made.apiKeyAuthToken }
}

/**
 * Returns functions for the webhook calls of an API key. By default, a new API key is created. Its advanced
 * webhooks are off.
 */
export async function webhooksOf(server: TestServer, key?: Key) {
  const { workspaceId, apiKey, authToken } = key ?? (await newKey(server))
  const headers = { 'x-service-api-key': apiKey, 'x-service-auth-token': authToken }
  const post = (path: string, data: object): Promise<Answer> =>
    server.post(`/v2/workspace/${path}`, data, headers)
  const call = async <Data>(path: string, data: object): Promise<Data> =>
    dataOf(await post(path, data)) as Data
  const of = (path: string) => `advancedwebhook/endpoints/${path}`
  return {
    tenant: { workspaceId, apiKey },
    headers,
    post,
    call,
    basic: (change?: object) =>
      change === undefined
        ? call<object>('webhookconfig/get', {})
        : call<object>('webhookconfig/update', change),
    advanced: (change?: object) =>
      change === undefined
        ? call<object>('advancedwebhookconfig/get', {})
        : call<object>('advancedwebhookconfig/update', change),
    create: (data: object = {}) => call<Endpoint>(of('create'), { url: nowhere, ...data }),
    update: (endpointId: string, data: object) => call<Endpoint>(of('update'), { endpointId, ...data }),
    remove: (endpointId: string) => call<object>(of('delete'), { endpointId }),
    list: (data: object = {}) => call<EndpointPage>(of('get'), data),
    secret: async (endpointId: string) =>
      (await call<{ secret: string }>(of('secret/get'), { endpointId })).secret,
    rotate: async (endpointId: string, data: object = {}) =>
      (await call<{ secret: string }>(of('secret/rotate'), { endpointId, ...data })).secret,
    /** Makes a call that must be rejected. Returns the status, and the paths of its issues. */
    refused: async (path: string, data: object) => errorOf(await post(path, data)),
  }
}

export type Webhooks = Awaited<ReturnType<typeof webhooksOf>>

/** Paths of all operations on endpoints, each with valid data. */
export const endpointCalls: readonly (readonly [path: string, data: object])[] = [
  ['advancedwebhook/endpoints/create', { url: nowhere }],
  ['advancedwebhook/endpoints/get', {}],
  ['advancedwebhook/endpoints/update', { endpointId: 'none', disabled: true }],
  ['advancedwebhook/endpoints/delete', { endpointId: 'none' }],
  ['advancedwebhook/endpoints/secret/get', { endpointId: 'none' }],
  ['advancedwebhook/endpoints/secret/rotate', { endpointId: 'none' }],
]

/** Creates an RSA key. Returns the public key in both forms that receivers use. */
export function rsaKey(bits = 2_048, publicExponent = 65_537) {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: bits, publicExponent })
  return { spki: bodyOf(publicKey, 'spki'), pkcs1: bodyOf(publicKey, 'pkcs1'), privateKey }
}

export const bodyOf = (key: KeyObject, type: 'spki' | 'pkcs1'): string =>
  key.export({ format: 'der', type }).toString('base64')

/**
 * Creates an endpoint for the API key of the server. It gets the events of the given types. Does nothing if
 * there are none.
 */
export async function wantTold({ post }: TestServer, filterTypes: readonly string[]): Promise<void> {
  if (filterTypes.length === 0) return
  dataOf(await post('/v2/workspace/advancedwebhookconfig/update', { isEnabled: true }))
  dataOf(await post('/v2/workspace/advancedwebhook/endpoints/create', { url: nowhere, filterTypes }))
}
