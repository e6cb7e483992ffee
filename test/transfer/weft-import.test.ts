import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import * as Y from 'yjs'
import { MergeThread } from '../../src/capabilities/transfer/documents/merge-thread.ts'
import { exportStore } from '../../src/capabilities/transfer/export/export.ts'
import { importExport } from '../../src/capabilities/transfer/import/import-export.ts'
import { DocumentRestorer } from '../../src/capabilities/transfer/import/restore-document.ts'
import { systemClock } from '../../src/core/base/clock.ts'
import { addressKey } from '../../src/core/model/address.ts'
import { readAttribution } from '../../src/core/rooms/log/read-attribution.ts'
import { openLevelEngine } from '../../src/core/store/level/engine.ts'
import { openMemoryEngine } from '../../src/core/store/memory/engine.ts'
import { runCli, startCli } from '../support/servers/cli.ts'
import { dataOf, startTestServer, type TestServer } from '../support/servers/server.ts'
import { itLong } from '../support/time/full-run.ts'
import { filesIn, heldBy, startOn } from './sample-store.ts'

const root = mkdtempSync(join(tmpdir(), 'weft-import-'))
const at = (...names: string[]): string => join(root, ...names)
const weft = (...args: string[]) => runCli(args, root)
const documents = 60
const ids = (index: number) => ({ organizationId: 'acme', documentId: `d${index}`, editorId: 'main' })
const deep = { timeout: 180_000 }
const all = { holds: 'all', organizationId: null, secrets: 'included', clock: systemClock } as const
const noProgress = (): void => undefined
const merging = new MergeThread({ documentBytesMax: 1_000_000, documentMsMax: 20_000 })

/** Writes documents, every third one over a log that was deleted. */
beforeAll(async () => {
  const server = await startOn(at('data'))
  const remove = async (index: number) =>
    dataOf(await server.post('/v2/crdt/delete', { organizationId: 'acme', documentId: `d${index}` }))
  for (let index = 0; index < documents; index++) {
    const write = async (data: string) =>
      dataOf(await server.post('/v2/crdt/update', { ...ids(index), type: 'text', data, upsert: true }))
    await write('first')
    if (index % 3 === 0) await remove(index)
    if (index % 6 !== 0) await write(`second of ${index}`)
  }
  await server.post('/v2/crdt/versions/create', ids(1))
  await server.stop()
  await exportStore(at('data'), at('export'), all, noProgress)
}, 120_000)

afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 20 }))

const importInto = (name: string, source = 'export', run: 'real' | 'dry' = 'real') =>
  importExport(
    at(source),
    at(name),
    { run, tenant: null, defaultAccess: 'public', documentMsMax: 20_000 },
    noProgress,
  )

/** The content of a store, as its export shows it. */
async function contentOf(name: string): Promise<Record<string, string>> {
  rmSync(at(`${name}-seen`), { recursive: true, force: true, maxRetries: 20 })
  await exportStore(at(name), at(`${name}-seen`), all, noProgress)
  return heldBy(at(`${name}-seen`))
}

itLong(
  '[OUT-7] an import reports the name of an export file with a changed byte, and writes nothing',
  deep,
  async () => {
    const names = filesIn(at('export'))
    expect(names.length).toBeGreaterThan(documents)
    for (const [index, name] of names.entries()) {
      // The files of documents are similar.
      if (name.startsWith('documents/') && index % 20 !== 0) continue
      const path = at('export', name)
      const bytes = readFileSync(path)
      const changed = Buffer.from(bytes)
      const place = (index * 7_919) % Math.max(1, bytes.length)
      changed[place] = (changed[place] ?? 0) ^ 1
      writeFileSync(path, bytes.length === 0 ? 'x' : changed)
      await expect(importInto('never')).rejects.toThrow(name)
      if (bytes.length > 0) writeFileSync(path, bytes.subarray(1))
      await expect(importInto('never')).rejects.toThrow(name)
      renameSync(path, `${path}.away`)
      await expect(importInto('never')).rejects.toThrow(name)
      renameSync(`${path}.away`, path)
      writeFileSync(path, bytes)
    }
    expect(existsSync(at('never'))).toBe(false)
    const told = await weft('import', 'weft', at('data'), '--data-dir', at('never'))
    expect(told).toMatchObject({ code: 2, err: expect.stringContaining('is not a complete Weft export') })
  },
)

itLong(
  '[OUT-7] rejects an export whose list refers to files outside the export, even with correct checksums',
  async () => {
    const { encodeSummary, decodeSummary, sha256Of } = await import(
      '../../src/capabilities/transfer/export/manifest.ts'
    )
    await exportStore(at('data'), at('forged'), all, noProgress)
    const list = readFileSync(at('forged', 'blobs.jsonl'), 'utf8').replace(/"blobs\//, '"../forged/blobs/')
    writeFileSync(at('forged', 'blobs.jsonl'), list)
    const summary = decodeSummary(readFileSync(at('forged', 'export.json'), 'utf8'))
    if (summary === null) throw new Error('no summary')
    const blobs = { ...summary.lists.blobs, bytes: Buffer.byteLength(list), sha256: sha256Of(list) }
    writeFileSync(
      at('forged', 'export.json'),
      encodeSummary({ ...summary, lists: { ...summary.lists, blobs } }),
    )
    await expect(importInto('never', 'forged')).rejects.toThrow('is not a file name of an export')
    expect(existsSync(at('never'))).toBe(false)
  },
)

/**
 * Kills the command when it has printed a pattern on standard error, after a delay. Returns false if it had
 * ended before.
 */
async function killed(args: readonly string[], pattern: RegExp, afterMs: number): Promise<boolean> {
  const { child, ended } = startCli(args, root)
  let err = ''
  const seen = new Promise<void>((resolve) => {
    child.stderr?.on('data', (text: string) => {
      err += text
      if (pattern.test(err)) resolve()
    })
  })
  await Promise.race([seen, ended])
  await wait(afterMs)
  child.kill('SIGKILL')
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  return child.signalCode === 'SIGKILL'
}

itLong('[OUT-8] completes an import that was killed several times', deep, async () => {
  const args = ['import', 'weft', at('export'), '--data-dir', at('resumed')]
  let kills = 0
  for (const pattern of [/check 50/, /documents 0 /, /documents 25/, /documents 50/, /documents 100/])
    for (const afterMs of [0, 10]) if (await killed(args, pattern, afterMs)) kills += 1
  expect(kills).toBeGreaterThan(3)
  const done = await weft(...args, '--json')
  expect(JSON.parse(done.out)).toMatchObject({ ok: true, problems: [], documents: { merged: 0 } })
  expect((await weft('verify', at('resumed'))).code).toBe(0)
  const before = await contentOf('resumed')
  const source = heldBy(at('export'))
  expect(Object.keys(before)).toEqual(Object.keys(source))
  for (const [name, bytes] of Object.entries(before))
    expect({ [name]: bytes.split('\n') }).toEqual({ [name]: source[name]?.split('\n') })
  const again = await importInto('resumed')
  expect(again).toMatchObject({ documents: { added: 0, merged: 0 }, records: { added: 0 } })
  expect(await contentOf('resumed')).toEqual(before)
})

/** A document of the export with a log of a later epoch and a very large head. */
function farDocument() {
  const bytes = readFileSync(
    at('export', filesIn(at('export')).find((name) => name.endsWith('state.bin')) ?? ''),
  )
  const doc = new Y.Doc()
  Y.applyUpdate(doc, bytes)
  const stateVector = Buffer.from(Y.encodeStateVector(doc)).toString('base64')
  const log = { epoch: 3, head: 2 ** 50, changedAt: 1_700_000_000_000, changedBy: 'ann' }
  return { address: { workspaceId: 'w', apiKey: 'k', ...ids(1) }, bytes, stateVector, log, attribution: null }
}

it('[OUT-8] restores a document with a single write, even if its head or epoch is a large number', async () => {
  const engine = await openMemoryEngine()
  const documents = new DocumentRestorer(engine.log, merging)
  const document = farDocument()
  expect(await documents.place(document)).toBe('added')
  const key = addressKey(document.address)
  expect(await engine.log.heads([key])).toMatchObject([{ epoch: 3, head: 2 ** 50 }])
  expect(await engine.log.load(key)).toMatchObject({ changed: { at: 1_700_000_000_000, by: 'ann' } })
  expect(await documents.place(document)).toBe('there')
  await documents.storeTombstone({ ...document.address, documentId: 'gone' }, 2 ** 50)
  expect(await engine.log.load(addressKey({ ...document.address, documentId: 'gone' }))).toEqual({
    state: 'deleted',
    epoch: 2 ** 50,
  })
})

it('[OUT-8] rejects a document that differs from its list entry, and writes no part of it', async () => {
  const engine = await openMemoryEngine()
  const document = { ...farDocument(), stateVector: 'AA==' }
  const documents = new DocumentRestorer(engine.log, merging)
  for (const work of [documents.plan(document), documents.place(document)])
    await expect(work).rejects.toThrow('its state vector differs from that in documents.jsonl')
  expect(await engine.log.load(addressKey(document.address))).toEqual({ state: 'absent' })
})

/** User, source and data of each range of the inserted ids of a document, in a store of a stopped server. */
async function authorsIn(name: string, documentId: string): Promise<unknown> {
  const engine = await openLevelEngine({ directory: at(name), clock: systemClock })
  try {
    const docs = await engine.log.list([], { limit: 1_000 })
    const doc = docs.find((key) => key.at(-2) === documentId) ?? []
    const { inserted } = await readAttribution(engine.log, doc)
    return [...inserted.values()].flat().map(({ origin: { by, source, meta } }) => [by, source, meta])
  } finally {
    await engine.close()
  }
}

it('[ATT-13] an export and its import keep the authors of changes, also of those after the last compaction', async () => {
  const server = await startOn(at('authored'))
  const write = async (data: string, userId: string, more = {}) =>
    dataOf(
      await server.post('/v2/crdt/update', { ...ids(1), type: 'text', data, userId, upsert: true, ...more }),
    )
  await write('one', 'ann')
  await write('one two', 'bob', { meta: { run: 7 } })
  await server.stop()
  const expected = [
    ['ann', 'rest', null],
    ['bob', 'rest', { run: 7 }],
  ]
  await exportStore(at('authored'), at('authored-export'), all, noProgress)
  expect(await importInto('authored-again', 'authored-export')).toMatchObject({ problems: [] })
  expect(await authorsIn('authored-again', 'd1')).toEqual(expected)
  expect((await weft('compact', at('authored-again'))).code).toBe(0)
  expect(await authorsIn('authored-again', 'd1')).toEqual(expected)
  expect((await weft('verify', at('authored-again'))).code).toBe(0)
  expect((await weft('backup', at('authored-again'), at('authored.backup'))).code).toBe(0)
  expect((await weft('restore', at('authored.backup'), at('authored-restored'))).code).toBe(0)
  expect(await authorsIn('authored-restored', 'd1')).toEqual(expected)
})

it('[ATT-13] rejects an export whose authors are malformed, and writes nothing', async () => {
  const engine = await openMemoryEngine()
  const document = { ...farDocument(), attribution: Uint8Array.of(1, 9) }
  await expect(new DocumentRestorer(engine.log, merging).place(document)).rejects.toThrow(
    'its authors are malformed',
  )
  expect(await engine.log.load(addressKey(document.address))).toEqual({ state: 'absent' })
})

it('[ATT-14] stores content that it merges into a document with the source import, and no user', async () => {
  const engine = await openMemoryEngine()
  const document = farDocument()
  const doc = addressKey(document.address)
  const own = new Y.Doc()
  own.getText('t').insert(0, 'own')
  await engine.log.append(doc, 'create', [{ bytes: Y.encodeStateAsUpdate(own), by: 'ann' }])
  expect(await new DocumentRestorer(engine.log, merging).place(document)).toBe('merged')
  const loaded = await engine.log.load(doc)
  expect(loaded.state === 'live' && loaded.entries[1]).toMatchObject({ by: '', source: 'import' })
})

const read = async (server: TestServer, index: number): Promise<unknown> =>
  (dataOf(await server.post('/v2/crdt/get', ids(index))) as [{ data: unknown }])[0].data

itLong('[OUT-9] merges documents into a store that has content, and removes nothing', deep, async () => {
  await importInto('merged')
  const server = await startOn(at('merged'))
  await server.post('/v2/crdt/update', { ...ids(1), type: 'text', data: 'typed later, second of 1' })
  await server.post('/v2/crdt/add', { ...ids(1), editorId: 'other', type: 'text', data: 'of its own' })
  await server.stop()
  const only = { ...all, holds: 'documents' } as const
  await exportStore(at('data'), at('documents'), only, noProgress)
  expect(await importInto('merged', 'documents')).toMatchObject({
    problems: [],
    documents: { added: 0, merged: 0 },
  })
  const source = await startOn(at('data'))
  await source.post('/v2/crdt/update', { ...ids(1), type: 'text', data: 'second of 1, and here' })
  await source.stop()
  await exportStore(at('data'), at('later'), only, noProgress)
  expect(await importInto('merged', 'later')).toMatchObject({
    problems: [],
    documents: { added: 0, merged: 1 },
  })
  const after = await startOn(at('merged'))
  expect(await read(after, 1)).toBe('typed later, second of 1, and here')
  await after.stop()
  expect((await weft('verify', at('merged'))).code).toBe(0)
})

itLong('[OUT-9] writes nothing if the store has different values under the same keys', deep, async () => {
  const { workspaceId, apiKey } = JSON.parse(readFileSync(at('data', 'credentials.json'), 'utf8')) as Record<
    string,
    string
  >
  const config = { engine: 'level', dataDir: at('taken'), workspaceId, apiKey } as Parameters<
    typeof startTestServer
  >[0]
  const server = await startTestServer(config)
  await server.post('/v2/crdt/update', { ...ids(1), type: 'text', data: 'here first', upsert: true })
  await server.stop()
  const before = await contentOf('taken')
  const refused = await weft('import', 'weft', at('export'), '--data-dir', at('taken'))
  expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('nothing is written') })
  expect(refused.err).toContain('"acme"')
  expect(await contentOf('taken')).toEqual(before)
})

itLong(
  '[OUT-9] imports an export of documents only into another API key, and creates the records of these documents',
  deep,
  async () => {
    const only = { ...all, holds: 'documents' } as const
    await exportStore(at('data'), at('alone'), only, noProgress)
    await (await startOn(at('others'))).stop()
    const unknown = await weft('import', 'weft', at('alone'), '--data-dir', at('others'))
    expect(unknown).toMatchObject({ code: 2, err: expect.stringContaining('--workspace') })
    const { workspaceId = '', apiKey = '' } = JSON.parse(
      readFileSync(at('others', 'credentials.json'), 'utf8'),
    ) as Record<string, string>
    const whose = ['--workspace', workspaceId, '--api-key', apiKey]
    const misused = await weft('import', 'weft', at('export'), '--data-dir', at('others'), ...whose)
    expect(misused).toMatchObject({ code: 2, err: expect.stringContaining('an export of documents only') })
    expect((await weft('import', 'weft', at('alone'), '--data-dir', at('others'), ...whose)).code).toBe(0)
    const server = await startOn(at('others'))
    const listed = dataOf(
      await server.post('/v2/organizations/documents/get', { organizationId: 'acme', pageSize: 500 }),
    ) as unknown[]
    const live = Array.from({ length: documents }, (_, index) => index).filter((index) => index % 6 !== 0)
    expect(listed).toHaveLength(live.length)
    expect(await read(server, 2)).toBe('second of 2')
    await server.stop()
    expect((await weft('verify', at('others'))).code).toBe(0)
  },
)

itLong('[OUT-9] a dry run reports what an import would do, and writes nothing', deep, async () => {
  const dry = await weft('import', 'weft', at('export'), '--data-dir', at('dry'), '--dry-run', '--json')
  const real = await importInto('wet')
  expect(JSON.parse(dry.out)).toEqual({ ok: true, ...real })
  expect(existsSync(at('dry'))).toBe(false)
  const before = await contentOf('wet')
  await importInto('wet', 'later', 'dry')
  expect(await contentOf('wet')).toEqual(before)
})
