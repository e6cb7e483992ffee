import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { contentOf, eventually, RawClient, syncedEditor, typed } from '../../support/clients/clients.ts'
import { startTestServer, type TestServer } from '../../support/servers/server.ts'

let server: TestServer
let token: string
let documents = 0
const newAddress = () => ({ organizationId: 'acme', documentId: `merge-${++documents}`, editorId: 'main' })
type Address = ReturnType<typeof newAddress>

const update = (address: Address, data: unknown, more: object = {}) =>
  server.post('/v2/crdt/update', { ...address, type: 'text', data, ...more })
interface Written {
  readonly version: string
  readonly stateVector: string
  readonly bytes: number
}
const dataOf = (answer: { body: { result?: { data?: unknown } } }): Written =>
  answer.body.result?.data as Written
const read = async (address: Address): Promise<{ data: string; version: string; lastUpdatedBy: string }> => {
  const { body } = await server.post('/v2/crdt/get', address)
  const [found] = (body.result?.data ?? []) as { data: string; version: string; lastUpdatedBy: string }[]
  if (found === undefined) throw new Error('nothing there')
  return found
}
const add = async (data: string): Promise<{ address: Address; version: string }> => {
  const address = newAddress()
  const answer = await server.post('/v2/crdt/add', { ...address, type: 'text', data })
  return { address, version: dataOf(answer).version }
}

beforeAll(async () => {
  server = await startTestServer({ engine: 'level', compactAfterUpdates: 20 })
  token = await server.token('ada')
})

afterAll(() => server.stop())

describe('baseVersion', () => {
  it('[CRDT-20] keeps edits made since the base version, and applies the changes that the caller made to that version', async () => {
    const { address, version } = await add('The quick brown fox.')
    const editor = await syncedEditor(server.wsUrl, `acme/${address.documentId}/main`, token)
    editor.text.insert(4, 'very ')
    editor.text.insert(editor.text.length, ' It ran.')
    await eventually(async () => (await read(address)).data === 'The very quick brown fox. It ran.')
    const answer = await update(address, 'The quick red fox.', { baseVersion: version })
    expect(answer.status).toBe(200)
    expect((await read(address)).data).toBe('The very quick red fox. It ran.')
    await eventually(() => editor.text.toString() === 'The very quick red fox. It ran.')
    expect(dataOf(answer)).toMatchObject({ changed: true, version: (await read(address)).version })
    editor.close()
  })

  it('[CRDT-21] accepts every version of the last minutes as a base version, even after compactions', async () => {
    const { address, version } = await add('start\n')
    const editor = await syncedEditor(server.wsUrl, `acme/${address.documentId}/main`, token)
    for (let line = 0; line < 400; line++) {
      editor.text.insert(editor.text.length, `line ${line} of what was typed since, and kept\n`)
      if (line % 20 === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    }
    await eventually(async () => (await read(address)).data.includes('line 399 '))
    const answer = await update(address, 'beginning\n', { baseVersion: version })
    expect(answer.status).toBe(200)
    const { data } = await read(address)
    expect(data.startsWith('beginning\n')).toBe(true)
    expect(data.match(/line \d+ of what was typed since, and kept\n/g)).toHaveLength(400)
    editor.close()
  })

  it('[CRDT-22] rejects an unknown or malformed base version, or one of a deleted document, with FAILED_PRECONDITION, and changes nothing', async () => {
    const { address, version } = await add('content')
    for (const baseVersion of ['1.99', '7.1', 'x', '', '1.-1', version.replace('.', '.0x')]) {
      const { status, body } = await update(address, 'changed', { baseVersion })
      expect([status, body.error?.status]).toEqual([400, 'FAILED_PRECONDITION'])
    }
    await server.post('/v2/crdt/delete', { organizationId: 'acme', documentId: address.documentId })
    await server.post('/v2/crdt/add', { ...address, type: 'text', data: 'made anew' })
    expect((await update(address, 'changed', { baseVersion: version })).body.error?.status).toBe(
      'FAILED_PRECONDITION',
    )
    expect((await read(address)).data).toBe('made anew')
  })
})

describe('ifVersion', () => {
  it('[CRDT-23] with `ifVersion`, changes content only if it still has this version, else returns ABORTED with the current version', async () => {
    const { address, version } = await add('one')
    const second = await update(address, 'two', { ifVersion: version })
    expect(second.status).toBe(200)
    const late = await update(address, 'three', { ifVersion: version })
    expect([late.status, late.body.error?.status]).toEqual([409, 'ABORTED'])
    expect(late.body.error?.details).toEqual({
      code: 'crdt/version-conflict',
      version: dataOf(second).version,
    })
    expect((await read(address)).data).toBe('two')
  })

  it('[CRDT-23] if many concurrent changes have the same `ifVersion`, applies only one of them', async () => {
    const { address, version } = await add('start')
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, n) => update(address, `winner ${n}`, { ifVersion: version })),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(7)
  })

  it('[CRDT-23] accepts ifVersion and baseVersion together', async () => {
    const { address, version } = await add('one two')
    const both = await update(address, 'one three', { ifVersion: version, baseVersion: version })
    expect(both.status).toBe(200)
    expect((await read(address)).data).toBe('one three')
  })
})

describe('dryRun, upsert, userId', () => {
  it('[CRDT-24] in a dry run, returns the result, and changes, sends and creates nothing', async () => {
    const { address, version } = await add('hello world')
    const client = await RawClient.connect(
      `${server.wsUrl}/sync/acme/${address.documentId}/main?token=${token}`,
    )
    await client.roundTrip()
    const dry = dataOf(await update(address, 'hello big world', { dryRun: true }))
    expect(dry).toMatchObject({ changed: true, insertions: 4, deletions: 0, version })
    expect(dry.bytes).toBeGreaterThan(0)
    await client.roundTrip()
    expect([client.updates(), (await read(address)).data]).toEqual([[], 'hello world'])
    const same = dataOf(await update(address, 'hello world', { dryRun: true }))
    expect(same).toMatchObject({ changed: false, bytes: 0, version })
    expect((await update(newAddress(), 'x', { dryRun: true })).status).toBe(404)
    client.end()
  })

  it('[CRDT-25] with upsert, creates missing or deleted content', async () => {
    const address = newAddress()
    expect((await update(address, 'made', { upsert: true })).status).toBe(200)
    expect((await read(address)).data).toBe('made')
    await server.post('/v2/crdt/delete', { organizationId: 'acme', documentId: address.documentId })
    expect((await update(address, 'again')).status).toBe(404)
    expect((await update(address, 'again', { upsert: true })).status).toBe(200)
    expect((await read(address)).data).toBe('again')
  })

  it('[CRDT-26] returns the userId of the call as the user of the last change', async () => {
    const { address } = await add('x')
    await update(address, 'y', { userId: 'bot' })
    expect((await read(address)).lastUpdatedBy).toBe('bot')
  })
})

describe('apply', () => {
  const apply = (address: Address, bytes: Uint8Array, more: object = {}) =>
    server.post('/v2/crdt/apply', { ...address, update: Buffer.from(bytes).toString('base64'), ...more })

  it('[CRDT-27] applies an update and sends it to clients; when the same update is applied again, changes nothing', async () => {
    const { address } = await add('')
    const client = await RawClient.connect(
      `${server.wsUrl}/sync/acme/${address.documentId}/main?token=${token}`,
    )
    await client.roundTrip()
    const answer = await apply(address, typed('applied', 7))
    expect(dataOf(answer)).toMatchObject({ changed: true })
    expect(Y.decodeStateVector(Buffer.from(dataOf(answer).stateVector, 'base64')).get(7)).toBe(7)
    await eventually(() => contentOf(client.updates()) === 'applied')
    expect(dataOf(await apply(address, typed('applied', 7)))).toMatchObject({ changed: false, bytes: 0 })
    client.end()
  })

  it('[CRDT-28] rejects malformed updates and updates with missing dependencies, and changes nothing', async () => {
    const { address } = await add('safe')
    const before = await read(address)
    const doc = new Y.Doc()
    const updates: Uint8Array[] = []
    doc.on('update', (bytes: Uint8Array) => updates.push(bytes))
    for (const letter of 'abc') doc.getText('content').insert(0, letter)
    expect((await apply(address, updates[2] as Uint8Array)).body.error?.status).toBe('FAILED_PRECONDITION')
    for (const bytes of [Uint8Array.of(), Uint8Array.of(1, 1, 1), Uint8Array.of(0, 0, 0)]) {
      expect((await apply(address, bytes)).body.error?.status).toBe('INVALID_ARGUMENT')
    }
    const notBase64 = await server.post('/v2/crdt/apply', { ...address, update: '!!!' })
    expect(notBase64.body.error?.status).toBe('INVALID_ARGUMENT')
    expect(await read(address)).toEqual(before)
    expect((await apply(newAddress(), typed('x', 1))).status).toBe(404)
    expect((await apply(newAddress(), typed('x', 1), { create: true })).status).toBe(200)
  })
})
