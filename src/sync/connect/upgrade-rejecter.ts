import type { WebSocket } from 'ws'
import type { Close } from '../../model/close.ts'
import type { ClientSocket } from '../socket/client-socket.ts'
import type { CloseReporterDependencies } from '../socket/close-reporter.ts'
import type { Admission } from './admission.ts'
import { type UpgradeRequest, WebsocketUpgrader } from './websocket-upgrader.ts'

/** Maximum number of bytes that a rejected client may send. */
const unauthenticatedBytesMax = 65_536
/** Number of bytes that are counted for each message in addition to its payload. */
const frameBytes = 8

/**
 * Rejects connections that have requested an upgrade, and limits the bytes that their clients may still send.
 */
export class UpgradeRejecter {
  readonly #admission: Admission
  readonly #reports: CloseReporterDependencies['reports']
  /** Completes the upgrade of a rejected connection, so that it can be closed with a reason. */
  readonly #upgrader: WebsocketUpgrader

  constructor(admission: Admission, dependencies: CloseReporterDependencies) {
    this.#admission = admission
    this.#reports = dependencies.reports
    this.#upgrader = new WebsocketUpgrader(unauthenticatedBytesMax, 'unauthenticatedBytes', dependencies)
  }

  /**
   * Completes the upgrade of a connection, and closes the websocket with the reason.
   * @param limitKey key for the limit report, if a limit was exceeded
   */
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

  /** Limits the bytes that a rejected client may send, including bytes after the close frame. */
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
 * Resumes and closes an accepted websocket. The upgrade of a rejected client is completed before the close,
 * because a browser hides the status and the reason of a failed upgrade from the page.
 */
export function acceptAndClose(socket: Pick<ClientSocket, 'resume' | 'close'>, reason: Close): void {
  socket.resume()
  socket.close(reason.code, reason.reason)
}
