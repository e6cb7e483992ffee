import type { ClientProtocol } from './client-protocol.ts'

/** A server that runs in a separate process. */
export interface Running {
  readonly pid: number
  readonly dialect: ClientProtocol
  /** Returns the websocket URL of a document. */
  url(document: string): string
  /** Stops the server and waits until it has ended. */
  stop(): Promise<void>
  kill(): Promise<void>
}

export interface Contender {
  readonly name: string
  /** Whether the server stores documents. */
  readonly keeps: boolean
  /** Starts the server. @param data empty directory that only this server uses */
  start(data: string): Promise<Running>
}
