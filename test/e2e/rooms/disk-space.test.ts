import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { contentOf, eventually, RawClient, typed } from '../../support/clients/clients.ts'
import { runCli } from '../../support/servers/cli.ts'
import { type ServerProcess, startProcess } from '../../support/servers/process.ts'

/** A small file system of its own that can be full. */
const disk = mkdtempSync(join(tmpdir(), 'weft-disk-'))
const elsewhere = mkdtempSync(join(tmpdir(), 'weft-elsewhere-'))
execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16m', 'tmpfs', disk])
const data = join(disk, 'data')
const ballast = join(disk, 'ballast')
let server: ServerProcess

/** Fills the file system to the last byte. The server may write at the same time, so the free space may shrink. */
function fillUp(): void {
  for (;;) {
    const { bavail, bsize } = statfsSync(disk)
    if (bavail === 0) return
    try {
      appendFileSync(ballast, Buffer.alloc(bavail * bsize))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
    }
  }
}

const makeRoom = (): void => rmSync(ballast, { force: true })
const weft = (...args: string[]) => runCli(args, elsewhere)
const ready = async () => (await fetch(`${server.url}/readyz`)).status
const address = (documentId: string) => ({ organizationId: 'acme', documentId, editorId: 'main' })
const add = async (documentId: string) =>
  (await server.post('/v2/crdt/add', { ...address(documentId), type: 'text', data: documentId })).status
const connect = async () =>
  RawClient.connect(`${server.wsUrl}/sync/acme/typed/main?token=${await server.token()}`)

beforeAll(async () => {
  server = await startProcess(data, { WEFT_LOG_LEVEL: 'silent' })
}, 30_000)

afterAll(async () => {
  // Undefined if the first start has failed.
  await (server as ServerProcess | undefined)?.end('SIGKILL')
  execFileSync('umount', ['-l', disk])
  for (const path of [disk, elsewhere]) rmSync(path, { recursive: true, force: true, maxRetries: 20 })
})

it('[STORE-9] sends only stored edits while the disk is full, and continues when there is room', async () => {
  expect(await add('before')).toBe(200)
  const [writer, reader] = [await connect(), await connect()]
  await Promise.all([writer.roundTrip(), reader.roundTrip()])
  fillUp()
  const large = 'x'.repeat(100_000)
  for (let client = 1; client <= 20; client++) writer.sendUpdate(typed(large, client))
  await eventually(async () => (await ready()) === 503)
  const shown = contentOf(reader.updates()).length
  expect(await add('during')).toBe(503)
  const gauge = await (await fetch(`${server.url}/metrics`)).text()
  expect(gauge).toMatch(/^weft_ready 0$/m)
  expect(contentOf(reader.updates()).length).toBe(shown)
  makeRoom()
  await eventually(async () => (await ready()) === 200, undefined, 20_000)
  await eventually(() => contentOf(reader.updates()).length === 20 * large.length, undefined, 20_000)
  expect(await (await fetch(`${server.url}/metrics`)).text()).toMatch(/^weft_ready 1$/m)
  expect(await add('after')).toBe(200)
  await server.end('SIGKILL')
  expect(JSON.parse((await weft('verify', data, '--json')).out)).toMatchObject({ ok: true, documents: 3 })
}, 90_000)

it('[STORE-9] after SIGKILL, keeps the edits that were sent while the disk was full', async () => {
  server = await startProcess(data, { WEFT_LOG_LEVEL: 'silent' })
  const [writer, reader] = [await connect(), await connect()]
  await Promise.all([writer.roundTrip(), reader.roundTrip()])
  const before = contentOf(reader.offers()).length
  fillUp()
  for (let client = 101; client <= 120; client++) writer.sendUpdate(typed('y'.repeat(100_000), client))
  await eventually(async () => (await ready()) === 503)
  const shown = contentOf([...reader.offers(), ...reader.updates()]).length
  await server.end('SIGKILL')
  makeRoom()
  server = await startProcess(data, { WEFT_LOG_LEVEL: 'silent' })
  const late = await connect()
  await late.roundTrip()
  const stored = contentOf(late.offers()).length
  expect({ before, stored }).toEqual({ before: 2_000_000, stored: Math.max(stored, shown) })
  late.end()
}, 90_000)

it('[STORE-9] when the disk is full, backup, compact and serve report this, and damage nothing', async () => {
  await server.end('SIGKILL')
  fillUp()
  const told = async (...args: string[]) => {
    const { code, err } = await weft(...args)
    return { code, told: err.trim().split('\n').at(-1) }
  }
  const full = { code: 2, told: expect.stringMatching(/weft: .*(no space left|ENOSPC|full)/i) }
  expect(await told('backup', data, join(disk, 'backup'))).toEqual(full)
  expect(readdirSync(disk).sort()).toEqual(['ballast', 'data'])
  expect(await told('compact', data)).toEqual(full)
  expect(await told('serve', '--data-dir', data, '--port', '0')).toEqual(full)
  makeRoom()
  expect(JSON.parse((await weft('verify', data, '--json')).out)).toMatchObject({ ok: true, documents: 3 })
  expect((await weft('compact', data)).code).toBe(0)
}, 90_000)
