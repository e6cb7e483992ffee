import type { Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { networkOf } from '../access/client-address.ts'
import { Tally } from '../quota/tally.ts'

export interface HttpConnectionLimits {
  /** From one address; 0 is no limit. */
  readonly perAddressMax: number
  /** An address has too many. */
  readonly acted: (address: string) => void
}

/**
 * Bounds the connections from one address that are not upgraded: before a request has come nothing else is known of
 * them, and one that never sends any holds a file for 10 s. What is too many is closed without a word: nobody has
 * asked anything yet. Of no use behind reverse proxies, whose addresses these are.
 */
export function boundConnections(server: Server, { perAddressMax, acted }: HttpConnectionLimits): void {
  const tally = new Tally(perAddressMax)
  const leaving = new WeakMap<Duplex, () => void>()
  server.on('connection', (socket) => {
    const address = networkOf(socket.remoteAddress ?? '')
    if (tally.isFull(address)) {
      acted(address)
      socket.destroy()
      return
    }
    const leave = tally.enter(address)
    leaving.set(socket, leave)
    socket.once('close', leave)
  })
  server.on('upgrade', (_request, socket: Duplex) => leaving.get(socket)?.())
}
