import { expect, it } from 'vitest'
import { temporaryDirectory } from '../../contract/level/store-tools.ts'
import { syncedEditor } from '../../support/clients/clients.ts'
import { ContentStream } from '../../support/clients/content-stream.ts'
import { Random } from '../../support/data/random-doc.ts'
import { seed } from '../../support/data/seed.ts'
import { startProcess } from '../../support/servers/process.ts'
import { times } from '../../support/time/full-run.ts'

const ids = { organizationId: 'acme', documentId: 'd', editorId: 'main' }
const opening = { ...ids, streamId: 's', edit: { replace: { find: 'old' } } }
const crashes = times(2, 6)

it(`[STRM-20] continues after SIGKILL with each acknowledged unit, and none twice (seed ${seed})`, async () => {
  const random = new Random(seed)
  const temporary = await temporaryDirectory()
  const { path: directory } = temporary
  let server = await startProcess(directory)
  await server.post('/v2/crdt/add', { ...ids, type: 'text', data: 'an old text' })
  let content = ''
  let acknowledged = 0
  for (let crash = 0; ; crash += 1) {
    const writer = await ContentStream.open(server, opening)
    const { received } = writer.opened
    expect(received).toBeGreaterThanOrEqual(acknowledged)
    expect(received).toBeLessThanOrEqual(content.length)
    writer.text(content.slice(received))
    if (crash === crashes) {
      expect(await writer.end()).toMatchObject({ received: content.length })
      break
    }
    const end = content.length + 200 + random.below(400)
    while (content.length < end) {
      const piece = `${random.below(1_000_000)} `
      content += piece
      writer.text(piece)
      if (random.once(4)) await new Promise((resolve) => setTimeout(resolve, random.below(20)))
    }
    await server.end('SIGKILL')
    await writer.closed
    acknowledged = Math.max(0, ...writer.lines.map(({ received: durable = 0 }) => durable))
    server = await startProcess(directory)
  }
  const { data } = await server.post('/v2/crdt/get', ids)
  expect(data).toMatchObject([{ data: `an ${content} text` }])
  await server.end('SIGTERM')
  await temporary.remove()
}, 120_000)

it('[STRM-96] carries out the first ending that was requested, and counts its deletions, after SIGKILL', async () => {
  const temporary = await temporaryDirectory()
  const { path: directory } = temporary
  for (let crash = 0; crash < 2 * crashes; crash += 1) {
    const isWithdrawn = crash % 2 === 0
    const server = await startProcess(directory)
    const editor = { ...ids, editorId: `e${crash}` }
    await server.post('/v2/crdt/add', { ...editor, type: 'text', data: 'an old text' })
    const replacing = { ...opening, ...editor, streamId: `s${crash}` }
    const first = await ContentStream.open(server, replacing)
    first.text('new')
    await first.received(3)
    const watching = await syncedEditor(server.wsUrl, `acme/d/e${crash}`, await server.token())
    // The content has changed, and the result is usually not recorded yet.
    watching.text.observe(() => server.child.kill('SIGKILL'))
    first.line(isWithdrawn ? { withdraw: true } : { end: true })
    await first.closed
    await server.end('SIGKILL')
    watching.close()
    const restarted = await startProcess(directory)
    const second = await ContentStream.open(restarted, replacing)
    const done = await (isWithdrawn ? second.end() : second.withdraw())
    expect(done).toMatchObject({ outcome: isWithdrawn ? 'withdrawn' : 'done', received: 3, deletions: 3 })
    const { data } = await restarted.post('/v2/crdt/get', editor)
    expect(data).toMatchObject([{ data: isWithdrawn ? 'an old text' : 'an new text' }])
    await restarted.end('SIGTERM')
  }
  await temporary.remove()
}, 120_000)
