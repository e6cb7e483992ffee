import { WebSocketStatus } from '@hocuspocus/provider'
import { afterAll, beforeAll, expect, it } from 'vitest'
import * as Y from 'yjs'
import { versionLimits } from '../../../src/capabilities/history/limits.ts'
import { systemClock } from '../../../src/core/base/clock.ts'
import type { Key } from '../../../src/core/store/engine.ts'
import { openLevelEngine } from '../../../src/core/store/level/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { temporaryDirectory } from '../../contract/level/store-tools.ts'
import { type Editor, eventually, RawClient, syncedEditor } from '../../support/clients/clients.ts'
import { hocuspocusProvider, hocuspocusSocket } from '../../support/clients/protocol-clients.ts'
import { Random } from '../../support/data/random-doc.ts'
import { seed } from '../../support/data/seed.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { holdable, withLog } from '../../support/stores/pausable-engine.ts'
import { itLong, times } from '../../support/time/full-run.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.stop())

interface Pruned {
  readonly generation: number
  readonly bytesBefore: number
  readonly bytesAfter: number
  readonly version: string
  readonly versionId: string
}

const editor = (documentId: string) => ({ organizationId: 'acme', documentId, editorId: 'main' })
const call = async (documentId: string, operation: string, data: object = {}, on = server) =>
  dataOf(await on.post(`/v2/crdt/${operation}`, { ...editor(documentId), ...data }))
const prune = async (documentId: string, on = server) => (await call(documentId, 'prune', {}, on)) as Pruned
const textOf = async (documentId: string, on = server) =>
  ((await call(documentId, 'get', {}, on)) as [{ data: string }])[0].data
const open = async (documentId: string, userId: string, on = server): Promise<Editor> =>
  syncedEditor(on.wsUrl, `acme/${documentId}/main`, await on.token(userId))

/** Types text and deletes a part of it, in many small edits. */
function churn({ text }: Pick<Editor, 'text'>, rounds: number): void {
  for (let round = 0; round < rounds; round += 1) {
    text.insert(text.length, `word ${round} `)
    text.delete(Math.floor(text.length / 2), 4)
  }
}

const equal = (clients: readonly { readonly text: Y.Text }[], expected: () => string): Promise<void> =>
  eventually(
    () => clients.every(({ text }) => text.toString() === expected()),
    () => [expected(), ...clients.map(({ text }) => text.toString())],
  )

it('[PRUNE-2] keeps clients connected, and drops the deleted content', async () => {
  const [ann, ben] = [await open('online', 'ann'), await open('online', 'ben')]
  churn(ann, 200)
  ben.text.insert(0, 'title ')
  await equal([ben], () => ann.text.toString())
  const text = ann.text.toString()
  let isClosed = false
  for (const { provider } of [ann, ben]) provider.on('connection-close', () => (isClosed = true))
  const pruned = await prune('online')
  expect(pruned).toMatchObject({ generation: 1 })
  expect(pruned.bytesAfter).toBeLessThan(pruned.bytesBefore / 2)
  expect(ann.text.toString()).toBe(text)
  for (const [at, { text: own }] of [ann, ben].entries()) {
    own.insert(0, `first${at} `)
    own.insert(own.length, ` last${at}`)
    own.delete(10, 3)
  }
  await equal([ben], () => ann.text.toString())
  expect(await textOf('online')).toBe(ann.text.toString())
  expect(await prune('online')).toMatchObject({ generation: 2 })
  expect(await call('online', 'versions/get', { versionId: pruned.versionId })).toMatchObject({ data: text })
  expect(isClosed).toBe(false)
  const cleo = await open('online', 'cleo')
  await equal([cleo, ann, ben], () => ann.text.toString())
  expect(Y.encodeStateAsUpdate(cleo.doc).length).toBeLessThan(pruned.bytesBefore / 2)
  for (const client of [ann, ben, cleo]) client.close()
})

it.each([1, 2])(
  '[PRUNE-3] rebases the edits of stock clients that were offline during %i prunes',
  async (prunes) => {
    const documentId = `offline-${prunes}`
    const [ann, ben] = [await open(documentId, 'ann'), await open(documentId, 'ben')]
    const socket = hocuspocusSocket(server)
    const cleo = hocuspocusProvider(server, `acme/${documentId}/main`, await server.token('cleo'), { socket })
    const cleoText = cleo.document.getText('content')
    ann.text.insert(0, 'one two three four')
    churn(ann, 50)
    await equal([ben, { text: cleoText }], () => ann.text.toString())
    ben.provider.disconnect()
    socket.disconnect()
    await eventually(() => !ben.provider.wsconnected)
    ben.text.insert(4, 'BEN ')
    ben.text.delete(0, 4)
    cleoText.insert(8, 'CLEO ')
    cleoText.delete(cleoText.length - 5, 5)
    const before = ann.text.toString()
    for (let round = 0; round < prunes; round += 1) {
      await prune(documentId)
      ann.text.insert(0, `${round}`)
      await eventually(async () => (await textOf(documentId)) === ann.text.toString())
    }
    ben.provider.connect()
    void socket.connect()
    const marks = ['0', '1'].slice(0, prunes).toReversed().join('')
    const expected = `${marks}BEN two CLEO ${before.slice(8, -5)}`
    await equal([ann, ben, { text: cleoText }], () => expected)
    await eventually(() => !cleo.hasUnsyncedChanges)
    expect(await textOf(documentId)).toBe(expected)
    ben.text.insert(ben.text.length, ' end')
    await equal([ann, { text: cleoText }], () => `${expected} end`)
    ann.close()
    ben.close()
    cleo.destroy()
    socket.destroy()
  },
)

it('[PRUNE-3] rebases all that a stock Hocuspocus client has typed offline, which it sends letter by letter', async () => {
  const ann = await open('typed', 'ann')
  ann.text.insert(0, 'one two')
  const socket = hocuspocusSocket(server)
  const cleo = hocuspocusProvider(server, 'acme/typed/main', await server.token('cleo'), { socket })
  const text = cleo.document.getText('content')
  await eventually(() => text.toString() === 'one two')
  socket.disconnect()
  await eventually(() => socket.status === WebSocketStatus.Disconnected)
  const typed = 'a letter of the user, '.repeat(times(15, 60))
  for (const [at, letter] of typed.split('').entries()) text.insert(4 + at, letter)
  await prune('typed')
  let updates = 0
  ann.doc.on('update', () => {
    updates += 1
  })
  void socket.connect()
  await equal([ann, { text }], () => `one ${typed}two`)
  await eventually(() => !cleo.hasUnsyncedChanges)
  expect(updates).toBeLessThan(typed.length / 10)
  ann.close()
  cleo.destroy()
  socket.destroy()
})

it('[PRUNE-3] rebases the edits of a client that closes at once', async () => {
  const [ann, ben] = [await open('closes', 'ann'), await open('closes', 'ben')]
  ann.text.insert(0, 'one two')
  await equal([ben], () => 'one two')
  ben.close()
  ben.text.insert(4, 'BEN ')
  await prune('closes')
  const url = `${server.wsUrl}/sync/acme/closes/main?token=${await server.token('ben')}`
  const client = await RawClient.connect(url)
  client.sendOffer(Y.encodeStateAsUpdate(ben.doc))
  client.socket.close()
  await equal([ann], () => 'one BEN two')
  ann.close()
})

it('[PRUNE-9] keeps the edits of a client from before the prune in a document that was deleted and restored', async () => {
  const [ann, ben] = [await open('restored', 'ann'), await open('restored', 'ben')]
  ann.text.insert(0, 'one two three')
  churn(ann, 10)
  await equal([ben], () => ann.text.toString())
  ben.provider.disconnect()
  await eventually(() => !ben.provider.wsconnected)
  ben.text.insert(4, 'BEN ')
  await prune('restored')
  const expected = `one BEN ${ann.text.toString().slice(4)}`
  ann.close()
  const ids = { organizationId: 'acme', documentIds: ['restored'] }
  await server.post('/v2/organizations/documents/delete', ids)
  const [{ deletionId } = { deletionId: '' }] = dataOf(
    await server.post('/v2/workspace/deleted/get', { organizationId: 'acme' }),
  ) as { readonly deletionId: string }[]
  dataOf(await server.post('/v2/workspace/deleted/restore', { deletionId }))
  ben.provider.connect()
  await eventually(async () => (await textOf('restored')) === expected)
  await equal([ben], () => expected)
  ben.close()
})

it('[PRUNE-4] keeps an edit whose place was deleted as a branch with the name of its user', async () => {
  const ann = await open('unplaced', 'ann')
  const ben = await open('unplaced', 'ben')
  const fragment = ({ doc }: Editor) => doc.getXmlFragment('prosemirror')
  const paragraph = (words: string) => {
    const element = new Y.XmlElement('paragraph')
    element.insert(0, [new Y.XmlText(words)])
    return element
  }
  fragment(ann).insert(0, [paragraph('kept'), paragraph('removed')])
  await eventually(() => fragment(ben).length === 2)
  ben.provider.disconnect()
  const removed = fragment(ben).get(1) as Y.XmlElement
  ;(removed.get(0) as Y.XmlText).insert(0, 'BEN ')
  await prune('unplaced')
  fragment(ann).delete(1, 1)
  ben.provider.connect()
  await eventually(() => fragment(ben).length === 1)
  const branches = async () =>
    (await call('unplaced', 'branches/list')) as { name: string; createdBy: string }[]
  await eventually(async () => (await branches()).length === 1)
  const [{ name, createdBy } = { name: '', createdBy: '' }] = await branches()
  expect(createdBy).toBe('ben')
  const shown = await server.post('/v2/crdt/get', { ...editor('unplaced'), editorId: `main@${name}` })
  expect(JSON.stringify(dataOf(shown))).toContain('BEN ')
  expect(JSON.stringify(dataOf(shown))).not.toContain('removed')
  expect(fragment(ben).toString()).toBe('<paragraph>kept</paragraph>')
  expect(await server.post('/v2/crdt/prune', editor('unplaced'))).toMatchObject({
    body: { error: { details: { code: 'crdt/open-branches', branches: [name] } } },
  })
  // The branch was open in this process, and is decided.
  dataOf(await server.post('/v2/crdt/branches/reject', { ...editor('unplaced'), name, userId: 'eve' }))
  expect(await prune('unplaced')).toMatchObject({ generation: 2 })
  ann.close()
  ben.close()
})

it('[PRUNE-5] has the old content or the new one with its generation after a crash at any step', async () => {
  for (const step of ['blob', 'append', 'compact'] as const) {
    const directory = await temporaryDirectory()
    const first = await openLevelEngine({ directory: directory.path })
    let isBroken = false
    let hasEnded = false
    const failing = async (): Promise<never> => {
      hasEnded = true
      throw new Error('the process ends here')
    }
    const broken = withLog(first, (log) => ({
      append: (...given: Parameters<typeof log.append>) =>
        isBroken && step === 'append' ? failing() : log.append(...given),
      compact: (...given: Parameters<typeof log.compact>) =>
        isBroken && step === 'compact' ? failing() : log.compact(...given),
    }))
    const put = first.blobs.put.bind(first.blobs)
    first.blobs.put = (key, bytes) =>
      isBroken && step === 'blob' && key[0] === 'generations' ? failing() : put(key, bytes)
    const running = await startTestServer({}, { engine: broken })
    const ann = await open('crash', 'ann', running)
    churn(ann, 30)
    const before = ann.text.toString()
    await eventually(async () => (await textOf('crash', running)) === before)
    ann.provider.disconnect()
    ann.text.insert(3, 'ANN')
    const [{ version: baseVersion }] = (await call('crash', 'get', {}, running)) as [{ version: string }]
    isBroken = true
    expect((await running.post('/v2/crdt/prune', editor('crash'))).status).not.toBe(200)
    expect(hasEnded).toBe(true)
    isBroken = false
    await running.stop()
    const again = await openLevelEngine({ directory: directory.path })
    const restarted = await startTestServer({}, { engine: again })
    expect(await textOf('crash', restarted)).toBe(before)
    // The old content and the new one have other ids: a change of the one cannot become one of the other.
    const target = `${before.slice(0, 5)}REST${before.slice(5)}`
    const { body } = await restarted.post('/v2/crdt/update', {
      ...editor('crash'),
      contentKey: 'content',
      type: 'text',
      baseVersion,
      data: target,
    })
    const isPruned = step === 'compact'
    expect(body.error?.details?.code).toBe(isPruned ? 'crdt/base-version-too-old' : undefined)
    const middle = isPruned ? before : target
    const ben = await open('crash', 'ben', restarted)
    ann.provider.serverUrl = ann.provider.serverUrl.replace(running.wsUrl, restarted.wsUrl)
    ann.provider.params.token = await restarted.token('ann')
    ann.provider.connect()
    const expected = `${middle.slice(0, 3)}ANN${middle.slice(3)}`
    await equal([ann, ben], () => expected)
    await prune('crash', restarted)
    expect(await textOf('crash', restarted)).toBe(expected)
    ann.close()
    ben.close()
    await restarted.stop()
    await directory.remove()
  }
})

it('[PRUNE-6] keeps the authors of the content', async () => {
  const ann = await open('authors', 'ann')
  ann.text.insert(0, 'by ann')
  await eventually(async () => (await textOf('authors').catch(() => '')) === 'by ann')
  const ben = await open('authors', 'ben')
  ben.text.insert(6, ', by ben')
  await eventually(() => ann.text.toString() === 'by ann, by ben')
  const runs = async () =>
    ((await call('authors', 'history')) as { authors: { text: string; userId: string }[] }).authors
  const before = await runs()
  await call('authors', 'prune', { userId: 'cleo' })
  expect(await runs()).toEqual(before)
  ann.close()
  ben.close()
})

it('[PRUNE-8] rejects an update by REST that was made for replaced content', async () => {
  const ann = await open('applied', 'ann')
  ann.text.insert(0, 'one two')
  await eventually(async () => (await textOf('applied').catch(() => '')) === 'one two')
  const own = new Y.Doc()
  Y.applyUpdate(own, Y.encodeStateAsUpdate(ann.doc))
  const vector = Y.encodeStateVector(own)
  own.getText('content').insert(3, ' new')
  const update = Buffer.from(Y.encodeStateAsUpdate(own, vector)).toString('base64')
  await prune('applied')
  expect(await server.post('/v2/crdt/apply', { ...editor('applied'), update })).toMatchObject({
    body: { error: { details: { code: 'crdt/update-incomplete' } } },
  })
  expect(await textOf('applied')).toBe('one two')
  ann.close()
})

/** Returns the edit of a client that has an old state. */
function editAfter(old: Uint8Array, edit: (doc: Y.Doc, text: Y.Text) => void): Uint8Array {
  const doc = new Y.Doc()
  Y.applyUpdate(doc, old)
  const vector = Y.encodeStateVector(doc)
  doc.transact(() => edit(doc, doc.getText('content')))
  return Y.encodeStateAsUpdate(doc, vector)
}

const raw = async (documentId: string, userId: string, on = server): Promise<RawClient> =>
  RawClient.connect(`${on.wsUrl}/sync/acme/${documentId}/main?token=${await on.token(userId)}`)

it('[PRUNE-11] ends only the sender of a malformed or too large edit from before a prune', async () => {
  const small = await startTestServer({ maxDocumentBytes: 100_000 })
  const ann = await open('hostile', 'ann', small)
  ann.text.insert(0, 'one two')
  await eventually(async () => (await textOf('hostile', small).catch(() => '')) === 'one two')
  const old = Y.encodeStateAsUpdate(ann.doc)
  await prune('hostile', small)
  let isClosed = false
  ann.provider.on('connection-close', () => (isClosed = true))
  const nested = editAfter(old, (_, text) => {
    let inner = new Y.Map<unknown>()
    text.insertEmbed(3, inner)
    for (let level = 0; level < 3_000; level += 1) {
      const next = new Y.Map<unknown>()
      inner.set('a', next)
      inner = next
    }
  })
  const deep = await raw('hostile', 'ben', small)
  deep.sendUpdate(nested)
  expect(await deep.closed).toMatchObject({ code: 4400, reason: expect.stringContaining('nested') })
  const large = await raw('hostile', 'ben', small)
  large.sendUpdate(editAfter(old, (_, text) => text.insert(3, 'x'.repeat(60_000))))
  await eventually(() => ann.text.length > 60_000)
  large.sendUpdate(editAfter(old, (_, text) => text.insert(3, 'y'.repeat(60_000))))
  expect(await large.closed).toMatchObject({ code: 4413 })
  ann.text.insert(0, 'still ')
  await eventually(async () => (await textOf('hostile', small)) === ann.text.toString())
  expect(isClosed).toBe(false)
  ann.close()
  await small.stop()
})

it('[PRUNE-12] ends a sender whose edits from before a prune need too much replaced content', async () => {
  const small = await startTestServer({ maxDocumentBytes: 60_000 })
  const ann = await open('chain', 'ann', small)
  ann.text.insert(0, 'one two')
  await eventually(async () => (await textOf('chain', small).catch(() => '')) === 'one two')
  const own = new Y.Doc()
  Y.applyUpdate(own, Y.encodeStateAsUpdate(ann.doc))
  await prune('chain', small)
  const hostile = await raw('chain', 'ben', small)
  own.on('update', (update: Uint8Array) => hostile.sendUpdate(update))
  const text = own.getText('content')
  // Each edit refers to the one before.
  for (let round = 0; round < 7; round += 1) {
    text.insert(3, 'x'.repeat(40_000))
    await Promise.race([hostile.roundTrip(), hostile.closed])
    text.delete(3, 40_000)
    await Promise.race([hostile.roundTrip(), hostile.closed])
  }
  expect(await hostile.closed).toMatchObject({
    code: 4413,
    reason: expect.stringContaining('before a prune'),
  })
  ann.text.insert(0, 'still ')
  await eventually(async () => (await textOf('chain', small)) === ann.text.toString())
  ann.close()
  await small.stop()
})

const contentOf = async (documentId: string): Promise<string> =>
  JSON.stringify((await server.post('/v2/crdt/get', editor(documentId))).body)

it('[PRUNE-21] sends no update to a client that may have edits from before a prune until it has offered them', async () => {
  const ann = await open('joining', 'ann')
  const fragment = ann.doc.getXmlFragment('prosemirror')
  const paragraph = new Y.XmlElement('paragraph')
  fragment.insert(0, [paragraph])
  await eventually(async () => (await contentOf('joining')).includes('paragraph'))
  const ben = new Y.Doc()
  Y.applyUpdate(ben, Y.encodeStateAsUpdate(ann.doc))
  const before = Y.encodeStateVector(ben)
  ;(ben.getXmlFragment('prosemirror').get(0) as Y.XmlElement).insert(0, [new Y.XmlText('BEN')])
  // The prune deletes the paragraph in which the client has text that the server does not know.
  await prune('joining')
  const client = await raw('joining', 'ben')
  client.sendVector(before)
  await eventually(() => client.vectors().length === 1)
  ann.text.insert(0, 'later')
  await eventually(async () => (await contentOf('joining')).includes('later'))
  // Cursors do not depend on updates.
  ann.provider.awareness.setLocalStateField('cursor', 'here')
  await eventually(() => client.awareness().some(({ state }) => state?.['cursor'] === 'here'))
  expect([...client.updates(), ...client.offers()]).toEqual([])
  client.sendOffer(Y.encodeStateAsUpdate(ben, client.vectors()[0]))
  await eventually(() => fragment.toString().includes('BEN'))
  await eventually(() => {
    for (const bytes of [...client.offers(), ...client.updates()]) Y.applyUpdate(ben, bytes)
    return ben.getText('content').toString() === 'later'
  })
  ann.text.insert(0, 'and ')
  await eventually(() => {
    for (const bytes of client.updates()) Y.applyUpdate(ben, bytes)
    return ben.getText('content').toString() === 'and later'
  })
  expect(ben.getXmlFragment('prosemirror').toString()).toBe('<paragraph>BEN</paragraph>')
  client.socket.close()
  ann.close()
})

it('[PRUNE-14] leaves nothing of an edit from before a prune when the document is deleted meanwhile', async () => {
  const first = await openMemoryEngine()
  let isHeld = false
  let letGo: () => void = () => {}
  const gate = new Promise<void>((resolve) => {
    letGo = resolve
  })
  let held = 0
  const { blobs } = first
  const put: typeof blobs.put = async (key, bytes) => {
    if (isHeld && key[0] === 'generations') {
      held += 1
      await gate
    }
    return blobs.put(key, bytes)
  }
  const engine = {
    ...holdable(first),
    blobs: {
      put,
      get: (key: Key) => blobs.get(key),
      delete: (key: Key) => blobs.delete(key),
      list: (...given: Parameters<typeof blobs.list>) => blobs.list(...given),
    },
  }
  const own = await startTestServer({ deletedRetentionDays: 0 }, { engine })
  const stored = () => blobs.list(['generations'], { limit: 10 })
  const ann = await open('removed', 'ann', own)
  ann.text.insert(0, 'one two')
  await eventually(async () => (await textOf('removed', own).catch(() => '')) === 'one two')
  const old = Y.encodeStateAsUpdate(ann.doc)
  await prune('removed', own)
  expect(await stored()).toHaveLength(2)
  isHeld = true
  const late = await raw('removed', 'ben', own)
  late.sendUpdate(editAfter(old, (_, text) => text.insert(3, ' and')))
  await eventually(() => held === 1)
  const ids = { organizationId: 'acme', documentIds: ['removed'] }
  dataOf(await own.post('/v2/organizations/documents/delete', ids))
  await eventually(async () => (await stored()).length === 0)
  expect(await late.closed).toMatchObject({ code: 4404 })
  letGo()
  await eventually(() => held === 2)
  await eventually(async () => (await stored()).length === 0)
  ann.close()
  await own.stop()
})

itLong('[PRUNE-1] keeps each character that stock clients type while the editor is pruned', async () => {
  const random = new Random(seed)
  const clients = [await open('busy', 'ann'), await open('busy', 'ben'), await open('busy', 'cleo')]
  const marks: string[] = []
  const type = (): void => {
    const { doc, text } = random.pick(clients)
    const list = doc.getArray<string>('list')
    const mark = String.fromCodePoint(0x4e00 + marks.length)
    marks.push(mark)
    if (random.below(3) === 0) list.insert(random.below(list.length + 1), [mark])
    else text.insert(random.below(text.length + 1), mark)
  }
  type()
  await eventually(async () => (await textOf('busy').catch(() => null)) !== null)
  for (let round = 0; round < 12; round += 1) {
    const away = random.pick(clients)
    if (random.below(2) === 0) away.provider.disconnect()
    const pruning = prune('busy')
    for (let typed = 0; typed < 60; typed += 1) {
      type()
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    await pruning
    away.provider.connect()
  }
  const shown = ({ doc, text }: Editor): string =>
    text.toString() + doc.getArray<string>('list').toJSON().join('')
  const all = marks.toSorted().join('')
  await eventually(
    () =>
      clients.every(
        (client) => shown(client) === shown(clients[0] as Editor) && shown(client).length >= all.length,
      ),
    () => ({ seed, shown: clients.map((client) => shown(client).length), typed: all.length }),
    20_000,
  )
  expect(
    shown(clients[0] as Editor)
      .split('')
      .toSorted()
      .join(''),
  ).toBe(all)
  for (const client of clients) client.close()
})

it('[PRUNE-19] prunes the edited editors that the option selects, not while clients are connected, and only once', async () => {
  let aheadMs = 0
  const clock = { ...systemClock, now: () => Date.now() + aheadMs }
  const engine = await openMemoryEngine({ clock })
  const autoPrune = { days: 1, megabytes: 0, percent: 50 }
  const own = await startTestServer({ autoPrune, audit: 'all' }, { engine, clock })
  const prunes = async (documentId: string) => {
    const versions = (await call(documentId, 'versions/list', {}, own)) as readonly { label: string }[]
    return versions.filter(({ label }) => label === 'Before a prune').length
  }
  await call('plain', 'add', { type: 'text', data: 'Nothing is deleted.' }, own)
  const [left, stayed] = [await open('left', 'ann', own), await open('stayed', 'ann', own)]
  for (const client of [left, stayed]) churn(client, 100)
  const text = left.text.toString()
  for (const [id, client] of Object.entries({ left, stayed }))
    await eventually(async () => (await textOf(id, own)) === client.text.toString())
  left.close()
  aheadMs += 86_400_000
  await eventually(async () => (await prunes('left')) === 1)
  expect(await textOf('left', own)).toBe(text)
  expect(await prunes('stayed')).toBe(0)
  const { workspaceId, workspaceAuthToken } = own.credentials
  const workspace = {
    'x-service-workspace-id': workspaceId,
    'x-service-workspace-auth-token': workspaceAuthToken,
  }
  const operation = '/v2/crdt/prune'
  expect(dataOf(await own.post('/v2/workspace/audit/get', { operation }, workspace))).toMatchObject([
    { operation, actor: 'operator', ids: { documentId: ['left'] } },
  ])
  stayed.close()
  for (let day = 0; day < 3; day += 1) aheadMs += 86_400_000
  await eventually(async () => (await prunes('stayed')) === 1)
  expect([await prunes('left'), await prunes('plain')]).toEqual([1, 0])
  await own.stop()
})

it('[PRUNE-22] rejects an undo of the changes since a version from before a prune', async () => {
  const ids = { userId: 'ann', type: 'text', upsert: true }
  await call('undone', 'update', { ...ids, data: 'one two' })
  const { versionId } = (await call('undone', 'versions/create', { label: 'form' })) as { versionId: string }
  await call('undone', 'update', { ...ids, data: 'one two three' })
  const { version } = await prune('undone')
  for (const range of [{ from: versionId }, { to: versionId }, { from: versionId, to: version }])
    expect(await server.post('/v2/crdt/undo', { ...editor('undone'), ...range, by: 'ann' })).toMatchObject({
      body: { error: { details: { code: 'crdt/version-too-old' } } },
    })
  // The whole history has no deleted text from before the prune.
  expect(await server.post('/v2/crdt/undo', { ...editor('undone'), by: 'eve' })).toMatchObject({
    body: { result: { warnings: [expect.anything(), expect.stringContaining('prune')] } },
  })
  await call('undone', 'update', { ...ids, data: 'one two three four' })
  await call('undone', 'undo', { from: version, by: 'ann' })
  expect(await textOf('undone')).toBe('one two three')
})

it('[PRUNE-10] a rejected prune leaves no version', async () => {
  await call('rejected', 'add', { type: 'text', data: 'Hello' })
  const documents = [{ documentId: 'rejected', disabled: true }]
  dataOf(await server.post('/v2/organizations/documents/update', { organizationId: 'acme', documents }))
  expect(await server.post('/v2/crdt/prune', editor('rejected'))).toMatchObject({
    body: { error: { details: { code: 'document/disabled' } } },
  })
  expect(await call('rejected', 'versions/list')).toEqual([])
})

itLong('[PRUNE-20] rejects a prune after the limit', async () => {
  await call('often', 'add', { type: 'text', data: 'Hello' })
  for (let count = 0; count < versionLimits.prunes; count += 1) await prune('often')
  const versions = ((await call('often', 'versions/list')) as readonly object[]).length
  const rejected = await server.post('/v2/crdt/prune', editor('often'))
  expect(rejected).toMatchObject({ body: { error: { details: { code: 'crdt/too-many-prunes' } } } })
  expect(await call('often', 'versions/list')).toHaveLength(versions)
})
