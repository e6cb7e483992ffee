import { setTimeout as sleep } from 'node:timers/promises'
import { during } from '../cpu.ts'
import { concurrentSession, type EditSession, sequentialSession } from '../edit-session.ts'
import { median, quantile } from '../measure.ts'
import { joinSession, Replay, type TypedPart } from '../replay.ts'
import { p99, per, type Scale, type Scenario, waitMs } from '../scenario.ts'

const smokeKeystrokes = 3_000
const joiners = 20
/** Time in ms after which a new client without the complete content counts as failed. */
const joinMs = 90_000
const settleMs = 2_000

/**
 * Returns a scenario in which clients type a writing session. Then the server is stopped and started, and many
 * clients connect.
 */
const sessionOf = (
  key: string,
  name: string,
  shows: string,
  keystrokes: number,
  read: (keystrokes: number, file: string | undefined) => EditSession,
): Scenario<'rate' | 'p99' | 'join' | 'copies'> => ({
  key,
  name: `${name}; then ${joiners} clients connect at once after a restart`,
  shows: `${shows} The session is generated, unless the file of a recorded one is given.`,
  needs: 'url',
  figures: {
    rate: { label: 'keystrokes/s', digits: 0, better: 'more' },
    p99,
    join: { label: 'join p50 ms', digits: 0, better: 'less' },
    copies: { label: 'state sent, times', digits: 2, better: 'less' },
  },
  async run(contender, data, scale: Scale) {
    const session = read(scale.size === 'full' ? keystrokes : smokeKeystrokes, scale.trace)
    const server = await contender.start(data)
    const replay = await Replay.open(server, session)
    let typed: TypedPart | undefined
    const usage = await during(server, async () => {
      typed = await replay.type()
    })
    await replay.expectEqual()
    const { latencies = [], seconds = 0 } = typed ?? {}
    const rate = per(session.edits.length, seconds)
    const figures = { rate, p99: quantile(latencies, 0.99), join: undefined, copies: undefined }
    await sleep(contender.keeps ? waitMs(scale, settleMs) : 0)
    await server.stop()
    if (!contender.keeps || !contender.isOurs) return { figures, usage }
    const again = await contender.start(data)
    await sleep(waitMs(scale, 1_000))
    const arrived = await Promise.all(
      Array.from({ length: joiners }, () => joinSession(again, session, waitMs(scale, joinMs))),
    )
    await sleep(waitMs(scale, 1_000))
    const isComplete = arrived.every(({ ms, isRight }) => ms !== null && isRight())
    const copies = median(arrived.map((each) => each.copies()))
    await again.kill()
    const join = isComplete ? median(arrived.map(({ ms }) => ms ?? 0)) : null
    return { figures: { ...figures, join, copies }, usage }
  },
})

export const sessions = [
  sessionOf(
    'session',
    'a session of 259,778 keystrokes, writer → reader',
    'The throughput of one document with real edits.',
    259_778,
    sequentialSession,
  ),
  sessionOf(
    'session-concurrent',
    'a session of 25,000 keystrokes by authors who type at the same time',
    'The same with edits that meet. Each author waits for what it had received from the others.',
    25_000,
    concurrentSession,
  ),
]
