import { expect, it } from 'vitest'
import { type BudgetedReader, newTickBudget, TickShares } from '../../../../src/core/quota/tick-shares.ts'
import { ReadBackpressure } from '../../../../src/core/sync/socket/read-backpressure.ts'

/** Reads when no limit pauses it. */
class CountedReader implements BudgetedReader {
  readonly workspaceId: string
  readonly budget = newTickBudget()
  #holds = 0

  constructor(workspaceId = 'ws') {
    this.workspaceId = workspaceId
  }

  get reading(): 'on' | 'paused' {
    return this.#holds === 0 ? 'on' : 'paused'
  }

  pauseReading(): void {
    this.#holds += 1
  }

  resumeReading(): void {
    this.#holds -= 1
  }
}

const nothing = (): void => {}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

function take(pressure: ReadBackpressure, reader: BudgetedReader, messages: number): void {
  for (let count = 0; count < messages; count++) pressure.check(reader)
}

it('[LOAD-4] pauses only the reader that has used its share of a tick, until the next tick', async () => {
  const pressure = new ReadBackpressure(new TickShares(), () => 0, 1_000, nothing)
  const [flooder, other] = [new CountedReader(), new CountedReader()]
  take(pressure, other, 1)
  take(pressure, flooder, TickShares.piecesPerTick - 1)
  expect(flooder.reading).toBe('on')
  take(pressure, flooder, 50)
  expect([flooder.reading, other.reading]).toEqual(['paused', 'on'])
  await nextTurn()
  expect(flooder.reading).toBe('on')
  take(pressure, flooder, TickShares.piecesPerTick)
  expect(flooder.reading).toBe('paused')
})

it('[LOAD-4] counts the bytes of large messages in the share of a tick: 131,000 bytes use it up', async () => {
  const pressure = new ReadBackpressure(new TickShares(), () => 0, 1_000, nothing)
  const reader = new CountedReader()
  pressure.check(reader, 0, 65_500)
  pressure.received(reader, 65_499)
  expect(reader.reading).toBe('on')
  pressure.received(reader, 1)
  expect(reader.reading).toBe('paused')
})

it('[LOAD-4] when a tick begins, keeps a reader paused that waits for the disk', async () => {
  const disk = { queuedBytes: 0 }
  const pressure = new ReadBackpressure(new TickShares(), () => disk.queuedBytes, 1_000, nothing)
  const reader = new CountedReader()
  take(pressure, reader, TickShares.piecesPerTick)
  disk.queuedBytes = 2_000
  take(pressure, reader, 1)
  await nextTurn()
  await nextTurn()
  expect(reader.reading).toBe('paused')
  disk.queuedBytes = 0
  await expect.poll(() => reader.reading).toBe('on')
})

it('[LOAD-4] resumes a waiting reader in its tick, even if more of its messages arrived meanwhile', async () => {
  const pressure = new ReadBackpressure(new TickShares(), () => 0, 1_000, nothing)
  const [first, second] = [new CountedReader(), new CountedReader()]
  for (const reader of [first, second]) take(pressure, reader, TickShares.piecesPerTick)
  await nextTurn()
  expect([first.reading, second.reading]).toEqual(['on', 'paused'])
  // Messages that a worker had read from the socket before the pause.
  take(pressure, second, TickShares.piecesPerTick)
  await nextTurn()
  expect(second.reading).toBe('on')
})

it('[LOAD-4] resumes one reader of each workspace per tick, first the reader that has waited longest', async () => {
  const pressure = new ReadBackpressure(new TickShares(), () => 0, 1_000, nothing)
  const readers = ['one', 'one', 'one', 'other'].map((workspaceId) => new CountedReader(workspaceId))
  const reading = () => readers.map((reader) => reader.reading)
  for (const reader of readers) take(pressure, reader, TickShares.piecesPerTick)
  await nextTurn()
  expect(reading()).toEqual(['on', 'paused', 'paused', 'on'])
  take(pressure, readers[0] as CountedReader, TickShares.piecesPerTick)
  await nextTurn()
  expect(reading()).toEqual(['paused', 'on', 'paused', 'on'])
  await nextTurn()
  await nextTurn()
  expect(reading()).toEqual(['on', 'on', 'on', 'on'])
})
