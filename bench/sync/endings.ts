import * as Y from 'yjs'
import type { Contender, Running } from '../load/contenders.ts'
import type { LoadSocket } from '../load/load-socket.ts'
import { type Scale, type Scenario, waitMs } from '../load/scenario.ts'
import { enter, enterAll, paced, sleep, Typist, Watch, watched } from '../load/typing.ts'
import { temporaryDirectory } from '../support/server.ts'

const perSecond = 1_000
/** For a document that is loaded after the first question. */
const readMs = 2_000
const document = 'typed'

/** Types until the server is ended; how many keystrokes another client has seen, and how many are there afterwards. */
async function typedAndEnded(contender: Contender, data: string, scale: Scale, how: 'stop' | 'kill') {
  const server = await contender.start(data)
  const [writing, reading] = (await enterAll(2, () => enter(server, document))) as [LoadSocket, LoadSocket]
  await sleep(300)
  const typist = new Typist(writing, server, document)
  const watch = new Watch([typist])
  watched(reading, server, watch)
  const stop = paced(perSecond, (due) => typist.type(due))
  await sleep(scale.seconds * 1000)
  await server[how]()
  stop()
  const again = await contender.start(data)
  const stored = await storedOf(again, typist.client, waitMs(scale, readMs))
  await again.kill()
  return { seen: watch.total, stored }
}

async function storedOf(server: Running, client: number, wait: number): Promise<number> {
  const socket = await enter(server, document)
  const doc = new Y.Doc()
  socket.onMessage = (payload) => {
    const message = server.dialect.read(payload)
    if (message !== null && message.kind !== 'awareness') Y.applyUpdate(doc, message.bytes)
  }
  socket.send(server.dialect.ask(document))
  await sleep(wait)
  socket.end()
  return Y.decodeStateVector(Y.encodeStateVector(doc)).get(client) ?? 0
}

/** What somebody has seen is there afterwards, or not. */
export const endings: Scenario<'lost' | 'kept'> = {
  name: 'SIGKILL and SIGTERM while somebody types 1,000 keystrokes/s',
  needsStore: true,
  figures: {
    lost: { label: '% of the seen lost at SIGKILL', digits: 2, better: 'less' },
    kept: { label: '% of the seen kept after SIGTERM', digits: 2, better: 'more' },
  },
  async run(contender, data, scale: Scale) {
    const killed = await typedAndEnded(contender, data, scale, 'kill')
    const stopped = await typedAndEnded(contender, temporaryDirectory(), scale, 'stop')
    const share = (stored: number, seen: number): number => (Math.min(stored, seen) / seen) * 100
    return { lost: 100 - share(killed.stored, killed.seen), kept: share(stopped.stored, stopped.seen) }
  },
}
