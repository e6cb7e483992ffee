import { setImmediate as nextTick } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { pino } from 'pino'
import { afterEach, expect, it, onTestFinished, vi } from 'vitest'
import * as Y from 'yjs'
import { createMetrics } from '../../../src/core/metrics/metrics.ts'
import type { DocumentAddress } from '../../../src/core/model/address.ts'
import type { ThreadPool } from '../../../src/core/rooms/threads/thread-pool.ts'
import type { ThreadTask } from '../../../src/core/rooms/threads/thread-task.ts'
import { threadsOf } from '../../support/data/rooms.ts'
import { hostileUpdates } from '../../support/faults/hostile-shapes.ts'
import { HeldClock } from '../../support/time/clock.ts'

const documentOf = (workspaceId: string): DocumentAddress => ({
  workspaceId,
  apiKey: 'k',
  organizationId: 'acme',
  documentId: `document of ${workspaceId}`,
  editorId: 'main',
})
const [ada, bob, eve] = [documentOf('ada'), documentOf('bob'), documentOf('eve')]

const jobWith = (updates: readonly Uint8Array[]): ThreadTask => ({
  is: 'replace',
  change: { type: 'text', contentKey: 'content', data: 'new' },
  updates,
  writers: [{ client: 7, clock: 0 }],
  documentBytesMax: 1e6,
  state: 'never',
})
const quickJob = jobWith([new Uint8Array(2)])
/** This job takes minutes. */
const poisonedJob = jobWith(hostileUpdates.rightOriginsBackwards(100_000))

let threads: ThreadPool

const run = (document: DocumentAddress, job: ThreadTask): Promise<unknown> =>
  threads.use(document, (thread) => thread.run(job))

/** Returns the outcomes of the uses so far, in order. */
function watched(uses: readonly Promise<unknown>[]): string[] {
  const ends = uses.map(() => 'under way')
  for (const [index, use] of uses.entries()) {
    use.then(
      () => (ends[index] = 'done'),
      () => (ends[index] = 'refused'),
    )
  }
  return ends
}

afterEach(() => threads.close())

it('[ROOM-43] runs the jobs of a workspace even while another workspace occupies its threads with endless jobs', async () => {
  threads = threadsOf({})
  const poisoned = watched([1, 2, 3, 4].map(() => run(eve, poisonedJob)))
  for (const honest of [ada, bob]) await run(honest, quickJob)
  expect(poisoned).toEqual(['under way', 'under way', 'under way', 'under way'])
})

it('[ROOM-43] gives waiting workspaces a thread in turn, regardless of how many jobs each has', async () => {
  threads = threadsOf({})
  const order: string[] = []
  let letGo = (): void => undefined
  const held = new Promise<void>((resolve) => {
    letGo = resolve
  })
  const holding = [eve, bob].map((document) => threads.use(document, () => held))
  const [first, second] = [documentOf('first'), documentOf('second')]
  const uses = [first, first, first, second].map(async (document) => {
    await threads.use(document, async () => void order.push(document.workspaceId))
  })
  expect(order).toEqual([])
  letGo()
  await Promise.all([...holding, ...uses])
  expect(order).toEqual(['first', 'second', 'first', 'first'])
})

it('[ROOM-44] [LIM-11] when a workspace has too many jobs in the queue, rejects jobs of this workspace only', async () => {
  threads = threadsOf({ waitingPerWorkspaceMax: 2, waitingMax: 3 })
  const poisoned = watched([1, 2, 3].map(() => run(eve, poisonedJob)))
  await expect(run(eve, quickJob)).rejects.toMatchObject({
    status: 'RESOURCE_EXHAUSTED',
    details: { limit: 'threadQueuePerWorkspace', value: 2, scope: 'workspace' },
  })
  await run(ada, quickJob)
  expect(poisoned).toEqual(['under way', 'under way', 'under way'])
})

it('[ROOM-45] ends a job that passes its deadline, rejects its call, counts it, and logs it with workspace and document', async () => {
  const lines: unknown[] = []
  const logger = pino({ base: null }, { write: (line) => void lines.push(JSON.parse(line)) })
  const metrics = createMetrics()
  threads = threadsOf({ jobMs: 500 }, { logger, metrics })
  await expect(run(eve, poisonedJob)).rejects.toMatchObject({
    status: 'RESOURCE_EXHAUSTED',
    message: expect.stringContaining('"document of eve"'),
    details: { limit: 'threadJobSeconds', value: 0.5, scope: 'call' },
  })
  expect(lines).toMatchObject([
    { event: 'thread.job_timed_out', workspaceId: 'eve', documentId: 'document of eve', job: 'replace' },
  ])
  expect((await metrics.threadJobs.get()).values).toMatchObject([
    { value: 1, labels: { purpose: 'change', outcome: 'late' } },
  ])
})

it('[ROOM-46] when the jobs of a workspace time out repeatedly, gives it no thread for a while, but gives threads to other workspaces', async () => {
  const clock = new HeldClock()
  threads = threadsOf({ jobMs: 3_000 }, { clock })
  await expect(run(eve, poisonedJob)).rejects.toMatchObject({ details: { limit: 'threadJobSeconds' } })
  // Because of earlier failures, the deadline is a tenth.
  await expect(run(eve, poisonedJob)).rejects.toMatchObject({
    message: expect.stringContaining('after 0.3 s'),
    details: { limit: 'threadJobSeconds' },
  })
  await expect(run(eve, quickJob)).rejects.toMatchObject({
    status: 'RESOURCE_EXHAUSTED',
    details: { limit: 'threadOverrunSeconds', value: 3, scope: 'workspace' },
    retryAfterSeconds: expect.any(Number),
  })
  await run(ada, quickJob)
  clock.advance(60_000)
  await run(eve, quickJob)
})

it('[ATT-100] sends 100,000 updates of a history to a thread in one buffer, and copies them in several ticks', async () => {
  threads = threadsOf({})
  await run(ada, quickJob)
  const doc = new Y.Doc()
  doc.getText('content').insert(0, 'x'.repeat(4_000_000))
  const updates = [Y.encodeStateAsUpdate(doc), ...Array.from({ length: 100_000 }, () => new Uint8Array(2))]
  const posts = vi.spyOn(Worker.prototype, 'postMessage')
  onTestFinished(() => posts.mockRestore())
  const opened = run(ada, { is: 'open', updates })
  let ticks = 0
  for (; posts.mock.calls.length === 0; ticks += 1) await nextTick()
  await opened
  expect(ticks).toBeGreaterThanOrEqual(4)
  // Each buffer costs time in the tick that sends it. One has the updates, the other their lengths.
  expect(posts.mock.calls.map(([, buffers]) => buffers)).toEqual([[expect.anything(), expect.anything()]])
})
