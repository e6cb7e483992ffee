import { afterEach, expect, it } from 'vitest'
import * as s from '../../../src/core/base/schema.ts'
import { OwnerWork } from '../../../src/core/jobs/owner-work.ts'
import { documentPrefix } from '../../../src/core/model/address.ts'
import { addressSchemas } from '../../../src/core/model/address-schemas.ts'
import { NodeRequests } from '../../../src/core/store/node-requests.ts'
import { type NodesOptions, type SharedNode, sharedNodes } from '../../support/servers/simulated-network.ts'
import { HeldClock } from '../../support/time/clock.ts'

const schema = s.object({ address: addressSchemas.scope, text: s.string })
type Note = (given: s.TypeOf<typeof schema>) => Promise<void>

let nodes: readonly SharedNode[] = []
afterEach(async () => {
  for (const { engine } of nodes) await engine.close()
})

/** Starts two nodes. Returns their functions for the same work, which writes down the node that does it. */
async function start(options: NodesOptions = {}) {
  const clock = new HeldClock()
  nodes = await sharedNodes(2, { clock, ...options })
  const done: string[] = []
  const [here, there] = nodes.map(({ engine: { bus, cluster } }) => {
    const ownerWork = new OwnerWork(new NodeRequests(bus, cluster, clock), cluster)
    return ownerWork.define('note', schema, async ({ text }) => {
      if (text === 'bad') throw new Error('the text is bad')
      done.push(`${cluster.self}: ${text}`)
    })
  }) as [Note, Note]
  return { clock, done, here, there }
}

/** Returns a document that the node owns. */
function documentOf(node: string) {
  const { cluster } = (nodes[0] as SharedNode).engine
  for (let number = 0; ; number += 1) {
    const address = { workspaceId: 'w', apiKey: 'k', organizationId: 'o', documentId: `d${number}` }
    if (cluster.owner(documentPrefix(address, address.documentId)).id === node) return address
  }
}

it('[CO-1] runs work at the owner of its document, whichever node asks', async () => {
  const { done, here, there } = await start()
  await here({ address: documentOf('node-1'), text: 'one' })
  await here({ address: documentOf('node-2'), text: 'two' })
  await there({ address: documentOf('node-1'), text: 'three' })
  expect(done).toEqual(['node-1: one', 'node-2: two', 'node-1: three'])
})

it('[CO-1] rejects if the work fails at the owner', async () => {
  const { here, there } = await start()
  const work = { address: documentOf('node-1'), text: 'bad' }
  await expect(here(work)).rejects.toThrow('the text is bad')
  await expect(there(work)).rejects.toThrow('the text is bad')
})

it('[CO-1] rejects if the owner does not answer in time, or leaves', async () => {
  const { clock, done, here } = await start({
    weather: (topic) => (topic === 'nodes.call.owner.note' ? [] : [0]),
  })
  const work = { address: documentOf('node-2'), text: 'lost' }
  const lost = here(work)
  clock.advance(30_000)
  await expect(lost).rejects.toMatchObject({ code: 'server/background-failed' })
  nodes[1]?.cut()
  await here(work)
  expect(done).toEqual(['node-1: lost'])
})

it('[CO-1] does not wait for an owner that has left the list of nodes', async () => {
  const { done, here } = await start({
    weather: (topic) => (topic === 'nodes.call.owner.note' ? [] : [0]),
  })
  // The clock is held, so that the work would wait forever.
  const lost = here({ address: documentOf('node-2'), text: 'lost' })
  nodes[1]?.cut()
  await expect(lost).rejects.toMatchObject({ code: 'server/background-failed' })
  expect(done).toEqual([])
})
