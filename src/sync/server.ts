import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { clientAddress } from '../access/client-address.ts'
import { loopbackProblem } from '../access/loopback.ts'
import { TokenRefused } from '../access/tokens.ts'
import { ApiError } from '../errors.ts'
import { addressKey, documentAddress } from '../model/address.ts'
import { type Close, close } from '../model/close.ts'
import { Admission, type AdmissionLimits, type Place } from './admission.ts'
import type { Gate } from './client-socket.ts'
import { spread } from './departures.ts'
import { Entrance, type EntranceOptions, type EntranceParts } from './entrance.ts'
import { Hocuspocus } from './hocuspocus.ts'
import { Identification } from './identification.ts'
import type { Knock } from './knock.ts'
import type { Forwarding } from './nodes/forwarding.ts'
import type { ReadHop } from './nodes/hop.ts'
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
  /** Sends clients to other nodes; null: all are served here. */
  readonly forwarding: Forwarding | null
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

  /** Other nodes may send clients here from now on. @param url where they reach this one, such as `http://10.0.0.5:8787` */
  announce(url: string): void {
    this.#parts.forwarding?.announce(url)
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
    const hop = this.#parts.forwarding?.read(request) ?? { kind: 'direct' }
    if (hop.kind === 'forged') return refuseUpgrade(request, connection, forged)
    const knock: Knock = { request, connection, head, address: this.#addressOf(request, hop) }
    const { address } = knock
    const refusal = this.#refusalBefore(knock, asked)
    if (hop.kind === 'hop' && refusal !== null) return refuseUpgrade(request, connection, notHere)
    if (refusal !== null || asked.kind === 'bad') {
      return this.#refusals.refuse(knock, refusal ?? close('bad', 'bad address'))
    }
    if (asked.kind === 'shared') {
      const closed = this.#gateProblem()
      if (closed !== null) return this.#refusals.refuse(knock, closed)
      this.#admission.enter(place, address)
      return this.#hocuspocus.accept(knock, asked)
    }
    this.#authenticate(knock, asked, place, hop).catch((error: unknown) => {
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
    const doors = [this.#entrance, this.#hocuspocus, this.#parts.forwarding]
    await spread(
      doors.flatMap((door) => door?.drain(reason) ?? []),
      overMs,
    )
    while (this.#connections.size > 0 && performance.now() < deadline) await sleep(10)
    for (const connection of this.#connections.keys()) connection.destroy()
    await this.end()
  }

  /** Cuts off whoever is left. */
  async end(): Promise<void> {
    clearInterval(this.#ticking)
    this.#parts.forwarding?.end()
    await this.#parts.gate.end()
    this.#entrance.end()
  }

  /** Of a client that another node sends, where it is. */
  #addressOf(request: IncomingMessage, hop: ReadHop): string {
    return hop.kind === 'hop' ? hop.address : clientAddress(request, this.#options.proxies)
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

  async #authenticate(knock: Knock, asked: AskedDocument, place: Place, hop: ReadHop): Promise<void> {
    const { connection, address } = knock
    this.#admission.enter(place, address)
    const identified = this.#admission.enterPending(address)
    const { withdrawals } = this.#entrance
    const identity = await this.#identification.of(asked.token, asked.origin).finally(identified)
    if (connection.destroyed) return
    if (identity instanceof TokenRefused)
      return this.#refusals.refuse(knock, this.#identification.refused(identity, address))
    const { workspaceId } = identity.tenant
    const document = documentAddress(identity.tenant, asked.path)
    if (hop.kind === 'direct' && (await this.#parts.forwarding?.forward(knock, addressKey(document)))) return
    const full = this.#admission.workspaceProblem(workspaceId) ?? this.#gateProblem()
    if (full !== null && hop.kind === 'hop') return refuseUpgrade(knock.request, connection, notHere)
    if (full !== null) return this.#refusals.refuse(knock, full, workspaceId)
    this.#admission.enterWorkspace(place, workspaceId)
    const protocol = asked.asksSaved ? yWebsocketSaved : yWebsocket
    this.#parts.gate.accept(knock, workspaceId, (socket) => {
      if (hop.kind === 'hop') this.#parts.forwarding?.received(socket, hop)
      this.#entrance.admit({ socket, protocol, identity, withdrawals, tokens: null, ...asked })
    })
  }
}

/** A node that is told so serves the client itself. */
const notHere = new ApiError('UNAVAILABLE', 'this node takes nobody from other nodes now')
const forged = new ApiError('UNAUTHENTICATED', 'this comes from no node of this cluster')

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** The connection's end is handled by its 'close'; without a listener an error would end the process. */
const ignoreConnectionError = (): void => {}
