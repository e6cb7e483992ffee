import { WebSocket } from 'ws'
import type { WeftSocketOptions } from '../../../src/client/weft-socket.ts'
import { builtFile } from '../../../src/core/base/package-file.ts'

let pages = 0

/**
 * Loads the built class of sockets as a new page does: it knows nothing about any origin.
 * @param options by default, a websocket or a stream must open within 1 s
 */
export async function pageSocket(options: WeftSocketOptions = {}) {
  pages += 1
  const { weftSocket } = (await import(
    `${builtFile('client/weft-socket.js').href}?page=${pages}`
  )) as typeof import('../../../src/client/weft-socket.ts')
  return weftSocket({ WebSocket: WebSocket as never, stallMs: 1_000, ...options })
}
