import { setTimeout as sleep } from 'node:timers/promises'
import * as Y from 'yjs'
import type { Contender, Running } from '../contender.ts'
import { during } from '../cpu.ts'
import { enterAs } from '../entering.ts'
import { temporaryDirectory } from '../processes.ts'
import { type Figure, per, type Scale, type Scenario, waitMs } from '../scenario.ts'
import { stockClient } from '../stock-client.ts'
import { atRate, KeystrokeTracker, Typist, trackUpdates } from '../typist.ts'

const perSecond = 1_000
/**
 * Time in ms for the content of a document that the server loads after it has sent its first state vector.
 */
const readMs = 2_000
const document = 'typed'

/**
 * Types for some time, and then ends the server or the clients. Returns how many keystrokes another client had
 * received by then, and how many keystrokes the server has afterwards.
 */
async function typedAndEnded(
  contender: Contender,
  data: string,
  scale: Scale,
  how: (server: Running, leave: () => void) => Promise<Running>,
) {
  const server = await contender.start(data)
  const { writer, reader } = await enterAs(server, document, ['writer', 'reader'])
  const typist = new Typist(writer, server, document)
  const watch = new KeystrokeTracker([typist])
  trackUpdates(reader, server, watch)
  const stop = atRate(perSecond, (due) => typist.type(due))
  // The moment is random, because a server may write its data at regular times.
  const usage = await during(server, () => sleep(scale.seconds * (500 + Math.random() * 500)))
  const leave = (): void => {
    stop()
    for (const socket of [writer, reader]) socket.end()
  }
  const again = await how(server, leave)
  leave()
  const stored = await storedOf(again, typist.client, waitMs(scale, readMs))
  await again.kill()
  return { usage, share: per(Math.min(stored, watch.total) * 100, watch.total) }
}

/** Reads the document with a stock client, as an application does. */
async function storedOf(server: Running, client: number, wait: number): Promise<number> {
  const reader = stockClient(server, document)
  await reader.synced()
  await sleep(wait)
  reader.end()
  return Y.decodeStateVector(Y.encodeStateVector(reader.doc)).get(client) ?? 0
}

const kept = (after: string): Figure => ({ label: `% kept after ${after}`, digits: 2, better: 'more' })

/**
 * Scenario that ends a server while a client types. It measures how many of the keystrokes that another
 * client has received still exist after the next start.
 */
export const endings: Scenario<'killed' | 'stopped'> = {
  key: 'loss',
  name: 'SIGKILL and SIGTERM while a client types 1,000 keystrokes/s',
  shows:
    'Which part of the keystrokes that another client had received exists after the next start. A loss of power can lose more.',
  needs: 'restart',
  figures: { killed: kept('SIGKILL'), stopped: kept('SIGTERM') },
  async run(contender, data, scale: Scale) {
    const ended = (how: 'stop' | 'kill', place: string) =>
      typedAndEnded(contender, place, scale, async (server) => {
        await server[how]()
        return contender.start(place)
      })
    const killed = await ended('kill', data)
    const stopped = await ended('stop', temporaryDirectory())
    return { figures: { killed: killed.share, stopped: stopped.share }, usage: stopped.usage }
  },
}

/** Scenario in which the last client of a document leaves directly after it has typed. */
export const lastClientLeaves: Scenario<'kept'> = {
  key: 'left',
  name: 'the last client of a document leaves while it types',
  shows: 'Which part of the keystrokes that another client had received exists when a client returns.',
  needs: 'store',
  figures: { kept: kept('the last client has left') },
  async run(contender, data, scale: Scale) {
    const { share, usage } = await typedAndEnded(contender, data, scale, async (server, leave) => {
      leave()
      await sleep(waitMs(scale, readMs))
      return server
    })
    return { figures: { kept: share }, usage }
  },
}
