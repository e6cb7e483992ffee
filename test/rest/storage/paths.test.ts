import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  watch,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  backupOffline,
  type WrittenBackup,
  writeBackup,
} from '../../../src/capabilities/backups/storage/backup.ts'
import { restore } from '../../../src/capabilities/backups/storage/restore.ts'
import { eventually } from '../../support/clients/clients.ts'
import { runCli } from '../../support/servers/cli.ts'
import { startTestServer } from '../../support/servers/server.ts'
import { HeldClock } from '../../support/time/clock.ts'
import { itLong } from '../../support/time/full-run.ts'

const root = mkdtempSync(join(tmpdir(), 'weft paths ü-'))
const at = (name: string): string => join(root, name)
const nobody = (): void => undefined

beforeAll(async () => {
  const server = await startTestServer({ engine: 'level', dataDir: at('data') })
  const address = { organizationId: 'acme', documentId: 'doc', editorId: 'main' }
  await server.post('/v2/crdt/add', { ...address, type: 'text', data: 'kept' })
  await server.stop()
  await backUp('backup')
})

afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 20 }))

const backUp = (name: string): Promise<WrittenBackup> =>
  writeBackup(backupOffline(at('data'), new HeldClock()), at(name), nobody)

it('[STORE-3] a backup follows no link and overwrites no file', async () => {
  writeFileSync(at('other'), 'of somebody else')
  symlinkSync(at('other'), at('linked.part'))
  await backUp('linked')
  expect(readFileSync(at('other'), 'utf8')).toBe('of somebody else')
  expect(statSync(at('linked')).mode & 0o777).toBe(0o600)
  symlinkSync(at('nowhere'), at('dangling'))
  await expect(backUp('dangling')).rejects.toThrow('already exists')
  expect(existsSync(at('nowhere'))).toBe(false)
})

it('[STORE-3] when two backups to the same file run at the same time, rejects one and completes the other', async () => {
  const both = await Promise.allSettled([backUp('same'), backUp('same')])
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  await restore(at('same'), at('of same'), nobody)
  expect(readdirSync(root).filter((name) => name.startsWith('same'))).toEqual(['same'])
})

it('[STORE-2] does not print the content of a token file that contains no token', async () => {
  writeFileSync(at('lines'), 'the-first-secret\nthe-second-secret\n')
  const { code, err } = await runCli(
    ['backup', 'http://127.0.0.1:1', at('x'), '--token-file', at('lines')],
    root,
  )
  expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining('holds no token') })
  expect(err).not.toContain('secret')
})

it('[STORE-3] gives a restored store its final name last, so that an interrupted restore does not look complete', async () => {
  mkdirSync(at('watched'))
  const names: string[] = []
  const watcher = watch(at('watched'), (_, name) => names.push(String(name)))
  await restore(at('backup'), at('watched'), nobody)
  await eventually(() => names.includes('store'))
  watcher.close()
  expect(names).toContain('credentials.json')
  expect(names.indexOf('credentials.json')).toBeLessThan(names.indexOf('store'))
})

itLong('[STORE-3] does not start a server in a directory with an interrupted restore', async () => {
  mkdirSync(at('interrupted/store.unfinished'), { recursive: true })
  const started = await runCli(['serve', '--data-dir', at('interrupted'), '--port', '0'], root)
  expect(started).toMatchObject({ code: 2, err: expect.stringContaining('restore again') })
  expect(readdirSync(at('interrupted'))).toEqual(['store.unfinished'])
  const told = await runCli(['doctor', '--data-dir', at('interrupted'), '--port', '0'], root)
  expect(told).toMatchObject({ code: 1, out: expect.stringMatching(/^fail +stored files: .*restore again/m) })
  const again = restore(at('backup'), at('interrupted'), nobody)
  await expect(again).rejects.toThrow('is not empty')
})

it('[STORE-3] when two restores into the same directory run at the same time, rejects one and completes the other', async () => {
  const both = await Promise.allSettled([1, 2].map(() => restore(at('backup'), at('twice'), nobody)))
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  expect(readdirSync(at('twice')).sort()).toEqual(['credentials.json', 'store'])
})

it('[STORE-3] a restore treats a directory with only the usual entries of a volume root as empty', async () => {
  mkdirSync(at('volume/lost+found'), { recursive: true })
  await restore(at('backup'), at('volume'), nobody)
  expect(readdirSync(at('volume')).sort()).toEqual(['credentials.json', 'lost+found', 'store'])
})
