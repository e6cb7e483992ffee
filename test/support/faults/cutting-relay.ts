import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A relay of TCP connections in front of a server. */
export interface CuttingRelay {
  readonly url: string
  readonly wsUrl: string
  /** Cuts each connection at the end of its life, also in the middle of a request or a response. */
  cut(): void
  /** Ends all connections, and each new one, until `heal`. */
  reject(): void
  /** Lets all later connections live. */
  heal(): void
  /** Number of connections that were cut. */
  readonly cuts: number
  stop(): void
}

/**
 * Starts a relay. It does not cut at first.
 * @param url address of the server
 * @param lifeMs returns the life of a connection in ms while the relay cuts
 */
export async function startCuttingRelay(url: string, lifeMs: () => number): Promise<CuttingRelay> {
  const { hostname, port, protocol } = new URL(url)
  const sockets = new Set<Socket>()
  const open = new Set<() => void>()
  const timers = new Set<NodeJS.Timeout>()
  let isCutting = false
  let isRejecting = false
  let cuts = 0
  const cutLater = (end: () => void): void => {
    const timer = setTimeout(() => {
      timers.delete(timer)
      if (!isCutting || !open.has(end)) return
      cuts += 1
      end()
    }, lifeMs())
    timers.add(timer)
  }
  const server = createServer((client) => {
    if (isRejecting) {
      client.destroy()
      return
    }
    const upstream = connect(Number(port), hostname)
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
  const ownUrl = `${protocol}//${hostname}:${(server.address() as AddressInfo).port}`
  return {
    url: ownUrl,
    wsUrl: ownUrl.replace('http', 'ws'),
    cut: () => {
      isCutting = true
      for (const end of open) cutLater(end)
    },
    reject: () => {
      isRejecting = true
      for (const end of open) end()
    },
    heal: () => {
      isCutting = false
      isRejecting = false
    },
    get cuts() {
      return cuts
    },
    stop: () => {
      server.close()
      for (const timer of timers) clearTimeout(timer)
      for (const socket of sockets) socket.destroy()
    },
  }
}
