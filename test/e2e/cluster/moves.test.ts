import { afterEach, expect, it } from 'vitest'
import { RawClient } from '../../support/clients/clients.ts'
import { startCluster, type TestCluster } from '../../support/servers/in-process-cluster.ts'
import type { TestServer } from '../../support/servers/server.ts'
import type { SharedNode } from '../../support/servers/simulated-network.ts'

const ends: (() => unknown)[] = []
let cluster: TestCluster

afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

async function start(count: number): Promise<void> {
  cluster = await startCluster(count)
  ends.push(() => cluster.stop())
}

const nodeAt = (index: number): SharedNode => cluster.nodes[index] as SharedNode
const documents = Array.from({ length: 12 }, (_, index) => `moving-${index}`)

/** Returns the index of the node that owns a document, as the first node knows it. */
function ownerOf(documentId: string): number {
  const { workspaceId, apiKey } = (cluster.servers[0] as TestServer).credentials
  const { id } = nodeAt(0).engine.cluster.owner([workspaceId, apiKey, 'acme', documentId])
  return cluster.nodes.findIndex(({ engine }) => engine.cluster.self === id)
}

interface Opened {
  readonly documentId: string
  readonly owner: number
  readonly client: RawClient
}

/** Connects a client to each document at its owner. The client has typed. */
async function openAll(): Promise<readonly Opened[]> {
  return Promise.all(
    documents.map(async (documentId) => {
      const owner = ownerOf(documentId)
      const { wsUrl, token } = cluster.servers[owner] as TestServer
      const path = `acme/${documentId}/main`
      const client = await RawClient.connect(`${wsUrl}/sync/${path}?token=${await token('ann')}`)
      ends.push(() => client.end())
      await client.roundTrip()
      return { documentId, owner, client }
    }),
  )
}

it('[CL-36] [CF-14] when a node joins, closes the clients of the documents that it owns with 1012, and no others', async () => {
  await start(3)
  nodeAt(2).cut()
  const opened = await openAll()
  nodeAt(2).mend()
  const moved = opened.filter(({ documentId, owner }) => ownerOf(documentId) !== owner)
  const stayed = opened.filter((each) => !moved.includes(each))
  expect([moved.length > 0, stayed.length > 0]).toEqual([true, true])
  for (const { documentId, client } of moved) {
    expect(ownerOf(documentId)).toBe(2)
    expect(await client.closed).toEqual({ code: 1012, reason: 'the document moved to another node' })
  }
  for (const { client } of stayed) await client.roundTrip()
})
