import { expect, it, vi } from 'vitest'
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

it('[ROOM-56] shares ticks between tasks only while several tasks are active', () => {
  const clock = vi.spyOn(performance, 'now')
  const at = (ms: number, task: TickTask): void => {
    clock.mockReturnValue(ms)
    scheduler.add(task)
  }
  const scheduler = new TickScheduler()
  const [busy, quiet] = [0, 1].map((): TickTask => ({ endTick: () => {} })) as [TickTask, TickTask]
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
