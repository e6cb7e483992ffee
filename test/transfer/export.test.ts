import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import * as Y from 'yjs'
import { exportStore } from '../../src/capabilities/transfer/export/export.ts'
import { systemClock } from '../../src/core/base/clock.ts'
import { readAttribution } from '../../src/core/rooms/log/read-attribution.ts'
import { openLevelEngine } from '../../src/core/store/level/engine.ts'
import { overwrite, storedKeys } from '../contract/level/store-tools.ts'
import { updatesOf } from '../support/data/import-sources.ts'
import { runCli, startCli } from '../support/servers/cli.ts'
import { dataOf, type TestServer } from '../support/servers/server.ts'
import { itLong } from '../support/time/full-run.ts'
import {
  answersOf,
  contents,
  filesIn,
  fill,
  movingIds,
  oddDocument,
  type RichStore,
  seenBySocket,
  startOn,
} from './sample-store.ts'

const root = mkdtempSync(join(tmpdir(), 'weft-export-'))
const at = (...names: string[]): string => join(root, ...names)
const weft = (...args: string[]) => runCli(args, root)
const typed = 'acme/report/typed'
const deep = { timeout: 120_000 }

let rich: RichStore
let before: Awaited<ReturnType<typeof shown>>

const shown = async (server: TestServer) => ({
  answers: await answersOf(server, rich),
  ids: await movingIds(server, rich),
  socket: await seenBySocket(server, typed),
})

beforeAll(async () => {
  const filled = await startOn(at('data'))
  rich = await fill(filled)
  await filled.stop()
  // A running server returns the time of the change in memory. A later server returns the time of its
  // storage.
  const server = await startOn(at('data'))
  before = await shown(server)
  await server.stop()
  const exported = await weft('export', at('plain'), '--data-dir', at('data'))
  expect(exported).toMatchObject({ code: 0, out: expect.stringContaining('documents') })
}, 120_000)

afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 20 }))

interface Line {
  readonly address: Record<string, string>
  readonly files: readonly { readonly file: string; readonly is: string; readonly contentKey?: string }[]
}

const linesOf = (directory: string, file: string): Line[] =>
  readFileSync(join(directory, file), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line)

it('[OUT-1] exports each document as update, JSON, text and XML into a directory that only its owner can read', () => {
  expect(statSync(at('plain')).mode & 0o777).toBe(0o700)
  for (const name of filesIn(at('plain'))) expect(statSync(at('plain', name)).mode & 0o777).toBe(0o600)
  const own = linesOf(at('plain'), 'documents.jsonl').filter(
    ({ address }) => address.apiKey === rich.credentials.apiKey,
  )
  for (const [editorId, type, data] of contents) {
    const line = own.find(({ address }) => address.editorId === editorId) as Line
    const read = (is: string) =>
      line.files.filter((file) => file.is === is).map(({ file }) => readFileSync(at('plain', file), 'utf8'))
    const [json = ''] = read('json')
    const [root] = JSON.parse(json) as { type: string; data: unknown; delta?: unknown }[]
    expect(type === 'delta' ? root?.delta : root?.data).toEqual(data)
    expect(read('text')).toEqual(type === 'text' ? [data] : type === 'delta' ? ['bold'] : [])
    expect(read('xml')).toEqual(type === 'xml' ? [root?.data] : [])
  }
  expect(own.filter(({ address }) => address.organizationId === oddDocument.organizationId)).toMatchObject([
    { address: oddDocument, lastUpdated: expect.any(Number) as number },
  ])
  expect(own.filter(({ address }) => address.editorId === 'gone')).toEqual([])
})

it('[FMT-182] writes rich text in the format of --format', deep, async () => {
  const server = await startOn(at('rich'))
  const note = { organizationId: 'acme', documentId: '../note', editorId: 'a/b', contentKey: 'default' }
  const data = '# Note\n\n- [x] done'
  dataOf(await server.post('/v2/crdt/add', { ...note, type: 'markdown', data }))
  const formats = ['markdown', 'html', 'prosemirror'] as const
  const expected = await Promise.all(
    formats.map(async (format) => {
      const [read] = dataOf(await server.post('/v2/crdt/get', { ...note, format })) as { data: unknown }[]
      return read?.data
    }),
  )
  await server.stop()
  for (const [index, format] of formats.entries()) {
    const options = ['--format', format, '--data-dir', at('rich')]
    expect((await weft('export', at(`as-${format}`), ...options)).code).toBe(0)
    const [line] = linesOf(at(`as-${format}`), 'documents.jsonl')
    const files = line?.files.filter(({ contentKey }) => contentKey === 'default') ?? []
    expect(files).toMatchObject([{ is: format, file: expect.stringMatching(/\/1-default\.(md|html|json)$/) }])
    const text = readFileSync(at(`as-${format}`, files[0]?.file ?? ''), 'utf8')
    expect(format === 'prosemirror' ? JSON.parse(text) : text).toEqual(expected[index])
  }
  expect(expected[0]).toContain('- [x] done')
})

it(
  '[BKP-2] after a restore into an empty directory, the server lists the same records, and sends the same content to sockets',
  deep,
  async () => {
    expect((await weft('backup', at('data'), at('backup'))).code).toBe(0)
    expect((await weft('restore', at('backup'), at('moved'))).code).toBe(0)
    expect((await weft('verify', at('moved'))).code).toBe(0)
    const server = await startOn(at('moved'))
    expect(server.credentials).toEqual(rich.credentials)
    const after = await shown(server)
    expect(after.answers).toEqual(before.answers)
    expect(after.socket).toEqual(before.socket)
    expect(after.ids).toEqual(expect.arrayContaining([...before.ids]))
    await server.stop()
  },
)

itLong('[OUT-4] exports only one organization with `--organization`', deep, async () => {
  const { organizationId } = oddDocument
  expect(
    (await weft('export', at('one'), '--data-dir', at('data'), '--organization', organizationId)).code,
  ).toBe(0)
  const lines = linesOf(at('one'), 'documents.jsonl')
  expect(lines.map(({ address }) => address.organizationId)).toEqual(rich.tenants.map(() => organizationId))
})

itLong(
  '[OUT-5] `weft export` rejects a directory that is not empty and a store in use, and leaves no directory under the final name when it is killed',
  deep,
  async () => {
    const used = await weft('export', at('plain'), '--data-dir', at('data'))
    expect(used).toMatchObject({ code: 2, err: expect.stringContaining('is not empty') })
    expect(await weft('export', at('none'), '--data-dir', at('nowhere'))).toMatchObject({ code: 2 })
    const server = await startOn(at('moved'))
    for (const args of [
      ['export', at('none'), '--data-dir', at('moved')],
      ['doc', 'get', typed, '--data-dir', at('moved')],
    ])
      expect(await weft(...args)).toMatchObject({
        code: 2,
        err: expect.stringContaining('is in use by the process'),
      })
    await server.stop()
    const isPart = (name: string): boolean => name.endsWith('.part')
    expect(readdirSync(root).filter(isPart)).toEqual([])
    const { child, ended } = startCli(['export', at('none'), '--data-dir', at('data')], root)
    await new Promise((resolve) => child.stderr?.once('data', resolve))
    child.kill('SIGKILL')
    await ended
    expect(child.signalCode).toBe('SIGKILL')
    for (const name of readdirSync(root).filter(isPart)) rmSync(at(name), { recursive: true })
    expect(existsSync(at('none'))).toBe(false)
  },
)

itLong('[OUT-6] an export reports and skips a damaged document, and exports the others', deep, async () => {
  const { status } = spawnSync('cp', ['-r', at('moved'), at('damaged')])
  expect(status).toBe(0)
  const stored = (await storedKeys(at('damaged', 'store'), 'typed')).filter((key) =>
    /^[us]/.test(String(key)),
  )
  expect(stored.length).toBeGreaterThan(0)
  for (const key of stored) await overwrite(at('damaged', 'store'), key, Buffer.from('no update'))
  const ran = await weft('export', at('rest'), '--data-dir', at('damaged'))
  expect(ran).toMatchObject({ code: 1, out: expect.stringContaining('"typed"') })
  expect(linesOf(at('rest'), 'documents.jsonl')).toHaveLength(
    linesOf(at('plain'), 'documents.jsonl').length - 1,
  )
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
  const engine = await openLevelEngine({ directory: at('odd'), clock: systemClock })
  const key = ['w', 'k', 'acme', 'values', 'main']
  await engine.log.append(
    key,
    'create',
    updates.map((bytes) => ({ bytes, by: '' })),
  )
  await engine.close()
  const options = { organizationId: null, format: 'xml' } as const
  expect(await exportStore(at('odd'), at('odd-export'), options, () => undefined)).toMatchObject({
    documents: 1,
    damaged: [],
  })
  const doc = new Y.Doc()
  const [line] = linesOf(at('odd-export'), 'documents.jsonl')
  Y.applyUpdate(doc, readFileSync(at('odd-export', line?.files[0]?.file ?? '')))
  expect(doc.getMap('odd').get('big')).toBe(5n)
})

/** User, source and data of each range of the inserted ids of the only document in the store of a stopped server. */
async function authorsIn(name: string): Promise<unknown> {
  const engine = await openLevelEngine({ directory: at(name), clock: systemClock })
  const [doc = []] = await engine.log.list([], { limit: 1 })
  const { inserted } = await readAttribution(engine.log, doc)
  await engine.close()
  return [...inserted.values()].flat().map(({ origin: { by, source, meta } }) => [by, source, meta])
}

it('[ATT-13] a backup and its restoration keep the authors of changes, also of those after the last compaction', async () => {
  const server = await startOn(at('authored'))
  const ids = { organizationId: 'acme', documentId: 'd1', editorId: 'main' }
  const write = async (data: string, userId: string, more = {}) =>
    dataOf(
      await server.post('/v2/crdt/update', { ...ids, type: 'text', data, userId, upsert: true, ...more }),
    )
  await write('one', 'ann')
  await write('one two', 'bob', { meta: { run: 7 } })
  await server.stop()
  for (const [from, to] of [
    ['authored', 'restored'],
    ['restored', 'compacted'],
  ] as const) {
    expect((await weft('backup', at(from), at(`${from}.backup`))).code).toBe(0)
    expect((await weft('restore', at(`${from}.backup`), at(to))).code).toBe(0)
    expect((await weft('compact', at(to))).code).toBe(0)
    expect(await authorsIn(to)).toEqual([
      ['ann', 'rest', null],
      ['bob', 'rest', { run: 7 }],
    ])
  }
})
