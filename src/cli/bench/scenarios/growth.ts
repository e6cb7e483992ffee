import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { during, serverMemory } from '../cpu.ts'
import { sequentialSession } from '../edit-session.ts'
import { sum } from '../measure.ts'
import { joinSession, Replay } from '../replay.ts'
import { over, per, type Scale, type Scenario, waitMs } from '../scenario.ts'

/** Time in ms in which all servers store what they have received. */
const settleMs = 5_000
const joinMs = 60_000

const bytesOf = (directory: string): number =>
  sum(
    readdirSync(directory, { recursive: true, encoding: 'utf8' })
      .map((name) => statSync(join(directory, name)))
      .map((entry) => (entry.isFile() ? entry.size : 0)),
  )

/** Scenario in which a document gets many edits. Its last edits are compared with its first ones. */
export const growingDocument: Scenario<'first' | 'last' | 'memory' | 'stored' | 'join'> = {
  key: 'growth',
  name: 'a document grows over 100,000 edits',
  shows: 'Whether the cost of an edit grows with the history of its document, and what the history costs.',
  needs: 'store',
  figures: {
    first: { label: 'CPU µs an edit, first 10,000', digits: 1, better: 'less' },
    last: { label: 'CPU µs an edit, last 10,000', digits: 1, better: 'less' },
    memory: { label: 'bytes of memory an edit', digits: 0, better: 'less' },
    stored: { label: 'bytes on disk an edit', digits: 0, better: 'less' },
    join: { label: 'ms until a new client has it', digits: 0, better: 'less' },
  },
  async run(contender, data, scale: Scale) {
    const count = scale.size === 'full' ? 100_000 : 1_000
    const session = sequentialSession(count)
    const server = await contender.start(data)
    const replay = await Replay.open(server, session)
    const before = serverMemory(server)
    const first = await during(server, () => replay.type(count / 10))
    await replay.type((count / 10) * 9)
    const last = await during(server, () => replay.type(count))
    await replay.expectEqual()
    await sleep(waitMs(scale, settleMs))
    const grown = over(serverMemory(server), before)
    const { ms, isRight } = await joinSession(server, session, waitMs(scale, joinMs))
    if (!isRight()) throw new Error('a new client has another text than the author')
    await server.stop()
    return {
      figures: {
        first: per(first.microseconds, count / 10),
        last: per(last.microseconds, count / 10),
        memory: per(grown, count),
        stored: per(bytesOf(data) || undefined, count),
        join: ms,
      },
      usage: last,
    }
  },
}
