import { TokenRejectedError } from '../../access/tokens/realtime-tokens.ts'
import type { Log } from '../../log.ts'
import { type Close, close } from '../../model/close.ts'
import type { LimitReports } from '../../quota/limit-reports.ts'
import type { DocumentChannel } from '../multiplex/document-channel.ts'
import { MultiplexedSocket } from '../multiplex/multiplexed-socket.ts'
import { PerDocumentProtocols } from '../protocols/per-document-protocols.ts'
import { SocketTokens } from '../session/socket-tokens.ts'
import type { ClientSocket } from '../socket/client-socket.ts'
import type { SocketAcceptor } from '../socket/local-socket.ts'
import type { ReadBackpressure } from '../socket/read-backpressure.ts'
import type { Admission, AdmissionTicket } from './admission.ts'
import { readDocumentPath } from './document-path.ts'
import type { RejectionLog } from './rejection-log.ts'
import type { SessionManager } from './session-manager.ts'
import type { SocketAuthentication } from './socket-authentication.ts'
import type { MultiplexedRequest } from './sync-request.ts'
import type { UpgradeRequest } from './upgrade-request.ts'

export interface HocuspocusEndpointOptions {
  readonly gate: SocketAcceptor
  readonly admission: Admission
  readonly identification: SocketAuthentication
  readonly entrance: SessionManager
  readonly rejections: RejectionLog
  readonly reports: LimitReports
  readonly pressure: ReadBackpressure
  readonly logger: Log
  /** From the upgrade to the first checked token. */
  readonly authMs: number
}

/** How long a socket without documents stays. */
const idleMs = 60_000

/** A socket, and what it came with. */
interface Caller {
  readonly socket: MultiplexedSocket
  readonly tokens: SocketTokens
  readonly asked: MultiplexedRequest
  readonly clientAddress: string
  /** Calls it known. */
  readonly identified: () => void
}

/**
 * The door of HocuspocusProvider: any number of documents share a websocket, each with a token of its own that comes as
 * a message. Nobody is known before the first of them.
 */
export class HocuspocusEndpoint {
  readonly #parts: HocuspocusEndpointOptions
  readonly #protocols = new PerDocumentProtocols()
  readonly #sockets = new Set<MultiplexedSocket>()
  #draining: Close | null = null

  constructor(parts: HocuspocusEndpointOptions) {
    this.#parts = parts
  }

  accept(upgrade: UpgradeRequest, asked: MultiplexedRequest): void {
    const { gate, admission } = this.#parts
    const { address } = upgrade
    const identified = admission.enterPending(address)
    upgrade.connection.on('close', identified)
    gate.accept(upgrade, null, (socket) => this.#serve(socket, address, asked, identified))
  }

  /** From now on newcomers are refused. Returns what ends the sockets there are. */
  drain(reason: Close): readonly (() => void)[] {
    this.#draining = reason
    return [...this.#sockets].map((socket) => () => socket.end(reason))
  }

  #serve(socket: ClientSocket, address: string, asked: MultiplexedRequest, identified: () => void): void {
    const { reports, pressure } = this.#parts
    const { token, origin, misspelled } = asked
    const end = (reason: Close): void => shared.end(reason)
    const tokens = new SocketTokens(this.#parts, { address, token, origin, misspelled, end })
    const shared: MultiplexedSocket = new MultiplexedSocket(socket, {
      address,
      pressure,
      onToken: (channel, sent) =>
        this.#authenticate(
          { socket: shared, tokens, asked, identified, clientAddress: address },
          channel,
          sent,
        ),
      tooMuch: () => reports.exceeded('unauthenticatedBytes', address),
      closed: (reason) => this.#parts.rejections.closed(address, reason, null),
      gone: () => {
        clearTimeout(late)
        clearInterval(idle)
        this.#sockets.delete(shared)
      },
    })
    const late = setTimeout(() => this.#endUnknown(shared, address), this.#parts.authMs)
    const idle = setInterval(() => shared.size === 0 && shared.end(unused), idleMs)
    this.#sockets.add(shared)
    if (this.#draining !== null) shared.end(this.#draining)
  }

  #endUnknown(socket: MultiplexedSocket, address: string): void {
    if (socket.isKnown) return
    this.#parts.identification.refused(new TokenRejectedError('timeout'), address, null)
    socket.end(close('unauthenticated', `no token received within ${this.#parts.authMs / 1000} s`))
  }

  #authenticate(caller: Caller, channel: DocumentChannel, token: string): void {
    this.#enter(caller, channel, token).catch((error: unknown) => {
      this.#parts.logger.error({ err: error }, 'a token could not be checked')
      refuse(channel, close('tryAgainLater', 'the token could not be checked: try again'))
    })
  }

  async #enter(caller: Caller, channel: DocumentChannel, token: string): Promise<void> {
    const { entrance } = this.#parts
    const { socket, tokens, asked, identified, clientAddress } = caller
    const [name = ''] = channel.name.split('\0')
    const { path, problem } = readDocumentPath(name.split('/'))
    const reject = (reason: Close): void => {
      this.#parts.rejections.socket(clientAddress, reason, path ?? name)
      refuse(channel, reason)
    }
    if (path === null) return reject(close('badRequest', problem))
    const { withdrawals } = entrance
    const identity = await socket.held(tokens.of(token))
    if (!socket.socket.isOpen) return
    // Who has left meanwhile has tried it all the same.
    if (identity instanceof TokenRejectedError) return refuse(channel, tokens.refused(identity, path))
    if (!channel.isOpen) return
    socket.know(identity.tenant.workspaceId)
    identified()
    const full = this.#enterWorkspace(channel, identity.tenant.workspaceId)
    if (full !== null) return reject(full)
    const { origin } = asked
    entrance.admit({
      socket: channel,
      protocol: this.#protocols.enter(channel),
      identity,
      path,
      clientAddress,
      origin,
      renews: false,
      tokens,
      listens: true,
      withdrawals,
    })
  }

  /** Each document counts as a connection of its workspace. Null if the limit permits it. */
  #enterWorkspace(channel: DocumentChannel, workspaceId: string): Close | null {
    const { admission, reports } = this.#parts
    const full = admission.workspaceProblem(workspaceId)
    if (full !== null) {
      if (full.limit !== null) reports.exceeded(full.limit, workspaceId)
      return full
    }
    const place: AdmissionTicket = { address: null, workspaceId: null }
    admission.enterWorkspace(place, workspaceId)
    channel.onClosed(() => admission.leave(place))
    return null
  }
}

const refuse = (channel: DocumentChannel, { code, reason }: Close): void => channel.close(code, reason)

/** Clients come back when they have a document again. */
const unused = close('serviceRestart', 'no open document on this connection; reconnect')
