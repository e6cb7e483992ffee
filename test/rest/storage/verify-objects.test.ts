import {
  cpSync,
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
import { BackupKey, ObjectSealer } from '../../../src/capabilities/backups/object-sealer.ts'
import { openLevelEngine } from '../../../src/core/store/level/engine.ts'
import { runCli } from '../../support/servers/cli.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { HeldClock } from '../../support/time/clock.ts'

const root = mkdtempSync(join(tmpdir(), 'weft-verify-objects-'))
afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 20 }))

const at = (name: string): string => join(root, name)
const versionsKey = 'cd'.repeat(32)
const otherKey = 'ef'.repeat(32)

const start = (name: string) =>
  startTestServer({ engine: 'level', dataDir: at(`${name}-data`), versionsTo: at(name), versionsKey })

/** Saves a version of a document with a content that becomes an object. Returns the id of the version. */
async function save(server: TestServer, documentId: string, length = 6_000): Promise<string> {
  const editor = { organizationId: 'acme', documentId, editorId: 'main' }
  const data = documentId.repeat(length / documentId.length)
  dataOf(await server.post('/v2/crdt/update', { ...editor, type: 'text', data, upsert: true }))
  const { versionId } = dataOf(await server.post('/v2/crdt/versions/create', editor)) as {
    versionId: string
  }
  return versionId
}

interface Shown {
  readonly ok: boolean
  readonly damages: readonly { readonly kind: string; readonly what: string; readonly problem: string }[]
  readonly versionObjects: Readonly<Record<string, unknown>> | null
}

async function verify(directory: string, environment: Readonly<Record<string, string>>) {
  const { code, out } = await runCli(['verify', directory, '--json'], root, environment)
  return { code, ...(JSON.parse(out) as Shown) }
}

const place = (name: string, key = versionsKey) => ({ WEFT_VERSIONS_TO: at(name), WEFT_VERSIONS_KEY: key })

/** Names of the objects of contents in a folder. */
const objectsIn = (name: string): readonly string[] =>
  readdirSync(at(name), { recursive: true, encoding: 'utf8' }).filter((path) =>
    /^[0-9a-f]{2}\/[0-9a-f]{32}$/.test(path),
  )

it('[VER-30] verify reads each object, and names document and version of a missing, changed or foreign one', async () => {
  mkdirSync(at('read'))
  const server = await start('read')
  const saved = new Map<string, { readonly path: string; readonly versionId: string }>()
  for (const documentId of ['sound', 'missing', 'changed', 'foreign']) {
    const before = new Set(objectsIn('read'))
    const versionId = await save(server, documentId)
    const [path = ''] = objectsIn('read').filter((each) => !before.has(each))
    saved.set(documentId, { path, versionId })
  }
  await server.stop()
  const sound = await verify('read-data', place('read'))
  expect(sound).toMatchObject({ code: 0, ok: true, damages: [] })
  const objects = { state: 'checked', place: at('read'), objects: 4 }
  expect(sound.versionObjects).toMatchObject({ ...objects, unnamed: { objects: 0, bytes: 0 } })
  expect(sound.versionObjects?.bytes).toBeGreaterThan(4 * 6_000)

  const pathOf = (documentId: string): string => join(at('read'), saved.get(documentId)?.path ?? '')
  rmSync(pathOf('missing'))
  const bytes = readFileSync(pathOf('changed'))
  bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1)
  writeFileSync(pathOf('changed'), bytes)
  const sealer = await ObjectSealer.of(new BackupKey(Buffer.from(otherKey, 'hex')), '0'.repeat(32))
  writeFileSync(pathOf('foreign'), await sealer.seal(saved.get('foreign')?.path ?? '', Buffer.alloc(5_000)))
  const damaged = await verify('read-data', place('read'))
  expect(damaged).toMatchObject({ code: 1, ok: false, versionObjects: objects })
  const found = damaged.damages.map(({ kind, what, problem }) => [kind, what, problem])
  const named = (documentId: string) =>
    expect.stringMatching(
      new RegExp(`"acme","${documentId}","main"\\], version ${saved.get(documentId)?.versionId}$`),
    )
  expect(found).toHaveLength(3)
  expect(found).toContainEqual(['object', named('missing'), expect.stringContaining('is missing in')])
  expect(found).toContainEqual(['object', named('changed'), expect.stringMatching(/ is damaged$/)])
  expect(found).toContainEqual(['object', named('foreign'), expect.stringContaining('with another key')])
  const text = await runCli(['verify', 'read-data'], root, place('read'))
  expect(text.out).toMatch(/object .*"missing".*is missing in .*\n {2}.*delete the versions/)
  expect(text.err).toContain('verify: objects 100 %')
})

it('[VER-30] verify exits with 2 and names the reason if it cannot read the objects, and without objects needs no place', async () => {
  const server = await start('closed')
  await save(server, 'plan')
  await server.stop()
  const reasonOf = async (environment: Readonly<Record<string, string>>) => {
    const { code, ok, damages, versionObjects } = await verify('closed-data', environment)
    expect([code, ok, damages, versionObjects?.state]).toEqual([2, false, [], 'unchecked'])
    return versionObjects?.problem
  }
  expect(await reasonOf({})).toContain('WEFT_VERSIONS_TO is not set')
  expect(await reasonOf(place('closed', otherKey))).toContain('were sealed with another key')
  expect(await reasonOf(place('empty'))).toContain('does not hold the contents')
  const other = await start('other')
  await save(other, 'plan')
  await other.stop()
  expect(await reasonOf(place('other'))).toContain('of another store')
  const text = await runCli(['verify', 'closed-data'], root, {})
  expect(text.out).toContain('the objects of saved versions were not checked: ')
  const plain = await startTestServer({ engine: 'level', dataDir: at('plain-data') })
  await save(plain, 'plan')
  await plain.stop()
  expect(await verify('plain-data', {})).toMatchObject({ code: 0, ok: true, versionObjects: null })
})

it('[VER-31] verify counts the objects that no record names, and deletes none', async () => {
  const clock = new HeldClock(Date.now())
  const dataDir = at('older-data')
  const open = async () =>
    startTestServer(
      { engine: 'level', dataDir, versionsTo: at('older'), versionsKey },
      { clock, engine: await openLevelEngine({ directory: dataDir, clock }) },
    )
  const first = await open()
  await save(first, 'kept')
  const deleted = await save(first, 'deleted')
  const editor = { organizationId: 'acme', documentId: 'deleted', editorId: 'main' }
  dataOf(await first.post('/v2/crdt/versions/delete', { ...editor, versionId: deleted }))
  await first.stop()
  cpSync(dataDir, at('copy-data'), { recursive: true })
  const second = await open()
  const before = new Set(objectsIn('older'))
  await save(second, 'later')
  await save(second, 'last')
  await second.stop()
  const later = objectsIn('older').filter((path) => !before.has(path))
  expect(later).toHaveLength(2)
  const bytes = later.reduce((sum, path) => sum + statSync(join(at('older'), path)).size, 0)
  // The object of the deleted version still has a record, with which the server deletes it.
  expect(await verify('copy-data', place('older'))).toMatchObject({
    code: 0,
    versionObjects: { objects: 1, unnamed: { objects: 2, bytes, isOfOtherStore: false } },
  })
  const text = await runCli(['verify', 'copy-data'], root, place('older'))
  expect(text.out).toContain(`no record names 2 objects in ${at('older')} (${bytes} bytes)`)
  expect((await verify('older-data', place('older'))).versionObjects).toMatchObject({
    objects: 3,
    unnamed: { objects: 0 },
  })
  expect(objectsIn('older')).toHaveLength(4)
})

it('[VER-31] verify reports the objects of another store after a restore, and counts none for a damaged store', async () => {
  const server = await start('origin')
  await save(server, 'plan')
  await server.stop()
  expect((await runCli(['backup', 'origin-data', 'backup'], root, place('origin'))).code).toBe(0)
  expect((await runCli(['restore', 'backup', 'restored-data'], root, {})).code).toBe(0)
  expect(await verify('restored-data', place('origin'))).toMatchObject({
    code: 0,
    damages: [],
    versionObjects: { objects: 0, unnamed: { objects: 1, isOfOtherStore: true } },
  })
  const text = await runCli(['verify', 'restored-data'], root, place('origin'))
  expect(text.out).toContain('belongs to another store: 1 objects')
  const tables = at('origin-data/store')
  for (const name of readdirSync(tables).filter((each) => /\.(ldb|log)$/.test(each)))
    renameSync(join(tables, name), join(tables, `${name}.away`))
  const damaged = await verify('origin-data', place('origin'))
  expect(damaged.code).toBe(1)
  expect(damaged.versionObjects).toMatchObject({ state: 'checked', unnamed: null })
})
