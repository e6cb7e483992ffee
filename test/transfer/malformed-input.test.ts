import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import * as Y from 'yjs'
import { StorageError } from '../../src/capabilities/backups/storage/storage-error.ts'
import { offlineCatalog } from '../../src/capabilities/transfer/documents/catalog-offline.ts'
import {
  type DocumentImportResult,
  type ImportSink,
  type ImportSource,
  importDocuments,
  importInto,
} from '../../src/capabilities/transfer/import-documents.ts'
import { openUpdates } from '../../src/capabilities/transfer/sources/updates.ts'
import { readLines, type TextLine } from '../../src/capabilities/transfer/text-lines.ts'
import { readCredentials } from '../../src/core/directory/tenants/credentials-file.ts'
import { forget, newStore, pathOf, storedOf, typedAfter, updatesOf } from '../support/data/import-sources.ts'
import { startCli } from '../support/servers/cli.ts'
import { itLong } from '../support/time/full-run.ts'

const limits = { documentBytesMax: 10_000_000, documentMsMax: 20_000, defaultAccess: 'public' } as const
const updatesBytesMax = 10_000_000
const noProgress = (): void => undefined
const odd = 'a\u2028b\u2029cd'

let root: string
let data: string

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'weft-hostile-'))
  data = await newStore()
}, 60_000)

afterAll(async () => {
  await forget(root)
  await forget(data)
})

const at = (...names: string[]): string => join(root, ...names)

async function tenant() {
  const { workspaceId = '', apiKey = '' } = (await readCredentials(data)) ?? {}
  return { workspaceId, apiKey }
}

async function importUpdates(
  path: string,
  organizationId: string | null = 'old',
): Promise<DocumentImportResult> {
  const naming = { map: new Map(), organizationId, editorId: 'main' }
  return importInto(
    { directory: data, tenant: await tenant() },
    { open: () => openUpdates(path, updatesBytesMax), naming, onProgress: noProgress },
    { ...limits, deleted: 'refuse' },
  )
}

const line = (name: string, update: Uint8Array): string =>
  `${JSON.stringify({ name, update: Buffer.from(update).toString('base64') })}\n`

it('[MOVE-3] accepts names that contain any kind of line separator', async () => {
  const [update] = typedAfter([], 'x') as [Uint8Array]
  writeFileSync(at('odd.jsonl'), line(odd, update))
  expect(await importUpdates(at('odd.jsonl'))).toMatchObject({ made: 1, problems: [] })
  const [stored] = await storedOf(data, [{ organizationId: 'old', documentId: odd, editorId: 'main' }])
  expect(stored?.doc.getText('content').toString()).toBe('x')
})

it('[MOVE-7] reports a damaged line by its line number, even if the name of a document looks like this line number', async () => {
  const [update] = typedAfter([], 'x') as [Uint8Array]
  writeFileSync(at('lines.jsonl'), `no JSON\n${line('line 1', update)}`)
  expect(await importUpdates(at('lines.jsonl'))).toMatchObject({
    made: 1,
    problems: [{ name: 'line 1', problem: 'it is not JSON with a name and an update in base64' }],
  })
  expect((await importUpdates(at('lines.jsonl'), null)).problems).toMatchObject([
    { name: 'line 1', problem: 'it is not JSON with a name and an update in base64' },
    { name: 'line 1', problem: expect.stringContaining('--organization') as string },
  ])
})

it('[MOVE-3] a line ends only at a line feed, regardless of the chunks in which the file is read', async () => {
  const lines = ['', `${odd}\r`, 'ä'.repeat(70_000), '', 'last']
  writeFileSync(at('lines'), lines.join('\n'))
  const read: TextLine[] = []
  for await (const each of readLines(at('lines'))) read.push(each)
  expect(read).toEqual(lines.map((text, index) => ({ number: index + 1, text })))
})

it('[MOVE-8] the error names the file that cannot be read, or the file and the line that is too long', async () => {
  const all = async (path: string, bytesMax?: number) => {
    for await (const _ of readLines(path, bytesMax));
  }
  writeFileSync(at('long'), `short\n${'x'.repeat(200_000)}\n`)
  await expect(all(at('long'), 150_000)).rejects.toThrow(/long, line 2: it has more than 150000 bytes/)
  await expect(all(root)).rejects.toThrow(`${root} cannot be read: EISDIR`)
})

it('[MOVE-7] does not follow links in a folder, but reports them', async () => {
  mkdirSync(at('linked', 'acme', 'plan'), { recursive: true })
  writeFileSync(at('main.bin'), typedAfter([], 'x')[0] as Uint8Array)
  symlinkSync(at('main.bin'), at('linked', 'acme', 'plan', 'main.bin'))
  symlinkSync(root, at('linked', 'everything'))
  const { documents, problems } = await importUpdates(at('linked'))
  expect({ documents, problems }).toEqual({
    documents: 2,
    problems: [
      { name: 'acme/plan/main', problem: expect.stringContaining('link') as string },
      { name: 'everything', problem: expect.stringContaining('link') as string },
    ],
  })
})

it('[OUT-10] `doc put` into the store of a stopped server applies the same limits as a websocket', async () => {
  const path = { organizationId: 'a', documentId: 'b', editorId: 'c' }
  const owner = await tenant()
  const apply = (update: Uint8Array, more = {}) =>
    offlineCatalog(data, owner, { ...limits, ...more }).apply(path, update)
  const put = (updates: readonly Uint8Array[], more = {}) => apply(Y.mergeUpdates([...updates]), more)
  const deep = updatesOf((doc) => {
    let map = doc.getMap('m')
    for (let depth = 0; depth < 250; depth++) map = map.set('k', new Y.Map())
  })
  await expect(put(deep)).rejects.toThrow('it cannot be served')
  await expect(put(typedAfter([], 'x'.repeat(5_000)), { documentBytesMax: 4_000 })).rejects.toThrow(
    'WEFT_MAX_DOCUMENT_BYTES',
  )
  const bytesAfterEnd = Uint8Array.of(0, 0, 0)
  await expect(apply(bytesAfterEnd)).rejects.toThrow('malformed')
  const first = typedAfter([], 'one')
  expect((await put(first)).changed).toBe(true)
  expect((await put(typedAfter(first, 'two'))).changed).toBe(true)
  expect(await put(typedAfter(first, ''))).toEqual({ created: false, changed: false, bytes: 0 })
})

it('[MOVE-8] when a source cannot be read further, completes the documents in progress', async () => {
  const ended: string[] = []
  const take: ImportSink = async ({ documentId }) => {
    await new Promise((resolve) => setImmediate(resolve))
    ended.push(documentId)
    return { is: 'made', bytes: 1, writtenBytes: 1 }
  }
  const source: ImportSource = {
    count: () => Promise.resolve(3),
    documents: async function* () {
      yield { name: 'one', updates: [] }
      yield { name: 'two', updates: [] }
      throw new StorageError('it cannot be read on')
    },
    close: () => Promise.resolve(),
  }
  const naming = { map: new Map(), organizationId: 'old', editorId: 'main' }
  await expect(importDocuments(source, naming, take, noProgress)).rejects.toThrow('it cannot be read on')
  expect(ended).toEqual(['one', 'two'])
})

itLong('[MOVE-6] completes an import even if its output is closed', async () => {
  const names = Array.from({ length: 200 }, (_, index) => `acme/unread${index}/main`)
  writeFileSync(
    at('unread.jsonl'),
    names.map((name) => line(name, typedAfter([], name)[0] as Uint8Array)).join(''),
  )
  const { child, ended } = startCli(['import', 'updates', at('unread.jsonl'), '--data-dir', data], data)
  child.stdout?.destroy()
  child.stderr?.destroy()
  expect((await ended).code).toBe(0)
  const stored = await storedOf(data, names.map(pathOf))
  expect(stored.map((each) => each?.doc.getText('content').toString())).toEqual(names)
})
