import { afterEach, expect, it } from 'vitest'
import * as Y from 'yjs'
import { eventually, RawClient, typed } from '../../support/clients/clients.ts'
import { hostileUpdates } from '../../support/faults/hostile-shapes.ts'
import { startCluster, type TestCluster } from '../../support/servers/in-process-cluster.ts'
import { metric, type TestServer } from '../../support/servers/server.ts'

const clients: RawClient[] = []
let cluster: TestCluster

afterEach(async () => {
  for (const client of clients.splice(0)) client.end()
  await cluster.stop()
})

async function connect({ wsUrl, token }: TestServer, userId: string): Promise<RawClient> {
  const client = await RawClient.connect(`${wsUrl}/sync/acme/plan/main?token=${await token(userId)}`)
  clients.push(client)
  return client
}

/** Content of the root that the hostile shapes write to, and of the root that clients type into. */
function textsOf(updates: readonly Uint8Array[]): readonly string[] {
  const doc = new Y.Doc()
  for (const update of updates) Y.applyUpdate(doc, update)
  return [doc.getText('t').toString(), doc.getText('content').toString()]
}

it.each(['offline', 'online'] as const)(
  '[CR-24] integrates an expensive update of another node on a thread, and disconnects no client (bus %s)',
  async (bus) => {
    // Twice as many steps as an event loop spends on an update of another node.
    const updates = hostileUpdates.concurrentPrepends(3_500)
    cluster = await startCluster(
      2,
      {},
      { weather: (topic) => (bus === 'offline' && topic.startsWith('document/') ? [] : [0]) },
    )
    const [accepting, following] = cluster.servers as [TestServer, TestServer]
    const [writer, witness] = [await connect(accepting, 'ada'), await connect(following, 'bob')]
    for (const update of updates) writer.sendUpdate(update)
    witness.sendUpdate(typed('at the same time', 77))
    const expected = textsOf([...updates, typed('at the same time', 77)])
    let messages = 0
    await eventually(
      () => {
        // Applying these updates takes time that the servers in this process need.
        const count = witness.received.length + writer.received.length
        if (count === messages) return false
        messages = count
        const received = [...witness.updates(), ...witness.offers(), typed('at the same time', 77)]
        return textsOf(received)[0] === expected[0] && textsOf(writer.updates())[1] === expected[1]
      },
      () => 'all updates at both nodes',
    )
    witness.sendUpdate(typed('afterwards', 78))
    await eventually(() => (textsOf(writer.updates())[1] ?? '').includes('afterwards'))
    const joining = await connect(following, 'eve')
    joining.sendVector(Uint8Array.of(0))
    await eventually(() => joining.offers().length > 0)
    expect(textsOf(joining.offers())[0]).toBe(expected[0])
    for (const { socket } of [writer, witness]) expect(socket.readyState).toBe(socket.OPEN)
    expect(await metric(following, 'weft_thread_jobs_total{purpose="merge",outcome="done"}')).toBeGreaterThan(
      0,
    )
  },
  60_000,
)
