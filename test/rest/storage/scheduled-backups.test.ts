import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { backupObjectName, newBackupId } from '../../../src/capabilities/backups/manifest.ts'
import { parseBackupKey } from '../../../src/capabilities/backups/object-sealer.ts'
import { openObjectStore } from '../../../src/capabilities/backups/open-object-store.ts'
import { openRepository } from '../../../src/capabilities/backups/repository.ts'
import { restoreParts } from '../../../src/capabilities/backups/storage/restore.ts'
import { verifyRepository } from '../../../src/capabilities/backups/verify-repository.ts'
import { systemClock } from '../../../src/core/base/clock.ts'
import type { Config } from '../../../src/core/config/config.ts'
import { openLevelEngine } from '../../../src/core/store/level/engine.ts'
import { eventually } from '../../support/clients/clients.ts'
import { startCluster } from '../../support/servers/in-process-cluster.ts'
import { readableLog } from '../../support/servers/readable-log.ts'
import { metric, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { changeStore, documentKey, entryOf } from '../../support/stores/backup-repository.ts'
import { HeldClock } from '../../support/time/clock.ts'

const root = mkdtempSync(join(tmpdir(), 'weft-scheduled-'))
afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 20 }))

const backupKey = 'ab'.repeat(32)
const address = { organizationId: 'acme', documentId: 'plan', editorId: 'main' }
const [minuteMs, hourMs] = [60_000, 3_600_000]

const settings = (name: string): Partial<Config> => ({
  engine: 'level',
  dataDir: join(root, `${name}-data`),
  backupTo: join(root, name),
  backupKey,
})

/** Ids of the backups in a repository. */
const backupsIn = (name: string): readonly string[] =>
  existsSync(join(root, name, 'backups')) ? readdirSync(join(root, name, 'backups')).toSorted() : []

const made = (server: TestServer, result: string): Promise<number> =>
  metric(server, `weft_backups_total{result="${result}"}`)

/** Waits until the server has ended this number of backups with a result. */
const ended = (server: TestServer, result: string, count: number): Promise<void> =>
  eventually(async () => (await made(server, result)) === count)

const openBackups = async (name: string) =>
  openRepository(
    await openObjectStore(join(root, name), systemClock),
    parseBackupKey(backupKey, 'test'),
    systemClock,
  )

/** Restores the newest backup, and returns the text of the document. */
async function restoredText(name: string): Promise<string> {
  const directory = join(root, `${name}-restored`)
  const opened = await (await openBackups(name)).open(null)
  await restoreParts(opened.parts(), directory, opened.id)
  const server = await startTestServer({ engine: 'level', dataDir: directory })
  try {
    const { body } = await server.post('/v2/crdt/get', { ...address, format: 'text' })
    return JSON.stringify(body.result?.data)
  } finally {
    await server.stop()
    rmSync(directory, { recursive: true })
  }
}

/** Paths of the files in a folder, sorted. */
const filesOf = (folder: string): readonly string[] =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(join(root, folder), join(entry.parentPath, entry.name)))
    .toSorted()

/** Changes one byte of a file, and keeps its size. */
function flipByte(path: string): void {
  const bytes = readFileSync(path)
  bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] as number) ^ 1
  writeFileSync(path, bytes)
}

/** Writes the manifest of a newer version of Weft into a repository, and returns its id. */
async function writeUnknownFormat(name: string): Promise<string> {
  const { sealer, store } = await openBackups(name)
  const id = newBackupId(0)
  const object = backupObjectName(id)
  await store.put(object, await sealer.seal(object, Buffer.from('{"format":2}')))
  return id
}

describe('a server with scheduled backups', () => {
  it('[BKP-90] makes a backup at its start and at each interval, which a restart does not shorten, and keeps those of the rule', async () => {
    const clock = new HeldClock(Date.parse('2026-03-02T08:00:00Z'))
    const options = { ...settings('daily'), backupEvery: '12h', backupKeep: '2d' }
    const first = await startTestServer(options, { clock })
    await ended(first, 'succeeded', 1)
    expect(await metric(first, 'weft_backup_last_success_timestamp_seconds')).toBe(clock.now() / 1000)
    const [before] = await Promise.all([
      metric(first, 'weft_backup_written_bytes_total'),
      first.post('/v2/crdt/add', { ...address, type: 'text', data: 'kept' }),
    ])
    expect(before).toBeGreaterThan(0)
    expect(await metric(first, 'weft_backup_duration_seconds')).toBeGreaterThan(0)
    for (let hour = 0; hour < 12; hour++) {
      expect(backupsIn('daily')).toHaveLength(1)
      clock.advance(hourMs)
      // The timer waits at most one hour, and then continues.
      await eventually(() => clock.pending > 0)
    }
    await ended(first, 'succeeded', 2)
    // Both are of one day, and the rule keeps one of each day.
    expect(backupsIn('daily')).toEqual([expect.stringMatching(/^20260302T200000/)])
    expect(await restoredText('daily')).toContain('kept')
    clock.advance(5 * hourMs)
    await first.stop()
    const second = await startTestServer(options, { clock })
    expect(await metric(second, 'weft_backup_last_success_timestamp_seconds')).toBe(
      (clock.now() - 5 * hourMs) / 1000,
    )
    for (let hour = 0; hour < 6; hour++) {
      clock.advance(hourMs)
      await new Promise((done) => setTimeout(done, 30))
    }
    expect([await made(second, 'succeeded'), backupsIn('daily').length]).toEqual([0, 1])
    clock.advance(hourMs)
    await ended(second, 'succeeded', 1)
    await second.stop()
    // An overdue backup is made at once.
    clock.advance(40 * hourMs)
    const third = await startTestServer(options, { clock })
    await ended(third, 'succeeded', 1)
    expect(backupsIn('daily').map((id) => id.slice(0, 8))).toEqual(['20260303', '20260305'])
    await third.stop()
  })

  it('[BKP-142] continues within an interval after a wrong clock was corrected, and its metric has no time in the future', async () => {
    const clock = new HeldClock(Date.parse('2030-01-01T00:00:00Z'))
    const server = await startTestServer({ ...settings('clock'), backupEvery: '12h' }, { clock })
    await ended(server, 'succeeded', 1)
    await eventually(() => clock.pending > 0)
    clock.correct(Date.parse('2026-03-02T08:00:00Z'))
    expect(await metric(server, 'weft_backup_last_success_timestamp_seconds')).toBe(0)
    // The timer notices the correction after one hour.
    for (let hour = 0; hour < 13; hour++) {
      await eventually(() => clock.pending > 0)
      clock.advance(hourMs)
    }
    await ended(server, 'succeeded', 2)
    expect(await metric(server, 'weft_backup_last_success_timestamp_seconds')).toBe(clock.now() / 1000)
    await server.stop()
  })

  it('[BKP-91] reports a failure with its reason, and tries again after a time that grows, until a backup succeeds', async () => {
    const clock = new HeldClock()
    const { log, of, text } = readableLog()
    writeFileSync(join(root, 'failing'), 'a file at the place of the repository')
    const server = await startTestServer(settings('failing'), { clock, log })
    await ended(server, 'failed', 1)
    expect([await made(server, 'succeeded'), of('backup.failed')]).toEqual([
      0,
      [expect.objectContaining({ level: 'error', failures: 1, reason: expect.stringContaining('failing') })],
    ])
    for (const [failures, minutes] of [
      [2, 1],
      [3, 2],
      [4, 4],
    ] as const) {
      await eventually(() => clock.pending > 0)
      clock.advance(minutes * minuteMs - 1)
      await new Promise((done) => setTimeout(done, 50))
      expect(of('backup.failed')).toHaveLength(failures - 1)
      clock.advance(1)
      await ended(server, 'failed', failures)
    }
    expect(await metric(server, 'weft_backup_last_success_timestamp_seconds')).toBe(0)
    rmSync(join(root, 'failing'))
    clock.advance(8 * minuteMs)
    await ended(server, 'succeeded', 1)
    expect(backupsIn('failing')).toHaveLength(1)
    expect(text()).not.toContain(backupKey)
    await server.stop()
  })

  it('[BKP-91] completes a backup although an earlier one is damaged, and reports the damage', async () => {
    const clock = new HeldClock()
    const { log, of } = readableLog()
    const server = await startTestServer({ ...settings('damaged'), backupEvery: '1h' }, { clock, log })
    await ended(server, 'succeeded', 1)
    const [id] = backupsIn('damaged')
    writeFileSync(join(root, 'damaged/backups', id as string), 'damage')
    clock.advance(hourMs)
    await ended(server, 'damaged', 1)
    expect(of('backup.damaged')).toEqual([expect.objectContaining({ damaged: [`backups/${id}`] })])
    expect(backupsIn('damaged')).toHaveLength(2)
    await server.stop()
  })

  it('[BKP-95] counts a backup as succeeded although old backups could not be deleted, and deletes them after the next one', async () => {
    const clock = new HeldClock(Date.parse('2026-03-02T08:00:00Z'))
    const { log, of } = readableLog()
    const options = { ...settings('unpruned'), backupEvery: '1h', backupKeep: '1d' }
    const server = await startTestServer(options, { clock, log })
    const prunes = (result: string) => metric(server, `weft_backup_prunes_total{result="${result}"}`)
    await ended(server, 'succeeded', 1)
    const [first] = backupsIn('unpruned')
    const unknown = await writeUnknownFormat('unpruned')
    await eventually(() => clock.pending > 0)
    clock.advance(hourMs)
    await ended(server, 'succeeded', 2)
    await eventually(() => of('backup.prune_failed').length > 0)
    expect(of('backup.prune_failed')).toEqual([
      expect.objectContaining({ level: 'error', reason: expect.stringContaining(unknown) }),
    ])
    expect([await prunes('succeeded'), await prunes('failed'), await made(server, 'failed')]).toEqual([
      1, 1, 0,
    ])
    expect(await metric(server, 'weft_backup_last_success_timestamp_seconds')).toBe(clock.now() / 1000)
    expect(backupsIn('unpruned')).toContain(first)
    rmSync(join(root, 'unpruned/backups', unknown))
    await eventually(() => clock.pending > 0)
    clock.advance(hourMs - 1)
    await new Promise((done) => setTimeout(done, 50))
    expect(await made(server, 'succeeded')).toBe(2)
    clock.advance(1)
    await ended(server, 'succeeded', 3)
    await eventually(async () => (await prunes('succeeded')) === 2)
    expect(backupsIn('unpruned')).toHaveLength(1)
    await server.stop()
  })

  it('[BKP-96] rejects a backup of another store before it writes a chunk', async () => {
    const clock = new HeldClock()
    const first = await startTestServer(settings('shared'), { clock })
    await ended(first, 'succeeded', 1)
    await first.stop()
    const before = filesOf('shared/chunks')
    const { log, of } = readableLog()
    clock.advance(24 * hourMs)
    const options = { ...settings('shared'), dataDir: join(root, 'other-data') }
    const other = await startTestServer(options, { clock, log })
    await ended(other, 'failed', 1)
    expect(of('backup.failed')).toEqual([
      expect.objectContaining({ reason: expect.stringContaining('is of another store') }),
    ])
    await other.stop()
    expect([before.length > 0, filesOf('shared/chunks')]).toEqual([true, before])
  })

  it('[BKP-97] reads only new chunks with `new`, and replaces every damaged chunk with `all`', async () => {
    for (const backupVerify of ['new', 'all'] as const) {
      const clock = new HeldClock()
      const name = `verify-${backupVerify}`
      const options = settings(name)
      // This entry has a chunk of its own. Records of the server change other chunks only.
      await changeStore(options.dataDir as string, async ({ log }) => {
        await log.append(documentKey(0), 'create', [entryOf(randomBytes(5_000_000))])
      })
      const server = await startTestServer({ ...options, backupEvery: '1h', backupVerify }, { clock })
      await ended(server, 'succeeded', 1)
      await eventually(() => clock.pending > 0)
      clock.advance(hourMs)
      await ended(server, 'succeeded', 2)
      const [manifest] = backupsIn(name).toReversed()
      const opened = await (await openBackups(name)).open(null)
      expect(opened.id).toBe(manifest)
      const chunks = filesOf(`${name}/chunks`).map((file) => join(root, name, 'chunks', file))
      const [largest] = chunks.sort((one, other) => statSync(other).size - statSync(one).size)
      flipByte(largest as string)
      await eventually(() => clock.pending > 0)
      clock.advance(hourMs)
      await ended(server, 'succeeded', 3)
      await server.stop()
      const { damages } = await verifyRepository(await openBackups(name), () => undefined)
      expect([backupVerify, damages.length > 0]).toEqual([backupVerify, backupVerify === 'new'])
    }
  })

  it('[BKP-92] ends a backup at its shutdown without a manifest and a lock, and makes it at the next start', async () => {
    // A shutdown that waited for the backup would take longer than a test may.
    const options = { ...settings('stopped'), shutdownSeconds: 600 }
    await changeStore(options.dataDir as string, async (engine) => {
      // Enough that the backup has not ended when the server closes.
      for (let index = 0; index < 30; index++)
        await engine.log.append(documentKey(index), 'create', [entryOf(randomBytes(1_000_000))])
    })
    const { log, of } = readableLog()
    const server = await startTestServer(options, { log })
    await eventually(() => existsSync(join(root, 'stopped/chunks')))
    await server.server.close()
    expect([of('backup.interrupted').length, of('backup.failed').length]).toEqual([1, 0])
    expect([backupsIn('stopped'), readdirSync(join(root, 'stopped/locks'))]).toEqual([[], []])
    expect(readdirSync(options.dataDir as string)).not.toContain('last-backup')
    await server.stop()
    const next = await startTestServer(options)
    await ended(next, 'succeeded', 1)
    await next.stop()
    const found = await verifyRepository(await openBackups('stopped'), () => undefined)
    expect(found.damages).toEqual([])
    expect(backupsIn('stopped')).toHaveLength(1)
  })
})

it('[BKP-93] one node of a cluster makes the backups, and another one continues when it has stopped', async () => {
  const directory = join(root, 'cluster-data')
  const store = await openLevelEngine({ directory, durability: 'process' })
  const options = { backupTo: join(root, 'cluster'), backupKey, backupEvery: '1m' }
  const cluster = await startCluster(2, options, { store })
  const total = async (): Promise<readonly number[]> =>
    Promise.all(cluster.servers.map((server) => made(server, 'succeeded')))
  await eventually(async () => (await total()).some((count) => count > 0))
  // The other node tries to become the leader every two seconds.
  await new Promise((done) => setTimeout(done, 2_500))
  const counts = await total()
  expect([counts.toSorted(), backupsIn('cluster').length]).toEqual([[0, 1], 1])
  const [leader, other] = counts[0] === 1 ? cluster.servers : cluster.servers.toReversed()
  rmSync(join(root, 'cluster/backups'), { recursive: true })
  await leader?.stop()
  await ended(other as TestServer, 'succeeded', 1)
  expect(backupsIn('cluster')).toHaveLength(1)
  await cluster.stop()
})

it('[BKP-94] a server with wrong settings of its place does not start', async () => {
  await expect(startTestServer({ ...settings('wrong'), backupTo: 's3://weft' })).rejects.toThrow(
    'AWS_ACCESS_KEY_ID',
  )
  await expect(startTestServer({ ...settings('wrong'), backupTo: 's3://b' })).rejects.toThrow(
    'is not the URL of a bucket',
  )
  expect(readFileSync(join(root, 'wrong-data/credentials.json'), 'utf8')).not.toContain(backupKey)
})
