import { afterAll, beforeAll, expect, it } from 'vitest'
import * as Y from 'yjs'
import { eventually, syncedEditor } from '../../support/clients/clients.ts'
import { ContentStream } from '../../support/clients/content-stream.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'

let server: TestServer
let documents = 0

beforeAll(async () => {
  server = await startTestServer({ streamsPerAgent: 1 })
})
afterAll(() => server.stop())

async function make(data: string) {
  documents += 1
  const ids = { organizationId: 'acme', documentId: `written-${documents}`, editorId: 'main' }
  dataOf(await server.post('/v2/crdt/add', { ...ids, type: 'text', data }))
  return ids
}

type Ids = Awaited<ReturnType<typeof make>>

const textOf = async (ids: Ids): Promise<string> =>
  (dataOf(await server.post('/v2/crdt/get', ids)) as [{ data: string }])[0].data

/** Returns the headers of an agent with a role on a document. */
async function agent({ documentId }: Ids, accessRole: string, more: object = {}) {
  const request = {
    userId: 'writer',
    userProperties: { name: 'Writer', email: '' },
    agent: true,
    model: 'm1',
    permissions: { resources: [{ type: 'document', organizationId: 'acme', id: documentId, accessRole }] },
    ...more,
  }
  const { token } = dataOf(await server.post('/v2/auth/generate_token', request)) as { token: string }
  return { 'x-service-api-key': '', 'x-service-auth-token': '', authorization: `Bearer ${token}` }
}

it('[STRM-27] streams as an agent, which is the author', async () => {
  const ids = await make('Start.')
  const { version: from } = (dataOf(await server.post('/v2/crdt/get', ids)) as [{ version: string }])[0]
  const headers = await agent(ids, 'editor')
  const opening = { ...ids, edit: { insert: { at: 'end' } } }
  const writer = await ContentStream.open(server, opening, headers)
  const second = ContentStream.send(server, opening, headers)
  expect(await second.error()).toMatchObject({ details: { limit: 'streamsPerAgent' } })
  await writer.text(' More.').end()
  expect(await textOf(ids)).toBe('Start. More.')
  const { changes } = dataOf(await server.post('/v2/crdt/changes', { ...ids, from })) as {
    changes: readonly object[]
  }
  expect(changes).toMatchObject([{ userId: 'writer', source: 'stream', meta: { model: 'm1' } }])
})

it('[STRM-27] rejects agents without the right, also while the stream is open', async () => {
  const ids = await make('Start.')
  const opening = { ...ids, edit: { insert: { at: 'end' } } }
  const viewer = ContentStream.send(server, opening, await agent(ids, 'viewer'))
  expect(await viewer.error()).toMatchObject({ status: 'PERMISSION_DENIED' })
  const headers = await agent(ids, 'editor')
  const other = ContentStream.send(server, { ...opening, userId: 'ann' }, headers)
  expect(await other.error()).toMatchObject({ details: { code: 'agent/other-user' } })
  const writer = await ContentStream.open(server, opening, headers)
  writer.text(' One.')
  await writer.received(5)
  dataOf(await server.post('/v2/auth/revoke_tokens', { userId: 'writer' }))
  writer.text(' Two.')
  expect(await writer.error()).toMatchObject({ status: 'UNAUTHENTICATED' })
  expect(await textOf(ids)).toBe('Start. One.')
})

it('[STRM-115] fails by default as an agent if users have changed replaced words', async () => {
  const ids = await make('Budget: 100 EUR.')
  const opening = { ...ids, edit: { replace: { find: '100' } } }
  const writer = await ContentStream.open(server, opening, await agent(ids, 'editor'))
  writer.text('170')
  await writer.received(3)
  const edits = [{ text: { index: 11, insert: '5' } }]
  dataOf(await server.post('/v2/crdt/edit', { ...ids, edits }))
  writer.line({ end: true })
  expect(await writer.error()).toMatchObject({
    details: { code: 'crdt/overlap', overlaps: [{ base: '100', theirs: '1005', mine: '170' }] },
  })
  expect(await textOf(ids)).toBe('Budget: 1005 EUR.')
})

it('[STRM-92] gives each agent stream ids of its own', async () => {
  const openings = await Promise.all(
    ['', 'first', 'second'].map(async (userId) => {
      const ids = await make('Start.')
      const headers = userId === '' ? {} : await agent(ids, 'editor', { userId })
      const opening = { ...ids, streamId: 'shared', edit: { insert: { at: 'end' } } }
      return {
        ids,
        open: () => ContentStream.open(server, opening, headers),
        send: (more: object) => ContentStream.send(server, { ...opening, ...more }, headers),
      }
    }),
  )
  const writers = await Promise.all(openings.map(({ open }) => open()))
  for (const writer of writers) {
    expect(writer.opened).toMatchObject({ streamId: 'shared', received: 0 })
    writer.text(' One.')
    await writer.received(5)
    writer.destroy()
    await writer.closed
  }
  for (const { ids, open, send } of openings) {
    const { message } = await send({ name: 'Another' }).error()
    expect(message).toContain('the stream "shared" has another opening')
    const again = await open()
    expect(again.opened.received).toBe(5)
    await again.text(' Two.').end()
    expect(await textOf(ids)).toBe('Start. One. Two.')
  }
})

it('[STRM-27] lets an agent with the policy no-delete insert, and not replace', async () => {
  const ids = await make('Start.')
  const headers = await agent(ids, 'editor', { userId: 'careful', policy: 'no-delete' })
  const replacing = ContentStream.send(server, { ...ids, edit: { replace: { find: 'Start.' } } }, headers)
  expect(await replacing.error()).toMatchObject({ details: { code: 'agent/delete-not-allowed' } })
  const writer = await ContentStream.open(server, { ...ids, edit: { insert: { at: 'end' } } }, headers)
  await writer.text(' More.').end()
  expect(await textOf(ids)).toBe('Start. More.')
})

it('[STRM-28] shows the writer with a caret at the place of the next content', async () => {
  const ids = await make('Hello, world.')
  const user = await syncedEditor(server.wsUrl, `acme/${ids.documentId}/main`, await server.token('ann'))
  const opening = { ...ids, edit: { insert: { after: 'Hello' } }, userId: 'bot', name: 'Summary bot' }
  const writer = await ContentStream.open(server, opening)
  const caret = () => {
    for (const state of user.provider.awareness.getStates().values()) {
      if (state.user?.name !== 'Summary bot') continue
      const head = Y.createRelativePositionFromJSON(state.cursor.head)
      return {
        kind: state.user.kind,
        at: Y.createAbsolutePositionFromRelativePosition(head, user.doc)?.index,
      }
    }
    return null
  }
  await eventually(() => caret()?.at === 5)
  expect(caret()).toEqual({ kind: 'agent', at: 5 })
  writer.text(' big')
  await eventually(() => caret()?.at === 9)
  await writer.end()
  await eventually(() => caret() === null)
  expect(await textOf(ids)).toBe('Hello big, world.')
  user.close()
})
