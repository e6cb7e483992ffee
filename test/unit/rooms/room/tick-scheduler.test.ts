import { expect, it, vi } from 'vitest'
import { LoopSlices } from '../../../../src/core/rooms/document/loop-slices.ts'
import { TickScheduler, type TickTask } from '../../../../src/core/rooms/room/tick-scheduler.ts'

/** Longer than the time that ticks of rooms, or answers, have per tick of the event loop. */
const longMs = 20

function work(ms: number): void {
  for (const until = performance.now() + ms; performance.now() < until; );
}

const later = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Lets the event loop handle other events between the notes of `begin`. */
async function noted(begin: (note: (name: string) => void) => void, count: number): Promise<string[]> {
  const notes: string[] = []
  begin((name) => notes.push(name))
  while (notes.filter((name) => name !== 'other').length < count) {
    await later()
    notes.push('other')
  }
  return notes
}

it('[ROOM-56] handles other events between the ticks of rooms if these ticks take long', async () => {
  const scheduler = new TickScheduler()
  const notes = await noted((note) => {
    for (const name of ['a', 'b', 'c'])
      scheduler.add({
        workspaceId: name,
        endTick: () => {
          work(longMs)
          note(name)
        },
      })
  }, 3)
  expect(notes.filter((name) => name !== 'other')).toEqual(['a', 'b', 'c'])
  expect(notes.slice(notes.indexOf('a'), notes.indexOf('b'))).toContain('other')
  expect(notes.slice(notes.indexOf('b'), notes.indexOf('c'))).toContain('other')
})

it('[ROOM-56] handles other events between long answers, and sends the answers in order', async () => {
  const scheduler = new TickScheduler()
  const notes = await noted((note) => {
    for (const name of ['a', 'b', 'c'])
      scheduler.answer(() => {
        work(longMs)
        note(name)
      })
    note('asked')
  }, 4)
  expect(notes.filter((name) => name !== 'other')).toEqual(['a', 'asked', 'b', 'c'])
  expect(notes.slice(notes.indexOf('b'), notes.indexOf('c'))).toContain('other')
})

it('[ROOM-56] runs short answers immediately and in order, in one tick', async () => {
  const scheduler = new TickScheduler()
  const names = Array.from({ length: 100 }, (_, index) => `${index}`)
  const notes: string[] = []
  for (const name of names) scheduler.answer(() => notes.push(name))
  expect(notes).toEqual(names)
})

it('[ROOM-56] runs the task of another workspace in the tick in which one workspace has used up its share', async () => {
  let now = 0
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now)
  const scheduler = new TickScheduler()
  const notes = await noted((note) => {
    for (const [workspaceId, name] of [
      ['busy', 'a'],
      ['busy', 'b'],
      ['quiet', 'c'],
    ] as const)
      scheduler.add({
        workspaceId,
        endTick: () => {
          if (workspaceId === 'busy') now += 10
          note(name)
        },
      })
  }, 3)
  expect(notes.filter((name) => name !== 'other')).toEqual(['a', 'c', 'b'])
  expect(notes.slice(notes.indexOf('c'), notes.indexOf('b'))).toContain('other')
  clock.mockRestore()
})

it('[ROOM-56] when a task adds another one, the rest of a long tick is still one tick', async () => {
  const scheduler = new TickScheduler()
  const runs: number[] = []
  let turn = 0
  const task = (name: string, then = (): void => {}): TickTask => ({
    workspaceId: name,
    endTick: () => {
      work(longMs)
      runs.push(turn)
      then()
    },
  })
  scheduler.add(task('a', () => scheduler.add(task('d'))))
  for (const name of ['b', 'c']) scheduler.add(task(name))
  for (; turn < 20 && runs.length < 4; turn += 1) await later()
  expect(new Set(runs).size).toBe(4)
})

it('[ROOM-56] counts slices and results of threads in the ticks of rooms', async () => {
  const scheduler = new TickScheduler()
  const slices = new LoopSlices(scheduler, () => Promise.resolve())
  const notes = await noted((note) => {
    const long = (name: string) => (): void => {
      work(longMs)
      note(name)
    }
    scheduler.add({ workspaceId: 'a', endTick: long('room') })
    void slices.of('b')(long('slice'))
    void scheduler.run('c', long('result'))
  }, 3)
  for (const [before, after] of [
    ['room', 'slice'],
    ['slice', 'result'],
  ] as const)
    expect(notes.slice(notes.indexOf(before), notes.indexOf(after))).toContain('other')
  const failing = scheduler.run('a', () => {
    throw new Error('failed')
  })
  await expect(failing).rejects.toThrow('failed')
})

it('[ROOM-56] shares ticks between tasks only while several tasks are active', () => {
  const clock = vi.spyOn(performance, 'now')
  const at = (ms: number, task: TickTask): void => {
    clock.mockReturnValue(ms)
    scheduler.add(task)
  }
  const scheduler = new TickScheduler()
  const [busy, quiet] = [0, 1].map((): TickTask => ({ workspaceId: 'ws', endTick: () => {} })) as [
    TickTask,
    TickTask,
  ]
  for (const ms of [1_000, 1_010]) at(ms, busy)
  expect([busy, quiet].map((task) => scheduler.mustShare(task))).toEqual([false, true])
  at(1_020, quiet)
  expect(scheduler.mustShare(busy)).toBe(true)
  for (const ms of [1_030, 1_040]) at(ms, busy)
  expect(scheduler.mustShare(busy)).toBe(true)
  at(2_020, busy)
  expect(scheduler.mustShare(busy)).toBe(false)
  clock.mockRestore()
})
