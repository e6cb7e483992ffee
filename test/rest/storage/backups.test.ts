import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { BackupLimiter, backupsAtOnceMax } from '../../../src/capabilities/backups/storage/backup-limiter.ts'
import { eventually } from '../../support/clients/clients.ts'
import { runCli } from '../../support/servers/cli.ts'
import { metric, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { itLong } from '../../support/time/full-run.ts'

const root = mkdtempSync(join(tmpdir(), 'weft-backups-'))
const adminToken = 'an-admin-token-of-the-test'
const headers = { 'x-service-admin-token': adminToken }
let server: TestServer

beforeAll(async () => {
  writeFileSync(join(root, 'token'), adminToken)
  server = await startTestServer({ engine: 'level', dataDir: join(root, 'data'), adminToken })
  // More than the buffers of a socket hold.
  for (let index = 0; index < 12; index++) {
    const address = { organizationId: 'acme', documentId: `d${index}`, editorId: 'main' }
    const { status } = await server.post('/v2/crdt/add', { ...address, type: 'text', data: letters() })
    expect(status).toBe(200)
  }
}, 60_000)

afterAll(async () => {
  await server.stop()
  rmSync(root, { recursive: true, force: true, maxRetries: 20 })
})

const letters = (): string => Buffer.alloc(1_500_000, Math.random().toString(36)).toString()

/** Starts a backup that nothing reads. */
async function begin(): Promise<IncomingMessage> {
  const asked = request(`${server.url}/backup`, { headers, agent: false }).end()
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  response.on('error', () => undefined)
  return response
}

itLong(
  '[STORE-15] makes at most two backups at the same time, and rejects a third backup until one of them has ended or failed',
  async () => {
    for (let round = 0; round < 3; round++) {
      const [first, second] = [await begin(), await begin()]
      expect([first.statusCode, second.statusCode]).toEqual([200, 200])
      const refused = await fetch(`${server.url}/backup`, { headers })
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '10'])
      expect(JSON.stringify(await refused.json())).toContain('RESOURCE_EXHAUSTED')
      const told = await runCli(
        ['backup', server.url, join(root, 'out'), '--token-file', join(root, 'token')],
        root,
      )
      expect(told).toMatchObject({ code: 2, err: expect.stringContaining('other backups are running') })
      first.destroy()
      await eventually(async () => {
        const next = await begin()
        next.destroy()
        return next.statusCode === 200
      })
      second.destroy()
    }
  },
  60_000,
)

it('[RUN-8] exports the time of the last complete backup and the free disk space in the metrics', async () => {
  const lastAt = () => metric(server, 'weft_backup_last_success_timestamp_seconds ')
  expect(await lastAt()).toBe(0)
  const unread = await begin()
  unread.destroy()
  const begun = Date.now() / 1000
  await (await fetch(`${server.url}/backup`, { headers })).arrayBuffer()
  await eventually(async () => (await lastAt()) > 0)
  expect(Math.abs((await lastAt()) - begun)).toBeLessThan(60)
  const [free, size] = [
    await metric(server, 'weft_disk_free_bytes '),
    await metric(server, 'weft_disk_size_bytes '),
  ]
  expect(free).toBeGreaterThan(0)
  expect(size).toBeGreaterThan(free)
})

it('[STORE-15] a HEAD request occupies no backup slot', async () => {
  for (let count = 0; count < 5; count++)
    expect((await fetch(`${server.url}/backup`, { method: 'HEAD', headers })).status).toBe(200)
  await eventually(async () => {
    const next = await begin()
    next.destroy()
    return next.statusCode === 200
  })
})

it('[STORE-15] counts a backup until it ends or its reader stops, and not if it was never read', async () => {
  let open = 0
  async function* endless(): AsyncGenerator<Uint8Array> {
    open += 1
    try {
      for (;;) yield Buffer.alloc(65_536)
    } finally {
      open -= 1
    }
  }
  const limiter = new BackupLimiter()
  const read = async (backup: AsyncGenerator<Uint8Array>) =>
    expect(await backup.next()).toMatchObject({ done: false })
  const backups = Array.from({ length: backupsAtOnceMax }, () => limiter.limited(endless()))
  await limiter.limited(endless()).return(undefined)
  for (let count = 0; count < 100; count++) for (const backup of backups) await read(backup)
  await expect(limiter.limited(endless()).next()).rejects.toThrow('other backups are running')
  for (const backup of backups) await backup.return(undefined)
  expect(open).toBe(0)
  for (const _ of backups) await read(limiter.limited(endless()))
  await expect(limiter.limited(endless()).next()).rejects.toThrow('other backups are running')
})

it('[STORE-15] ends a backup whose client does not read it in time, and frees its slot', async () => {
  await server.stop()
  const config = { engine: 'level', dataDir: join(root, 'data'), adminToken } as const
  server = await startTestServer(config, { transferTimeoutMs: 1_000 })
  const unread = [await begin(), await begin()]
  expect((await fetch(`${server.url}/backup`, { headers })).status).toBe(429)
  await eventually(async () => {
    const next = await begin()
    next.destroy()
    return next.statusCode === 200
  })
  for (const response of unread) response.destroy()
})
