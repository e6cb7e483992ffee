import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'

/** A connection with an upgrade request. */
export interface UpgradeRequest {
  readonly request: IncomingMessage
  readonly connection: Duplex
  readonly head: Buffer
  readonly address: string
}
