import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import * as Y from 'yjs'
import { loadRoom } from '../../../src/core/rooms/log/load-room.ts'
import { openLevelEngine } from '../../../src/core/store/level/engine.ts'
import { storedBytes } from '../../../src/core/store/level/maintenance.ts'
import { type OpenStore, openLevelStore } from '../../../src/core/store/level/store/store.ts'
import { docKey, keepNone } from '../../contract/suite/sample-data.ts'
import { eventually, RawClient, typed } from '../../support/clients/clients.ts'
import { Random } from '../../support/data/random-doc.ts'
import { seed } from '../../support/data/seed.ts'
import { runCli } from '../../support/servers/cli.ts'
import { startTestServer } from '../../support/servers/server.ts'
import { itLong } from '../../support/time/full-run.ts'

const updates = 20_000
const edits = 10
const largeBytes = 10 * 2 ** 20

let directory: string

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'weft-size-'))
})

afterEach(() => rm(directory, { recursive: true, force: true, maxRetries: 20 }))

/** Text that does not compress well. */
const letters = (random: Random, count: number): string =>
  Array.from({ length: count }, () => String.fromCharCode(33 + random.below(90))).join('')

itLong(
  `[STORE-5] compact keeps every document, and the store has at most 1.5 times the size of the documents (seed ${seed})`,
  async () => {
    const random = new Random(seed)
    const engine = await openLevelEngine({ directory })
    const doc = new Y.Doc()
    const typedUpdates: { bytes: Uint8Array; by: string }[] = []
    doc.on('update', (bytes: Uint8Array) => typedUpdates.push({ bytes, by: 'ada' }))
    const text = doc.getText('content')
    for (let count = 0; count < updates; count++)
      if (text.length > 2_000) text.delete(random.below(500), 1_000)
      else text.insert(random.below(text.length + 1), letters(random, 20))
    await engine.log.append(docKey('long'), 'create', typedUpdates)
    await engine.close()
    const before = await storedBytes(directory)
    const { code, out } = await runCli(['compact', directory, '--json'], directory)
    expect({ code, done: JSON.parse(out) }).toMatchObject({ code: 0, done: { ok: true, documents: 1 } })
    const encoded = Y.encodeStateAsUpdate(doc).length
    expect(await storedBytes(directory)).toBeLessThanOrEqual(1.5 * encoded)
    expect(before).toBeGreaterThan(1.5 * encoded)
    const again = await openLevelEngine({ directory })
    const { state } = await loadRoom(again.log, docKey('long'))
    expect(state.doc.getText('content').toString()).toBe(text.toString())
    await again.close()
  },
  60_000,
)

it('[STORE-10] writes less than 4 KB to disk for an edit of 1 KB in a document of 10 MB', async () => {
  let written = 0
  const openStore: OpenStore = async (path) => {
    const store = await openLevelStore(path)
    return {
      ...store,
      write(operations, sync) {
        for (const { key, value } of operations) written += key.length + (value?.length ?? 0)
        return store.write(operations, sync)
      },
    }
  }
  const engine = await openLevelEngine({ directory, openStore })
  const server = await startTestServer({}, { engine })
  const { workspaceId, apiKey } = server.credentials
  const large = [workspaceId, apiKey, 'acme', 'large', 'main']
  const bytes = typed(letters(new Random(1), largeBytes), 1)
  await engine.log.append(large, 'create', [{ bytes, by: 'ada' }])
  await engine.log.compact(large, 1, 0, 1, bytes, keepNone)
  const connect = async () =>
    RawClient.connect(`${server.wsUrl}/sync/acme/large/main?token=${await server.token('ada')}`)
  const [writer, reader] = [await connect(), await connect()]
  await Promise.all([writer.roundTrip(), reader.roundTrip()])
  const before = written
  for (let edit = 1; edit <= edits; edit++) {
    writer.sendUpdate(typed(letters(new Random(edit), 1024), 1 + edit))
    await eventually(() => reader.updates().length === edit)
  }
  // The store also writes the authors from time to time, and the activity of the edits.
  expect((written - before) / edits).toBeGreaterThan(1024)
  expect((written - before) / edits).toBeLessThan(4096)
  await server.stop()
}, 60_000)
