import { execFileSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { contentOf, eventually, RawClient, typed } from '../../support/clients/clients.ts'
import { type ServerProcess, startProcess } from '../../support/servers/process.ts'

const address = (editorId: string) => ({ organizationId: 'acme', documentId: 'full', editorId })

/** Limits the size of files of the process: writes then fail as on a full disk. */
const limitFiles = ({ child }: ServerProcess, bytes: number | 'unlimited') =>
  execFileSync('prlimit', ['--pid', String(child.pid), `--fsize=${bytes}:unlimited`])

it('[STORE-9] while no file can grow, acknowledges and sends nothing; afterwards continues, even after SIGKILL', async () => {
  const data = await mkdtemp(join(tmpdir(), 'weft-full-'))
  let server = await startProcess(data, { WEFT_LOG_LEVEL: 'silent' })
  const connect = async () =>
    RawClient.connect(`${server.wsUrl}/sync/acme/full/main?token=${await server.token()}`)
  const ready = async () => (await fetch(`${server.url}/readyz`)).status
  const add = (editorId: string) =>
    server.post('/v2/crdt/add', { ...address(editorId), type: 'text', data: editorId })
  try {
    expect((await add('before')).status).toBe(200)
    const [writer, reader] = [await connect(), await connect()]
    await Promise.all([writer.roundTrip(), reader.roundTrip()])
    limitFiles(server, 1)
    writer.sendUpdate(typed('held back', 1))
    await eventually(async () => (await ready()) === 503)
    expect((await add('during')).status).toBe(503)
    expect(reader.updates()).toEqual([])
    limitFiles(server, 'unlimited')
    await eventually(async () => (await ready()) === 200)
    await eventually(() => contentOf(reader.updates()) === 'held back')
    expect((await add('after')).status).toBe(200)
    await server.end('SIGKILL')
    server = await startProcess(data)
    for (const [editorId, status] of [
      ['before', 200],
      ['during', 404],
      ['after', 200],
      ['main', 200],
    ] as const)
      expect([editorId, (await server.post('/v2/crdt/get', address(editorId))).status]).toEqual([
        editorId,
        status,
      ])
    const late = await connect()
    await late.roundTrip()
    expect(contentOf(late.offers())).toBe('held back')
    late.end()
  } finally {
    await server.end('SIGKILL')
    await rm(data, { recursive: true, force: true, maxRetries: 20 })
  }
}, 60_000)
