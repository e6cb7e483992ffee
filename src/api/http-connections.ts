import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { networkOf } from '../access/client-address.ts'
import { Tally } from '../quota/tally.ts'

export interface HttpConnectionLimits {
  /** From one address; 0 is no limit. */
  readonly perAddressMax: number
  /** In all, upgraded ones too: for more there are no files, and the store needs some. */
  readonly inAllMax: number
  /** An address has too many, or all have. */
  readonly acted: (limit: 'maxHttpConnectionsPerAddress' | 'openFiles', address: string) => void
}

/**
 * Bounds all connections, and those from one address that are not upgraded: before a request has come nothing else is
 * known of them, and one that never sends any holds a file for 10 s. What is too many is closed without a word: nobody
 * has asked anything yet. By address it is of no use behind reverse proxies, whose addresses these are.
 */
export function boundConnections(
  server: Server,
  { perAddressMax, inAllMax, acted }: HttpConnectionLimits,
): void {
  const tally = new Tally(perAddressMax)
  /** Connections that are not upgraded, and their addresses. */
  const counted = new Map<Duplex, string>()
  let inAll = 0
  const uncount = (socket: Duplex): void => {
    const address = counted.get(socket)
    if (counted.delete(socket) && address !== undefined) tally.remove(address)
  }
  // One function for all: those of its own would be kept as long as each connection.
  function gone(this: Socket): void {
    inAll -= 1
    uncount(this)
  }
  server.on('connection', (socket) => {
    const address = networkOf(socket.remoteAddress ?? '')
    const isFull = inAll >= inAllMax
    if (isFull || tally.isFull(address)) {
      acted(isFull ? 'openFiles' : 'maxHttpConnectionsPerAddress', address)
      socket.destroy()
      return
    }
    inAll += 1
    tally.add(address)
    counted.set(socket, address)
    socket.on('close', gone)
  })
  server.on('upgrade', (_request, socket: Duplex) => uncount(socket))
}
