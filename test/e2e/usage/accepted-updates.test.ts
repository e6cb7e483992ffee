import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, expect, it } from 'vitest'
import { systemClock } from '../../../src/core/base/clock.ts'
import { StoreUnavailableError } from '../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { RawClient, typed } from '../../support/clients/clients.ts'
import { type ReadUsage, totalOf, workspaceHeaders } from '../../support/data/usage.ts'
import { startCluster } from '../../support/servers/in-process-cluster.ts'
import { dataOf, metric, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { withLog } from '../../support/stores/pausable-engine.ts'

let stop = async (): Promise<void> => {}
afterEach(() => stop())

async function countedUpdates({ post, credentials }: TestServer): Promise<number> {
  const answer = await post('/v2/workspace/usage/get', {}, workspaceHeaders(credentials))
  return totalOf(dataOf(answer) as readonly ReadUsage[]).updates
}

it('[USE-30] counts an update once that the store refuses several times', async () => {
  let isDown = false
  const engine = withLog(await openMemoryEngine({ clock: systemClock }), (log) => ({
    append: async (...parameters) => {
      if (isDown) throw new StoreUnavailableError('the store is away')
      return log.append(...parameters)
    },
  }))
  const server = await startTestServer({}, { engine })
  stop = server.stop
  const path = `${server.wsUrl}/sync/acme/notes/main?token=${await server.token('ada')}`
  const update = typed('hello', 7)
  for (let attempt = 0; attempt < 3; attempt++) {
    const client = await RawClient.connect(path)
    await client.roundTrip()
    isDown = true
    client.sendUpdate(update)
    await client.closed
    isDown = false
  }
  const client = await RawClient.connect(path)
  client.sendUpdate(update)
  await client.roundTrip()
  expect(await countedUpdates(server)).toBe(1)
  expect(await metric(server, 'weft_updates_total{source="socket"}')).toBe(1)
  client.end()
})

it('[USE-30] counts a replacement once that is repeated because other nodes write meanwhile', async () => {
  const cluster = await startCluster(2, {}, { distanceMs: 15 })
  stop = cluster.stop
  const [a, b] = cluster.servers as unknown as readonly [TestServer, TestServer]
  const token = await a.token('ada')
  const clients = await Promise.all(
    [a, b].map(({ wsUrl }) => RawClient.connect(`${wsUrl}/sync/acme/notes/main?token=${token}`)),
  )
  for (const client of clients) await client.roundTrip()
  let expected = 0
  const typist = { isTyping: true }
  const typing = (async () => {
    while (typist.isTyping) {
      for (const client of clients) client.sendUpdate(typed('a', 1_000 + expected++))
      await delay(20)
    }
  })()
  let refused = 0
  let accepted = 0
  const editor = {
    organizationId: 'acme',
    documentId: 'notes',
    editorId: 'main',
    upsert: true,
    newRoot: true,
  }
  for (let round = 0; round < 8; round++)
    for (const { status } of await Promise.all(
      [a, b].map(({ post }, node) =>
        post('/v2/crdt/update', {
          ...editor,
          contentKey: 'z',
          type: 'text',
          data: `${round} ${node} ${'x'.repeat(3_000)}`,
        }),
      ),
    ))
      if (status === 200) accepted += 1
      else refused += 1
  typist.isTyping = false
  await typing
  for (const client of clients) await client.roundTrip()
  expect(accepted, `${refused} refused`).toBeGreaterThan(0)
  // The node that answers first stores its counts.
  await countedUpdates(a)
  await countedUpdates(b)
  expect(await countedUpdates(a)).toBe(expected + accepted)
  for (const client of clients) client.end()
})
