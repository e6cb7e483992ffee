import { afterEach, expect, it } from 'vitest'
import { systemClock } from '../../../src/core/base/clock.ts'
import { StoreUnavailableError } from '../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { RawClient, typed } from '../../support/clients/clients.ts'
import { type ReadUsage, totalOf, workspaceHeaders } from '../../support/data/usage.ts'
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
