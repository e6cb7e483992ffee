import { setTimeout as sleep } from 'node:timers/promises'
import * as Y from 'yjs'
import type { Running } from '../contender.ts'
import { residentBytes } from '../cpu.ts'
import { enterAs } from '../entering.ts'
import type { LoadSocket } from '../load-socket.ts'
import { type Scale, type Scenario, waitMs } from '../scenario.ts'

const updateBytes = 65_536
const full = 200 * 2 ** 20
const smoke = 4 * 2 ** 20
/**
 * Maximum number of updates that the other reader may be behind. With this limit, the other reader is not
 * slow as well.
 */
const windowSize = 32
const catchUpMs = 60_000
const document = 'burst'

/** A client that keeps a copy of the document, to which it applies the received updates. */
class Replica {
  readonly doc = new Y.Doc()

  constructor(socket: LoadSocket, { dialect }: Running) {
    socket.onMessage = (payload) => {
      const message = dialect.read(payload)
      if (message !== null && message.kind !== 'awareness') Y.applyUpdate(this.doc, message.bytes)
    }
  }

  get last(): number {
    return Number.parseInt(String(this.doc.getMap('map').get('value') ?? '0'), 10)
  }
}

/** A client that writes one value after the other to the same place. The document therefore stays small. */
class Writer {
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

/** Returns the peak memory of the server during `work`, in bytes. */
async function mostDuring({ pid }: Running, work: (look: () => void) => Promise<void>): Promise<number> {
  let most = 0
  await work(() => {
    most = Math.max(most, residentBytes(pid))
  })
  return most
}

/** Scenario in which one reader stops reading while many updates are sent, and then continues. */
export const slowReader: Scenario<'growth' | 'resident' | 'behind'> = {
  name: 'a reader stops during 200 MB',
  needsStore: false,
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
      new Writer(sockets.writer, server),
      new Replica(sockets.reader, server),
      new Replica(sockets.stopped, server),
    ]
    const idle = residentBytes(server.pid)
    // The memory of a process depends on its work. The memory for the same work with all readers is therefore
    // measured first and subtracted.
    const before = await mostDuring(server, (look) => writer.write(bytes, reader, look))
    sockets.stopped.pause()
    const most = await mostDuring(server, (look) => writer.write(bytes, reader, look))
    sockets.stopped.resume()
    const deadline = performance.now() + waitMs(scale, catchUpMs)
    while (stopped.last < writer.written && performance.now() < deadline) await sleep(20)
    await server.kill()
    return {
      growth: (most - before) / 2 ** 20,
      resident: (Math.max(before, most) - idle) / 2 ** 20,
      behind: writer.written - stopped.last,
    }
  },
}
