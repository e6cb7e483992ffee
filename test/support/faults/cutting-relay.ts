import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { Random } from '../data/random-doc.ts'

/** A relay of TCP connections in front of a server. */
export interface CuttingRelay {
  readonly url: string
  readonly wsUrl: string
  /** Cuts each connection at a random time, also in the middle of a request or a response. */
  cut(): void
  /** Lets all later connections live. */
  heal(): void
  /** Number of connections that were cut. */
  readonly cuts: number
  stop(): void
}

/** Maximum life of a connection in ms while the relay cuts. */
const lifeMs = 600

export async function startCuttingRelay(port: number, random: Random): Promise<CuttingRelay> {
  const sockets = new Set<Socket>()
  const open = new Set<() => void>()
  let isCutting = false
  let cuts = 0
  const cutLater = (end: () => void): void => {
    setTimeout(() => {
      if (!isCutting || !open.has(end)) return
      cuts += 1
      end()
    }, random.below(lifeMs))
  }
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1')
    const end = (): void => {
      client.destroy()
      upstream.destroy()
    }
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', end).on('close', end)
      socket.on('close', () => sockets.delete(socket))
    }
    client.pipe(upstream)
    upstream.pipe(client)
    open.add(end)
    client.on('close', () => open.delete(end))
    if (isCutting) cutLater(end)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    wsUrl: url.replace('http', 'ws'),
    cut: () => {
      isCutting = true
      for (const end of open) cutLater(end)
    },
    heal: () => {
      isCutting = false
    },
    get cuts() {
      return cuts
    },
    stop: () => {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
