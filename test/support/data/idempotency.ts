import { randomUUID } from 'node:crypto'
import { operationList } from '../../../src/capabilities/list.ts'
import { featureTypes } from '../../../src/core/events/activity.ts'
import { exampleOf } from '../../../src/rest/openapi/examples.ts'
import type { Operation } from '../../../src/rest/operation.ts'
import { type ExampleServer, makeWorld, type WorldMaker } from './openapi-example-data.ts'

export interface KeyedAnswer {
  readonly status: number
  /** Body of the response as text. */
  readonly text: string
  readonly replayed: boolean
  readonly retryAfter: string | null
}

/** Calls an operation with an idempotency key. The headers contain all kinds of credentials. */
export async function callWithKey(
  example: ExampleServer,
  path: string,
  data: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<KeyedAnswer> {
  const all = {
    'content-type': 'application/json',
    'idempotency-key': randomUUID(),
    ...headersOf(example),
    ...headers,
  }
  const response = await fetch(example.server.url + path, {
    method: 'POST',
    headers: all,
    body: JSON.stringify({ data }),
  })
  return {
    status: response.status,
    text: await response.text(),
    replayed: response.headers.get('idempotent-replayed') === 'true',
    retryAfter: response.headers.get('retry-after'),
  }
}

function headersOf({ credentials }: ExampleServer): Record<string, string> {
  const { apiKey = '', authToken = '', workspaceId = '', workspaceAuthToken = '' } = credentials
  return {
    'x-service-api-key': apiKey,
    'x-service-auth-token': authToken,
    'x-service-workspace-id': workspaceId,
    'x-service-workspace-auth-token': workspaceAuthToken,
    'x-service-admin-token': credentials.adminToken ?? '',
  }
}

export const changing = operationList.filter(({ effect }) => effect !== 'reads')

/** Returns data for a successful call of an operation. Creates the objects that the data refers to. */
export async function fittingData(
  example: ExampleServer,
  { path, request }: Operation,
  // With all objects, so that a call which should change nothing is seen to change none.
  worldFor: WorldMaker = (called) => makeWorld(example.server, called),
): Promise<object> {
  const told: Record<string, unknown> = await worldFor(path)
  const data = exampleOf(request, 'request') as Record<string, unknown>
  const known = 'authToken' in data ? { ...told, ...example.credentials } : told
  return Object.fromEntries(Object.entries(data).map(([name, shown]) => [name, known[name] ?? shown]))
}

const organizationId = 'acme'
const document = { organizationId, documentId: 'report' }

/**
 * Activities that are recorded before the response. A job records the activities of edits (`crdt`) later, so their
 * number depends on time and not on a repeated call.
 */
const recordedAtOnce = featureTypes.filter((type) => type !== 'crdt')

/** Calls that read the objects of the examples. They fail if these objects have been deleted. */
const reads: readonly (readonly [string, object])[] = [
  ['/v2/organizations/get', {}],
  ['/v2/organizations/documents/get', { organizationId }],
  ['/v2/organizations/folders/get', { organizationId }],
  ['/v2/organizations/usergroups/get', { organizationId }],
  ['/v2/users/get', { organizationId }],
  ['/v2/activities/get', { organizationId, featureTypes: recordedAtOnce }],
  ['/v2/notifications/get', { organizationId }],
  ['/v2/commentannotations/get', document],
  ['/v2/crdt/get', document],
  ['/v2/crdt/versions/list', { ...document, editorId: 'main' }],
  ['/v2/workspace/advancedwebhook/endpoints/get', {}],
  ['/v2/workspace/advancedwebhook/endpoints/secret/get', { endpointId: 'billing' }],
  ['/v2/workspace/domains/get', {}],
  ['/v2/workspace/apikeys/get', {}],
  ['/v2/memory/judgments/query', {}],
]

/** Returns the responses of all reads as text. Waits until they no longer change. */
export async function worldOf(example: ExampleServer): Promise<string> {
  const look = async (): Promise<string> => {
    const answers = reads.map(async ([path, data]) => (await callWithKey(example, path, data)).text)
    return (await Promise.all(answers)).join('\n')
  }
  for (let before = await look(); ; ) {
    const after = await look()
    if (after === before) return after
    before = after
  }
}
