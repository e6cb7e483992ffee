import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import { pieceCostBytes } from '../../quota/tick-shares.ts'
import { FrameBoundaries } from './frame-boundaries.ts'

/** Maximum number of bytes that a rejected client may send. Each frame counts as `pieceCostBytes` more. */
export const rejectedBytesMax = 65_536

/**
 * Ends the connection of a rejected client when it sends more than `rejectedBytesMax`, also after the close frame.
 * @param exceeded called before the end
 */
export function limitRejected(socket: WebSocket, connection: Duplex, exceeded: () => void): void {
  const boundaries = new FrameBoundaries()
  let bytes = 0
  const count = (chunk: Buffer): void => {
    bytes += chunk.length
    boundaries.pass(chunk)
    if (bytes + boundaries.frames * pieceCostBytes <= rejectedBytesMax) return
    connection.off('data', count)
    exceeded()
    socket.terminate()
  }
  connection.on('data', count)
}
