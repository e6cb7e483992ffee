import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { parseS3Location, S3Store } from '../../src/capabilities/backups/s3-store.ts'
import { openPostgresEngine } from '../../src/cluster/postgres/engine.ts'
import { systemClock } from '../../src/core/base/clock.ts'
import type { Engine } from '../../src/core/store/engine.ts'
import { openLevelEngine } from '../../src/core/store/level/engine.ts'
import { keyspaces } from '../../src/core/store/pairs/keyspaces.ts'
import { checkChecksum } from '../../src/core/store/pairs/record-codec.ts'
import { type TemporaryDirectory, temporaryDirectory } from '../contract/level/store-tools.ts'
import { blobContract } from '../contract/suite/blobs.ts'
import { storedBytesContract } from '../contract/suite/stored-bytes.ts'
import { syncedEditor } from '../support/clients/clients.ts'
import { missing } from '../support/needs.ts'
import { type PostgresServer, startPostgres } from '../support/servers/postgres.ts'
import { readableLog } from '../support/servers/readable-log.ts'
import { dataOf, metric, startTestServer, type TestServer } from '../support/servers/server.ts'
import { overObjects } from '../support/stores/object-engine.ts'
import { HeldClock } from '../support/time/clock.ts'
import { accessKeyId, type S3Server, secretAccessKey, startS3Server } from './s3-server.ts'

const editor = { organizationId: 'acme', documentId: 'plan', editorId: 'main' }

describe('saved versions in a bucket of s3rver', () => {
  let s3: S3Server
  let opened = 0
  let environment: NodeJS.ProcessEnv

  beforeAll(async () => {
    s3 = await startS3Server()
    environment = { ...process.env }
    process.env.AWS_ACCESS_KEY_ID = accessKeyId
    process.env.AWS_SECRET_ACCESS_KEY = secretAccessKey
  })
  beforeEach(() => {
    process.env.AWS_ENDPOINT_URL_S3 = s3.endpoint
  })
  afterAll(async () => {
    process.env = environment
    await s3.stop()
  })

  const bucket = (endpoint = s3.endpoint): S3Store =>
    new S3Store(parseS3Location(`s3://weft/versions/${++opened}`), {
      endpoint,
      region: 'eu-central-1',
      accessKeyId,
      secretAccessKey,
      sessionToken: null,
    })

  /** Runs the contract of blobs with an inner engine. */
  function blobsOver(
    openInner: () => Promise<{ readonly inner: Engine; readonly remove: () => Promise<void> }>,
  ): void {
    let engine: Engine
    let remove: () => Promise<void>
    beforeEach(async () => {
      const made = await openInner()
      remove = made.remove
      engine = overObjects(made.inner, bucket(), systemClock).engine
    })
    afterEach(async () => {
      await engine.close()
      await remove()
    })
    const bench = () => ({ engine, clock: new HeldClock(), reopen: async () => undefined })
    blobContract(bench)
    storedBytesContract(bench)

    it('[VER-26] the dump has the contents instead of references, and no records of objects', async () => {
      const contents = Array.from({ length: 20 }, (_, index) => Buffer.alloc(5_000 * index + 10, index + 1))
      for (const [index, content] of contents.entries())
        await engine.blobs.put(['v', String.fromCharCode(97 + index)], content)
      const found: Buffer[] = []
      for await (const page of engine.dump()?.pages ?? [])
        for (const [key, value] of page) {
          expect(Buffer.from(key).includes('objects')).toBe(false)
          if (key[0] === keyspaces.blobs[0]) found.push(checkChecksum(key, Buffer.from(value)))
        }
      expect(found.map((content) => [content.length, content[0]])).toEqual(
        contents.map((content) => [content.length, content[0]]),
      )
    })
  }

  describe('with LevelDB', () => {
    blobsOver(async () => {
      const directory: TemporaryDirectory = await temporaryDirectory()
      return {
        inner: await openLevelEngine({ directory: directory.path }),
        remove: () => directory.remove(),
      }
    })
  })

  describe.skipIf(missing('postgres'))('with PostgreSQL', () => {
    let postgres: PostgresServer
    beforeAll(async () => {
      postgres = await startPostgres()
    })
    afterAll(() => postgres?.remove())
    blobsOver(async () => {
      const schema = postgres.newSchema()
      return {
        inner: await openPostgresEngine({ url: postgres.url, schema, partitions: 2 }),
        remove: async () => undefined,
      }
    })
  })

  const settings = (place: string) => ({
    engine: 'level' as const,
    versionsTo: `s3://weft/${place}`,
    versionsKey: 'cd'.repeat(32),
  })

  const large = Array.from({ length: 20_000 }, (_, index) => index.toString(36)).join(' ')
  const write = async (server: TestServer, data: string): Promise<void> =>
    void dataOf(await server.post('/v2/crdt/update', { ...editor, type: 'text', data, upsert: true }))
  const create = (server: TestServer) => server.post('/v2/crdt/versions/create', editor)
  const read = (server: TestServer, versionId: string) =>
    server.post('/v2/crdt/versions/get', { ...editor, versionId, format: 'text' })

  it('[VER-21] a version is in the bucket before the response, and is read from it', async () => {
    const server = await startTestServer(settings('saved'))
    await write(server, large)
    s3.requests.length = 0
    const { versionId } = dataOf(await create(server)) as { versionId: string }
    const puts = s3.requests.filter((line) => line.startsWith('PUT'))
    // The start has reserved the place, unless the first version was faster.
    const objects = puts.filter((line) => !line.endsWith('/weft-versions'))
    expect(objects.map((line) => line.replace(/[0-9a-f]{2}\/[0-9a-f]{32}/, 'NAME'))).toEqual([
      'PUT /weft/saved/NAME',
    ])
    expect((dataOf(await read(server, versionId)) as { data: unknown }).data).toBe(large)
    s3.faults.push('unavailable', 'reset', 'cut')
    expect((dataOf(await read(server, versionId)) as { data: unknown }).data).toBe(large)
    await server.stop()
  })

  it('[VER-23] fails only saving and reading while the bucket rejects every call', async () => {
    const { log, of } = readableLog()
    const server = await startTestServer(settings('rejecting'), { log })
    await write(server, large)
    const { versionId } = dataOf(await create(server)) as { versionId: string }
    await write(server, `${large} and more`)
    s3.faults.push(...Array.from({ length: 1_000 }, () => 'unavailable' as const))
    const unavailable = [503, 'version/content-unavailable', '5']
    for (const answer of [await create(server), await read(server, versionId)]) {
      const { status, headers, body } = answer
      expect([status, body.error?.details?.code, headers.get('retry-after')]).toEqual(unavailable)
      expect(JSON.stringify(body)).not.toContain('s3://')
    }
    const ready = await fetch(`${server.url}/readyz`)
    expect([ready.status, await ready.json()]).toEqual([
      200,
      { status: 'ready', degraded: ['the object storage of saved versions cannot be used'] },
    ])
    expect(of('objects.unavailable')).toEqual([
      expect.objectContaining({
        reason: expect.stringContaining('s3://weft/rejecting/ cannot be used: HTTP 503'),
      }),
    ])
    for (const operation of ['put', 'get'])
      expect(
        await metric(
          server,
          `weft_object_call_duration_seconds_count{operation="${operation}",result="failed"}`,
        ),
      ).toBe(1)
    expect(dataOf(await server.post('/v2/crdt/versions/list', editor))).toHaveLength(1)
    await write(server, 'still editable')
    const client = await syncedEditor(server.wsUrl, 'acme/plan/main', await server.token('ann'))
    expect(String(client.text)).toBe('still editable')
    client.close()
    dataOf(await server.post('/v2/crdt/versions/delete', { ...editor, versionId }))
    s3.faults.length = 0
    await write(server, large)
    dataOf(await create(server))
    expect(await (await fetch(`${server.url}/readyz`)).json()).toEqual({ status: 'ready' })
    expect(of('objects.available')).toHaveLength(1)
    await server.stop()
  })

  it('[VER-23] a bucket that never answers fails calls after a bounded time, and does not delay a shutdown', async () => {
    const silent: Server = createServer(() => undefined)
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const endpoint = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
    const directory = await temporaryDirectory()
    const inner = await openLevelEngine({ directory: directory.path })
    const { engine } = overObjects(inner, bucket(endpoint), systemClock, { callMs: 300 })
    await expect(engine.blobs.put(['v'], Buffer.alloc(10_000))).rejects.toThrow('not available')
    await engine.blobs.put(['small'], Buffer.from('x'))
    await engine.close()
    await directory.remove()
    process.env.AWS_ENDPOINT_URL_S3 = endpoint
    // A shutdown that waited for the bucket would take longer than a test may.
    const server = await startTestServer({ ...settings('silent'), shutdownSeconds: 600 })
    await write(server, large)
    const saving = create(server).catch(() => null)
    await new Promise((resolve) => setTimeout(resolve, 300))
    await server.stop()
    await saving
    silent.closeAllConnections()
    silent.close()
  })
})
