import type { Close } from '../../model/close.ts'
import type { LimitReports } from '../../quota/limit-reports.ts'
import type { Admission } from '../admission/admission.ts'
import type { ClientSocket } from '../socket/client-socket.ts'
import { rejectedBytesMax } from '../socket/incomplete-message.ts'
import { CloseReporter, type UpgradeRequest, WebsocketUpgrader } from '../socket/websocket-upgrader.ts'
import type { SyncDependencies } from '../sync-dependencies.ts'

/**
 * Rejects connections that have requested an upgrade, and limits the bytes that their clients may still send.
 */
export class UpgradeRejecter {
  readonly #admission: Admission
  readonly #reports: LimitReports
  /** Completes the upgrade of a rejected connection, so that it can be closed with a reason. */
  readonly #upgrader: WebsocketUpgrader

  constructor(admission: Admission, { logger, metrics, reports }: SyncDependencies) {
    this.#admission = admission
    this.#reports = reports
    const reporter = new CloseReporter('unauthenticatedBytes', logger, metrics, reports)
    this.#upgrader = new WebsocketUpgrader(rejectedBytesMax, reporter)
  }

  /**
   * Completes the upgrade of a connection, and closes the websocket with the reason.
   * @param limitKey key of the client in reports of limits
   */
  reject(upgrade: UpgradeRequest, reason: Close, limitKey = upgrade.address): void {
    const release = this.#admission.countRejected()
    if (release === null) {
      this.#reports.exceeded('pendingRejections', limitKey)
      return void upgrade.connection.destroy()
    }
    upgrade.connection.once('close', release)
    this.#upgrader.accept(upgrade, limitKey, (socket) => acceptAndClose(socket, reason))
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
