import { afterEach, expect, it } from 'vitest'
import { type Clock, systemClock } from '../../../src/core/base/clock.ts'
import { pingEveryMs } from '../../../src/core/sync/socket/heartbeat.ts'
import { eventually, RawClient } from '../../support/clients/clients.ts'
import { frame, tokenFrame } from '../../support/clients/hocuspocus-frames.ts'
import { hocuspocusProvider, hocuspocusSocket } from '../../support/clients/protocol-clients.ts'
import {
  connectionsOf,
  documentOf,
  forwardedBy,
  pathOf,
  textAt,
} from '../../support/servers/document-owners.ts'
import { startCluster, type TestCluster } from '../../support/servers/in-process-cluster.ts'
import type { TestServer } from '../../support/servers/server.ts'

let cluster: TestCluster
const opened: { close(): void }[] = []

afterEach(async () => {
  for (const client of opened.splice(0)) client.close()
  await cluster.stop()
})

type Ids = ReturnType<typeof documentOf>

const server = (index: number): TestServer => cluster.servers[index] as TestServer

it('[FW-9] serves documents of several owners on one Hocuspocus connection', async () => {
  cluster = await startCluster(3)
  const [first, other, last] = [0, 1, 2].map((node) => documentOf(cluster, node)) as [Ids, Ids, Ids]
  const all = [first, other, last]
  const token = await server(0).token('ada')
  const socket = hocuspocusSocket(server(0))
  const providers = all.map((ids) => hocuspocusProvider(server(0), pathOf(ids), token, { socket }))
  opened.push({
    close: () => {
      for (const provider of providers) provider.destroy()
      socket.destroy()
    },
  })
  await eventually(() => providers.every(({ isSynced }) => isSynced))
  for (const [index, { document }] of providers.entries())
    document.getText('content').insert(0, `text ${index}`)
  await eventually(() => providers.every(({ hasUnsyncedChanges }) => !hasUnsyncedChanges))
  for (const [index, ids] of all.entries()) {
    expect(await textAt(server(index), ids)).toBe(`text ${index}`)
    expect(await connectionsOf(server(0), ids)).toMatchObject([
      { node: `node-${index + 1}`, clientAddress: '127.0.0.1' },
    ])
  }
  expect(await forwardedBy(server(0), 'tunnel')).toBe(2)
  providers[1]?.destroy()
  await eventually(async () => (await connectionsOf(server(0), other)).length === 0)
  providers[2]?.document.getText('content').insert(0, 'still ')
  await eventually(async () => (await textAt(server(2), last)) === 'still text 2')
})

it('[FW-9] ends only a rejected document of another owner', async () => {
  cluster = await startCluster(2)
  const [ids, other] = [documentOf(cluster, 1), documentOf(cluster, 1)]
  await server(1).post('/v2/crdt/add', { ...ids, type: 'text', data: 'here' })
  await server(1).post('/v2/crdt/add', { ...other, type: 'text', data: 'there' })
  const token = await server(0).token('ada', {
    resources: [{ organizationId: 'acme', type: 'document', id: ids.documentId, accessRole: 'viewer' }],
  })
  const client = await RawClient.connect(`${server(0).wsUrl}/hocuspocus`)
  opened.push({ close: () => client.end() })
  client.send(tokenFrame(pathOf(other), token))
  client.send(tokenFrame(pathOf(ids), token))
  const has = (bytes: Uint8Array): boolean =>
    client.received.some((each) => Buffer.from(each).subarray(0, bytes.length).equals(bytes))
  await eventually(() => has(frame(pathOf(other), 2, 1)) && has(frame(pathOf(ids), 2, 2)))
  expect((await connectionsOf(server(0), ids)).length).toBe(1)
  expect((await connectionsOf(server(0), other)).length).toBe(0)
})

it('[FW-9] finds a dead client with documents of another owner only, and keeps a living one', async () => {
  let aheadMs = 0
  const clock: Clock = { now: () => Date.now() + aheadMs, after: (ms, fn) => systemClock.after(ms, fn) }
  cluster = await startCluster(2, {}, { clock })
  const ids = documentOf(cluster, 1)
  await server(1).post('/v2/crdt/add', { ...ids, type: 'text', data: '' })
  const open = async (autoPong: boolean) => {
    const client = await RawClient.connect(`${server(0).wsUrl}/hocuspocus`, {}, { autoPong })
    opened.push({ close: () => client.end() })
    let pings = 0
    client.socket.on('ping', () => {
      pings += 1
    })
    client.send(tokenFrame(pathOf(ids), await server(0).token('ada')))
    return { client, pings: () => pings }
  }
  const [living, dead] = [await open(true), await open(false)]
  await eventually(async () => (await connectionsOf(server(0), ids)).length === 2)
  const nextPing = async (): Promise<void> => {
    const before = living.pings()
    aheadMs += pingEveryMs
    await eventually(() => living.pings() > before)
  }
  await nextPing()
  await nextPing()
  await dead.client.closed
  await nextPing()
  expect((await connectionsOf(server(0), ids)).length).toBe(1)
})
