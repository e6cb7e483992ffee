import { setTimeout as sleep } from 'node:timers/promises'
import * as Y from 'yjs'
import type { Running } from '../contender.ts'
import { during, serverMemory } from '../cpu.ts'
import { enterAs, join } from '../entering.ts'
import type { LoadSocket } from '../load-socket.ts'
import { over, per, type Scale, type Scenario, waitMs } from '../scenario.ts'

const updateBytes = 65_536
const full = 200 * 2 ** 20
const smoke = 24 * 2 ** 20
/**
 * Maximum number of updates that the other reader may be behind. With this limit, the other reader is not
 * slow as well.
 */
const windowSize = 32
const catchUpMs = 60_000
/** Interval in ms between two looks at the memory. */
const lookMs = 50
const document = 'burst'

/** A client that keeps a copy of the document, to which it applies the received updates. */
class Replica {
  readonly doc = new Y.Doc()
  readonly #server: Running

  constructor(socket: LoadSocket, server: Running) {
    this.#server = server
    this.follow(socket)
  }

  follow(socket: LoadSocket): void {
    socket.onMessage = (payload) => {
      const message = this.#server.dialect.read(payload)
      if (message !== null && message.kind !== 'awareness') Y.applyUpdate(this.doc, message.bytes)
    }
  }

  get last(): number {
    return Number.parseInt(String(this.doc.getMap('map').get('value') ?? '0'), 10)
  }
}

/** A client that writes one value after the other to the same place. The document therefore stays small. */
class ValueTypist {
  readonly #doc = new Y.Doc()
  written = 0

  constructor(socket: LoadSocket, { dialect }: Running) {
    this.#doc.on('update', (update: Uint8Array) => socket.send(dialect.update(document, update)))
  }

  async write(bytes: number, reader: Replica, look: () => void): Promise<void> {
    const until = this.written + Math.ceil(bytes / updateBytes)
    while (this.written < until) {
      while (this.written < until && this.written - reader.last < windowSize)
        this.#doc.getMap('map').set('value', String(++this.written).padEnd(updateBytes, 'x'))
      look()
      await sleep(2)
    }
  }
}

/** A client that cannot come back misses updates, which is a figure. */
const ignored = (): void => {}

/** Returns the peak memory of the server during `work`, in bytes; undefined if it is unknown. */
async function mostDuring(
  server: Running,
  work: (look: () => void) => Promise<void>,
): Promise<number | undefined> {
  let most: number | undefined
  let next = 0
  await work(() => {
    // A look reads all processes of the machine.
    if (performance.now() < next) return
    next = performance.now() + lookMs
    const bytes = serverMemory(server)
    if (bytes !== undefined) most = Math.max(most ?? 0, bytes)
  })
  return most
}

const megabytes = (bytes: number | undefined): number | undefined => per(bytes, 2 ** 20)

/** Scenario in which one reader stops reading while many updates are sent, and then continues. */
export const slowReader: Scenario<'growth' | 'resident' | 'behind'> = {
  key: 'stopped-reader',
  name: 'a reader stops during 200 MB',
  shows:
    'The memory that a server keeps for a client that does not read, and whether that client then gets everything.',
  needs: 'url',
  figures: {
    growth: { label: 'MB of memory more than while all read', digits: 0, better: 'less' },
    resident: { label: 'MB of memory more than an idle server, at most', digits: 0, better: 'less' },
    behind: { label: 'updates missing at the end', digits: 0, better: 'less' },
  },
  async run(contender, data, scale: Scale) {
    const bytes = scale.size === 'full' ? full : smoke
    const server = await contender.start(data)
    const sockets = await enterAs(server, document, ['writer', 'reader', 'stopped'])
    await sleep(500)
    const [writer, reader, stopped] = [
      new ValueTypist(sockets.writer, server),
      new Replica(sockets.reader, server),
      new Replica(sockets.stopped, server),
    ]
    const idle = serverMemory(server)
    // The memory of a process depends on its work. The memory for the same work with all readers is therefore
    // measured first and subtracted.
    const before = await mostDuring(server, (look) => writer.write(bytes, reader, look))
    sockets.stopped.pause()
    let most: number | undefined
    const usage = await during(server, async () => {
      most = await mostDuring(server, (look) => writer.write(bytes, reader, look))
    })
    sockets.stopped.resume()
    // Stock clients come back after the server has closed them, so this client does the same.
    sockets.stopped.onClose = () =>
      void join(server, document).then((socket) => {
        stopped.follow(socket)
        socket.send(server.dialect.ask(document))
      }, ignored)
    const deadline = performance.now() + waitMs(scale, catchUpMs)
    while (stopped.last < writer.written && performance.now() < deadline) await sleep(20)
    sockets.stopped.onClose = ignored
    await server.kill()
    return {
      figures: {
        growth: megabytes(over(most, before)),
        resident: megabytes(over(Math.max(before ?? 0, most ?? 0) || undefined, idle)),
        behind: writer.written - stopped.last,
      },
      usage,
    }
  },
}
