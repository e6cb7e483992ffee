import { expect, it } from 'vitest'
import { countIn, DebounceWindows, windowsMax } from '../../../src/core/events/debounce-windows.ts'
import { HeldClock } from '../../support/time/clock.ts'

class CountingClock extends HeldClock {
  timers = 0

  override after(ms: number, fn: () => void): () => void {
    this.timers += 1
    return super.after(ms, fn)
  }
}

it('[ACT-27] ends windows in the order in which they started, with a single timer', () => {
  const clock = new CountingClock()
  const ended: [string, number][] = []
  const windows = new DebounceWindows<string>(clock, 1_000, (name, count) => ended.push([name, count]))
  windows.begin('first', 'first')
  clock.advance(400)
  for (const name of ['second', 'third']) windows.begin(name, name)
  expect(windows.count('second')).not.toBeNull()
  expect(clock.timers).toBe(1)
  clock.advance(599)
  expect(ended).toEqual([])
  clock.advance(1)
  expect(ended).toEqual([['first', 1]])
  windows.forget('third')
  clock.advance(400)
  expect(ended).toEqual([
    ['first', 1],
    ['second', 2],
  ])
})

it('[ACT-27] limits the number of open windows, and beyond the limit ends the oldest windows early', () => {
  const ended: number[] = []
  const windows = new DebounceWindows<number>(new HeldClock(), 1_000, (number) => ended.push(number))
  for (let number = 0; number < windowsMax + 2; number++) windows.begin(`editor ${number}`, number)
  expect(ended).toEqual([0, 1])
  expect(windows.count('editor 2')).not.toBeNull()
  expect(windows.count('editor 0')).toBeNull()
})

it('[ACT-27] counts nothing in a window that a caller has kept, when the window has ended or was removed', () => {
  const clock = new HeldClock()
  const ended: [string, number][] = []
  const windows = new DebounceWindows<string>(clock, 1_000, (name, count) => ended.push([name, count]))
  const [first, second] = ['first', 'second'].map((name) => windows.begin(name, name))
  expect([countIn(first, clock.now()), countIn(second, clock.now())]).toEqual([true, true])
  windows.forget('second')
  expect(countIn(second, clock.now())).toBe(false)
  windows.end()
  expect(countIn(first, clock.now())).toBe(false)
  expect(ended).toEqual([['first', 2]])
})
