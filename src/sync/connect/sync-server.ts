import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { clientAddress } from '../../access/client-address.ts'
import { loopbackViolation } from '../../access/loopback-guard.ts'
import { TokenRejectedError } from '../../access/tokens/realtime-tokens.ts'
import type { ApiError } from '../../errors.ts'
import type { DocumentPath } from '../../model/address.ts'
import { type Close, close } from '../../model/close.ts'
import { yWebsocket, yWebsocketSaved } from '../protocols/y-websocket.ts'
import type { SocketAcceptor } from '../socket/local-socket.ts'
import { Admission, type AdmissionLimits, type AdmissionTicket } from './admission.ts'
import { HocuspocusEndpoint } from './hocuspocus-endpoint.ts'
import { handshakeError, rejectUpgrade, unknownPath } from './http-rejection.ts'
import type { Requested } from './rejection-log.ts'
import { ServerFaults } from './server-faults.ts'
import { type EntranceOptions, SessionManager, type SessionManagerOptions } from './session-manager.ts'
import { SocketAuthentication } from './socket-authentication.ts'
import { staggerCalls } from './staggered-close.ts'
import { type DocumentRequest, readSyncRequest, type SyncRequest } from './sync-request.ts'
import { UpgradeRejecter } from './upgrade-rejecter.ts'
import type { UpgradeRequest } from './upgrade-request.ts'

export interface SyncOptions extends AdmissionLimits, EntranceOptions {
  /** From the upgrade request to the checked token. */
  readonly authMs: number
  /** Only loopback hosts and origins may connect. */
  readonly loopbackOnly: boolean
  /** Reverse proxies in front whose `X-Forwarded-For` is believed. */
  readonly proxies: number
}

export interface SyncServerOptions extends SessionManagerOptions {
  /** Serves those who may come in. */
  readonly gate: SocketAcceptor
  /** Told of a token that was refused, and where it came from. Must not throw. */
  readonly onRefused: (clientAddress: string) => void
}

/** How often sessions are looked at. */
const tickMs = 500

/** Takes websocket upgrades of one HTTP server: who knocks is refused, or known and sent to the entrance. */
export class SyncServer {
  readonly #options: SyncOptions
  readonly #parts: SyncServerOptions
  readonly #admission: Admission
  readonly #refusals: UpgradeRejecter
  readonly #identification: SocketAuthentication
  readonly #entrance: SessionManager
  readonly #hocuspocus: HocuspocusEndpoint
  /** All that have asked for an upgrade and are still there. */
  readonly #connections = new Map<Duplex, AdmissionTicket>()
  readonly #ticking: NodeJS.Timeout
  #draining: Close | null = null

  constructor(options: SyncOptions, given: Omit<SyncServerOptions, 'faults'>) {
    const parts: SyncServerOptions = { ...given, faults: new ServerFaults(given) }
    this.#options = options
    this.#parts = parts
    this.#admission = new Admission(options)
    this.#refusals = new UpgradeRejecter(this.#admission, parts)
    this.#identification = new SocketAuthentication({ ...parts, authMs: options.authMs })
    this.#entrance = new SessionManager(options, parts)
    this.#hocuspocus = new HocuspocusEndpoint({
      ...parts,
      authMs: options.authMs,
      admission: this.#admission,
      identification: this.#identification,
      entrance: this.#entrance,
    })
    this.#ticking = setInterval(() => this.#entrance.tick(), tickMs)
    this.#ticking.unref()
  }

  /** Takes over a connection from the HTTP server, unless it is destroyed already. Never throws. */
  upgrade(request: IncomingMessage, connection: Duplex, head: Buffer): void {
    if (connection.destroyed) return
    connection.on('error', ignoreConnectionError)
    const place: AdmissionTicket = { address: null, workspaceId: null }
    this.#connections.set(connection, place)
    connection.on('close', () => this.#gone(connection, place))
    const asked = readSyncRequest(request)
    if (asked.kind === 'elsewhere') return this.#rejectUpgrade(request, connection, unknownPath)
    const error = handshakeError(request)
    if (error !== null) return this.#rejectUpgrade(request, connection, error)
    const address = clientAddress(request, this.#options.proxies)
    const attempt: UpgradeRequest = { request, connection, head, address }
    if (asked.kind !== 'bad' && asked.misspelled !== null)
      this.#parts.rejections.misspelled(address, asked.misspelled, pathOf(asked))
    const refusal = this.#refusalBefore(attempt, asked)
    if (refusal !== null || asked.kind === 'bad') {
      return this.#refuse(
        attempt,
        refusal ??
          close('badRequest', 'invalid address; expected /sync/{organizationId}/{documentId}/{editorId}'),
        asked.kind === 'bad' ? (request.url ?? '') : pathOf(asked),
      )
    }
    if (asked.kind === 'shared') {
      this.#admission.enter(place, address)
      return this.#hocuspocus.accept(attempt, asked)
    }
    this.#authenticate(attempt, asked, place).catch((error: unknown) => {
      this.#parts.logger.error({ err: error }, 'upgrade failed')
      connection.destroy()
    })
  }

  /**
   * Refuses newcomers, ends everyone with `reason`, resolves when all are gone or after `timeoutMs`.
   * @param overMs so long it may take until the last one is told: they go on elsewhere
   */
  async drain(reason: Close, timeoutMs: number, overMs = 0): Promise<void> {
    const deadline = performance.now() + timeoutMs
    this.#draining = reason
    const doors = [this.#entrance, this.#hocuspocus]
    await staggerCalls(
      doors.flatMap((door) => door.drain(reason)),
      overMs,
    )
    while (this.#connections.size > 0 && performance.now() < deadline) await sleep(10)
    for (const connection of this.#connections.keys()) connection.destroy()
    this.end()
  }

  /** Cuts off whoever is left. */
  end(): void {
    clearInterval(this.#ticking)
    this.#entrance.end()
    this.#parts.faults.end()
  }

  #refuse(attempt: UpgradeRequest, reason: Close, requested: Requested, who?: string): void {
    this.#parts.rejections.socket(attempt.address, reason, requested)
    this.#refusals.refuse(attempt, reason, who)
  }

  #rejectUpgrade(request: IncomingMessage, connection: Duplex, error: ApiError): void {
    const address = clientAddress(request, this.#options.proxies)
    this.#parts.rejections.upgrade(address, error, request.url ?? '')
    rejectUpgrade(request, connection, error)
  }

  #gone(connection: Duplex, place: AdmissionTicket): void {
    this.#admission.leave(place)
    this.#connections.delete(connection)
  }

  #refusalBefore({ request, address }: UpgradeRequest, asked: SyncRequest): Close | null {
    if (this.#draining !== null) return this.#draining
    const tooSoon = this.#admission.rateProblem(address)
    if (tooSoon !== null) return tooSoon
    if (asked.kind === 'bad') return close('badRequest', asked.reason)
    const problem = this.#options.loopbackOnly ? loopbackViolation(request.headers) : null
    if (problem !== null) return close('unauthenticated', problem)
    return this.#admission.problem(address)
  }

  async #authenticate(
    attempt: UpgradeRequest,
    asked: DocumentRequest,
    place: AdmissionTicket,
  ): Promise<void> {
    const { connection, address } = attempt
    this.#admission.enter(place, address)
    const identified = this.#admission.enterPending(address)
    const { withdrawals } = this.#entrance
    const identity = await this.#identification.of(asked.token, asked.origin).finally(identified)
    if (connection.destroyed) return
    if (identity instanceof TokenRejectedError)
      return this.#refusals.refuse(
        attempt,
        this.#identification.refused(identity, address, asked.path, asked.misspelled),
      )
    const { workspaceId } = identity.tenant
    const full = this.#admission.workspaceProblem(workspaceId)
    if (full !== null) return this.#refuse(attempt, full, asked.path, workspaceId)
    this.#admission.enterWorkspace(place, workspaceId)
    const protocol = asked.asksSaved ? yWebsocketSaved : yWebsocket
    this.#parts.gate.accept(attempt, workspaceId, (socket) =>
      this.#entrance.admit({
        socket,
        protocol,
        identity,
        withdrawals,
        tokens: null,
        clientAddress: address,
        ...asked,
      }),
    )
  }
}

const pathOf = (asked: SyncRequest): DocumentPath | null => (asked.kind === 'document' ? asked.path : null)

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** The connection's end is handled by its 'close'; without a listener an error would end the process. */
const ignoreConnectionError = (): void => {}
