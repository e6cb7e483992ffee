import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { subnetOf } from '../../core/access/client-address.ts'
import { KeyedCounter } from '../../core/quota/keyed-counter.ts'
import { onWebsocket } from './http-server.ts'

export interface HttpConnectionLimits {
  /** Maximum number of connections from one address; 0: unlimited. */
  readonly perAddressMax: number
  /**
   * Maximum number of all connections, including upgraded ones. The limit leaves file descriptors for the
   * store.
   */
  readonly inAllMax: number
  /** Called when an address, or all addresses together, exceed a limit. */
  readonly onExceeded: (limit: 'httpConnectionsPerAddress' | 'openFiles', address: string) => void
}

/**
 * Limits the number of all connections, and the number of connections from one address that are not upgraded.
 * Before a request arrives, only the address is known, and a connection without a request uses a file
 * descriptor for 10 s. Excess connections are closed without a response, because there is no request yet.
 * Behind reverse proxies, a limit per address is useless, because all connections come from the addresses of
 * the proxies.
 */
export function limitConnections(
  server: Server,
  { perAddressMax, inAllMax, onExceeded }: HttpConnectionLimits,
): void {
  const tally = new KeyedCounter(perAddressMax)
  /** Connections that are not upgraded, with their addresses. */
  const counted = new Map<Duplex, string>()
  let inAll = 0
  const uncount = (socket: Duplex): void => {
    const address = counted.get(socket)
    if (counted.delete(socket) && address !== undefined) tally.remove(address)
  }
  // This is one function for all sockets, because a closure would use memory for each connection.
  function gone(this: Socket): void {
    inAll -= 1
    uncount(this)
  }
  server.on('connection', (socket) => {
    const address = subnetOf(socket.remoteAddress ?? '')
    const isFull = inAll >= inAllMax
    if (isFull || tally.isFull(address)) {
      onExceeded(isFull ? 'openFiles' : 'httpConnectionsPerAddress', address)
      socket.destroy()
      return
    }
    inAll += 1
    tally.add(address)
    counted.set(socket, address)
    socket.on('close', gone)
  })
  onWebsocket(server, (_request, socket) => uncount(socket))
}
