import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { clientAddress } from '../access/client-address.ts'
import { loopbackProblem } from '../access/loopback.ts'
import { TokenRefused } from '../access/tokens.ts'
import { type Close, close } from '../model/close.ts'
import { Admission, type AdmissionLimits, type Place } from './admission.ts'
import type { Gate } from './client-socket.ts'
import { Entrance, type EntranceOptions, type EntranceParts } from './entrance.ts'
import { Hocuspocus } from './hocuspocus.ts'
import { Identification } from './identification.ts'
import type { Knock } from './knock.ts'
import { yWebsocket, yWebsocketSaved } from './protocols/y-websocket.ts'
import { nothingElsewhere, refuseUpgrade } from './refusal.ts'
import { Refusals } from './refusals.ts'
import { type AskedDocument, readSyncRequest, type SyncRequest } from './request.ts'

export interface SyncOptions extends AdmissionLimits, EntranceOptions {
  /** From the upgrade request to the checked token. */
  readonly authMs: number
  /** Only loopback hosts and origins may connect. */
  readonly loopbackOnly: boolean
  /** Reverse proxies in front whose `X-Forwarded-For` is believed. */
  readonly proxies: number
}

export interface SyncParts extends EntranceParts {
  /** Serves those who may come in. */
  readonly gate: Gate
  /** Told of a token that was refused, and where it came from. Must not throw. */
  readonly onRefused: (clientAddress: string) => void
}

/** How often sessions are looked at. */
const tickMs = 500

/** Takes websocket upgrades of one HTTP server: who knocks is refused, or known and sent to the entrance. */
export class SyncServer {
  readonly #options: SyncOptions
  readonly #parts: SyncParts
  readonly #admission: Admission
  readonly #refusals: Refusals
  readonly #identification: Identification
  readonly #entrance: Entrance
  readonly #hocuspocus: Hocuspocus
  /** All that have asked for an upgrade and are still there. */
  readonly #connections = new Map<Duplex, Place>()
  readonly #ticking: NodeJS.Timeout
  #draining: Close | null = null

  constructor(options: SyncOptions, parts: SyncParts) {
    this.#options = options
    this.#parts = parts
    this.#admission = new Admission(options)
    this.#refusals = new Refusals(this.#admission, parts)
    this.#identification = new Identification({ ...parts, authMs: options.authMs })
    this.#entrance = new Entrance(options, parts)
    this.#hocuspocus = new Hocuspocus({
      ...parts,
      authMs: options.authMs,
      admission: this.#admission,
      identification: this.#identification,
      entrance: this.#entrance,
    })
    this.#ticking = setInterval(() => this.#entrance.tick(), tickMs)
    this.#ticking.unref()
  }

  /** Resolves when connections can be taken. */
  start(): Promise<void> {
    return this.#parts.gate.start()
  }

  /** Takes over a connection from the HTTP server, unless it is destroyed already. Never throws. */
  upgrade(request: IncomingMessage, connection: Duplex, head: Buffer): void {
    if (connection.destroyed) return
    connection.on('error', ignoreConnectionError)
    const place: Place = { address: null, workspaceId: null }
    this.#connections.set(connection, place)
    connection.on('close', () => this.#gone(connection, place))
    const asked = readSyncRequest(request)
    if (asked.kind === 'elsewhere') return refuseUpgrade(request, connection, nothingElsewhere)
    const address = clientAddress(request, this.#options.proxies)
    const knock: Knock = { request, connection, head, address }
    const refusal = this.#refusalBefore(knock, asked)
    if (refusal !== null || asked.kind === 'bad') {
      return this.#refusals.refuse(knock, refusal ?? close('bad', 'bad address'))
    }
    if (asked.kind === 'shared') {
      const closed = this.#gateProblem()
      if (closed !== null) return this.#refusals.refuse(knock, closed)
      this.#admission.enter(place, address)
      return this.#hocuspocus.accept(knock, asked)
    }
    this.#authenticate(knock, asked, place).catch((error: unknown) => {
      this.#parts.logger.error({ err: error }, 'upgrade failed')
      connection.destroy()
    })
  }

  /** Refuses newcomers, ends everyone with `reason`, resolves when all are gone or after `timeoutMs`. */
  async drain(reason: Close, timeoutMs: number): Promise<void> {
    this.#draining = reason
    this.#entrance.drain(reason)
    this.#hocuspocus.drain(reason)
    const deadline = performance.now() + timeoutMs
    while (this.#connections.size > 0 && performance.now() < deadline) await sleep(10)
    for (const connection of this.#connections.keys()) connection.destroy()
    await this.end()
  }

  /** Cuts off whoever is left. */
  async end(): Promise<void> {
    clearInterval(this.#ticking)
    await this.#parts.gate.end()
    this.#entrance.end()
  }

  #gone(connection: Duplex, place: Place): void {
    this.#admission.leave(place)
    this.#connections.delete(connection)
  }

  #gateProblem(): Close | null {
    return this.#parts.gate.isOpen ? null : close('overloaded', 'no connections are taken for a moment')
  }

  #refusalBefore({ request, address }: Knock, asked: SyncRequest): Close | null {
    if (this.#draining !== null) return this.#draining
    const tooSoon = this.#admission.rateProblem(address)
    if (tooSoon !== null) return tooSoon
    if (asked.kind === 'bad') return close('bad', asked.reason)
    const problem = this.#options.loopbackOnly ? loopbackProblem(request.headers) : null
    if (problem !== null) return close('unauthenticated', problem)
    return this.#admission.problem(address)
  }

  async #authenticate(knock: Knock, asked: AskedDocument, place: Place): Promise<void> {
    const { connection, address } = knock
    this.#admission.enter(place, address)
    const identified = this.#admission.enterPending(address)
    const { withdrawals } = this.#entrance
    const identity = await this.#identification.of(asked.token, asked.origin).finally(identified)
    if (connection.destroyed) return
    if (identity instanceof TokenRefused)
      return this.#refusals.refuse(knock, this.#identification.refused(identity, address))
    const { workspaceId } = identity.tenant
    const full = this.#admission.workspaceProblem(workspaceId) ?? this.#gateProblem()
    if (full !== null) return this.#refusals.refuse(knock, full, workspaceId)
    this.#admission.enterWorkspace(place, workspaceId)
    const protocol = asked.asksSaved ? yWebsocketSaved : yWebsocket
    this.#parts.gate.accept(knock, workspaceId, (socket) =>
      this.#entrance.admit({ socket, protocol, identity, withdrawals, tokens: null, ...asked }),
    )
  }
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** The connection's end is handled by its 'close'; without a listener an error would end the process. */
const ignoreConnectionError = (): void => {}
