import { expect, it } from 'vitest'
import { seed } from '../support/data/seed.ts'
import { itLong, times } from '../support/time/full-run.ts'
import { crashes } from './crashes.ts'
import { hostile } from './hostile.ts'
import { leaks } from './leaks.ts'
import { noise } from './neighbor-latency.ts'
import { storm } from './reconnect-storm.ts'
import { openAndClose } from './rooms.ts'
import { burst } from './slow-reader.ts'

const all = process.env.WEFT_TEST_LONG === '1'
const MB = 1_000_000
const timeout = 300_000

const kills = times(1, 5)
it(
  `[DUR-4] after ${kills} SIGKILLs at random moments, keeps everything that a client or a response with 200 has shown (seed ${seed})`,
  async () => {
    const { shown, answered, lost } = await crashes({ rounds: kills, seed, by: 'SIGKILL', say: console.info })
    expect(lost).toBe(0)
    expect(shown).toBeGreaterThan(kills)
    expect(answered).toBeGreaterThan(0)
  },
  timeout,
)

const cuts = times(1, 2)
it(
  `[DUR-5] after ${cuts} power losses at random moments, keeps everything that was shown (seed ${seed})`,
  async () => {
    const { shown, lost } = await crashes({ rounds: cuts, seed, by: 'power', say: console.info })
    expect(lost).toBe(0)
    expect(shown).toBeGreaterThan(cuts)
  },
  timeout,
)

// Tests that take longer than a few seconds.
const itAll = it.runIf(all)

itAll(
  '[DUR-5] if the server does not wait for the disk, a simulated power loss loses updates that were shown',
  async () => {
    const { lost } = await crashes({ rounds: 1, seed, by: 'power', durability: 'process', say: console.info })
    expect(lost).toBeGreaterThan(0)
  },
  timeout,
)

itLong(
  '[ROOM-1] uses limited memory for a reader that stops during a burst of edits, and later sends it only a few messages',
  async () => {
    const bytes = (all ? 100 : 40) * MB
    const { heldBytes, messages } = await burst({ bytes, seconds: 2, reader: 'stopped' })
    expect(heldBytes).toBeLessThan(10 * MB)
    expect(messages.read).toBeLessThan(messages.sent / 2)
  },
  timeout,
)

itAll(
  '[LOAD-2] uses almost no memory for rooms that were opened and closed',
  async () => {
    const rooms = all ? 3_000 : 800
    const { heapBytes, bufferBytes } = await openAndClose(rooms, console.info)
    // Code that is compiled meanwhile takes up to 4 MB, for any number of rooms.
    expect((heapBytes + bufferBytes) * rooms).toBeLessThan(4 * MB + rooms * 1_500)
  },
  timeout,
)

for (const ended of all ? (['SIGTERM', 'SIGKILL'] as const) : (['SIGTERM'] as const))
  itLong(
    `[LOAD-3] after ${ended}, syncs all clients that reconnect at the same time, and sends no content again`,
    async () => {
      const { unequal, unchangedBytes, documentBytes } = await storm(all ? 1_000 : 150, ended)
      expect(unequal).toBe(0)
      expect(unchangedBytes).toBeGreaterThan(0)
      expect(unchangedBytes).toBeLessThan(documentBytes / 100)
    },
    timeout,
  )

itAll(
  '[LOAD-5] users can type while a large document is loaded and replaced, and while a room gets a flood of messages',
  async () => {
    const noises = await noise({ bytes: (all ? 9 : 2) * MB, seconds: 1 })
    for (const { here, times } of [noises.loading, noises.replacing, noises.flooding]) {
      expect(here.keystrokes).toBe(noises.quiet.keystrokes)
      expect(times).toBeGreaterThan(0)
    }
  },
  timeout,
)

itLong(
  '[LOAD-6] when all clients have left in any way, ends every connection, document, socket and timer',
  async () => {
    const { connections, documents, resources } = await leaks(all ? 5 : 1, all ? 500 : 100)
    expect({ connections, documents, resources }).toEqual({ connections: 0, documents: 0, resources: {} })
  },
  timeout,
)

for (const attack of ['quadraticUpdate', 'incompleteUnsigned', 'threadQueue'])
  itLong(
    `[LOAD-7] survives a hostile tenant (${attack}), and then responds for all documents`,
    async () => {
      const { rounds, peakBytes, isAlive, isIntact, unanswered } = await hostile({ attack, seconds: 1 })
      expect({ isAlive, isIntact, unanswered }).toEqual({ isAlive: true, isIntact: true, unanswered: [] })
      expect(rounds).toBeGreaterThan(0)
      expect(peakBytes).toBeLessThan(1_000 * MB)
    },
    timeout,
  )
