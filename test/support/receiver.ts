import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request as it came. */
export interface Received {
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
  /** Of `performance.now()`. */
  readonly at: number
}

/** Answers, or does not. */
export type Behaviour = (response: ServerResponse, received: Received) => void

export const answering =
  (status: number): Behaviour =>
  (response) => {
    response.writeHead(status).end()
  }

export const hanging: Behaviour = () => {}

/** A receiver of events on loopback. */
export class Receiver {
  readonly received: Received[] = []
  /** May be changed while it runs. */
  behaviour: Behaviour
  readonly #server: Server
  readonly url: string

  private constructor(server: Server, behaviour: Behaviour) {
    this.#server = server
    this.behaviour = behaviour
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
  }

  static async start(behaviour: Behaviour = answering(200)): Promise<Receiver> {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const receiver = new Receiver(server, behaviour)
    server.on('request', (request, response) => receiver.#take(request, response))
    return receiver
  }

  /** `webhook-id` of each request. */
  get ids(): readonly string[] {
    return this.received.map(({ headers }) => headers['webhook-id'] as string)
  }

  /** The JSON of each request. */
  get bodies(): readonly Record<string, unknown>[] {
    return this.received.map(({ body }) => JSON.parse(body) as Record<string, unknown>)
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('error', () => {})
    request.on('end', () => {
      const body = Buffer.concat(parts).toString()
      const received = { path: request.url ?? '', headers: request.headers, body, at: performance.now() }
      this.received.push(received)
      this.behaviour(response, received)
    })
  }
}
