import { expect, it } from 'vitest'
import {
  type BudgetedReader,
  newTickBudget,
  ReadBackpressure,
} from '../../../../src/sync/socket/read-backpressure.ts'

/** Goes on when everybody who has held it up lets it. */
class CountedReader implements BudgetedReader {
  readonly workspaceId: string
  readonly share = newTickBudget()
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

it('[LOAD-4] who has sent its share of a turn waits for the next one, and nobody else does', async () => {
  const pressure = new ReadBackpressure(() => 0, 1_000, nothing)
  const [flooder, other] = [new CountedReader(), new CountedReader()]
  take(pressure, other, 1)
  take(pressure, flooder, ReadBackpressure.messagesPerTurn - 1)
  expect(flooder.reading).toBe('on')
  take(pressure, flooder, 50)
  expect([flooder.reading, other.reading]).toEqual(['paused', 'on'])
  await nextTurn()
  expect(flooder.reading).toBe('on')
  take(pressure, flooder, ReadBackpressure.messagesPerTurn)
  expect(flooder.reading).toBe('paused')
})

it('[LOAD-4] a new turn does not let go on whoever waits for the disk', async () => {
  const disk = { pendingBytes: 0 }
  const pressure = new ReadBackpressure(() => disk.pendingBytes, 1_000, nothing)
  const reader = new CountedReader()
  take(pressure, reader, ReadBackpressure.messagesPerTurn)
  disk.pendingBytes = 2_000
  take(pressure, reader, 1)
  await nextTurn()
  await nextTurn()
  expect(reader.reading).toBe('paused')
  disk.pendingBytes = 0
  await expect.poll(() => reader.reading).toBe('on')
})

it('[LOAD-4] who waits for its turn goes on in it, also if more of it came meanwhile', async () => {
  const pressure = new ReadBackpressure(() => 0, 1_000, nothing)
  const [first, second] = [new CountedReader(), new CountedReader()]
  for (const reader of [first, second]) take(pressure, reader, ReadBackpressure.messagesPerTurn)
  await nextTurn()
  expect([first.reading, second.reading]).toEqual(['on', 'paused'])
  // What a worker had read of the socket before it was told to wait.
  take(pressure, second, ReadBackpressure.messagesPerTurn)
  await nextTurn()
  expect(second.reading).toBe('on')
})

it('[LOAD-4] of those of one workspace that have sent too much one goes on a turn, the longest waiting first', async () => {
  const pressure = new ReadBackpressure(() => 0, 1_000, nothing)
  const readers = ['one', 'one', 'one', 'other'].map((workspaceId) => new CountedReader(workspaceId))
  const reading = () => readers.map((reader) => reader.reading)
  for (const reader of readers) take(pressure, reader, ReadBackpressure.messagesPerTurn)
  await nextTurn()
  expect(reading()).toEqual(['on', 'paused', 'paused', 'on'])
  take(pressure, readers[0] as CountedReader, ReadBackpressure.messagesPerTurn)
  await nextTurn()
  expect(reading()).toEqual(['paused', 'on', 'paused', 'on'])
  await nextTurn()
  await nextTurn()
  expect(reading()).toEqual(['on', 'on', 'on', 'on'])
})
