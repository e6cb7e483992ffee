import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { subnetOf } from '../../access/client-address.ts'
import { KeyedCounter } from '../../quota/keyed-counter.ts'

export interface HttpConnectionLimits {
  /** From one address; 0 is no limit. */
  readonly perAddressMax: number
  /** In all, upgraded ones too: for more there are no files, and the store needs some. */
  readonly inAllMax: number
  /** An address has too many, or all have. */
  readonly onExceeded: (limit: 'maxHttpConnectionsPerAddress' | 'openFiles', address: string) => void
}

/**
 * Bounds all connections, and those from one address that are not upgraded: before a request has come nothing else is
 * known of them, and one that never sends any holds a file for 10 s. What is too many is closed without a word: nobody
 * has asked anything yet. By address it is of no use behind reverse proxies, whose addresses these are.
 */
export function limitConnections(
  server: Server,
  { perAddressMax, inAllMax, onExceeded }: HttpConnectionLimits,
): void {
  const tally = new KeyedCounter(perAddressMax)
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
    const address = subnetOf(socket.remoteAddress ?? '')
    const isFull = inAll >= inAllMax
    if (isFull || tally.isFull(address)) {
      onExceeded(isFull ? 'openFiles' : 'maxHttpConnectionsPerAddress', address)
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
