import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect } from 'vitest'
import * as Y from 'yjs'
import { type LevelEngine, openLevelEngine } from '../../../src/core/store/level/engine.ts'
import { storedBytes } from '../../../src/core/store/level/maintenance.ts'
import { eventually, RawClient } from '../../support/clients/clients.ts'
import { metric, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { HeldClock } from '../../support/time/clock.ts'
import { itLong } from '../../support/time/full-run.ts'

const baseVersionSeconds = 600

let directory: string
let clock: HeldClock
let engine: LevelEngine
let server: TestServer

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'weft-upkeep-'))
  clock = new HeldClock()
  await start()
})

afterEach(async () => {
  await stop()
  await rm(directory, { recursive: true, force: true, maxRetries: 20 })
})

async function start(): Promise<void> {
  engine = await openLevelEngine({ directory, clock })
  server = await startTestServer({ baseVersionSeconds, idleUnloadSeconds: 30 }, { engine, clock })
  // Runs the work of the start now, and not in the middle of a test.
  clock.advance(1_000)
  await new Promise((resolve) => setTimeout(resolve, 50))
}

async function stop(): Promise<void> {
  await server.stop()
  await engine.close()
}

const key = () => [server.credentials.workspaceId, server.credentials.apiKey, 'acme', 'long', 'main']

/** Types and deletes, so that little content remains. Returns the document. */
async function type(edits = 3_000): Promise<Y.Doc> {
  const token = await server.token('ada')
  const [writer, reader] = await Promise.all(
    [1, 2].map(() => RawClient.connect(`${server.wsUrl}/sync/acme/long/main?token=${token}`)),
  )
  if (writer === undefined || reader === undefined) throw new Error('no clients')
  await Promise.all([writer.roundTrip(), reader.roundTrip()])
  const doc = new Y.Doc()
  doc.on('update', (update: Uint8Array) => writer.sendUpdate(update))
  const text = doc.getText('content')
  for (let edit = 0; edit < edits; edit++) {
    if (edit % 100 === 99) text.delete(0, text.length - 100)
    else text.insert(text.length, `${edit} is the number of this edit, in words that nobody keeps. `)
    if (edit % 200 === 0) await writer.roundTrip()
  }
  await writer.roundTrip()
  for (const client of [writer, reader]) client.end()
  return doc
}

async function head() {
  const [found = null] = await engine.log.heads([key()])
  return found
}

/** Advances the clock until the condition holds. */
const inTime = (holds: () => Promise<boolean>): Promise<void> =>
  eventually(async () => {
    clock.advance(5_000)
    await new Promise((resolve) => setTimeout(resolve, 5))
    return holds()
  })

itLong(
  '[STORE-14] when older versions expire, compacts the log of an idle document to one snapshot, and shrinks the files of the store',
  async () => {
    const doc = await type()
    const encoded = Y.encodeStateAsUpdate(doc).length
    const before = await head()
    expect(before?.oldest).toBe(0)
    expect(await storedBytes(directory)).toBeGreaterThan(5 * encoded)
    clock.advance(baseVersionSeconds * 500)
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect((await head())?.oldest).toBe(0)
    await inTime(async () => (await head())?.oldest === before?.head)
    expect(await head()).toMatchObject({ base: before?.head, head: before?.head })
    // The store also has some kilobytes of records of the workspace.
    await inTime(async () => (await storedBytes(directory)) < 1.5 * encoded + 10_000)
  },
  60_000,
)

itLong(
  '[STORE-14] after a restart, removes the older versions that were still stored',
  async () => {
    await type()
    await stop()
    await start()
    expect((await head())?.oldest).toBe(0)
    await inTime(async () => (await head())?.oldest === (await head())?.head)
  },
  60_000,
)

itLong(
  '[STORE-14] removes expired older versions even if clients only read the document',
  async () => {
    await type(2_805)
    const before = await head()
    await inTime(async () => (await metric(server, 'weft_rooms_open')) === 0)
    // The room has compacted its tail, and older versions remain.
    expect(await head()).toMatchObject({ head: before?.head, oldest: 0 })
    const read = () =>
      server.post('/v2/crdt/get', { organizationId: 'acme', documentId: 'long', editorId: 'main' })
    expect((await read()).status).toBe(200)
    expect((await head())?.oldest).toBe(0)
    await inTime(async () => {
      await read()
      return (await head())?.oldest === before?.head
    })
  },
  60_000,
)
