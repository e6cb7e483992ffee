import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import * as Y from 'yjs'
import { eventually } from '../../support/clients/clients.ts'
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

/** Responses, with the operation for the same content, and the number of jobs on threads for a load. */
const responses: Record<string, readonly [path: string, jobs: number, response: () => object]> = {
  'a text': ['/v2/crdt/add', 2, () => ({ type: 'text', data: 'word '.repeat(words) })],
  'many values': [
    '/v2/crdt/add',
    2,
    () => ({
      type: 'array',
      data: Array.from({ length: 60_000 }, (_, n) => ({ n, text: 'word '.repeat(words / 70_000) })),
    }),
  ],
  'an update': ['/v2/crdt/apply', 1, () => ({ update: largeUpdate() })],
}

/** Returns the longest time in ms for which the event loop was blocked during `work`. */
async function blockedMs(work: () => Promise<unknown>): Promise<number> {
  await sleep(100)
  const delay = monitorEventLoopDelay({ resolution: 2 })
  delay.enable()
  await work()
  delay.disable()
  return delay.max / 1e6
}

it.each(Object.entries(responses))(
  '[CALL-72] parses a response with %s of 15 MB on a thread, and blocks the event loop not much longer than REST',
  async (_, [path, jobs, content]) => {
    const { configure, connect, server } = await start({ defaultAccess: 'public' })
    const body = Buffer.from(JSON.stringify(content()))
    const receiver = await backend((response) => void response.writeHead(200).end(body))
    await configure({ load: { url: receiver.url, timeoutMs: 30_000 } })
    const byRest: number[] = []
    const byLoad: number[] = []
    for (let round = 0; round < 3; round += 1) {
      const editor = { organizationId, documentId: `rest-${round}`, editorId: 'main' }
      const members = JSON.stringify({ ...editor, ...(path.endsWith('apply') && { create: true }) })
      const call = Buffer.concat([
        Buffer.from(`{"data":${members.slice(0, -1)},`),
        body.subarray(1),
        Buffer.from('}'),
      ])
      const { apiKey, authToken } = server.credentials
      const headers = {
        'content-type': 'application/json',
        'x-service-api-key': apiKey,
        'x-service-auth-token': authToken,
      }
      byRest.push(
        await blockedMs(async () => {
          const response = await fetch(`${server.url}${path}`, { method: 'POST', headers, body: call })
          expect(await response.text()).toMatch(/^\{"result"/)
        }),
      )
      // The client gets the state vector, but does not ask for the content.
      const loaded = { ...editor, documentId: `load-${round}` }
      const before = (await metric(server, threadJobs)) || 0
      byLoad.push(
        await blockedMs(async () => {
          const client = await connect(loaded.documentId)
          await eventually(() => client.received.length > 0)
          client.end()
        }),
      )
      expect((await metric(server, threadJobs)) - before).toBe(jobs)
      expect(errorOf(await server.post('/v2/crdt/add', { ...loaded, type: 'text', data: '' }))).toEqual([
        'ALREADY_EXISTS',
      ])
    }
    const [rest, load] = [Math.min(...byRest), Math.min(...byLoad)]
    console.info(`blocked for ${rest.toFixed(0)} ms by REST, ${load.toFixed(0)} ms by load`)
    expect(load).toBeLessThan(2 * rest + 200)
  },
)
