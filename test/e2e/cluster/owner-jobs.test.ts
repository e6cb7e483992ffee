import { afterEach, it } from 'vitest'
import { versionQueue } from '../../../src/capabilities/history/version-jobs.ts'
import { documentPrefix } from '../../../src/core/model/address.ts'
import type { Queue } from '../../../src/core/store/engine.ts'
import { eventually } from '../../support/clients/clients.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { type SharedNode, sharedNodes } from '../../support/servers/simulated-network.ts'
import { HeldClock } from '../../support/time/clock.ts'

const minuteMs = 60_000

const ends: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

/** Returns the queues without the jobs of versions. */
const withoutVersions = (queue: Queue): Queue => ({
  claim: async (name, ...call) => (name === versionQueue ? [] : queue.claim(name, ...call)),
  extend: (...call) => queue.extend(...call),
  done: (...call) => queue.done(...call),
  retry: (...call) => queue.retry(...call),
  moveToDeadLetters: (...call) => queue.moveToDeadLetters(...call),
})

it('[CO-3] makes automatic versions at the owner, also if another node claims their jobs', async () => {
  const clock = new HeldClock()
  const [first, second] = (await sharedNodes(2, { clock })) as [SharedNode, SharedNode]
  const start = async (engine: SharedNode['engine']): Promise<TestServer> => {
    const server = await startTestServer({ autoVersionMinutes: 1 }, { engine, clock })
    ends.push(server.stop)
    return server
  }
  const owner = await start({ ...first.engine, queue: withoutVersions(first.engine.queue) })
  const other = await start(second.engine)
  const { workspaceId, apiKey } = owner.credentials
  const organizationId = 'acme'
  const isOwn = (documentId: string): boolean =>
    first.engine.cluster.owner(documentPrefix({ workspaceId, apiKey, organizationId }, documentId)).id ===
    first.engine.cluster.self
  const documentId = Array.from({ length: 100 }, (_, index) => `d${index}`).find(isOwn)
  const editor = { organizationId, documentId, editorId: 'main' }
  const versions = async () =>
    dataOf(await other.post('/v2/crdt/versions/list', editor)) as { authors: { userId: string }[] }[]
  for (const [index, data] of ['one', 'two', 'three'].entries()) {
    // The edit is later than the version before.
    clock.advance(1)
    const path = index === 0 ? '/v2/crdt/add' : '/v2/crdt/update'
    dataOf(await owner.post(path, { ...editor, type: 'text', data, userId: 'ann' }))
    clock.advance(minuteMs)
    await eventually(async () => {
      clock.advance(1_000)
      return (await versions()).length === index + 1
    })
  }
  // An author whose job another node has claimed can be recorded after the version.
  await eventually(async () => {
    clock.advance(1_000)
    return (await versions()).every(({ authors }) => authors[0]?.userId === 'ann' && authors.length === 1)
  })
})
