import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import type { Config } from '../../../src/core/config/config.ts'
import { openLevelEngine } from '../../../src/core/store/level/engine.ts'
import type { ServerOverrides } from '../../../src/server/server.ts'
import { eventually } from '../../support/clients/clients.ts'
import { Random } from '../../support/data/random-doc.ts'
import { type Ran, runCli } from '../../support/servers/cli.ts'
import { readableLog } from '../../support/servers/readable-log.ts'
import { dataOf, metric, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { HeldClock } from '../../support/time/clock.ts'

const root = mkdtempSync(join(tmpdir(), 'weft-version-objects-'))
afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 20 }))

const at = (name: string): string => join(root, name)
const [hourMs, dayMs] = [3_600_000, 86_400_000]
const versionsKey = 'cd'.repeat(32)
const editor = { organizationId: 'acme', documentId: 'plan', editorId: 'main' }

/** Text that hardly shrinks, so that an object has about its size. */
function textOf(length: number, seed: number): string {
  const random = new Random(seed)
  let text = ''
  while (text.length < length) text += random.below(2 ** 32).toString(36)
  return text.slice(0, length)
}

const settings = (name: string): Partial<Config> => ({
  engine: 'level',
  dataDir: at(`${name}-data`),
  versionsTo: at(name),
  versionsKey,
})

const start = (name: string, more: Partial<Config> = {}, given: ServerOverrides = {}) =>
  startTestServer({ ...settings(name), ...more }, given)

/** Starts a server whose jobs become due by a clock of the test. */
const startAt = async (clock: HeldClock, name: string, dataDir = at(`${name}-data`)) =>
  start(name, { dataDir }, { clock, engine: await openLevelEngine({ directory: dataDir, clock }) })

const newClock = (): HeldClock => new HeldClock(Math.floor(Date.now() / 1000) * 1000)

/** Paths of the objects of contents in a folder. */
const objectsIn = (name: string): readonly string[] =>
  existsSync(at(name))
    ? readdirSync(at(name), { recursive: true, encoding: 'utf8' })
        .filter((path) => /^[0-9a-f]{2}\/[0-9a-f]{32}$/.test(path))
        .map((path) => join(at(name), path))
    : []

async function save(server: TestServer, text: string, documentId = 'plan'): Promise<string> {
  const place = { ...editor, documentId }
  dataOf(await server.post('/v2/crdt/update', { ...place, type: 'text', data: text, upsert: true }))
  return (dataOf(await server.post('/v2/crdt/versions/create', place)) as { versionId: string }).versionId
}

const get = (server: TestServer, versionId: string, documentId = 'plan') =>
  server.post('/v2/crdt/versions/get', { ...editor, documentId, versionId, format: 'text' })

async function contentOf(server: TestServer, versionId: string, documentId = 'plan'): Promise<unknown> {
  return (dataOf(await get(server, versionId, documentId)) as { data: unknown }).data
}

const remove = (server: TestServer, versionId: string) =>
  server.post('/v2/crdt/versions/delete', { ...editor, versionId })

const large = textOf(60_000, 1)

it('[VER-21] large contents are encrypted objects, and small and earlier ones stay in the store', async () => {
  const before = await start('mixed', { versionsTo: null, versionsKey: null })
  const early = await save(before, textOf(20_000, 2))
  await before.stop()
  const server = await start('mixed')
  const small = await save(server, 'a small text')
  expect(objectsIn('mixed')).toEqual([])
  const big = await save(server, large)
  const [object = ''] = objectsIn('mixed')
  expect(objectsIn('mixed')).toHaveLength(1)
  expect(readFileSync(object).includes(large.slice(0, 100))).toBe(false)
  expect(statSync(object).mode & 0o077).toBe(0)
  const read = async () => [
    await contentOf(server, early),
    await contentOf(server, small),
    await contentOf(server, big),
  ]
  expect(await read()).toEqual([textOf(20_000, 2), 'a small text', large])
  dataOf(await server.post('/v2/crdt/update', { ...editor, type: 'text', data: 'emptied' }))
  dataOf(await server.post('/v2/crdt/versions/restore', { ...editor, versionId: big }))
  const [now] = dataOf(await server.post('/v2/crdt/get', { ...editor, format: 'text' })) as {
    data: unknown
  }[]
  expect(now?.data).toBe(large)
  expect(
    await metric(server, 'weft_object_call_duration_seconds_count{operation="put",result="succeeded"}'),
  ).toBe(1)
  await server.stop()
})

it('[VER-22] an object is deleted a day after its version, and one that a version needs stays', async () => {
  const clock = newClock()
  const server = await startAt(clock, 'deleted')
  const [kept, deleted] = [await save(server, large), await save(server, textOf(50_000, 3))]
  clock.advance(20 * hourMs)
  dataOf(await remove(server, deleted))
  // The check of the saved version is due, but its deletion is younger than a day.
  clock.advance(23 * hourMs)
  await settled(server)
  expect(objectsIn('deleted')).toHaveLength(2)
  clock.advance(2 * hourMs)
  await eventually(() => objectsIn('deleted').length === 1)
  clock.advance(2 * dayMs)
  await settled(server)
  expect(await contentOf(server, kept)).toBe(large)
  await server.stop()
})

/** Waits until the server has had the time to run its due jobs. */
const settled = (server: TestServer): Promise<unknown> =>
  new Promise((resolve) => setTimeout(resolve, 300)).then(() => get(server, 'none'))

it('[VER-22] an object without a version is deleted a day after a crash', async () => {
  const clock = newClock()
  const directory = at('crashed-data')
  const inner = await openLevelEngine({ directory, clock })
  let isCrashed = false
  const blobs = {
    put: (key: readonly string[], bytes: Uint8Array) =>
      isCrashed ? Promise.reject(new Error('the process has ended')) : inner.blobs.put(key, bytes),
    get: (key: readonly string[]) => inner.blobs.get(key),
    delete: (key: readonly string[]) => inner.blobs.delete(key),
    list: (prefix: readonly string[], options: { limit: number }) => inner.blobs.list(prefix, options),
  }
  const first = await start('crashed', {}, { clock, engine: { ...inner, blobs } })
  const kept = await save(first, large)
  isCrashed = true
  dataOf(await first.post('/v2/crdt/update', { ...editor, type: 'text', data: textOf(50_000, 4) }))
  expect((await first.post('/v2/crdt/versions/create', editor)).status).toBe(500)
  expect(objectsIn('crashed')).toHaveLength(2)
  await first.stop()
  const second = await startAt(clock, 'crashed')
  clock.advance(23 * hourMs)
  await settled(second)
  expect(objectsIn('crashed')).toHaveLength(2)
  clock.advance(2 * hourMs)
  await eventually(() => objectsIn('crashed').length === 1)
  expect(await contentOf(second, kept)).toBe(large)
  await second.stop()
})

it('[VER-24] a changed or missing object is damage, and another key or an empty place is unavailable', async () => {
  const server = await start('damaged')
  const [changed, missing] = [await save(server, large), await save(server, textOf(50_000, 5))]
  const [object = ''] = objectsIn('damaged').filter((path) => statSync(path).size > 30_000)
  const paths = objectsIn('damaged')
  const original = paths.map((path) => readFileSync(path))
  const codes = async () =>
    (await Promise.all([get(server, changed), get(server, missing)])).map(({ status, body }) => [
      status,
      body.error?.details?.code,
    ])
  const damaged = [500, 'document/damaged']
  const unavailable = [503, 'version/content-unavailable']
  for (const [index, path] of paths.entries()) {
    const bytes = Buffer.from(original[index] as Buffer)
    bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1)
    writeFileSync(path, bytes)
  }
  expect(object).not.toBe('')
  expect(await codes()).toEqual([damaged, damaged])
  // An exchanged object is not accepted under another name.
  for (const [index, path] of paths.entries()) writeFileSync(path, original[1 - index] as Buffer)
  expect(await codes()).toEqual([damaged, damaged])
  for (const path of paths) rmSync(path)
  expect(await codes()).toEqual([damaged, damaged])
  const marker = join(at('damaged'), 'weft-versions')
  renameSync(marker, at('marker'))
  expect(await codes()).toEqual([unavailable, unavailable])
  renameSync(at('marker'), marker)
  for (const [index, path] of paths.entries()) writeFileSync(path, original[index] as Buffer)
  await server.stop()
  const other = await start('damaged', { versionsKey: 'ef'.repeat(32) })
  expect((await get(other, changed)).body.error?.details?.code).toBe('version/content-unavailable')
  dataOf(await other.post('/v2/crdt/update', { ...editor, type: 'text', data: textOf(40_000, 8) }))
  expect((await other.post('/v2/crdt/versions/create', editor)).body.error?.details?.code).toBe(
    'version/content-unavailable',
  )
  expect(objectsIn('damaged')).toHaveLength(paths.length)
  await other.stop()
  const same = await start('damaged')
  expect(await contentOf(same, changed)).toBe(large)
  await same.stop()
})

it('[VER-24] a mistyped place is not used: nothing is written to it, and no backup is made from it', async () => {
  const clock = newClock()
  const server = await startAt(clock, 'right')
  const [kept, deleted] = [await save(server, large), await save(server, textOf(50_000, 30))]
  await server.stop()
  const dataDir = at('right-data')
  const wrong = await startTestServer(
    { ...settings('wrong'), dataDir },
    { clock, engine: await openLevelEngine({ directory: dataDir, clock }) },
  )
  dataOf(await wrong.post('/v2/crdt/update', { ...editor, type: 'text', data: textOf(40_000, 31) }))
  for (const answer of [await wrong.post('/v2/crdt/versions/create', editor), await get(wrong, kept)])
    expect([answer.status, answer.body.error?.details?.code]).toEqual([503, 'version/content-unavailable'])
  dataOf(await remove(wrong, deleted))
  clock.advance(3 * dayMs)
  await settled(wrong)
  await wrong.stop()
  expect([objectsIn('wrong'), existsSync(join(at('wrong'), 'weft-versions'))]).toEqual([[], false])
  const backup = await runCli(['backup', 'right-data', 'right-backup'], root, {
    ...environmentOf('right'),
    WEFT_VERSIONS_TO: at('wrong'),
  })
  expect([backup.code, existsSync(at('right-backup'))]).toEqual([2, false])
  const again = await startAt(clock, 'right')
  expect(await contentOf(again, kept)).toBe(large)
  // The object that could not be deleted before is deleted now.
  clock.advance(dayMs)
  await eventually(() => objectsIn('right').length === 1)
  await again.stop()
})

it('[VER-24] a place that is exchanged while the server runs gets no object, and loses none', async () => {
  const server = await start('swapped')
  const version = await save(server, large)
  renameSync(at('swapped'), at('swapped-away'))
  mkdirSync(at('swapped'))
  dataOf(await server.post('/v2/crdt/update', { ...editor, type: 'text', data: textOf(40_000, 32) }))
  for (const answer of [await server.post('/v2/crdt/versions/create', editor), await get(server, version)])
    expect([answer.status, answer.body.error?.details?.code]).toEqual([503, 'version/content-unavailable'])
  expect(readdirSync(at('swapped'))).toEqual([])
  rmSync(at('swapped'), { recursive: true })
  renameSync(at('swapped-away'), at('swapped'))
  expect((await server.post('/v2/crdt/versions/create', editor)).status).toBe(200)
  expect(await contentOf(server, version)).toBe(large)
  await server.stop()
})

it('[VER-24] a place of another store is not used', async () => {
  const first = await start('owned')
  const version = await save(first, large)
  await first.stop()
  const second = await startTestServer({ ...settings('owned'), dataDir: at('intruder-data') })
  dataOf(await second.post('/v2/crdt/update', { ...editor, type: 'text', data: large, upsert: true }))
  expect((await second.post('/v2/crdt/versions/create', editor)).body.error?.details?.code).toBe(
    'version/content-unavailable',
  )
  await second.stop()
  expect(objectsIn('owned')).toHaveLength(1)
  const again = await start('owned')
  expect(await contentOf(again, version)).toBe(large)
  await again.stop()
})

it('[VER-25] without the option, a content in object storage cannot be read, and the error names the option', async () => {
  const server = await start('forgotten')
  const version = await save(server, large)
  await server.stop()
  const { log, of } = readableLog()
  const without = await startTestServer(
    { ...settings('forgotten'), versionsTo: null, versionsKey: null },
    { log },
  )
  expect(of('objects.not_configured')).toHaveLength(1)
  const { status, body } = await get(without, version)
  expect([status, body.error?.details?.code]).toEqual([503, 'version/content-unavailable'])
  expect(body.error?.message).toContain('WEFT_VERSIONS_TO')
  const inStore = await save(without, textOf(20_000, 6))
  expect(await contentOf(without, inStore)).toBe(textOf(20_000, 6))
  await without.stop()
  // The folder may move together with the option.
  renameSync(at('forgotten'), at('moved'))
  const again = await startTestServer({ ...settings('forgotten'), versionsTo: at('moved') })
  expect(await contentOf(again, version)).toBe(large)
  await again.stop()
})

it('[VER-26] a backup of a running server has the contents, and the restored store needs no object storage', async () => {
  const clock = newClock()
  const adminToken = 'an-admin-token-of-the-test'
  const server = await start('backed', { adminToken })
  const versions = [await save(server, large), await save(server, textOf(30_000, 7), 'other')]
  const response = await fetch(`${server.url}/backup`, { headers: { 'x-service-admin-token': adminToken } })
  writeFileSync(at('online'), Buffer.from(await response.arrayBuffer()))
  await server.stop()
  expect((await weft('backed', 'backup', 'backed-data', 'offline')).code).toBe(0)
  for (const backup of ['online', 'offline']) {
    expect((await weft('backed', 'restore', backup, `from-${backup}`)).code).toBe(0)
    expect((await weft('backed', 'verify', `from-${backup}`)).code).toBe(0)
    const restored = await startTestServer({ engine: 'level', dataDir: at(`from-${backup}`) })
    const [plan = '', other = ''] = versions
    expect(await contentOf(restored, plan)).toBe(large)
    expect(await contentOf(restored, other, 'other')).toBe(textOf(30_000, 7))
    await restored.stop()
  }
  // With the same object storage, the restored store leaves the objects of the original one alone.
  const copy = await startAt(clock, 'backed', at('from-online'))
  dataOf(await remove(copy, versions[0] ?? ''))
  clock.advance(3 * dayMs)
  await settled(copy)
  expect(objectsIn('backed')).toHaveLength(2)
  await copy.stop()
})

it('[VER-26] a backup fails if the object storage cannot be read, and names the version of a lost object', async () => {
  const server = await start('lossy')
  const version = await save(server, large)
  await server.stop()
  const without = await runCli(['backup', 'lossy-data', 'none'], root, {})
  expect([without.code, existsSync(at('none'))]).toEqual([2, false])
  expect(without.err).toContain('WEFT_VERSIONS_TO')
  renameSync(at('lossy'), at('lossy-away'))
  const away = await weft('lossy', 'backup', 'lossy-data', 'none')
  expect([away.code, existsSync(at('none'))]).toEqual([2, false])
  renameSync(at('lossy-away'), at('lossy'))
  for (const path of objectsIn('lossy')) rmSync(path)
  const lossy = await weft('lossy', 'backup', 'lossy-data', 'none')
  expect([lossy.code, existsSync(at('none'))]).toEqual([2, false])
  expect(lossy.err).toMatch(/blob .*"plan".* is damaged: the object .* is missing/)
  const again = await start('lossy')
  dataOf(await remove(again, version))
  await again.stop()
  expect((await weft('lossy', 'backup', 'lossy-data', 'some')).code).toBe(0)
})

const environmentOf = (name: string): Record<string, string> => ({
  WEFT_VERSIONS_TO: at(name),
  WEFT_VERSIONS_KEY: versionsKey,
})

const weft = (name: string, ...args: readonly string[]): Promise<Ran> =>
  runCli(args, root, environmentOf(name))

it('[VER-27] the storage limit counts the contents of objects until their versions are deleted', async () => {
  const clock = newClock()
  const server = await start('counted', {}, { clock })
  /** Returns the bytes that the workspace stores. A server measures them at most once in 5 minutes. */
  const usedBytes = async (): Promise<number> => {
    clock.advance(hourMs)
    const data = dataOf(await server.post('/v2/metrics/storage/get', {}))
    return (data as { storedBytes: number }).storedBytes
  }
  const versions: string[] = []
  for (let seed = 10; seed < 15; seed++)
    versions.push(await save(server, textOf(60_000, seed), `plan ${seed}`))
  const full = await usedBytes()
  for (const [index, versionId] of versions.entries()) {
    const editorOf = { ...editor, documentId: `plan ${index + 10}` }
    dataOf(await server.post('/v2/crdt/versions/delete', { ...editorOf, versionId }))
  }
  const freed = full - (await usedBytes())
  expect(freed).toBeGreaterThan(200_000)
  expect(objectsIn('counted')).toHaveLength(5)
  await server.stop()
})

it('[VER-29] weft doctor writes, reads and deletes an object, and leaves nothing', async () => {
  mkdirSync(at('probed'))
  const environment = { ...environmentOf('probed'), WEFT_DATA_DIR: at('probed-data'), WEFT_PORT: '0' }
  const sound = await runCli(['doctor', '--json'], root, environment)
  const findingOf = ({ out }: Ran) =>
    (JSON.parse(out) as { findings: { name: string }[] }).findings.find(
      ({ name }) => name === 'version storage',
    )
  expect(findingOf(sound)).toMatchObject({ verdict: 'ok' })
  expect([objectsIn('probed'), existsSync(join(at('probed'), 'weft-versions'))]).toEqual([[], false])
  const used = await start('probed')
  await save(used, large)
  await used.stop()
  const otherKey = { ...environment, WEFT_VERSIONS_KEY: 'ef'.repeat(32) }
  expect(findingOf(await runCli(['doctor', '--json'], root, otherKey))).toMatchObject({ verdict: 'fail' })
  writeFileSync(at('a-file'), '')
  const failed = await runCli(['doctor', '--json'], root, { ...environment, WEFT_VERSIONS_TO: at('a-file') })
  expect(failed.code).not.toBe(0)
  expect(findingOf(failed)).toMatchObject({ verdict: 'fail' })
})
