import { afterAll, beforeAll, expect, it } from 'vitest'
import type { DocumentLog } from '../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { eventually, RawClient, syncedEditor, typed } from '../../support/clients/clients.ts'
import {
  type AgentTokenOptions,
  agentToken,
  callsWith,
  codeOf,
  grantOn,
} from '../../support/servers/agents.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { withLog } from '../../support/stores/pausable-engine.ts'
import { gate, type TestGate } from '../../support/time/gate.ts'

const permissionDenied = [2, 0]
const place = { organizationId: 'acme', documentId: 'plan', editorId: 'main' }

let server: TestServer
/** Gate at which appends wait; null if they do not wait. */
let held: TestGate | null = null
let appends = 0

beforeAll(async () => {
  const memory = await openMemoryEngine()
  const append: DocumentLog['append'] = async (...parameters) => {
    appends += 1
    await held?.opened
    return memory.log.append(...parameters)
  }
  server = await startTestServer({}, { engine: withLog(memory, () => ({ append })) })
  dataOf(await server.post('/v2/crdt/add', { ...place, type: 'text', data: 'kept' }))
})
afterAll(() => server.stop())

const tokenOf = (userId: string, options: AgentTokenOptions = {}) =>
  agentToken(server, userId, { resources: [grantOn('editor', 'plan')], ...options })

const connect = (token: string, editorId = 'main') =>
  RawClient.connect(`${server.wsUrl}/sync/acme/plan/${encodeURIComponent(editorId)}?token=${token}`)

const text = async () => {
  const [entry] = dataOf(await server.post('/v2/crdt/get', place)) as { data: string }[]
  return entry?.data
}

it.each([
  ['read-only', 'you may only view it'],
  ['suggest-only', 'you may only suggest changes'],
  ['no-delete', 'the policy no-delete makes an agent a viewer'],
] as const)(
  '[AGT-20] [AGT-22] with the policy %s, the server drops the edits of a websocket, and sends the reason',
  async (policy, reason) => {
    const client = await connect(await tokenOf('bot', { policy }))
    client.sendUpdate(typed('mine', 7))
    await eventually(() => client.bodies(...permissionDenied).length > 0)
    expect(Buffer.from(client.bodies(...permissionDenied)[0] as Uint8Array).toString()).toContain(reason)
    expect(await text()).toBe('kept')
    client.socket.close()
  },
)

it('[AGT-20] with the policy suggest-only, an agent writes its own branch on a websocket', async () => {
  const token = await tokenOf('bot', { policy: 'suggest-only' })
  const branch = { ...place, name: 'idea' }
  dataOf(await callsWith(server, token)('/v2/crdt/branches/create', branch))
  const editor = await syncedEditor(server.wsUrl, 'acme/plan/main%40idea', token)
  editor.text.insert(0, 'better ')
  await eventually(async () => {
    const read = await server.post('/v2/crdt/get', { ...place, editorId: 'main@idea' })
    return (dataOf(read) as { data: string }[])[0]?.data === 'better kept'
  })
  expect(await text()).toBe('kept')
  editor.close()
})

it('[AGT-4] a revocation closes the websockets of an agent, and of agents that act for the user', async () => {
  const clients = [
    await connect(await tokenOf('bot')),
    await connect(await tokenOf('other-bot', { onBehalfOf: 'grace' })),
  ]
  for (const client of clients) await client.roundTrip()
  dataOf(await server.post('/v2/auth/revoke_tokens', { userId: 'grace' }))
  expect(await clients[1]?.closed).toMatchObject({ code: 4401 })
  expect(clients[0]?.socket.readyState).toBe(1)
  dataOf(await server.post('/v2/auth/revoke_tokens', { userId: 'bot' }))
  expect(await clients[0]?.closed).toMatchObject({ code: 4401 })
})

it('[AGT-23] an agent has the kind agent in its awareness state and in presence, also if its client sends another kind', async () => {
  const watcher = await syncedEditor(server.wsUrl, 'acme/plan/main', await server.token('ann'))
  const agent = await syncedEditor(server.wsUrl, 'acme/plan/main', await tokenOf('bot', { name: 'Bot' }))
  agent.provider.awareness.setLocalStateField('user', { name: 'Ann', kind: 'user', color: '#123456' })
  const shown = () =>
    [...watcher.provider.awareness.getStates().values()]
      .map((state) => state['user'] as Record<string, unknown> | undefined)
      .find((user) => user?.['id'] === 'bot')
  await eventually(() => shown()?.['color'] === '#123456')
  expect(shown()).toEqual({ id: 'bot', name: 'Bot', kind: 'agent', color: '#123456' })
  const ids = { organizationId: 'acme', documentId: 'plan' }
  const present = dataOf(await server.post('/v2/presence/get', ids)) as { userId: string; kind: string }[]
  expect(present.map(({ userId, kind }) => [userId, kind]).toSorted()).toEqual([
    ['ann', 'user'],
    ['bot', 'agent'],
  ])
  agent.close()
  watcher.close()
})

it('[AGT-24] changes on a websocket of an agent have its model and its user', async () => {
  const ids = { organizationId: 'acme', documentId: 'typed', editorId: 'main' }
  const added = await server.post('/v2/crdt/add', { ...ids, type: 'text', data: '' })
  const { version: from } = dataOf(added) as { version: string }
  const options = { resources: [grantOn('editor', 'typed')], model: 'm-1', onBehalfOf: 'ann' }
  const agent = await syncedEditor(server.wsUrl, 'acme/typed/main', await agentToken(server, 'bot', options))
  agent.text.insert(0, 'from the agent')
  const changes = async () => {
    const { body } = await server.post('/v2/crdt/changes', { ...ids, from })
    return (body.result?.data as { changes: object[] } | undefined)?.changes
  }
  await eventually(async () => ((await changes()) ?? []).length === 1)
  expect(await changes()).toMatchObject([
    { userId: 'bot', source: 'socket', meta: { model: 'm-1', onBehalfOf: 'ann' } },
  ])
  agent.close()
})

it.each([
  ['its grant is replaced', 'agent/role-required', () => grantViewer('late')],
  [
    'its tokens are revoked',
    'agent/invalid-token',
    () => server.post('/v2/auth/revoke_tokens', { userId: 'late' }),
  ],
])('[AGT-12] an edit of an agent that waits is not stored if %s', async (_, expected, end) => {
  const resource = { type: 'document', id: 'plan', organizationId: 'acme', accessRole: 'editor' }
  const permissions = { resources: [resource] }
  dataOf(
    await server.post('/v2/auth/permissions/add', {
      user: { userId: 'late' },
      permissions,
      createMissing: true,
    }),
  )
  const call = callsWith(server, await tokenOf('late'))
  held = gate()
  const before = appends
  const edits = [{ insert: { at: 'end', content: ' forbidden' } }]
  const answered = call('/v2/crdt/edit', { ...place, edits })
  await eventually(() => appends > before)
  dataOf(await end())
  held.open()
  held = null

  expect(codeOf(await answered)).toBe(expected)
  expect(await text()).toBe('kept')
})

const grantViewer = (userId: string) => {
  const resource = { type: 'document', id: 'plan', organizationId: 'acme', accessRole: 'viewer' }
  return server.post('/v2/auth/permissions/add', { user: { userId }, permissions: { resources: [resource] } })
}
