import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { overwrite, storedKeys } from '../contract/level/store-tools.ts'
import { runCli, startCli } from '../support/servers/cli.ts'
import { dataOf, type TestServer } from '../support/servers/server.ts'
import { itLong } from '../support/time/full-run.ts'
import {
  answersOf,
  contents,
  filesIn,
  fill,
  heldBy,
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
  const exported = await weft('export', at('all'), '--data-dir', at('data'), '--secrets')
  expect(exported).toMatchObject({ code: 0, out: expect.stringContaining('documents') })
  expect((await weft('export', at('plain'), '--data-dir', at('data'), '--json')).code).toBe(0)
}, 120_000)

afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 20 }))

interface Line {
  readonly state: string
  readonly address: Record<string, string>
  readonly stateVector: string
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
    { state: 'live', address: oddDocument },
  ])
  expect(own.filter(({ state }) => state === 'deleted')).toMatchObject([{ address: { editorId: 'gone' } }])
})

it(
  '[FMT-182] writes rich text in the format of --format, and an import accepts the export',
  deep,
  async () => {
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
      expect(files).toMatchObject([
        { is: format, file: expect.stringMatching(/\/1-default\.(md|html|json)$/) },
      ])
      const text = readFileSync(at(`as-${format}`, files[0]?.file ?? ''), 'utf8')
      expect(format === 'prosemirror' ? JSON.parse(text) : text).toEqual(expected[index])
    }
    expect(expected[0]).toContain('- [x] done')
    expect((await weft('import', 'weft', at('as-html'), '--data-dir', at('from-html'))).code).toBe(0)
  },
)

it(
  '[OUT-2] after an import into an empty directory, the server lists the same records, and sends the same content to sockets',
  deep,
  async () => {
    const imported = await weft('import', 'weft', at('all'), '--data-dir', at('moved'), '--json')
    expect(imported.code).toBe(0)
    expect(JSON.parse(imported.out)).toMatchObject({
      ok: true,
      problems: [],
      documents: { merged: 0, there: 0 },
    })
    expect((await weft('verify', at('moved'))).code).toBe(0)
    expect((await weft('export', at('again'), '--data-dir', at('moved'), '--secrets')).code).toBe(0)
    expect(heldBy(at('again'))).toEqual(heldBy(at('all')))
    const server = await startOn(at('moved'))
    expect(server.credentials).toEqual(rich.credentials)
    const after = await shown(server)
    expect(after.answers).toEqual(before.answers)
    expect(after.socket).toEqual(before.socket)
    expect(after.ids).toEqual(expect.arrayContaining([...before.ids]))
    await server.stop()
  },
)

it(
  '[OUT-2] after an import, an editor that was deleted and created again before the export keeps its version numbers and saved versions',
  deep,
  async () => {
    const server = await startOn(at('moved'))
    const again = { organizationId: 'acme', documentId: 'report', editorId: 'again' }
    const [{ version }] = dataOf(await server.post('/v2/crdt/get', again)) as [{ version: string }]
    expect(version).toMatch(/^2\./)
    const versions = dataOf(await server.post('/v2/crdt/versions/list', again)) as { versionId: string }[]
    expect(versions).toMatchObject([{ label: 'of a later log' }])
    await server.stop()
  },
)

itLong(
  '[OUT-3] without `--secrets`, an export contains no secret in plain text, and the import creates new secrets',
  deep,
  async () => {
    const tokens = Object.entries(rich.credentials).filter(([name]) => /token|secret/i.test(name))
    const endpoints = Object.keys(before.answers).filter((path) => path.includes('secret/get'))
    const keys = endpoints.map(
      (path) => /whsec_[^"\\]+/.exec(JSON.stringify(before.answers[path]))?.[0] as string,
    )
    const secrets = [
      ...tokens.map(([, value]) => value),
      ...keys,
      ...rich.tenants.map(({ headers }) => headers['x-service-auth-token'] as string),
    ]
    const found = (directory: string) => {
      const all = Object.values(heldBy(directory)).join('\n')
      return secrets.filter((secret) => all.includes(secret))
    }
    expect(found(at('plain'))).toEqual([])
    expect(found(at('all'))).toEqual(secrets)
    expect((await weft('import', 'weft', at('plain'), '--data-dir', at('new-secrets'))).code).toBe(0)
    const server = await startOn(at('new-secrets'))
    const { apiKey, authToken, workspaceAuthToken } = server.credentials
    expect(rich.tenants.map(({ headers }) => headers['x-service-api-key'])).toContain(apiKey)
    expect(secrets).not.toContain(authToken)
    expect(secrets).not.toContain(workspaceAuthToken)
    const [{ data }] = dataOf(
      await server.post('/v2/crdt/get', { organizationId: 'acme', documentId: 'report', editorId: 'text' }),
    ) as [{ data: unknown }]
    expect(data).toBe(contents[0]?.[2])
    const secret = await server.post('/v2/workspace/advancedwebhook/endpoints/secret/get', {
      endpointId: 'billing',
    })
    expect(JSON.stringify(dataOf(secret))).toMatch(/whsec_[A-Za-z0-9+/]{43}=/)
    expect(keys.filter((key) => JSON.stringify(dataOf(secret)).includes(key))).toEqual([])
    await server.stop()
  },
)

itLong(
  '[OUT-4] exports only documents with `--documents-only`, and only one organization with `--organization`',
  deep,
  async () => {
    expect((await weft('export', at('only'), '--data-dir', at('data'), '--documents-only')).code).toBe(0)
    expect(linesOf(at('only'), 'documents.jsonl')).toEqual(linesOf(at('plain'), 'documents.jsonl'))
    for (const list of ['admin.jsonl', 'blobs.jsonl', 'jobs.jsonl'])
      expect(readFileSync(at('only', list), 'utf8')).toBe('')
    const { organizationId } = oddDocument
    expect(
      (await weft('export', at('one'), '--data-dir', at('data'), '--organization', organizationId)).code,
    ).toBe(0)
    const lines = linesOf(at('one'), 'documents.jsonl')
    expect(lines.map(({ address }) => address.organizationId)).toEqual(rich.tenants.map(() => organizationId))
    expect(readFileSync(at('one', 'admin.jsonl'), 'utf8')).not.toContain('"acme"')
    expect((await weft('import', 'weft', at('one'), '--data-dir', at('moved-one'))).code).toBe(0)
    const server = await startOn(at('moved-one'))
    const organizations = dataOf(await server.post('/v2/organizations/get', {})) as { id: string }[]
    expect(organizations.map(({ id }) => id)).toEqual([organizationId])
    await server.stop()
  },
)

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
      ['import', 'weft', at('all'), '--data-dir', at('moved')],
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
    linesOf(at('all'), 'documents.jsonl').length - 1,
  )
  writeFileSync(at('rest', 'note'), 'of somebody else')
  expect((await weft('import', 'weft', at('rest'), '--data-dir', at('moved-rest'))).code).toBe(0)
})
