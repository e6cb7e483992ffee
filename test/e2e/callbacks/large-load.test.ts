import { expect, it, onTestFinished, vi } from 'vitest'
import * as Y from 'yjs'
import { errorOf } from '../../support/servers/acme-server.ts'
import { callbackTests, organizationId } from '../../support/servers/callback-servers.ts'
import { metric } from '../../support/servers/server.ts'

const { backend, start } = callbackTests()

/** Number of words of five characters in a response that is close to the limit of 16 MB. */
const words = 3_000_000

const threadJobs = 'weft_thread_jobs_total{purpose="change",outcome="done"}'

function largeUpdate(): string {
  const doc = new Y.Doc()
  doc.getText('content').insert(0, 'word '.repeat(words / 1.4))
  return Buffer.from(Y.encodeStateAsUpdate(doc)).toString('base64')
}

/** Responses, with the number of jobs on threads. */
const responses: Record<string, readonly [jobs: number, response: () => object]> = {
  'a text': [2, () => ({ type: 'text', data: 'word '.repeat(words) })],
  'many values': [
    2,
    () => ({
      type: 'array',
      data: Array.from({ length: 60_000 }, (_, n) => ({ n, text: 'word '.repeat(words / 70_000) })),
    }),
  ],
  'an update': [1, () => ({ update: largeUpdate() })],
}

it.each(Object.entries(responses))(
  '[CALL-72] parses and stores a response with %s of 15 MB on threads, and answers other calls meanwhile',
  async (_, [jobs, content]) => {
    const { configure, connect, server } = await start({ defaultAccess: 'public' })
    const body = Buffer.from(JSON.stringify(content()))
    const receiver = await backend((response) => void response.writeHead(200).end(body))
    await configure({ load: { url: receiver.url, timeoutMs: 30_000 } })
    const parse = vi.spyOn(JSON, 'parse')
    onTestFinished(() => parse.mockRestore())
    const before = (await metric(server, threadJobs)) || 0
    // The client gets the state vector, but does not ask for the content.
    const client = await connect('large')
    let answered = 0
    while (client.received.length === 0)
      if ((await metric(server, 'weft_thread_uses{purpose="change",state="running"}')) === 1) answered += 1
    client.end()
    expect(answered).toBeGreaterThan(0)
    expect((await metric(server, threadJobs)) - before).toBe(jobs)
    expect(Math.max(...parse.mock.calls.map(([text]) => text.length))).toBeLessThan(100_000)
    const loaded = { organizationId, documentId: 'large', editorId: 'main', type: 'text', data: '' }
    expect(errorOf(await server.post('/v2/crdt/add', loaded))).toEqual(['ALREADY_EXISTS'])
  },
)
