import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { subscriptionsTopic } from '../../../src/capabilities/webhooks/subscription-cache.ts'
import { FeedConsumer, type ReceivedEvent } from '../../support/clients/feed-consumer.ts'
import { runCli } from '../../support/servers/cli.ts'
import { startCluster } from '../../support/servers/in-process-cluster.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'

const write = async (server: TestServer, documentId: string): Promise<void> => {
  const ids = { organizationId: 'acme', documentId, editorId: 'main' }
  dataOf(await server.post('/v2/crdt/update', { ...ids, type: 'text', data: documentId, upsert: true }))
}

it('[FEED-65] when the response has turned a feed on, all nodes record its events, also if the notice to them is lost', async () => {
  const weather = (topic: string) => (topic === subscriptionsTopic.name ? [] : [0])
  const cluster = await startCluster(2, {}, { weather })
  try {
    const [first, second] = cluster.servers as [TestServer, TestServer]
    // The second node has read that the feed is off, and reads it again from time to time.
    const running = { is: true }
    const writing = (async () => {
      for (let number = 0; running.is; number++) {
        await write(second, `before${number}`)
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
    })()
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    dataOf(await first.post('/v2/workspace/feed/update', { enabled: true }))
    await write(second, 'after')
    running.is = false
    await writing
    const consumer = new FeedConsumer(first, { documentIds: ['after'] })
    await consumer.until(({ type }) => type === 'crdt.update_data')
    expect(consumer.events.map(({ type }) => type)).toEqual(['document.create', 'crdt.update_data'])
  } finally {
    await cluster.stop()
  }
}, 60_000)

it('[FEED-66] weft feed prints the selected events as lines of text or JSON, and continues with a cursor', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'weft-feed-'))
  const server = await startTestServer()
  try {
    dataOf(await server.post('/v2/workspace/feed/update', { enabled: true }))
    for (const id of ['a', 'b', 'c']) await write(server, id)
    const consumer = new FeedConsumer(server, { documentIds: ['c'] })
    await consumer.until(({ type }) => type === 'crdt.update_data')
    const { apiKey, authToken } = server.credentials
    const variables = { WEFT_URL: server.url, WEFT_API_KEY: apiKey, WEFT_AUTH_TOKEN: authToken }
    const weft = (...args: string[]) =>
      runCli(['feed', '--json', '--no-follow', ...args], directory, variables)
    const query = ['--types', 'crdt.update_data', '--organization', 'acme', '--content', 'text']
    const first = await weft(...query)
    expect(first.code, first.err).toBe(0)
    const events = first.out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as ReceivedEvent)
    expect(events.map(({ documentId, content }) => [documentId, content?.data])).toEqual(
      ['a', 'b', 'c'].map((id) => [id, id]),
    )
    const next = await weft(...query, '--cursor', events[1]?.cursor ?? '')
    expect(next.out).toBe(`${first.out.trim().split('\n').at(-1)}\n`)
    const { out } = await runCli(['feed', '--no-follow', ...query], directory, variables)
    expect(out.split('\n')[2]).toBe(
      `${events[2]?.at}  crdt.update_data  acme/c  ${events[2]?.actionUser.userId}  ${events[2]?.cursor}`,
    )
    const rejected = await weft('--types', 'nothing')
    expect([rejected.code, rejected.err]).toEqual([2, expect.stringContaining('types')])
  } finally {
    await server.stop()
    await rm(directory, { recursive: true, force: true, maxRetries: 20 })
  }
}, 60_000)
