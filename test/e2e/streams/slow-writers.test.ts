import { expect, it } from 'vitest'
import type * as Y from 'yjs'
import { systemClock } from '../../../src/core/base/clock.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { temporaryDirectory } from '../../contract/level/store-tools.ts'
import { eventually, syncedEditor } from '../../support/clients/clients.ts'
import { ContentStream } from '../../support/clients/content-stream.ts'
import { type ServerProcess, startProcessWith } from '../../support/servers/process.ts'
import { residentBytes } from '../../support/servers/process-memory.ts'
import { dataOf, startTestServer } from '../../support/servers/server.ts'
import { holdable } from '../../support/stores/pausable-engine.ts'
import { itLong } from '../../support/time/full-run.ts'

const ids = { organizationId: 'acme', documentId: 'report', editorId: 'main' }
const opening = { ...ids, edit: { insert: { at: 'end' } } }
const byteMs = 100
const mebibyte = 2 ** 20

/** Sends bytes one by one, one in each 100 ms, until the connection ends. */
function drip(writer: ContentStream, text: string): void {
  let sent = 0
  const timer = setInterval(() => writer.raw(text[sent++ % text.length] as string), byteMs)
  void writer.closed.then(() => clearInterval(timer))
}

async function withProcess(
  values: Parameters<typeof startProcessWith>[0],
  work: (server: ServerProcess) => Promise<void>,
): Promise<void> {
  const directory = await temporaryDirectory()
  const server = await startProcessWith(values, directory.path)
  await server.post('/v2/crdt/add', { ...ids, type: 'text', data: '' })
  await work(server)
  await server.end('SIGTERM')
  await directory.remove()
}

/** Types characters in one editor, each when another one has the character before it. */
async function type(one: Y.Text, other: Y.Text, count: number): Promise<void> {
  for (let typed = 0; typed < count; typed += 1) {
    const arrived = new Promise<void>((resolve) => other.observe(() => resolve()))
    one.insert(0, 'x')
    await arrived
  }
}

it('[STRM-113] ends 150 streams that send one byte in 100 ms in time, and users type meanwhile', async () => {
  await withProcess({ streamSeconds: 5 }, async (server) => {
    const editor = async () => syncedEditor(server.wsUrl, 'acme/report/main', await server.token())
    const [one, other] = [await editor(), await editor()]
    const before = residentBytes(server.child.pid)
    let ended = 0
    const writers = await Promise.all(Array.from({ length: 150 }, () => ContentStream.open(server, opening)))
    for (const writer of writers) {
      drip(writer.raw('{"text":"'), 'a')
      void writer.closed.then(() => (ended += 1))
    }
    await type(one.text, other.text, 50)
    expect(ended).toBe(0)
    const quick = await ContentStream.open(server, opening)
    expect(await quick.text('done').end()).toMatchObject({ outcome: 'done', received: 4 })
    expect(residentBytes(server.child.pid) - before).toBeLessThan(100 * mebibyte)
    for (const writer of writers)
      expect(await writer.error()).toMatchObject({ details: { limit: 'streamSeconds' } })
    const { data } = await server.post('/v2/crdt/get', ids)
    expect(data).toMatchObject([{ data: `${'x'.repeat(50)}done` }])
    one.close()
    other.close()
  })
}, 60_000)

itLong(
  '[STRM-113] rejects an opening that sends one byte in 100 ms after 20 s',
  async () => {
    await withProcess({}, async (server) => {
      const writer = ContentStream.raw(server, '{"organizationId":"')
      drip(writer, 'a')
      expect(await writer.error()).toMatchObject({ details: { code: 'request/timeout' } })
      expect(writer.status).toBe(408)
      await writer.closed
    })
  },
  60_000,
)

it('[STRM-32] reads no more of a stream while the store does not write, and loses nothing', async () => {
  const engine = holdable(await openMemoryEngine({ clock: systemClock }))
  const server = await startTestServer({}, { engine })
  dataOf(await server.post('/v2/crdt/add', { ...ids, type: 'text', data: '' }))
  const writer = await ContentStream.open(server, opening)
  engine.hold()
  const units = 3 * mebibyte
  // Each unit takes six bytes of the body, more than the operating system keeps for a connection.
  const line = `{"text":"${'\\u0061'.repeat(16_384)}"}\n`
  for (let sent = 0; sent < units; sent += 16_384) writer.raw(line)
  await eventually(() => engine.waiting() === 1)
  await new Promise((resolve) => setTimeout(resolve, 500))
  expect(writer.unsentBytes).toBeGreaterThan(mebibyte)
  expect(engine.waiting()).toBe(1)
  engine.release()
  expect(await writer.end()).toMatchObject({ outcome: 'done', received: units })
  expect(dataOf(await server.post('/v2/crdt/get', ids))).toMatchObject([{ data: 'a'.repeat(units) }])
  await server.stop()
})
