import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { WebsocketProvider } from 'y-websocket'
import * as Y from 'yjs'
import { yWebsocketMessages } from '../client-protocol.ts'
import type { Contender, Running } from '../contender.ts'
import { enter, enterAs } from '../entering.ts'
import { temporaryDirectory } from '../processes.ts'
import { type Scale, type Scenario, waitMs } from '../scenario.ts'
import { atRate, KeystrokeTracker, Typist, trackUpdates } from '../typist.ts'

const perSecond = 1_000
/**
 * Time in ms for the content of a document that the server loads after it has sent its first state vector.
 */
const readMs = 2_000
const document = 'typed'

/**
 * Types until the server is ended. Returns how many keystrokes another client had received by then, and how
 * many keystrokes exist after the next start.
 */
async function typedAndEnded(contender: Contender, data: string, scale: Scale, how: 'stop' | 'kill') {
  const server = await contender.start(data)
  const { writer, reader } = await enterAs(server, document, ['writer', 'reader'])
  await sleep(300)
  const typist = new Typist(writer, server, document)
  const watch = new KeystrokeTracker([typist])
  trackUpdates(reader, server, watch)
  const stop = atRate(perSecond, (due) => typist.type(due))
  await sleep(scale.seconds * 1000)
  await server[how]()
  stop()
  const again = await contender.start(data)
  const stored = await storedOf(again, typist.client, waitMs(scale, readMs))
  await again.kill()
  return { seen: watch.total, stored }
}

async function storedOf(server: Running, client: number, wait: number): Promise<number> {
  const doc = new Y.Doc()
  // Only clients of y-websocket can use its provider. Other servers have other protocols and providers.
  await (server.dialect === yWebsocketMessages ? readByProvider : readBySocket)(server, doc, wait)
  return Y.decodeStateVector(Y.encodeStateVector(doc)).get(client) ?? 0
}

/** Reads the document with the stock provider, as an application does. */
async function readByProvider(server: Running, doc: Y.Doc, wait: number): Promise<void> {
  const { origin, pathname, searchParams } = new URL(server.url(document))
  const provider = new WebsocketProvider(origin, pathname.slice(1), doc, {
    params: Object.fromEntries(searchParams),
    WebSocketPolyfill: WebSocket as never,
    disableBc: true,
  })
  await new Promise<void>((resolve) => provider.on('sync', (isSynced: boolean) => isSynced && resolve()))
  await sleep(wait)
  provider.destroy()
}

async function readBySocket(server: Running, doc: Y.Doc, wait: number): Promise<void> {
  const socket = await enter(server, document)
  socket.onMessage = (payload) => {
    const message = server.dialect.read(payload)
    if (message !== null && message.kind !== 'awareness') Y.applyUpdate(doc, message.bytes)
  }
  socket.send(server.dialect.ask(document))
  await sleep(wait)
  socket.end()
}

/**
 * Scenario that ends a server while a client types. It measures how many of the keystrokes that another
 * client has received still exist after the next start.
 */
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
