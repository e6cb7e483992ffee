import type { WebSocket } from 'ws'
import type { Close } from '../../model/close.ts'
import type { ClientSocket } from '../socket/client-socket.ts'
import type { CloseReporterDependencies } from '../socket/close-reporter.ts'
import type { Admission } from './admission.ts'
import type { UpgradeRequest } from './upgrade-request.ts'
import { WebsocketUpgrader } from './websocket-upgrader.ts'

/** What a client may send, in all, that has not been authenticated. */
const unauthenticatedBytesMax = 65_536
/** Counted with each of its messages. */
const frameBytes = 8

/** Refuses connections that have asked for an upgrade: next to nothing is read of what they send. */
export class UpgradeRejecter {
  readonly #admission: Admission
  readonly #reports: CloseReporterDependencies['reports']
  /** Accepts those who are then refused. */
  readonly #upgrader: WebsocketUpgrader

  constructor(admission: Admission, dependencies: CloseReporterDependencies) {
    this.#admission = admission
    this.#reports = dependencies.reports
    this.#upgrader = new WebsocketUpgrader(unauthenticatedBytesMax, 'unauthenticatedBytes', dependencies)
  }

  /** @param limitKey for the log, if a limit was exceeded */
  reject(upgrade: UpgradeRequest, reason: Close, limitKey = upgrade.address): void {
    if (reason.limit !== null) this.#reports.exceeded(reason.limit, limitKey)
    const release = this.#admission.countRejected()
    if (release === null) {
      this.#reports.exceeded('pendingRejections', limitKey)
      return void upgrade.connection.destroy()
    }
    upgrade.connection.once('close', release)
    this.#upgrader.accept(upgrade, limitKey, (socket) => {
      this.#limitReceived(socket, limitKey)
      acceptAndClose(socket, reason)
    })
  }

  /** It may have said something before it learns that it is refused, and something more to say that it has. */
  #limitReceived(socket: WebSocket, limitKey: string): void {
    let remainingBytes = unauthenticatedBytesMax
    const count = (data: Buffer): void => {
      remainingBytes -= data.length + frameBytes
      if (remainingBytes >= 0 || socket.readyState === socket.CLOSED) return
      this.#reports.exceeded('unauthenticatedBytes', limitKey)
      socket.terminate()
      socket.off('message', count).off('ping', count).off('pong', count)
    }
    socket.on('message', count).on('ping', count).on('pong', count)
  }
}

/** The upgrade is accepted first: a browser shows a page neither status nor reason of a refused one. */
export function acceptAndClose(socket: Pick<ClientSocket, 'resume' | 'close'>, reason: Close): void {
  socket.resume()
  socket.close(reason.code, reason.reason)
}
