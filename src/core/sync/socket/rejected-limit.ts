import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import { pieceCostBytes } from '../../quota/tick-shares.ts'
import { FrameBoundaries } from './frame-boundaries.ts'
import { endWithError } from './incomplete-message.ts'

/** Maximum number of bytes that a rejected client may send. Each frame counts as `pieceCostBytes` more. */
export const rejectedBytesMax = 65_536

/** Code of the error of a websocket whose client sends too much while it is closed. */
export const tooMuchAfterClose = 'TOO_MUCH_AFTER_CLOSE'

/**
 * Ends the connection of a websocket that is being closed when its client sends more than `bytesMax`, also after the
 * close frame. Each frame counts as `pieceCostBytes` more.
 */
export function limitClosing(socket: WebSocket, connection: Duplex, bytesMax: number): void {
  const boundaries = new FrameBoundaries()
  let bytes = 0
  const count = (chunk: Buffer): void => {
    bytes += chunk.length
    boundaries.pass(chunk)
    if (bytes + boundaries.frames * pieceCostBytes <= bytesMax) return
    connection.off('data', count)
    endWithError(socket, connection, tooMuchAfterClose, `more than ${bytesMax} bytes after the close`)
  }
  connection.on('data', count)
}
