import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import * as Y from 'yjs'
import { openForImport, openOfflineStore } from '../../src/capabilities/backups/storage/offline-store.ts'
import { verify } from '../../src/capabilities/backups/storage/verify.ts'
import { type ExportOptions, exportStore } from '../../src/capabilities/transfer/export/export.ts'
import {
  decodeSummary,
  encodeSummary,
  type ListKind,
  listNames,
  sha256Of,
} from '../../src/capabilities/transfer/export/manifest.ts'
import { importExport } from '../../src/capabilities/transfer/import/import-export.ts'
import { systemClock } from '../../src/core/base/clock.ts'
import { typedAfter, updatesOf } from '../support/data/import-sources.ts'
import { dataOf, startTestServer } from '../support/servers/server.ts'
import { heldBy } from './sample-store.ts'

const root = mkdtempSync(join(tmpdir(), 'weft-half-'))
const at = (...names: string[]): string => join(root, ...names)
const noProgress = (): void => undefined
const all = { holds: 'all', organizationId: null, secrets: 'included', clock: systemClock } as const
const key = (documentId: string) => ['w', 'k', 'acme', documentId, 'main']
const odd = 'a\u2028b\u2029c'
const job = { queue: 'q', id: 'one', at: 1, payload: Buffer.from('{"say":"hello"}') }

/** A store with documents, values and waiting jobs. `documents` distinguishes stores. */
async function makeStore(name: string, documents: readonly string[]): Promise<void> {
  const { engine } = await openForImport(at(name))
  for (const id of documents)
    await engine.log.append(key(id), 'create', [{ bytes: typedAfter([], id)[0] as Uint8Array, by: 'ann' }])
  const puts = [{ key: ['kept', odd], value: Buffer.from(JSON.stringify({ text: odd })) }]
  await engine.kv.commit(['records'], { puts, jobs: [job, { ...job, id: 'two' }] })
  await engine.close()
  await exportStore(at(name), at(`${name}-export`), all, noProgress)
}

beforeAll(async () => {
  await makeStore('first', ['a', 'b', odd])
  await makeStore('second', ['a'])
})

afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 20 }))

const importInto = (directory: string, source = 'first', onProgress: (step: string) => void = noProgress) =>
  importExport(
    at(`${source}-export`),
    at(directory),
    { run: 'real', tenant: null, defaultAccess: 'public', documentMsMax: 20_000 },
    onProgress,
  )

/** Ends the import at the start of the documents. */
function endAtDocuments(step: string): void {
  if (step === 'documents') throw new Error('ended')
}

async function contentOf(directory: string): Promise<Record<string, string>> {
  rmSync(at('seen'), { recursive: true, force: true, maxRetries: 20 })
  await exportStore(at(directory), at('seen'), all, noProgress)
  return heldBy(at('seen'))
}

it('[OUT-12] rejects the start of a server on a store with an interrupted import, until the import is complete', async () => {
  await expect(importInto('half', 'first', endAtDocuments)).rejects.toThrow('ended')
  const sentence = `the import of an export into ${at('half')} was interrupted: start it again`
  await expect(startTestServer({ engine: 'level', dataDir: at('half') })).rejects.toThrow(sentence)
  await expect(openOfflineStore(at('half'), 'open')).rejects.toThrow(sentence)
  await expect(exportStore(at('half'), at('none'), all, noProgress)).rejects.toThrow(sentence)
  await expect(importInto('half', 'second')).rejects.toThrow('the import of another export')
  expect(await importInto('half')).toMatchObject({ problems: [], documents: { added: 3 } })
  expect(await contentOf('half')).toEqual(heldBy(at('first-export')))
  await (await startTestServer({ engine: 'level', dataDir: at('half') })).stop()
  expect(readdirSync(at('half')).sort()).toEqual(['credentials.json', 'store'])
})

it('[OUT-12] imports into a store with an empty import marker, and leaves no marker, also after a rejected import', async () => {
  await (await openForImport(at('cut'))).close()
  writeFileSync(at('cut', 'import.unfinished'), '')
  expect(await importInto('cut')).toMatchObject({ problems: [] })
  expect(existsSync(at('cut', 'import.unfinished'))).toBe(false)
  await importInto('taken')
  const other = await openOfflineStore(at('taken'), 'refuse')
  await other.kv.commit(['records'], { puts: [{ key: ['kept', odd], value: Buffer.from('{}') }] })
  await other.close()
  await expect(importInto('taken')).rejects.toThrow('nothing is written')
  expect(existsSync(at('taken', 'import.unfinished'))).toBe(false)
})

it('[OUT-12] if an import into a store that has served data is interrupted, a server can start on the store, and the import can be repeated', async () => {
  await (await startTestServer({ engine: 'level', dataDir: at('served') })).stop()
  await expect(importInto('served', 'first', endAtDocuments)).rejects.toThrow('ended')
  await (await startTestServer({ engine: 'level', dataDir: at('served') })).stop()
  expect(await importInto('served')).toMatchObject({ problems: [], documents: { added: 3 } })
})

it('[OUT-8] enqueues waiting jobs only once, even if an import is repeated', async () => {
  expect(await importInto('work')).toMatchObject({ records: { added: 3, there: 0 } })
  const engine = await openOfflineStore(at('work'), 'refuse')
  const claimed = await engine.queue.claim('q', 10, 60_000)
  expect(claimed.map(({ id, payload }) => [id, Buffer.from(payload).toString()])).toEqual([
    ['one', '{"say":"hello"}'],
    ['two', '{"say":"hello"}'],
  ])
  for (const { token } of claimed) await engine.queue.done(token)
  await engine.close()
  expect(await importInto('work')).toMatchObject({ records: { added: 0, there: 3 } })
  const after = await openOfflineStore(at('work'), 'refuse')
  expect(await after.queue.claim('q', 10, 1)).toEqual([])
  await after.close()
  expect((await verify(at('work'), noProgress)).damages).toEqual([])
  expect((await contentOf('work'))['admin.jsonl']).toBe(heldBy(at('first-export'))['admin.jsonl'])
})

/** An export with correct checksums in which one list has another line. */
async function forge(
  kind: ListKind,
  change: (line: string) => string,
  options: ExportOptions = all,
): Promise<void> {
  rmSync(at('forged-export'), { recursive: true, force: true, maxRetries: 20 })
  await exportStore(at('first'), at('forged-export'), options, noProgress)
  const path = at('forged-export', listNames[kind])
  const [first = '', ...others] = readFileSync(path, 'utf8').split('\n')
  const text = [first, change(others[0] || first), ...others.slice(1)].join('\n')
  writeFileSync(path, text)
  const summary = decodeSummary(readFileSync(at('forged-export', 'export.json'), 'utf8'))
  if (summary === null) throw new Error('no summary')
  const list = { ...summary.lists[kind], bytes: Buffer.byteLength(text), sha256: sha256Of(text) }
  const lists = { ...summary.lists, [kind]: list }
  writeFileSync(at('forged-export', 'export.json'), encodeSummary({ ...summary, lists }))
}

it.each([
  ['documents', (line: string) => line.slice(1)],
  ['documents', (line: string) => line.replace(/"head":\d+/, '"head":1e300')],
  ['documents', (line: string) => line.replace(/"epoch":\d+/, '"epoch":0')],
  ['documents', (line: string) => line.replace(/"documentId":"[^"]+"/, '"documentId":".."')],
  ['documents', (line: string) => line.replace(/"apiKey":"\w+"/, '"apiKey":null')],
  ['documents', (line: string) => line.replace('"live"', '"gone"')],
  ['values', () => '{"part":"records","key":["k"],"json":1}'],
  ['values', () => '{"part":["records"],"key":["\\ud800"],"json":1}'],
  ['jobs', (line: string) => line.replace(/"at":\d+/, '"at":"now"')],
] as const)('[OUT-7] rejects an invalid line of %s with its line number (%#)', async (kind, change) => {
  await forge(kind, change)
  await expect(importInto('never', 'forged')).rejects.toThrow(
    `${listNames[kind]}, line 2: it is not a line of a Weft export`,
  )
  expect(existsSync(at('never'))).toBe(false)
})

it('[OUT-7] reports a file that changes after its check, and does not import the file', async () => {
  await forge('documents', (line) => line)
  const { problems, documents } = await importInto('changed', 'forged', (step) => {
    if (step !== 'documents') return
    for (const name of readdirSync(at('forged-export', 'documents'), { recursive: true, encoding: 'utf8' }))
      if (name.endsWith('state.bin')) writeFileSync(at('forged-export', 'documents', name), 'x')
  })
  expect(documents).toMatchObject({ added: 0 })
  expect(problems).toHaveLength(3)
  expect(problems[0]).toContain('has changed since it was checked')
})

it('[OUT-1] exports a document with values that JSON cannot hold', async () => {
  const updates = updatesOf((doc) => {
    const map = doc.getMap('odd')
    for (const [name, value] of Object.entries({
      big: 5n,
      not: Number.NaN,
      bytes: Uint8Array.of(1),
      none: undefined,
    }))
      map.set(name, value)
    doc.getArray('list').insert(0, [[10n ** 18n, Number.POSITIVE_INFINITY]])
    doc.getText('text').insert(0, 'x\ud800', { size: 5 })
    doc.getText('text').insertEmbed(1, { data: Uint8Array.of(2) })
    doc.getMap('inside').set('doc', new Y.Doc())
    doc.getXmlFragment('xml').insert(0, [new Y.XmlText('\u0001'), new Y.XmlElement('a b')])
    doc.getText('../../up').insert(0, 'name')
    doc.getText('').insert(0, 'nameless')
  })
  const { engine } = await openForImport(at('odd'))
  await engine.log.append(
    key('values'),
    'create',
    updates.map((bytes) => ({ bytes, by: '' })),
  )
  await engine.close()
  const exported = await exportStore(at('odd'), at('odd-export'), all, noProgress)
  expect(exported).toMatchObject({ documents: 1, damaged: [] })
  expect(await importInto('odd-again', 'odd')).toMatchObject({ problems: [], documents: { added: 1 } })
  expect(await contentOf('odd-again')).toEqual(heldBy(at('odd-export')))
})

it('[OUT-9] an import of documents only creates no records for a rejected document', async () => {
  const change = (line: string) => line.replace(/"stateVector":"[^"]+"/, '"stateVector":"AA=="')
  await forge('documents', change, { ...all, holds: 'documents' })
  const making = await startTestServer({ engine: 'level', dataDir: at('records') })
  await making.stop()
  const { workspaceId, apiKey } = making.credentials
  const tenant = { workspaceId, apiKey }
  const options = { run: 'real', tenant, defaultAccess: 'public', documentMsMax: 20_000 } as const
  const done = await importExport(at('forged-export'), at('records'), options, noProgress)
  expect(done).toMatchObject({
    documents: { added: 2 },
    problems: [expect.stringContaining('its state vector differs from that in documents.jsonl') as string],
  })
  const server = await startTestServer({ engine: 'level', dataDir: at('records') })
  const listed = dataOf(await server.post('/v2/organizations/documents/get', { organizationId: 'acme' }))
  expect((listed as { id: string }[]).map(({ id }) => id).sort()).toEqual(['a', 'b'])
  await server.stop()
})
