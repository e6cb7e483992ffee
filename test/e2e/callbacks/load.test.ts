import { createHmac } from 'node:crypto'
import { expect, it } from 'vitest'
import * as Y from 'yjs'
import { eventually, typed } from '../../support/clients/clients.ts'
import { answering, hanging } from '../../support/clients/webhook-receiver.ts'
import { errorOf } from '../../support/servers/acme-server.ts'
import {
  askedOf,
  callbackTests,
  deciding,
  json,
  organizationId,
  send,
} from '../../support/servers/callback-servers.ts'

const { backend, start } = callbackTests()

const open = { defaultAccess: 'public' } as const
const text = (data: string) => ({ type: 'text', data })

it('[CALL-30] gives a client the content that the backend returns, in each form', async () => {
  const { configure, connect, read, call } = await start(open)
  const doc = new Y.Doc()
  doc.getText('content').insert(0, 'as an update')
  const update = Buffer.from(Y.encodeStateAsUpdate(doc)).toString('base64')
  const contents: Record<string, object> = {
    text: text('as text'),
    delta: { type: 'delta', data: [{ insert: 'as delta' }], contentKey: 'content' },
    update: { update, userId: 'bob' },
    markdown: { type: 'markdown', data: '# Title', contentKey: 'default', schema: 'tiptap' },
  }
  const { url, ...receiver } = await backend(deciding(({ documentId }) => contents[documentId]))
  await configure({ load: { url } })
  for (const [documentId, found] of [
    ['text', 'as text'],
    ['delta', 'as delta'],
    ['update', 'as an update'],
  ] as const)
    expect(await read(await connect(documentId))).toBe(found)
  await connect('markdown')
  const editor = { organizationId, documentId: 'markdown', editorId: 'main', format: 'markdown' }
  await eventually(async () => JSON.stringify(await call('/v2/crdt/get', editor)).includes('# Title'))
  expect(await call('/v2/crdt/get', editor)).toMatchObject([{ schema: 'tiptap', contentKey: 'default' }])
  expect(await call('/v2/crdt/get', { ...editor, documentId: 'update', format: 'text' })).toMatchObject([
    { lastUpdatedBy: 'bob' },
  ])
  void receiver
})

it('[CALL-31] calls once for many clients at once, and commits the content once', async () => {
  const { configure, connect, read, textOf } = await start(open)
  const receiver = await backend((response) =>
    setTimeout(() => send(response, JSON.stringify(text('once'))), 300),
  )
  await configure({ load: { url: receiver.url } })
  const clients = await Promise.all(
    Array.from({ length: 40 }, (_, index) => connect('busy', `user-${index}`)),
  )
  const [reading] = [textOf('busy')]
  for (const client of clients) expect(await read(client)).toBe('once')
  expect(await reading).toBe('once')
  expect(askedOf(receiver)).toMatchObject([
    { callback: 'load', organizationId, documentId: 'busy', editorId: 'main' },
  ])
  expect(await read(await connect('busy'))).toBe('once')
  expect(receiver.hooks).toHaveLength(1)
})

it('[CALL-10] [CALL-11] signs the call, and repeats failed attempts with one id', async () => {
  const { configure, connect, read, call } = await start(open)
  let attempts = 0
  const receiver = await backend((response) =>
    ++attempts < 3 ? response.writeHead(503).end() : send(response, JSON.stringify(text('signed'))),
  )
  await configure({ load: { url: receiver.url } })
  const { secret } = (await call('/v2/workspace/callbacks/secret/get', {})) as { secret: string }
  expect(await read(await connect('signed'))).toBe('signed')
  expect(receiver.hooks).toHaveLength(3)
  expect(new Set(receiver.ids).size).toBe(1)
  for (const { headers, body } of receiver.hooks) {
    const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
    const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`
    expect(headers['webhook-signature']).toBe(
      `v1,${createHmac('sha256', key).update(signed).digest('base64')}`,
    )
  }
})

it('[CALL-10] does not call a private address that the operator has not listed', async () => {
  const { configure, connect } = await start({ ...open, webhookAllowlist: [] })
  const receiver = await backend(json(text('inside')))
  await configure({ load: { url: receiver.url } })
  expect(await (await connect('inside')).closed).toMatchObject({ code: 1013 })
  expect(receiver.hooks).toHaveLength(0)
})

const wrong = {
  hangs: hanging,
  'is late': (response: Parameters<typeof send>[0]) =>
    void setTimeout(() => send(response, JSON.stringify(text('late'))), 3_000),
  'is not JSON': (response: Parameters<typeof send>[0]) => send(response, '<html>'),
  'has the wrong form': json({ content: 'x' }),
  'has content that is not valid': json({ type: 'map', data: 'no map' }),
  'has an update that is not valid': json({ update: 'AAAA/w==' }),
  'is huge': (response: Parameters<typeof send>[0]) => {
    response.writeHead(200)
    const part = Buffer.alloc(1_048_576, 'x')
    const more = (): void => {
      if (!response.destroyed) response.write(part, more)
    }
    more()
    response.on('error', () => {})
  },
  'is cut': (response: Parameters<typeof send>[0]) => {
    response.writeHead(200, { 'content-length': 1_000 }).write('{"type":')
    setTimeout(() => response.destroy(), 20)
  },
  'has the status 500': answering(500),
  'is a redirect': (response: Parameters<typeof send>[0]) =>
    void response.writeHead(302, { location: 'http://127.0.0.1:9/' }).end(),
}

const hello = new Y.Doc()
hello.getText('content').insert(0, 'hello')
const helloUpdate = Buffer.from(Y.encodeStateAsUpdate(hello)).toString('base64')

const hostile = {
  'is nested too deeply': `{"type":"map","data":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}}`,
  'has too many values': `{"type":"array","data":[${'{},'.repeat(2_000_000)}1]}`,
  'names an author that is no id': JSON.stringify({ ...text('hello'), userId: 'u'.repeat(1_000) }),
  'names such an author of an update': JSON.stringify({ update: helloUpdate, userId: 'a\u0000b' }),
  'has an update that is no base64': JSON.stringify({ update: `!!!${helloUpdate}` }),
}

it.each(Object.entries(hostile))('[CALL-51] a call fails if the response %s', async (_, body) => {
  const { configure, server, call } = await start(open)
  const receiver = await backend((response) => send(response, body))
  await configure({ load: { url: receiver.url } })
  const editor = { organizationId, documentId: 'hostile', editorId: 'main' }
  const answer = await server.post('/v2/crdt/get', editor)
  expect(answer.body.error?.details?.code).toBe('callback/load-failed')
  receiver.behavior = json(text('right'))
  expect(await call('/v2/crdt/get', editor)).toMatchObject([{ data: 'right' }])
})

it.each(Object.entries(wrong))(
  '[CALL-12] [CALL-33] rejects clients and calls with a transient error if the response %s',
  async (_, behavior) => {
    const { configure, connect, server, textOf } = await start(open)
    const receiver = await backend(behavior)
    await configure({ load: { url: receiver.url, timeoutMs: 1_000 } })
    expect(await (await connect('wrong')).closed).toEqual({
      code: 1013,
      reason: 'the backend could not load the document: try again',
    })
    const editor = { organizationId, documentId: 'wrong', editorId: 'main' }
    const answer = await server.post('/v2/crdt/get', editor)
    expect(errorOf(answer)).toEqual(['UNAVAILABLE'])
    expect(answer.body.error?.details?.code).toBe('callback/load-failed')
    receiver.behavior = json(text('right'))
    await eventually(async () => (await textOf('wrong').catch(() => '')) === 'right')
  },
)

it('[CALL-33] treats the editor as missing if the call fails and the API key prefers this', async () => {
  const { configure, connect, read, server, textOf } = await start(open)
  const receiver = await backend(answering(500))
  await configure({ load: { url: receiver.url, timeoutMs: 500, onFailure: 'empty' } })
  const client = await connect('empty')
  expect(await read(client)).toBe('')
  const missing = { organizationId, documentId: 'other', editorId: 'main' }
  expect(errorOf(await server.post('/v2/crdt/get', missing))).toEqual(['NOT_FOUND'])
  client.sendUpdate(typed('new', 7))
  await eventually(async () => (await textOf('empty').catch(() => '')) === 'new')
})

it('[CALL-32] treats an editor that the backend does not have as missing, and does not ask again at once', async () => {
  const { configure, connect, read, server } = await start(open)
  const receiver = await backend(json({ notFound: true }))
  await configure({ load: { url: receiver.url } })
  const editor = { organizationId, documentId: 'nowhere', editorId: 'main' }
  expect(errorOf(await server.post('/v2/crdt/get', editor))).toEqual(['NOT_FOUND'])
  const client = await connect('nowhere')
  expect(await read(client)).toBe('')
  expect(receiver.hooks).toHaveLength(1)
})

it('[CALL-34] loads for reads and changes by REST, but not for calls that create', async () => {
  const { configure, call, server, textOf } = await start(open)
  const receiver = await backend(json(text('loaded')))
  await configure({ load: { url: receiver.url } })
  const of = (documentId: string) => ({ organizationId, documentId, editorId: 'main' })
  expect(await call('/v2/crdt/get', of('read'))).toMatchObject([{ data: 'loaded' }])
  expect(await call('/v2/crdt/update', { ...of('updated'), ...text('loaded and more') })).toMatchObject({
    deletions: 0,
  })
  const edits = [{ replace: { find: 'loaded', with: 'edited' } }]
  await call('/v2/crdt/edit', { ...of('edited'), edits })
  expect(await textOf('edited')).toBe('edited')
  const doc = new Y.Doc()
  doc.getText('content').insert(0, 'mine: ')
  const update = Buffer.from(Y.encodeStateAsUpdate(doc)).toString('base64')
  await call('/v2/crdt/apply', { ...of('applied'), update })
  const [{ data }] = (await call('/v2/crdt/get', of('applied'))) as [{ data: string }]
  expect(data).toMatch(/^(mine: loaded|loadedmine: )$/)
  expect(askedOf(receiver).map(({ documentId }) => documentId)).toEqual([
    'read',
    'updated',
    'edited',
    'applied',
  ])
  await call('/v2/crdt/add', { ...of('added'), ...text('own') })
  await call('/v2/crdt/update', { ...of('upserted'), ...text('own'), upsert: true })
  await call('/v2/crdt/apply', { ...of('created'), update, create: true })
  expect(errorOf(await server.post('/v2/crdt/get', { organizationId, documentId: 'all' }))).toEqual([
    'NOT_FOUND',
  ])
  expect(receiver.hooks).toHaveLength(4)
})

it('[CALL-35] does not call for editors that exist or were deleted, branches, and disabled documents', async () => {
  const { configure, connect, call, server } = await start(open)
  const receiver = await backend(json(text('loaded')))
  const of = (documentId: string) => ({ organizationId, documentId, editorId: 'main' })
  for (const documentId of ['there', 'deleted', 'disabled'])
    await call('/v2/crdt/add', { ...of(documentId), ...text('own') })
  await call('/v2/crdt/delete', { organizationId, documentId: 'deleted', editorIds: ['main'] })
  await call('/v2/organizations/documents/update', {
    organizationId,
    documents: [{ documentId: 'disabled', disabled: true }],
  })
  await configure({ load: { url: receiver.url } })
  expect(await call('/v2/crdt/get', of('there'))).toMatchObject([{ data: 'own' }])
  expect(errorOf(await server.post('/v2/crdt/get', { ...of('there'), editorId: 'main@draft' }))).not.toEqual(
    [],
  )
  expect(await (await connect('deleted')).closed).toMatchObject({ code: 4404 })
  const other = { ...of('disabled'), editorId: 'second' }
  expect(errorOf(await server.post('/v2/crdt/get', other))).toEqual(['NOT_FOUND'])
  expect(receiver.hooks).toHaveLength(0)
})

it('[CALL-38] gives a viewer the loaded content', async () => {
  const { configure, connect, read } = await start(open)
  const receiver = await backend(json(text('to read')))
  await configure({ load: { url: receiver.url } })
  const resources = [{ type: 'document', id: 'viewed', organizationId, accessRole: 'viewer' }] as const
  expect(await read(await connect('viewed', 'vic', { resources }))).toBe('to read')
})
