import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'

/** A connection that has asked to be upgraded. */
export interface UpgradeRequest {
  readonly request: IncomingMessage
  readonly connection: Duplex
  readonly head: Buffer
  readonly address: string
}
