import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import * as Y from 'yjs'
import { operationList } from '../../src/capabilities/list.ts'
import { eventually, syncedEditor } from '../support/clients/clients.ts'
import { makeWorld } from '../support/data/openapi-example-data.ts'
import { dataOf, startTestServer, type TestServer } from '../support/servers/server.ts'
import { adminToken, otherKey, otherWorkspace } from '../support/servers/tenants.ts'

type Headers = Readonly<Record<string, string>>

export const oddDocument = { organizationId: 'über/acme', documentId: '100% %2F', editorId: '😀 ..x' }
const xmlText = {
  attributes: { dir: 'ltr' },
  delta: [{ text: { attributes: { type: 'p' }, delta: [{ insert: 'x' }] } }],
}

/** One document of each content type: editor, type and data. */
export const contents: readonly (readonly [string, string, unknown])[] = [
  ['text', 'text', 'plain & simple\nsecond'],
  ['map', 'map', { title: 'Report', nested: { list: [1, null, 'three'] } }],
  ['array', 'array', [1, { id: 'two' }, ['three']]],
  ['xml', 'xml', '<p class="lead">Hello <b>world</b></p><hr/>'],
  ['delta', 'delta', [{ insert: 'bold', attributes: { bold: true } }, { insert: { image: 'x.png' } }]],
  ['xmltext', 'xmltext', xmlText],
]

/** Content of a filled store, for later queries. */
export interface RichStore {
  /** For each API key of the store: ids that it has, and the id of a version. */
  readonly tenants: readonly { readonly headers: Headers; readonly told: Record<string, string> }[]
  readonly credentials: TestServer['credentials']
}

export const startOn = (data: string): Promise<TestServer> =>
  startTestServer({ engine: 'level', dataDir: data, adminToken })

/** Fills a store with every kind of data, by REST and sockets, for three API keys of two workspaces. */
export async function fill(server: TestServer): Promise<RichStore> {
  const { apiKey, authToken } = server.credentials
  const own = { 'x-service-api-key': apiKey, 'x-service-auth-token': authToken }
  const others = [await otherKey(server), await otherWorkspace(server)]
  const tenants = []
  for (const headers of [own, ...others.map((each) => each.headers)]) {
    const post: TestServer['post'] = (path, data, more = {}) =>
      server.post(path, data, { ...headers, ...more })
    tenants.push({ headers, told: await fillTenant(post) })
  }
  await typeSomething(server)
  // The server records edits and events in the background.
  await eventually(async () => (await activitiesOf(server)).length > 2)
  return { tenants, credentials: server.credentials }
}

async function fillTenant(post: TestServer['post']): Promise<Record<string, string>> {
  const told = await makeWorld({ post }, '')
  const document = { organizationId: 'acme', documentId: 'report' }
  for (const [editorId, type, data] of contents)
    dataOf(await post('/v2/crdt/add', { ...document, editorId, type, data, userId: 'bob' }))
  const branch = { editorId: 'main', name: 'draft', userId: 'ann' }
  dataOf(await post('/v2/crdt/branches/create', { ...document, ...branch }))
  const upsert = { type: 'text', upsert: true }
  dataOf(await post('/v2/crdt/update', { ...oddDocument, ...upsert, data: 'first' }))
  dataOf(await post('/v2/crdt/update', { ...oddDocument, ...upsert, data: 'second one' }))
  for (const editorId of ['gone', 'again'])
    dataOf(await post('/v2/crdt/add', { ...document, editorId, type: 'text', data: 'old' }))
  dataOf(await post('/v2/crdt/delete', { ...document, editorIds: ['gone', 'again'] }))
  dataOf(await post('/v2/crdt/update', { ...document, editorId: 'again', ...upsert, data: 'new' }))
  dataOf(await post('/v2/crdt/versions/create', { ...document, editorId: 'again', label: 'of a later log' }))
  const schema = { nodes: { doc: { content: 'text*' }, text: {} } }
  dataOf(await post('/v2/crdt/schemas/set', { name: 'article', schema }))
  const load = { url: 'https://app.example.com/weft/load', onFailure: 'empty' }
  dataOf(await post('/v2/workspace/callbacks/update', { load }))
  const formatted = { type: 'delta', data: [{ insert: 'formatted' }], schema: 'quill' }
  dataOf(await post('/v2/crdt/add', { ...document, editorId: 'formatted', ...formatted }))
  dataOf(
    await post('/v2/memory/judgments/add', {
      query: 'Good?',
      decision: 'approve',
      reviewerId: 'ann',
      ...document,
    }),
  )
  const resources = [{ type: 'document', id: 'report', organizationId: 'acme', accessRole: 'viewer' }]
  const granted = await post('/v2/auth/permissions/add', {
    user: { userId: 'bob' },
    permissions: { resources },
  })
  if (granted.status !== 200) throw new Error(JSON.stringify(granted.body))
  return { ...told, ...(told.versionId !== undefined && { from: told.versionId }) }
}

/** Types text on a socket, with deletions. */
async function typeSomething(server: TestServer): Promise<void> {
  const token = await server.token('ann', { isAdmin: true })
  const editor = await syncedEditor(server.wsUrl, 'acme/report/typed', token)
  for (let index = 0; index < 40; index++) {
    editor.text.insert(index % 7, String(index))
    if (index % 3 === 0) editor.text.delete(0, 1)
    await wait(1)
  }
  editor.doc.getMap('settings').set('theme', new Y.Map([['dark', true]]))
  await eventually(async () => {
    const [read] = dataOf(
      await server.post('/v2/crdt/get', {
        organizationId: 'acme',
        documentId: 'report',
        editorId: 'typed',
        contentKey: 'settings',
      }),
    ) as { data: unknown }[]
    return JSON.stringify(read?.data) === '{"theme":{"dark":true}}'
  })
  editor.close()
}

const activitiesOf = async ({ post }: TestServer): Promise<readonly unknown[]> =>
  dataOf(await post('/v2/activities/get', { organizationId: 'acme' })) as readonly unknown[]

/** Operations whose responses change with each call or by themselves, or describe the running process. */
const moving = [
  '/v2/auth/generate_token',
  '/v2/presence/get',
  '/v2/connections/get',
  '/v2/requests/get',
  '/v2/metrics/history/get',
  '/v2/metrics/storage/get',
  '/v2/workspace/audit/get',
  '/v2/workspace/usage/get',
  '/v2/feed/get',
  '/v2/workspace/advancedwebhook/deliveries/get',
]

/** Returns the responses of all operations that read, for each API key, except those in `moving`. */
export async function answersOf(
  server: TestServer,
  { tenants }: RichStore,
): Promise<Record<string, unknown>> {
  const { workspaceId, workspaceAuthToken } = server.credentials
  const ofWorkspace = {
    'x-service-api-key': '',
    'x-service-auth-token': '',
    'x-service-workspace-id': workspaceId,
    'x-service-workspace-auth-token': workspaceAuthToken,
  }
  const openApi = (await (await fetch(`${server.url}/openapi.json`)).json()) as OpenApi
  const answers: Record<string, unknown> = {}
  for (const { path, effect, auth } of operationList) {
    if (effect !== 'reads' || auth === 'operator' || moving.includes(path)) continue
    const [example] = [
      openApi.paths[path]?.post.requestBody.content['application/json'].examples.done?.value.data,
    ]
    for (const [index, { headers, told }] of tenants.entries()) {
      // The last API key belongs to another workspace, whose token only its creator has.
      if (auth === 'workspace' && index === tenants.length - 1) continue
      const known: Record<string, unknown> = { ...told, apiKey: headers['x-service-api-key'] }
      const data = Object.fromEntries(
        Object.entries(example ?? {}).map(([name, value]) => [name, known[name] ?? value]),
      )
      const { status, body } = await server.post(path, data, auth === 'key' ? headers : ofWorkspace)
      if (status !== 200) throw new Error(`${path}: ${JSON.stringify(body)}`)
      answers[`${path} ${index}`] = { status, body }
      if (path === '/v2/crdt/get')
        answers[`all editors ${index}`] = (
          await server.post(path, { organizationId: 'acme', documentId: 'report' }, headers)
        ).body
    }
  }
  return answers
}

interface OpenApi {
  readonly paths: Readonly<
    Record<
      string,
      {
        readonly post: {
          readonly requestBody: {
            readonly content: {
              readonly 'application/json': {
                readonly examples: {
                  readonly done?: { readonly value: { readonly data: Record<string, unknown> } }
                }
              }
            }
          }
        }
      }
    >
  >
}

/** Ids of records that change by themselves, none of which may be lost. */
export async function movingIds({ post }: TestServer, { tenants }: RichStore): Promise<readonly string[]> {
  const ids: string[] = []
  for (const { headers } of tenants) {
    const answer = await post(
      '/v2/workspace/advancedwebhook/deliveries/get',
      { endpointId: 'billing', pageSize: 100 },
      headers,
    )
    ids.push(...[...JSON.stringify(dataOf(answer)).matchAll(/"(msg_\w+)"/g)].map(([, id = '']) => id))
  }
  return [...new Set(ids)].sort()
}

/** The content that a socket receives of an editor of the first API key. */
export async function seenBySocket(
  server: TestServer,
  path: string,
): Promise<{ vector: string; json: unknown }> {
  const editor = await syncedEditor(server.wsUrl, path, await server.token('ann', { isAdmin: true }))
  const vector = Buffer.from(Y.encodeStateVector(editor.doc)).toString('base64')
  const json = { text: editor.text.toString(), settings: editor.doc.getMap('settings').toJSON() }
  editor.close()
  return { vector, json }
}

/** Files below a directory. */
export const filesIn = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(directory, name)).isFile())
    .sort()

/** The content of an export, except its time. */
export function heldBy(directory: string): Record<string, string> {
  const files = filesIn(directory).filter((name) => name !== 'export.json')
  return Object.fromEntries(files.map((name) => [name, readFileSync(join(directory, name), 'latin1')]))
}
