import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { cpuOfTree } from '../../src/cli/bench/cpu.ts'
import { round, thousands } from '../support/report.ts'
import { makeDocuments, startTelling, tell } from './events.ts'
import { startReceiver } from './receiving.ts'

const eventsInCall = 500
const lookEveryMs = 20

export const fanoutHeader = [
  'endpoints',
  'events',
  'deliveries/s',
  'events/s',
  'CPU µs a delivery, events included',
  'bare loops: requests/s',
  'of bare',
]

/**
 * Sends requests to each URL, one after the other. Each request has its own connection, like a delivery of
 * Weft. Resolves when all requests are answered.
 */
async function postBare(urls: readonly string[], events: number, body: Buffer): Promise<void> {
  await Promise.all(
    urls.map(async (url) => {
      for (let event = 0; event < events; event++) {
        const headers = { 'content-type': 'application/json', 'content-length': body.length }
        const outgoing = request(url, { method: 'POST', agent: false, headers })
        outgoing.end(body)
        const [answer] = (await once(outgoing, 'response')) as [IncomingMessage]
        answer.resume()
        await once(answer, 'end')
      }
    }),
  )
}

/**
 * Measures how fast `events` events are delivered to each of `endpoints` endpoints. All events are waiting
 * when the first one is delivered. Then sends the same bodies with bare loops, one loop for each endpoint.
 * All endpoints belong to the same receiver.
 */
export async function fanoutRow(endpoints: number, events: number): Promise<readonly string[]> {
  const [server, receiver] = [await startTelling(), await startReceiver()]
  const urls = Array.from({ length: endpoints }, (_, index) => `${receiver.url}${index}`)
  await tell(server, urls)
  const all = endpoints * events
  const pid = server.process.pid as number
  const cpu = cpuOfTree(pid)
  for (let caused = 0; caused < events; caused += eventsInCall)
    await makeDocuments(server, Math.min(eventsInCall, events - caused))
  while ((await receiver.arrivals()).count < all) {
    if (server.process.exitCode !== null) throw new Error('the server has ended')
    await sleep(lookEveryMs)
  }
  const used = cpuOfTree(pid) - cpu
  const { ms, body } = await receiver.arrivals()
  await server.kill()
  await receiver.clear()
  await postBare(urls, events, Buffer.from(body))
  const bare = await receiver.arrivals()
  await receiver.kill()
  const [rate, bareRate] = [(all - 1) / (ms / 1000), (all - 1) / (bare.ms / 1000)]
  return [
    String(endpoints),
    thousands(events),
    thousands(rate),
    thousands(rate / endpoints),
    thousands(used / all),
    thousands(bareRate),
    round(rate / bareRate),
  ]
}
