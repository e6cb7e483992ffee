import { isDeepStrictEqual } from 'node:util'
import { expect } from 'vitest'
import type { VersionRecord } from '../../../src/capabilities/history/version-keys.ts'
import { openLevelEngine } from '../../../src/core/store/level/engine.ts'
import { decodeRecord } from '../../../src/core/store/stored-record.ts'
import { temporaryDirectory } from '../../contract/level/store-tools.ts'
import { eventually } from '../../support/clients/clients.ts'
import { directoryOn } from '../../support/data/directory.ts'
import { Random } from '../../support/data/random-doc.ts'
import { seed } from '../../support/data/seed.ts'
import { type ServerProcess, startProcess } from '../../support/servers/process.ts'
import { startTestServer } from '../../support/servers/server.ts'
import { HeldClock } from '../../support/time/clock.ts'
import { itLong, times } from '../../support/time/full-run.ts'

const rounds = times(1, 8)
const editor = { organizationId: 'acme', documentId: 'd', editorId: 'main' }
const scope = { workspaceId: 'test', apiKey: 'test-key', organizationId: 'acme' }

const options = { WEFT_CALLS_PER_KEY: '0' }

interface Version {
  readonly versionId: string
}

const call = (server: ServerProcess, operation: string, data: object) =>
  server.post(`/v2/crdt/${operation}`, { ...editor, ...data })
async function list(server: ServerProcess, from: object = {}): Promise<readonly Version[]> {
  const { data, pageToken } = await call(server, 'versions/list', from)
  const rest = pageToken === undefined ? [] : await list(server, { pageToken })
  return [...((data ?? []) as Version[]), ...rest]
}

interface Work {
  /** Texts of the answered versions that no call has deleted, by id. */
  readonly made: Map<string, string>
  steps: number
}

/** Writes, and creates, restores and deletes versions until the server ends. */
async function work(server: ServerProcess, random: Random, done: Work): Promise<void> {
  for (;;) {
    const text = `${random.below(1e9)} `.repeat(1 + random.below(400))
    await call(server, 'update', { type: 'text', data: text, upsert: true })
    const { data } = await call(server, 'versions/create', { label: text.slice(0, 10) })
    done.made.set((data as Version).versionId, text)
    done.steps += 1
    const some = random.pick([...done.made.keys()])
    if (random.below(3) === 0) await call(server, 'versions/restore', { versionId: some })
    if (random.below(3) > 0) continue
    done.made.delete(some)
    await call(server, 'versions/delete', { versionId: some })
  }
}

/** Works on the store of the killed server for some steps and a moment, then kills the server. */
async function round(directory: string, random: Random, done: Work): Promise<void> {
  const server = await startProcess(directory, options)
  const end = done.steps + 2 + random.below(12)
  const working = work(server, random, done).catch(() => {})
  await eventually(() => done.steps >= end)
  await new Promise((resolve) => setTimeout(resolve, random.below(40)))
  await server.end('SIGKILL')
  await working
}

/** Checks that each answered version has its content and can be restored. */
async function check(server: ServerProcess, { made }: Work): Promise<void> {
  expect(made.size).toBeGreaterThan(0)
  const listed = new Set((await list(server)).map(({ versionId }) => versionId))
  for (const [versionId, data] of made) {
    expect(listed).toContain(versionId)
    expect((await call(server, 'versions/get', { versionId })).data).toMatchObject({ data })
    expect((await call(server, 'versions/restore', { versionId })).status).toBe(200)
    expect((await call(server, 'get', {})).data).toMatchObject([{ data }])
  }
}

/** Checks that a server that runs an hour later keeps exactly the contents that versions name. */
async function checkContents(directory: string): Promise<void> {
  const clock = new HeldClock(Date.now() + 3_600_000)
  const engine = await openLevelEngine({ directory, clock })
  const records = await directoryOn(engine)
    .store.read(scope)
    .scan({ prefix: ['versions'], limit: 10_000 })
  const hashes = records.map(({ value }) => (decodeRecord(value) as VersionRecord).hash)
  const named = [...new Set(hashes)].toSorted()
  const server = await startTestServer({}, { engine, clock })
  const kept = async () => (await engine.blobs.list(['versions'], { limit: 10_000 })).map((key) => key.at(-1))
  await eventually(async () => isDeepStrictEqual(await kept(), named), kept)
  await server.stop()
}

itLong(
  `[VER-14] after ${rounds} SIGKILLs while versions are created, restored and deleted, keeps each acknowledged version, and no content without a version (seed ${seed})`,
  async () => {
    const random = new Random(seed)
    const directory = await temporaryDirectory()
    const done: Work = { made: new Map(), steps: 0 }
    try {
      for (let at = 0; at < rounds; at++) await round(directory.path, random, done)
      const server = await startProcess(directory.path, options)
      try {
        await check(server, done)
      } finally {
        await server.end('SIGTERM')
      }
      await checkContents(directory.path)
    } finally {
      await directory.remove()
    }
  },
  280_000,
)
