import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import * as Y from 'yjs'
import { openOfflineStore } from '../../src/capabilities/backups/storage/offline-store.ts'
import { verify } from '../../src/capabilities/backups/storage/verify.ts'
import { eventQueue } from '../../src/core/events/outbound-event.ts'
import { readAttribution } from '../../src/core/rooms/log/read-attribution.ts'
import { RawClient, syncedEditor } from '../support/clients/clients.ts'
import {
  allOf,
  docOf,
  expectStored,
  filesOf,
  forget,
  type Moved,
  newStore,
  pathOf,
  runImport,
  sampleDocuments,
  storedOf,
  summary,
  typedAfter,
  updatesOf,
} from '../support/data/import-sources.ts'
import { seed } from '../support/data/seed.ts'
import { dataOf, startTestServer } from '../support/servers/server.ts'
import { itLong } from '../support/time/full-run.ts'

let data: string
let old: string

beforeEach(async () => {
  data = await newStore()
  old = mkdtempSync(join(tmpdir(), 'weft-old-'))
})

afterEach(async () => {
  await forget(data)
  await forget(old)
})

/** Writes lines of JSON with all updates. */
function writeLines(documents: Moved): string {
  const file = join(old, 'updates.jsonl')
  const lines = [...documents].flatMap(([name, updates]) =>
    updates.map((update) => `${JSON.stringify({ name, update: Buffer.from(update).toString('base64') })}\n`),
  )
  writeFileSync(file, lines.join(''))
  return file
}

it('[MOVE-3] imports a file of JSON lines with updates, and a server then serves documents with the same content', async () => {
  const documents = sampleDocuments(seed)
  const ran = await runImport(data, 'updates', writeLines(documents), '--organization', 'old', '--json')
  expect({ seed, err: ran.err, code: ran.code }).toEqual({ seed, err: '', code: 0 })
  const { size } = documents
  expect(summary(ran)).toMatchObject({
    ok: true,
    documents: size,
    made: size,
    added: 0,
    there: 0,
    problems: [],
  })
  await expectStored(data, documents)
  expect(await verify(data, () => undefined)).toMatchObject({ damages: [], documents: size })
  const server = await startTestServer({ engine: 'level', dataDir: data })
  const editor = await syncedEditor(
    server.wsUrl,
    'acme/big/main',
    await server.token('ada', { isAdmin: true }),
  )
  expect(allOf(editor.doc)).toEqual(allOf(docOf(documents.get('acme/big/main') ?? [])))
  editor.close()
  await server.stop()
})

itLong(
  '[MOVE-3] names each document after the path of its file in the folder, or after the file name if a single file is imported',
  async () => {
    const [update] = typedAfter([], 'hello') as [Uint8Array]
    for (const file of ['acme/plan/main.bin', 'acme/%C3%A4%2F/notes.yjs', 'acme/bare/main']) {
      mkdirSync(dirname(join(old, file)), { recursive: true })
      writeFileSync(join(old, file), update)
    }
    expect((await runImport(data, 'updates', old)).code).toBe(0)
    const one = join(old, 'acme', 'plan', 'main.bin')
    expect((await runImport(data, 'updates', one, '--organization', 'solo', '--editor', 'e')).code).toBe(0)
    const paths = [
      { organizationId: 'acme', documentId: 'plan', editorId: 'main' },
      { organizationId: 'acme', documentId: 'ä/', editorId: 'notes' },
      { organizationId: 'acme', documentId: 'bare', editorId: 'main' },
      { organizationId: 'solo', documentId: 'main', editorId: 'e' },
    ]
    for (const stored of await storedOf(data, paths))
      expect(stored?.doc.getText('content').toString()).toBe('hello')
  },
)

it('[MOVE-3] imports updates in the encoding V2, and rejects updates in another encoding than the named one', async () => {
  const [update] = typedAfter([], 'hello') as [Uint8Array]
  for (const [name, bytes] of [
    ['acme/good/main.bin', Y.convertUpdateFormatV1ToV2(update)],
    ['acme/other/main.bin', update],
  ] as const) {
    mkdirSync(dirname(join(old, name)), { recursive: true })
    writeFileSync(join(old, name), bytes)
  }
  const ran = await runImport(data, 'updates', old, '--encoding', 'v2', '--json')
  expect(ran.code).toBe(1)
  expect(summary(ran)).toMatchObject({
    made: 1,
    problems: [{ problem: expect.stringContaining('an update is malformed') }],
  })
  const [stored] = await storedOf(data, [{ organizationId: 'acme', documentId: 'good', editorId: 'main' }])
  expect(stored?.doc.getText('content').toString()).toBe('hello')
})

itLong('[MOVE-5] a dry run changes no byte, and reports what an import would do', async () => {
  const documents = new Map([...sampleDocuments(1), ['damaged', [Uint8Array.of(1, 2, 3)]]])
  const file = writeLines(documents)
  const before = filesOf(data)
  const text = await runImport(data, 'updates', file, '--dry-run')
  const json = await runImport(data, 'updates', file, '--dry-run', '--json', '--organization', 'old')
  expect(filesOf(data)).toEqual(before)
  expect([text.code, json.code]).toEqual([1, 1])
  expect(text.out).toContain('"my room" is rejected')
  expect(text.out).toContain('"acme/%C3%A4%20b%2Fc/main" → acme/%C3%A4%20b%2Fc/main')
  expect(text.out).toMatch(
    /4 of 13 documents would be imported \(\d+ bytes\), 9 rejected; nothing was written/,
  )
  expect(summary(json)).toMatchObject({
    ok: false,
    dryRun: true,
    documents: 13,
    problems: [{ name: 'damaged', problem: expect.stringContaining('malformed') as string }],
  })
  // More documents than the text output shows.
  const { mapping } = summary(json) as { mapping: readonly { name: string }[] }
  const names = [...sampleDocuments(1).keys()]
  expect(mapping).toEqual(names.map((name) => ({ name, ...pathOf(name) })))
  expect(mapping.length).toBeGreaterThan(10)
})

itLong(
  '[MOVE-6] a second import writes nothing, and later imports add only new updates of the old server',
  async () => {
    const documents = sampleDocuments(2)
    const arguments_ = ['--organization', 'old', '--json'] as const
    await runImport(data, 'updates', writeLines(documents), ...arguments_)
    const again = await runImport(data, 'updates', writeLines(documents), ...arguments_)
    expect(summary(again)).toMatchObject({ made: 0, added: 0, there: documents.size })
    const name = 'acme/plan/main'
    const before = documents.get(name) ?? []
    const here = typedAfter(before, 'typed in Weft')
    const server = await startTestServer({ engine: 'level', dataDir: data })
    const url = `${server.wsUrl}/sync/${name}?token=${await server.token('ada', { isAdmin: true })}`
    const client = await RawClient.connect(url)
    for (const update of here) client.sendUpdate(update)
    await client.roundTrip()
    client.end()
    await server.stop()
    const there = updatesOf((doc) => {
      doc.getText('content').insert(0, 'typed at the old server')
      doc.getText('content').delete(2, 3)
    }, before)
    const later = new Map([...documents, [name, [...before, ...there]]])
    const third = await runImport(data, 'updates', writeLines(later), ...arguments_)
    expect(summary(third)).toMatchObject({ made: 0, added: 1, there: documents.size - 1 })
    await expectStored(data, new Map([...documents, [name, [...before, ...here, ...there]]]))
    const [stored] = await storedOf(data, [pathOf(name)])
    const fourth = await runImport(data, 'updates', writeLines(later), ...arguments_)
    expect(summary(fourth)).toMatchObject({ made: 0, added: 0, there: documents.size })
    expect((await storedOf(data, [pathOf(name)]))[0]?.head).toBe(stored?.head)
  },
)

itLong(
  '[MOVE-7] rejects damaged, incomplete and oversized documents with their names, and imports the others',
  async () => {
    const whole = typedAfter([], 'whole')
    const parts = updatesOf((doc) => {
      doc.getText('content').insert(0, 'one')
      doc.getText('content').insert(3, 'two')
    })
    const documents = new Map([
      ['first', whole],
      ['damaged', [Uint8Array.of(9, 9, 9)]],
      ['cut', [whole[0]?.subarray(0, -3) ?? new Uint8Array()]],
      ['incomplete', parts.slice(1)],
      ['large', typedAfter([], 'x'.repeat(5_000))],
      ['..', whole],
      ['last', whole],
    ])
    const file = writeLines(documents)
    writeFileSync(join(data, 'small.json'), JSON.stringify({ maxDocumentBytes: 4_000 }))
    const config = ['--config', join(data, 'small.json')]
    const ran = await runImport(data, 'updates', file, '--organization', 'old', '--json', ...config)
    expect(ran.code).toBe(1)
    const { problems, ...counts } = summary(ran) as { problems: { name: string; problem: string }[] }
    expect(counts).toMatchObject({ ok: false, documents: 7, made: 2 })
    const told = Object.fromEntries(problems.map(({ name, problem }) => [name, problem]))
    expect(told).toEqual({
      damaged: expect.stringMatching(/^its update is malformed/) as string,
      cut: expect.stringMatching(/^its update is malformed/) as string,
      incomplete: 'it builds on updates that are missing',
      large: expect.stringContaining('the largest document has 4000') as string,
      '..': expect.stringContaining('must not be "." or ".."') as string,
    })
    const stored = await storedOf(
      data,
      ['first', 'last', 'damaged', 'cut', 'incomplete', 'large'].map(pathOf),
    )
    expect(stored.map((each) => each?.doc.getText('content').toString() ?? null)).toEqual([
      'whole',
      'whole',
      null,
      null,
      null,
      null,
    ])
  },
)

itLong(
  '[MOVE-4] takes addresses from the name map first, and does not merge two names that have the same address',
  async () => {
    const documents = new Map(
      ['acme/a/main', 'old name', 'acme/%61/main'].map((name) => [name, typedAfter([], name)] as const),
    )
    const map = join(old, 'map.jsonl')
    const target = { organizationId: 'new', documentId: 'named', editorId: 'e' }
    const unknown = JSON.stringify({ name: 'nowhere', ...target, documentId: 'other' })
    writeFileSync(map, `${JSON.stringify({ name: 'old name', ...target })}\n\n${unknown}\n`)
    const ran = await runImport(data, 'updates', writeLines(documents), '--name-map', map)
    expect([ran.code, ran.out]).toEqual([
      1,
      expect.stringContaining(
        '"acme/%61/main" is rejected: it has the same address as "acme/a/main"; map one of them',
      ) as string,
    ])
    expect(ran.out).toContain('the map names "nowhere", which does not exist')
    const [mapped, first] = await storedOf(data, [target, pathOf('acme/a/main')])
    expect(mapped?.doc.getText('content').toString()).toBe('old name')
    expect(first?.doc.getText('content').toString()).toBe('acme/a/main')
    const lines = [
      ['no JSON', 'Unexpected token'],
      ['[]', 'the value must be object'],
      ['{"name":"x"}', 'organizationId must be present'],
      [JSON.stringify({ ...target, name: 1 }), 'name must be string'],
      [JSON.stringify({ name: 'x', ...target, editorId: '' }), 'editorId must not be empty'],
      [JSON.stringify({ name: 'old name', ...target }), '"old name" comes twice'],
    ] as const
    for (const [line, problem] of lines) {
      writeFileSync(map, `${JSON.stringify({ name: 'old name', ...target })}\n${line}\n`)
      const refused = await runImport(data, 'updates', writeLines(documents), '--name-map', map)
      expect([refused.code, refused.err]).toEqual([
        2,
        expect.stringContaining(`map.jsonl, line 2: ${problem}`) as string,
      ])
    }
  },
)

itLong('[MOVE-9] does not restore a deleted document unless `--recreate-deleted` is given', async () => {
  const file = writeLines(new Map([['acme/gone/main', typedAfter([], 'again')]]))
  await runImport(data, 'updates', file)
  const server = await startTestServer({ engine: 'level', dataDir: data })
  const gone = await server.post('/v2/organizations/documents/delete', {
    organizationId: 'acme',
    documentIds: ['gone'],
  })
  expect(gone.status).toBe(200)
  await server.stop()
  const refused = await runImport(data, 'updates', file)
  expect([refused.code, refused.out]).toEqual([1, expect.stringContaining('it was deleted here') as string])
  expect(await storedOf(data, [pathOf('acme/gone/main')])).toEqual([null])
  expect((await runImport(data, 'updates', file, '--recreate-deleted')).code).toBe(0)
  const [stored] = await storedOf(data, [pathOf('acme/gone/main')])
  expect(stored?.doc.getText('content').toString()).toBe('again')
})

it('[MOVE-10] creates records of organizations and documents, which REST lists and reads', async () => {
  await runImport(data, 'updates', writeLines(new Map([['acme/plan/main', typedAfter([], 'hello')]])))
  const engine = await openOfflineStore(data, 'refuse')
  expect(await engine.queue.claim(eventQueue, 1, 1_000)).toEqual([])
  await engine.close()
  const server = await startTestServer({ engine: 'level', dataDir: data })
  const listed = await server.post('/v2/organizations/documents/get', { organizationId: 'acme' })
  expect(JSON.stringify(dataOf(listed))).toContain('"id":"plan"')
  const content = await server.post('/v2/crdt/get', { organizationId: 'acme', documentId: 'plan' })
  expect(JSON.stringify(dataOf(content))).toContain('hello')
  await server.stop()
})

it('[ATT-14] stores imported updates with the source import, and without a user', async () => {
  await runImport(data, 'updates', writeLines(new Map([['acme/plan/main', typedAfter([], 'hello')]])))
  const engine = await openOfflineStore(data, 'refuse')
  const [doc = []] = await engine.log.list([], { limit: 1 })
  const { inserted } = await readAttribution(engine.log, doc)
  await engine.close()
  const origins = [...inserted.values()].flat().map(({ origin: { by, source } }) => [by, source])
  expect(origins).toEqual([['', 'import']])
})
