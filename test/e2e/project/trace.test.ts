import { readFileSync } from 'node:fs'
import { pino } from 'pino'
import { afterEach, expect, it } from 'vitest'
import type { Config } from '../../../src/core/config/config.ts'
import { traceTargets } from '../../../src/core/config/trace-targets.ts'
import { type TraceStep, traceSteps } from '../../../src/core/tracing/trace.ts'
import type { ServerOverrides } from '../../../src/server/server.ts'
import { type Editor, eventually, RawClient, syncedEditor } from '../../support/clients/clients.ts'
import { hocuspocusProvider, hocuspocusSocket } from '../../support/clients/protocol-clients.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { callsOf, HookReceiver } from '../../support/servers/webhook-servers.ts'

type Line = Readonly<Record<string, unknown>>

let ends: (() => unknown)[] = []

afterEach(async () => {
  for (const end of ends.toReversed()) await end()
  ends = []
})

/** Starts a server with a trace, whose log keeps errors only. */
async function traced(debug: string, overrides: Partial<Config> = {}, given: ServerOverrides = {}) {
  const lines: Line[] = []
  const log = pino(
    { base: null, level: 'error' },
    { write: (line: string) => void lines.push(JSON.parse(line) as Line) },
  )
  const targets = traceTargets.parse(debug)
  if (targets === undefined) throw new Error(`no targets: ${debug}`)
  const server = await startTestServer({ debug: targets, ...overrides }, { log, ...given })
  ends.push(() => server.stop())
  const of = (step: TraceStep): Line[] => lines.filter(({ event }) => event === `trace.${step}`)
  return { server, lines, of, steps: () => lines.map(({ event }) => event) }
}

async function open({ wsUrl, token }: TestServer, path: string, userId: string): Promise<Editor> {
  const editor = await syncedEditor(wsUrl, path, await token(userId))
  ends.push(() => editor.close())
  return editor
}

const document = { organizationId: 'acme', documentId: 'notes', editorId: 'main' }

it('[TRACE-1] traces the steps of one document from connect to close, and traces no other document', async () => {
  const { server, lines, of, steps } = await traced('document:acme/notes')
  const other = await open(server, 'acme/other/main', 'ada')
  other.text.insert(0, 'elsewhere')
  const [ada, bob] = [
    await open(server, 'acme/notes/main', 'ada'),
    await open(server, 'acme/notes/main', 'bob'),
  ]
  ada.text.insert(0, 'hello')
  await eventually(() => bob.text.toString() === 'hello', steps)
  ada.provider.awareness.setLocalState({ cursor: 1 })
  await eventually(() => of('presence_set').some(({ userId }) => userId === 'ada'), steps)
  ada.close()
  await eventually(() => of('closed').length === 1, steps)

  expect(
    new Set(lines.filter(({ documentId }) => documentId !== undefined).map(({ documentId }) => documentId)),
  ).toEqual(new Set(['notes']))
  expect(of('connect')[0]).toMatchObject({ ...document, clientAddress: '127.0.0.1', protocol: 'y-websocket' })
  expect(of('authenticated')).toMatchObject([
    { ...document, userId: 'ada', connection: 1 },
    { ...document, userId: 'bob', connection: 2 },
  ])
  expect(of('role')[0]).toMatchObject({ userId: 'ada', role: 'editor' })
  expect(of('joined')[0]).toMatchObject({ existence: 'absent', members: 1 })
  for (const step of ['sync_step1_sent', 'sync_step1_received', 'sync_step2_sent'] as const)
    expect(of(step)[0]).toMatchObject({ connection: 1, bytes: expect.any(Number) as number })
  const bytes = expect.any(Number) as number
  expect(of('update_received')).toMatchObject([{ userId: 'ada', bytes, structs: 1, deletes: 0 }])
  expect(of('update_predicted')).toMatchObject([{ userId: 'ada', bytes, steps: 'few', runs: 'event loop' }])
  expect(of('committed')).toMatchObject([{ first: 1, last: 1, updates: 1, bytes, userIds: ['ada'] }])
  expect(of('broadcast')).toMatchObject([{ updates: 1, bytes, receivers: 1 }])
  expect(of('presence_removed')).toMatchObject([{ userId: 'ada' }])
  expect(of('closed')).toMatchObject([{ userId: 'ada', connection: 1, by: 'client', code: 1005 }])
  const order: readonly TraceStep[] = [
    'connect',
    'authenticated',
    'joined',
    'update_received',
    'committed',
    'broadcast',
  ]
  const places = order.map((step) => steps().indexOf(`trace.${step}`))
  expect(places).toEqual(places.toSorted((a, b) => a - b))
})

it('[TRACE-1] traces one editor of a document whose ids are percent-encoded', async () => {
  const { server, of } = await traced('document:acme/a%2Fb%2C/main')
  await open(server, 'acme/a%2Fb%2C/side', 'ada')
  await open(server, 'acme/a%2Fb%2C/main', 'bob')
  expect(of('joined')).toMatchObject([{ documentId: 'a/b,', editorId: 'main', userId: 'bob' }])
})

it('[TRACE-2] traces a client on every document, with the updates that it receives, and traces no other client', async () => {
  const { server, lines, of, steps } = await traced('client:ada')
  for (const documentId of ['notes', 'plan']) {
    const path = `acme/${documentId}/main`
    const [ada, bob] = [await open(server, path, 'ada'), await open(server, path, 'bob')]
    bob.text.insert(0, documentId)
    await eventually(() => ada.text.toString() === documentId, steps)
  }
  expect(of('joined')).toMatchObject([
    { documentId: 'notes', connection: 1 },
    { documentId: 'plan', connection: 2 },
  ])
  expect(of('update_sent')).toMatchObject([{ connection: 1 }, { connection: 2 }])
  expect(of('update_received')).toEqual([])
  expect(JSON.stringify(lines)).not.toContain('bob')
})

it('[TRACE-1] traces why the server rejects a client, and why a client may not edit', async () => {
  const { server, of } = await traced('document:acme/notes,client:eve', { createOnConnect: false })
  const wsUrl = `${server.wsUrl}/sync/acme/notes/main`
  await (await RawClient.connect(`${wsUrl}?token=wrong`)).closed
  expect(of('rejected')).toMatchObject([{ ...document, code: 4401, reason: 'token: malformed' }])
  await (await RawClient.connect(`${wsUrl}?token=${await server.token('ada')}`)).closed
  const reason = 'the document does not exist, and this client may not create it'
  expect(of('rejected')[1]).toMatchObject({ userId: 'ada', code: 4404, reason })
  dataOf(await server.post('/v2/organizations/add', { organizations: [{ organizationId: 'acme' }] }))
  dataOf(
    await server.post('/v2/organizations/documents/add', {
      organizationId: 'acme',
      documents: [{ documentId: 'notes' }],
    }),
  )
  const data = { ...document, type: 'text', data: 'text' }
  dataOf(await server.post('/v2/crdt/add', data))
  const resources = [{ type: 'document', id: 'notes', organizationId: 'acme', accessRole: 'viewer' }] as const
  const token = await server.token('eve', { resources })
  const viewer = await syncedEditor(server.wsUrl, 'acme/notes/main', token)
  ends.push(() => viewer.close())
  viewer.text.insert(0, 'no')
  await eventually(() => of('update_rejected').some(({ userId }) => userId === 'eve'))
  expect(of('role')).toMatchObject([{ userId: 'eve', role: 'viewer' }])
})

it('[TRACE-1] traces one document of a socket that carries several documents', async () => {
  const { server, of } = await traced('document:acme/notes')
  const socket = hocuspocusSocket(server, 4)
  const token = await server.token('ada')
  const providers = ['acme/notes/main', 'acme/other/main'].map((name) =>
    hocuspocusProvider(server, name, token, { version: 4, socket }),
  )
  await eventually(() => providers.every(({ synced }) => synced))
  expect(of('connect')).toMatchObject([{ ...document, protocol: 'hocuspocus' }])
  for (const provider of providers) provider.destroy()
  await eventually(() => of('closed').length === 1)
  expect(of('joined')).toHaveLength(1)
  socket.destroy()
})

it('[TRACE-3] for a change by a backend, traces the plan, the wait for the document, and the outcome', async () => {
  const { server, of } = await traced('document:acme/notes')
  dataOf(await server.post('/v2/organizations/add', { organizations: [{ organizationId: 'acme' }] }))
  const change = { ...document, type: 'text' }
  dataOf(await server.post('/v2/crdt/update', { ...change, data: 'first text', upsert: true }))
  dataOf(await server.post('/v2/crdt/update', { ...change, data: 'second text' }))
  expect(of('change_started')).toMatchObject([{ runs: 'event loop', dryRun: false }, { runs: 'event loop' }])
  expect(of('change_locked')).toMatchObject([{ waitMs: expect.any(Number) as number }, {}])
  const [made, changed] = of('change_applied')
  expect(made).toMatchObject({ insertions: 10, deletions: 0, bytes: expect.any(Number) as number })
  expect(changed).toMatchObject({ version: expect.any(String) as string })
  expect(Number(changed?.insertions)).toBeGreaterThan(0)
  expect(Number(changed?.deletions)).toBeGreaterThan(0)
  await server.post('/v2/crdt/update', { ...change, data: 'third', ifVersion: String(made?.version) })
  expect(of('change_rejected')).toMatchObject([{ code: 'crdt/version-conflict' }])
})

it('[TRACE-4] traces a webhook event from its record to each attempt', async () => {
  const { server, lines, of, steps } = await traced('document:acme/notes', {
    webhookAllowlist: ['127.0.0.1'],
  })
  const receiver = await HookReceiver.start()
  ends.push(() => receiver.stop())
  const calls = callsOf(server)
  await calls.begin()
  await calls.document('notes')
  const target = await calls.endpoint(`${receiver.url}?secret=hidden`, { filterTypes: ['document.delete'] })
  await calls.document('other')
  const organizationId = 'acme'
  for (const documentIds of [['other'], ['notes']])
    dataOf(await server.post('/v2/organizations/documents/delete', { organizationId, documentIds }))
  await eventually(() => of('event_attempted').length === 1 && receiver.hooks.length === 2, steps)
  const created = of('event_created').find(({ type }) => type === 'document.delete')
  const { id } = created as { id: string }
  expect(created).toMatchObject({ organizationId, documentId: 'notes' })
  expect(of('event_dispatched').at(-1)).toMatchObject({ id, targets: [target] })
  expect(of('event_attempted')).toMatchObject([{ id, target, httpStatus: 200, error: null }])
  expect(JSON.stringify(lines)).not.toContain('hidden')
})

it('[TRACE-4] traces that no endpoint subscribes to an event', async () => {
  const { server, of, steps } = await traced('document:acme/notes')
  const organizationId = 'acme'
  dataOf(await server.post('/v2/organizations/add', { organizations: [{ organizationId }] }))
  // The server reads the webhooks of an API key in the background. Until then it records all events.
  await eventually(async () => {
    const documents = { organizationId, documents: [{ documentId: 'notes' }] }
    dataOf(await server.post('/v2/organizations/documents/add', documents))
    const deleted = { organizationId, documentIds: ['notes'] }
    dataOf(await server.post('/v2/organizations/documents/delete', deleted))
    return of('event_skipped').length > 0
  }, steps)
  const type = expect.stringMatching(/^document/) as string
  expect(of('event_skipped')[0]).toMatchObject({ organizationId, documentId: 'notes', type })
})

it('[TRACE-6] writes no content, name, token or key to a trace', async () => {
  const { server, lines, of } = await traced('document:acme/notes,client:ada')
  const token = await server.token('ada', { name: 'NAME-OF-ADA', email: 'MAIL-OF-ADA@example.com' })
  const editor = await syncedEditor(server.wsUrl, 'acme/notes/main', token)
  editor.text.insert(0, 'CONTENT-OF-ADA')
  editor.provider.awareness.setLocalState({ cursor: 'CURSOR-OF-ADA', user: { name: 'x' } })
  await eventually(() => of('presence_set').length > 0 && of('committed').length > 0)
  const change = { ...document, type: 'text', contentKey: 'content', data: 'CONTENT-OF-BACKEND' }
  dataOf(await server.post('/v2/crdt/update', change))
  editor.close()
  await eventually(() => of('closed').length > 0)
  const text = JSON.stringify(lines)
  expect(text).toContain('trace.change_applied')
  for (const secret of ['-OF-', token, server.credentials.apiKey, server.credentials.authToken])
    expect(text).not.toContain(secret)
})

it('[TRACE-7] writes traces at any log level, and lists the targets in one line at the start', async () => {
  const { lines } = await traced('document:acme/notes,client:ada')
  expect(lines).toMatchObject([{ event: 'trace.enabled', targets: ['document:acme/notes', 'client:ada'] }])
  const { lines: none } = await traced('client:nobody')
  expect(none).toHaveLength(1)
})

it('[TRACE-9] has a row in the documentation for each trace step', () => {
  const text = readFileSync(new URL('../../../src/docs/operations.md', import.meta.url), 'utf8')
  const rows = [...text.matchAll(/`trace\.(\w+)`/g)].map(([, step]) => step as string)
  expect(rows.toSorted()).toEqual(['enabled', ...Object.keys(traceSteps)].toSorted())
})
