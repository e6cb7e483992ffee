import type { Server } from 'ws'
import type { LimitName } from '../quota/limits.ts'
import { Endings, type EndingsParts } from './endings.ts'
import type { Knock } from './knock.ts'
import type { SyncSocket } from './socket.ts'
import { websockets } from './websockets.ts'

/** Makes websockets of connections, with messages up to one size. */
export class Upgrades {
  readonly #sockets: Server<typeof SyncSocket>
  readonly #endings: Endings
  readonly #closed = (code: number): void => this.#endings.closed(code)

  /** @param limit what has acted when a message is larger */
  constructor(messageBytesMax: number, limit: LimitName, parts: EndingsParts) {
    this.#sockets = websockets(messageBytesMax)
    this.#endings = new Endings(limit, parts)
  }

  /** @param who is told of when a message is too large */
  accept({ request, connection, head }: Knock, who: string, then: (socket: SyncSocket) => void): void {
    this.#sockets.handleUpgrade(request, connection, head, (socket) => {
      this.#watch(socket, who)
      then(socket)
    })
  }

  /** Apart from the above, so that what is kept for as long as the socket does not keep its request. */
  #watch(socket: SyncSocket, who: string): void {
    socket.on('error', (error: NodeJS.ErrnoException) => this.#endings.failed(error.code ?? '', error, who))
    socket.on('close', this.#closed)
  }
}
