import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { BackupJobResult } from '../../../src/capabilities/backups/backup-job.ts'
import { backupObjectName, newBackupId } from '../../../src/capabilities/backups/manifest.ts'
import { readBackupKey } from '../../../src/capabilities/backups/object-sealer.ts'
import { openObjectStore } from '../../../src/capabilities/backups/open-object-store.ts'
import { openRepository } from '../../../src/capabilities/backups/repository.ts'
import { systemClock } from '../../../src/core/base/clock.ts'
import { runCli } from '../../support/servers/cli.ts'
import { startTestServer, type TestServer } from '../../support/servers/server.ts'

const root = mkdtempSync(join(tmpdir(), 'weft-repositories-'))
const adminToken = 'an-admin-token-of-the-test'
const address = { organizationId: 'acme', documentId: 'plan', editorId: 'main' }
const token = ['--token-file', 'token']
const key = ['--key-file', 'key']
let server: TestServer

beforeAll(async () => {
  writeFileSync(join(root, 'token'), adminToken)
  server = await startTestServer({ engine: 'level', dataDir: join(root, 'data'), adminToken })
  expect((await server.post('/v2/crdt/add', { ...address, type: 'text', data: 'first' })).status).toBe(200)
}, 60_000)

afterAll(async () => {
  await server.stop()
  rmSync(root, { recursive: true, force: true, maxRetries: 20 })
})

const run = (...args: readonly string[]) => runCli(args, root)

/** Backs up the running server. */
async function backUp(...args: readonly string[]): Promise<BackupJobResult> {
  const ran = await run('backup', server.url, '--to', 'repository', ...key, ...token, '--json', ...args)
  expect([ran.code, ran.err]).toEqual([0, ''])
  return JSON.parse(ran.out) as BackupJobResult
}

const writeText = async (data: string): Promise<void> => {
  expect((await server.post('/v2/crdt/update', { ...address, type: 'text', data })).status).toBe(200)
}

const textIn = async (directory: string): Promise<string> =>
  (await run('doc', 'get', 'acme/plan/main', '--data-dir', directory, '--format', 'text')).out.trim()

/** Changes one byte in the middle of a file. */
function damage(path: string): void {
  const bytes = readFileSync(path)
  const at = bytes.length >> 1
  bytes[at] = (bytes[at] as number) ^ 1
  writeFileSync(path, bytes)
}

/** Paths of the chunks in the repository. */
const chunkFiles = (): readonly string[] =>
  readdirSync(join(root, 'repository/chunks'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

describe('the commands', () => {
  it('[BKP-20] `weft backups key` creates a key that only its owner can read', async () => {
    expect((await run('backups', 'key', 'key')).code).toBe(0)
    expect(statSync(join(root, 'key')).mode & 0o777).toBe(0o600)
    expect(await run('backups', 'key', 'key')).toMatchObject({
      code: 2,
      err: expect.stringContaining('EEXIST'),
    })
  })

  it('[BKP-20] `weft backup --to` backs up a running server, and `weft restore --at` restores the state of that time', async () => {
    const first = await backUp()
    expect(first).toMatchObject({ ok: true, pruned: null, backup: { newChunks: first.backup.chunks } })
    await writeText('second')
    const second = await backUp('--keep', '7d', '--verify', 'new')
    expect(second.pruned?.kept).toEqual([second.backup.id])
    expect(second.pruned?.removed).toEqual([first.backup.id])
    await writeText('third')
    const third = await backUp('--keep', '9d,9w,9m')
    await writeText('fourth')
    await backUp()
    const at = new Date(third.backup.at).toISOString()
    const restored = await run('restore', 'repository', 'restored', ...key, '--at', at, '--json')
    expect([restored.code, restored.err]).toEqual([0, ''])
    // A restore leaves out the events of change feeds.
    expect(JSON.parse(restored.out)).toMatchObject({ ok: true, madeAt: at })
    expect([await textIn('restored'), (await run('verify', 'restored')).code]).toEqual(['third', 0])
    const newest = await run('restore', 'repository', 'newest', ...key)
    expect(newest.out).toMatch(/^restored \d+ records from the backup of \d{4}-.*Z into newest\n$/)
    expect(await textIn('newest')).toBe('fourth')
    const listed = JSON.parse((await run('backups', 'list', 'repository', ...key, '--json')).out) as {
      id: string
    }[]
    expect(listed.map(({ id }) => id)).toHaveLength(2)
    expect(listed[1]).toMatchObject({ id: third.backup.id, at, pairs: third.backup.pairs })
  })

  it('[BKP-20] backs up the directory of a stopped server, and notes it there only when it is complete', async () => {
    rmSync(join(root, 'restored/last-backup'), { force: true })
    const failed = await run('backup', 'restored', '--to', 'token', ...key)
    expect([failed.code, readdirSync(join(root, 'restored')).includes('last-backup')]).toEqual([2, false])
    const ran = await run('backup', 'restored', '--to', 'of-stopped', ...key)
    expect(ran.out).toMatch(
      /^of-stopped has the backup \d{8}T\d{6}\.\d{3}Z-\w{8}: \d+ records \(\d+ bytes\); new: \d+ of \d+ chunks \(\d+ bytes\); verified\nof-stopped had no backup before; if you expected some, check that its disk is mounted\n$/,
    )
    expect(readdirSync(join(root, 'restored'))).toContain('last-backup')
  })

  describe('old backups that cannot be deleted', () => {
    const args = ['--to', 'unpruned', ...key, ...token, '--keep', '1d', '--json']

    /** Creates a repository with an old backup and a manifest of a newer version of Weft. Returns the id of the latter. */
    async function createUnpruned(): Promise<string> {
      const folder = join(root, 'unpruned')
      rmSync(folder, { recursive: true, force: true })
      const made = await run('backup', server.url, '--to', 'unpruned', ...key, ...token)
      expect(made.code).toBe(0)
      const store = await openObjectStore(folder, systemClock)
      const repository = await openRepository(store, await readBackupKey(join(root, 'key')), systemClock)
      const opened = await repository.open(null)
      const madeAt = 86_400_000
      const old = { ...opened.manifest, id: newBackupId(madeAt), header: { ...opened.header, madeAt } }
      const unknown = { format: 2, id: newBackupId(0) }
      for (const each of [old, unknown]) {
        const name = backupObjectName(each.id)
        await store.put(name, await repository.sealer.seal(name, Buffer.from(JSON.stringify(each))))
      }
      await store.delete(backupObjectName(opened.id))
      return unknown.id
    }

    it('[BKP-95] completes the backup, and reports the failure of the prune with its reason', async () => {
      const id = await createUnpruned()
      const ran = await run('backup', server.url, ...args)
      expect([ran.code, JSON.parse(ran.out.split('\n')[0] as string)]).toMatchObject([
        2,
        { ok: false, pruned: null, pruneFailure: expect.stringContaining(id) },
      ])
      expect(ran.out + ran.err).toContain('is complete, but old backups could not be deleted')
      expect(readdirSync(join(root, 'unpruned/backups'))).toHaveLength(3)
    })
  })

  it('[BKP-96] rejects another store before it writes a chunk', async () => {
    for (const name of ['one', 'two'])
      await (await startTestServer({ engine: 'level', dataDir: join(root, name) })).stop()
    expect((await run('backup', 'one', '--to', 'several', ...key)).code).toBe(0)
    const chunks = readdirSync(join(root, 'several/chunks'))
    const rejected = await run('backup', 'two', '--to', 'several', ...key)
    expect([rejected.code, rejected.err]).toEqual([2, expect.stringContaining('--other-store')])
    expect(readdirSync(join(root, 'several/chunks'))).toEqual(chunks)
  })

  it('[BKP-22] names every damaged part in `weft backups verify` and `weft restore`, which then restores nothing', async () => {
    const sound = await run('backups', 'verify', 'repository', ...key)
    expect([sound.code, sound.out]).toEqual([
      0,
      expect.stringMatching(/^repository is sound: 2 backups, \d+ chunks/),
    ])
    const files = chunkFiles()
    for (const file of files) damage(file)
    const names = files.map((file) => file.slice(file.indexOf('chunks/')))
    const verified = await run('backups', 'verify', 'repository', ...key)
    expect([verified.code, names.filter((name) => !verified.out.includes(`${name} is changed: `))]).toEqual([
      1,
      [],
    ])
    const restored = await run('restore', 'repository', 'nothing', ...key)
    expect([restored.code, restored.out]).toEqual([2, ''])
    expect(restored.err).toMatch(/chunks\/\w\w\/\w{64} is changed: \d+ records from ".*in 1 backups\n/)
    expect(restored.err).toContain('restore an earlier backup with --at')
    expect(readdirSync(join(root, 'nothing'))).toEqual([])
    const json = await run('restore', 'repository', 'nothing', ...key, '--json')
    expect(JSON.parse(json.out.split('\n')[0] as string)).toMatchObject({
      ok: false,
      damages: [{ problem: 'changed' }],
    })
    await backUp()
    expect((await run('restore', 'repository', 'after', ...key)).code).toBe(0)
    expect(await textIn('after')).toBe('fourth')
  })

  it('[BKP-22] names damaged manifests in `list` and `prune`, and deletes them with `--drop-damaged`', async () => {
    const [newest = ''] = readdirSync(join(root, 'repository/backups')).toSorted().toReversed()
    damage(join(root, 'repository/backups', newest))
    const listed = await run('backups', 'list', 'repository', ...key)
    expect(listed.out.split('\n')[0]).toContain(`${newest}  damaged: the manifest is changed`)
    const pruned = await run('backups', 'prune', 'repository', ...key, '--keep', '1d')
    expect([pruned.code, pruned.out]).toEqual([1, expect.stringContaining('no chunk was deleted')])
    const dropped = await run('backups', 'prune', 'repository', ...key, '--drop-damaged', '--json')
    expect([dropped.code, JSON.parse(dropped.out)]).toMatchObject([0, { removed: [newest], damages: [] }])
  })

  it('[BKP-23] rejects wrong options with their remedy, and does not print the key', async () => {
    writeFileSync(join(root, 'other'), 'f'.repeat(64))
    writeFileSync(join(root, 'short'), 'abcdef')
    const to = ['backup', server.url, '--to', 'repository', ...token]
    const cases: readonly (readonly [args: readonly string[], message: string])[] = [
      [to, 'needs its key: --key-file; create one with weft backups key <file>'],
      [[...to, '--key-file', 'short'], 'short holds no backup key: it is 64 hexadecimal digits'],
      [[...to, '--key-file', 'other'], 'the key is not the key of the backup repository'],
      [[...to, ...key, '--keep', '7'], '"7" is not a rule for keeping backups'],
      [[...to, ...key, '--verify', 'some'], '--verify must be all or new'],
      [['backup', server.url, 'file', '--to', 'repository'], 'name either a file, or a repository with --to'],
      [['backup', server.url, ...token], 'name either a file, or a repository with --to'],
      [
        ['backup', server.url, 'file', ...token, '--keep', '1d'],
        'name either a file, or a repository with --to',
      ],
      [
        ['backup', server.url, '--to', 'ftp://host/x', ...key, ...token],
        'is not the place of a backup repository',
      ],
      [['backup', server.url, '--to', 's3://b', ...key, ...token], 'is not the URL of a bucket'],
      [
        ['backup', server.url, '--to', 's3://weft', ...key, ...token],
        'set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
      ],
      [['restore', 'repository', 'x', ...key, '--at', 'yesterday'], '"yesterday" is not a time'],
      [
        ['restore', 'repository', 'x', ...key, '--at', '2020-01-01'],
        'has no backup of 2020-01-01T00:00:00.000Z or before',
      ],
      [['restore', 'token', 'x', ...key], 'token is not a backup repository, so it has no key'],
      [['backups', 'list', 'data', ...key], 'data holds no backup repository'],
    ]
    const ran = await Promise.all(cases.map(([args]) => run(...args)))
    expect(
      ran.map(({ code, err }, index) => [cases[index]?.[1], code, err.includes(cases[index]?.[1] as string)]),
    ).toEqual(cases.map(([, message]) => [message, 2, true]))
    const secret = readFileSync(join(root, 'key'), 'utf8').trim()
    expect(ran.filter(({ out, err }) => `${out}${err}`.includes(secret) || err.includes('abcdef'))).toEqual(
      [],
    )
  })
})
