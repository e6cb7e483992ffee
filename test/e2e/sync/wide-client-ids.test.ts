import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import * as Y from 'yjs'
import { eventually, RawClient } from '../../support/clients/clients.ts'
import { dialects, type Person } from '../../support/clients/protocol-clients.ts'
import { bytesOf, varString, varUint } from '../../support/faults/crafted-updates.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'

/** Ids around the borders of number types. Yjs 14 chooses any id of up to 53 bits. */
const ids = [
  2 ** 31 - 1,
  2 ** 31,
  2 ** 32,
  2 ** 32 + 1,
  2 ** 40 + 7,
  2 ** 52,
  Number.MAX_SAFE_INTEGER - 1,
  Number.MAX_SAFE_INTEGER,
]

let dataDir: string
let server: TestServer
const start = (): Promise<TestServer> =>
  startTestServer({ engine: 'level', dataDir, idleUnloadSeconds: 0, compactAfterUpdates: 5 })

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'weft-ids-'))
  server = await start()
})

afterAll(async () => {
  await server?.stop()
  await rm(dataDir, { recursive: true, force: true, maxRetries: 20 })
})

const call = (operation: string, documentId: string, more: object = {}) =>
  server.post(`/v2/crdt/${operation}`, { organizationId: 'acme', documentId, editorId: 'main', ...more })

async function read(documentId: string, more: object = {}): Promise<Record<string, unknown>> {
  const [entry] = dataOf(await call('get', documentId, { contentKey: 'content', ...more })) as [
    Record<string, unknown>,
  ]
  return entry
}

const clientsIn = (update: string): number[] =>
  Y.decodeUpdate(Buffer.from(update, 'base64'))
    .structs.map(({ id }) => id.client)
    .sort((a, b) => a - b)

async function person(index: number, documentId: string): Promise<Person> {
  const dialect = dialects[index % dialects.length] as (typeof dialects)[number]
  return dialect.open(server, documentId, await server.token(`user-${index}`))
}

/** Inserts a text with a client id. The awareness of the provider keeps its own one. */
function writeAs({ doc, text }: Person, clientId: number, inserted: string): void {
  const own = doc.clientID
  doc.clientID = clientId
  text.insert(0, inserted)
  doc.clientID = own
}

it('[SYNC-27] relays, stores, attributes and undoes edits of clients with ids of up to 53 bits', async () => {
  const documentId = 'shared'
  const { version: from } = dataOf(
    await call('add', documentId, { contentKey: 'other', type: 'text', data: 'first' }),
  ) as { version: string }
  const people = await Promise.all(ids.map((_, index) => person(index, documentId)))
  for (const [index, each] of people.entries()) writeAs(each, ids[index] as number, `w${index} `)
  const texts = (): string[] => people.map(({ text }) => text.toString())
  await eventually(() => new Set(texts()).size === 1 && texts()[0]?.length === 3 * ids.length, texts)
  const content = texts()[0] as string
  for (const each of people) each.close()
  expect((await read(documentId)).data).toBe(content)

  const { data: update } = await read(documentId, { format: 'update' })
  expect(clientsIn(update as string)).toEqual(expect.arrayContaining(ids))
  const { attribution } = await read(documentId, { attribution: true })
  const users = (attribution as { userId: string }[]).map(({ userId }) => userId)
  expect(new Set(users)).toEqual(new Set(ids.map((_, index) => `user-${index}`)))

  const { versionId } = dataOf(await call('versions/create', documentId)) as { versionId: string }
  const undone = dataOf(await call('undo', documentId, { from, by: `user-${ids.length - 1}` }))
  expect(undone).toMatchObject({ undone: 1, notUndone: [] })
  const without = content.replace(`w${ids.length - 1} `, '')
  expect((await read(documentId)).data).toBe(without)

  await server.stop()
  server = await start()
  expect((await read(documentId)).data).toBe(without)
  dataOf(await call('versions/restore', documentId, { versionId, userId: 'user-0' }))
  expect((await read(documentId)).data).toBe(content)

  const late = await person(0, documentId)
  await eventually(() => late.text.toString() === content)
  late.close()
})

it('[SYNC-27] takes updates with ids of up to 53 bits by crdt/apply', async () => {
  for (const [index, clientId] of ids.entries()) {
    const doc = new Y.Doc()
    doc.clientID = clientId
    doc.getText('content').insert(0, 'applied')
    doc.getText('content').delete(0, 2)
    const update = Buffer.from(Y.encodeStateAsUpdate(doc)).toString('base64')
    dataOf(await call('apply', `applied-${index}`, { update, create: true }))
    expect((await read(`applied-${index}`)).data).toBe('plied')
    const { data } = await read(`applied-${index}`, { format: 'update' })
    expect(new Set(clientsIn(data as string))).toEqual(new Set([clientId]))
  }
})

it('[SYNC-27] shows the awareness of clients with ids of up to 53 bits to each other, and lists their users', async () => {
  const urlOf = async (user: string): Promise<string> =>
    `${server.wsUrl}/sync/acme/present/main?token=${await server.token(user)}`
  const clients = await Promise.all(
    ids.map(async (_, index) => RawClient.connect(await urlOf(`user-${index}`))),
  )
  for (const [index, client] of clients.entries())
    client.sendAwareness(ids[index] as number, 1, { cursor: index })
  const shown = (client: RawClient): Map<number, unknown> =>
    new Map(client.awareness().map(({ clientId, state }) => [clientId, state?.cursor]))
  const expected = new Map(ids.map((clientId, index) => [clientId, index]))
  for (const [index, client] of clients.entries())
    await eventually(
      () => [...expected].every(([id, cursor]) => cursor === index || shown(client).get(id) === cursor),
      () => [...shown(client)],
    )
  const [first] = clients as [RawClient]
  clients.at(-1)?.socket.close()
  await eventually(() =>
    first.awareness().some(({ clientId, state }) => clientId === ids.at(-1) && state === null),
  )
  for (const client of clients) client.socket.close()
})

it('[SYNC-27] closes a websocket with a reason when a client id has more than 53 bits', async () => {
  const update = bytesOf(1, 1, varUint(2 ** 53), 0, 4, 1, varString('t'), varString('x'), 0)
  const client = await RawClient.connect(
    `${server.wsUrl}/sync/acme/beyond/main?token=${await server.token('eve')}`,
  )
  client.sendUpdate(update)
  expect(await client.closed).toMatchObject({
    code: 4400,
    reason: expect.stringContaining('more than 53 bits'),
  })
  const { body } = await call('apply', 'beyond', {
    update: Buffer.from(update).toString('base64'),
    create: true,
  })
  expect(body.error).toMatchObject({
    status: 'INVALID_ARGUMENT',
    message: expect.stringContaining('53 bits'),
  })
})
