import type { WebSocket } from 'ws'
import type { Close } from '../model/close.ts'
import type { Admission } from './admission.ts'
import type { ClientSocket } from './client-socket.ts'
import type { EndingsParts } from './endings.ts'
import type { Knock } from './knock.ts'
import { Upgrades } from './upgrades.ts'

/** What a client may send, in all, that has not been authenticated. */
const unauthenticatedBytesMax = 65_536
/** Counted with each of its messages. */
const frameBytes = 8

/** Refuses connections that have asked for an upgrade: next to nothing is read of what they send. */
export class Refusals {
  readonly #admission: Admission
  readonly #reports: EndingsParts['reports']
  /** Accepts those who are then refused. */
  readonly #upgrades: Upgrades

  constructor(admission: Admission, parts: EndingsParts) {
    this.#admission = admission
    this.#reports = parts.reports
    this.#upgrades = new Upgrades(unauthenticatedBytesMax, 'unauthenticatedBytes', parts)
  }

  /** @param who is told of, where a limit has acted */
  refuse(knock: Knock, reason: Close, who = knock.address): void {
    if (reason.limit !== null) this.#reports.acted(reason.limit, who)
    const leave = this.#admission.enterRefused()
    if (leave === null) {
      this.#reports.acted('pendingRefusals', who)
      return void knock.connection.destroy()
    }
    knock.connection.once('close', leave)
    this.#upgrades.accept(knock, who, (socket) => {
      this.#bound(socket, who)
      dismiss(socket, reason)
    })
  }

  /** It may have said something before it learns that it is refused, and something more to say that it has. */
  #bound(socket: WebSocket, who: string): void {
    let leftBytes = unauthenticatedBytesMax
    const count = (data: Buffer): void => {
      leftBytes -= data.length + frameBytes
      if (leftBytes >= 0 || socket.readyState === socket.CLOSED) return
      this.#reports.acted('unauthenticatedBytes', who)
      socket.terminate()
      socket.off('message', count).off('ping', count).off('pong', count)
    }
    socket.on('message', count).on('ping', count).on('pong', count)
  }
}

/** The upgrade is accepted first: a browser shows a page neither status nor reason of a refused one. */
export function dismiss(socket: Pick<ClientSocket, 'resume' | 'close'>, reason: Close): void {
  socket.resume()
  socket.close(reason.code, reason.reason)
}
