import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Clock } from '../../../src/core/base/clock.ts'
import { ChangeWindows } from '../../../src/core/events/change-windows.ts'
import type { StartedWindows } from '../../../src/core/events/debounce-windows.ts'
import { eventQueue } from '../../../src/core/events/outbound-event.ts'
import type { Engine } from '../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { eventually } from '../../support/clients/clients.ts'
import { directoryOn, scopeOf, type TestDirectory, tenant } from '../../support/data/directory.ts'
import { sharedNodes } from '../../support/servers/simulated-network.ts'
import { HeldClock } from '../../support/time/clock.ts'

const scope = scopeOf(tenant, 'acme')
const address = { ...scope, documentId: 'd', editorId: 'main' }
const ann = { userId: 'ann', name: 'Ann' }

async function directories() {
  const clock = new HeldClock()
  const store = await openMemoryEngine({ clock })
  const nodes = await sharedNodes(2, { clock, store })
  const all = nodes.map(({ engine }) => directoryOn(engine, clock))
  const [one, two] = all as [TestDirectory, TestDirectory]
  await one.organizations.ensure(scope)
  await one.documents.ensure(scope, 'd')
  return { clock, store, nodes: [one, two] as const }
}

/** Records a commit at a node, as a room does. */
async function commit({ engine, edits }: TestDirectory): Promise<void> {
  const begun = edits.windows.noted(address, [ann])
  if (begun !== null) await store(engine, begun)
}

async function store({ kv }: Pick<Engine, 'kv'>, { jobs, stored }: StartedWindows): Promise<void> {
  await kv.commit(['any'], { jobs })
  stored()
}

it('[CS-23] when a user edits at several nodes within a window, records one activity with all commits', async () => {
  const { clock, nodes } = await directories()
  for (const { edits } of nodes) edits.start()
  const all = async () => {
    const range = { order: 'asc', after: undefined, limit: 10 } as const
    return (await nodes[0].activities.list(scope, { actionTypes: ['crdt.editor_edit'] }, range)).items
  }
  for (const [node, commits] of [
    [nodes[0], 3],
    [nodes[1], 2],
    [nodes[0], 1],
  ] as const)
    for (let count = 0; count < commits; count++) await commit(node)
  await eventually(async () => (await all()).length === 1)
  clock.advance(600_000)
  await eventually(async () => (await all())[0]?.changes?.commits === 6)
  await commit(nodes[1])
  await eventually(async () => (await all()).length === 2)
  for (const { edits } of nodes) await edits.stop()
})

it('[CS-24] when edits occur at several nodes within a window, sends one event after the window has ended on the clocks of all nodes', async () => {
  const { clock, store: engine } = await directories()
  const windowMs = 5_000
  const due = (): void => {}
  const nodes = [0, 400].map((aheadMs) => {
    const ownClock: Clock = {
      now: () => clock.now() + aheadMs,
      after: (ms, fn) => clock.after(ms, fn),
    }
    return new ChangeWindows({ clock: ownClock, windowMs, clockSkewMs: 500, wanted: () => true, due })
  })
  const events = new Set<string>()
  for (let step = 0; step < 40; step++) {
    for (const node of nodes) {
      const begun = node.noted(address, [ann])
      if (begun !== null) await store(engine, begun)
    }
    clock.advance(250)
    for (const { id, token } of await engine.queue.claim(eventQueue, 10, 1_000)) {
      expect(events.has(id)).toBe(false)
      events.add(id)
      await engine.queue.done(token)
    }
  }
  // The edits take 10 s, and the start of the first window is unknown.
  expect(events.size).toBeGreaterThanOrEqual(1)
  expect(events.size).toBeLessThanOrEqual(3)
})

it('[CS-24] all nodes compute the same windows for an editor, and each window ends within its length plus the clock skew', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 2 ** 41 }),
      fc.uniqueArray(fc.string(), { minLength: 1 }),
      (now, ids) => {
        const jobsOf = (at: number) => {
          const clock = new HeldClock(at)
          const windows = new ChangeWindows({
            clock,
            windowMs: 60_000,
            clockSkewMs: 500,
            wanted: () => true,
            due() {},
          })
          return ids.map((editorId) => windows.noted({ ...address, editorId }, [ann])?.jobs[0])
        }
        const [one, two] = [jobsOf(now), jobsOf(now)]
        expect(one.map((job) => job?.id)).toEqual(two.map((job) => job?.id))
        for (const job of one) {
          expect(job?.at).toBeGreaterThan(now)
          expect(job?.at).toBeLessThanOrEqual(now + 60_500)
        }
      },
    ),
  )
})
