import type { Server } from 'node:http'
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
  const leaving = new WeakMap<Duplex, () => void>()
  let inAll = 0
  server.on('connection', (socket) => {
    const address = networkOf(socket.remoteAddress ?? '')
    const isFull = inAll >= inAllMax
    if (isFull || tally.isFull(address)) {
      acted(isFull ? 'openFiles' : 'maxHttpConnectionsPerAddress', address)
      socket.destroy()
      return
    }
    inAll += 1
    const leave = tally.enter(address)
    leaving.set(socket, leave)
    socket.once('close', () => {
      inAll -= 1
      leave()
    })
  })
  server.on('upgrade', (_request, socket: Duplex) => leaving.get(socket)?.())
}
