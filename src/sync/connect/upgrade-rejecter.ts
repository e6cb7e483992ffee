import type { WebSocket } from 'ws'
import type { Close } from '../../model/close.ts'
import type { ClientSocket } from '../socket/client-socket.ts'
import type { CloseReporterDependencies } from '../socket/close-reporter.ts'
import type { Admission } from './admission.ts'
import { type UpgradeRequest, WebsocketUpgrader } from './websocket-upgrader.ts'

/** Maximum number of bytes that a client may send before authentication. */
const unauthenticatedBytesMax = 65_536
/** Bytes that are counted for each message in addition to its length. */
const frameBytes = 8

/** Rejects connections that have requested an upgrade, and bounds the bytes that they may send. */
export class UpgradeRejecter {
  readonly #admission: Admission
  readonly #reports: CloseReporterDependencies['reports']
  /** Completes the upgrade of rejected connections. */
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

  /** Limits the bytes that a rejected client may send before and after it receives the close frame. */
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

/**
 * Resumes and closes an accepted websocket. The upgrade completes first, because a browser shows a page neither
 * status nor reason of a failed one.
 */
export function acceptAndClose(socket: Pick<ClientSocket, 'resume' | 'close'>, reason: Close): void {
  socket.resume()
  socket.close(reason.code, reason.reason)
}
