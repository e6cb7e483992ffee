import { TokenRefused } from '../access/tokens.ts'
import type { Log } from '../log.ts'
import { type Close, close } from '../model/close.ts'
import type { LimitReports } from '../quota/reports.ts'
import type { Admission, Place } from './admission.ts'
import type { Channel } from './channel.ts'
import type { ClientSocket, Gate } from './client-socket.ts'
import { readDocumentPath } from './document-path.ts'
import type { Entrance } from './entrance.ts'
import type { Identification } from './identification.ts'
import type { Knock } from './knock.ts'
import type { ReadPressure } from './pressure.ts'
import { NamedProtocols } from './protocols/named.ts'
import type { AskedShared } from './request.ts'
import { SharedSocket } from './shared-socket.ts'
import { SocketTokens } from './socket-tokens.ts'

export interface HocuspocusParts {
  readonly gate: Gate
  readonly admission: Admission
  readonly identification: Identification
  readonly entrance: Entrance
  readonly reports: LimitReports
  readonly pressure: ReadPressure
  readonly logger: Log
  /** From the upgrade to the first checked token. */
  readonly authMs: number
}

/** How long a socket without documents stays. */
const idleMs = 60_000

/** A socket, and what it came with. */
interface Caller {
  readonly socket: SharedSocket
  readonly tokens: SocketTokens
  readonly asked: AskedShared
  /** Calls it known. */
  readonly identified: () => void
}

/**
 * The door of HocuspocusProvider: any number of documents share a websocket, each with a token of its own that comes as
 * a message. Nobody is known before the first of them.
 */
export class Hocuspocus {
  readonly #parts: HocuspocusParts
  readonly #protocols = new NamedProtocols()
  readonly #sockets = new Set<SharedSocket>()
  #draining: Close | null = null

  constructor(parts: HocuspocusParts) {
    this.#parts = parts
  }

  accept(knock: Knock, asked: AskedShared): void {
    const { gate, admission } = this.#parts
    const { address } = knock
    const identified = admission.enterPending(address)
    knock.connection.on('close', identified)
    gate.accept(knock, address, (socket) => this.#serve(socket, address, asked, identified))
  }

  /** From now on newcomers are refused. Returns what ends the sockets there are. */
  drain(reason: Close): readonly (() => void)[] {
    this.#draining = reason
    return [...this.#sockets].map((socket) => () => socket.end(reason))
  }

  #serve(socket: ClientSocket, address: string, asked: AskedShared, identified: () => void): void {
    const { reports, pressure } = this.#parts
    const { token, origin } = asked
    const end = (reason: Close): void => shared.end(reason)
    const tokens = new SocketTokens(this.#parts, { address, token, origin, end })
    const shared: SharedSocket = new SharedSocket(socket, {
      address,
      pressure,
      knocked: (channel, said) => this.#knocked({ socket: shared, tokens, asked, identified }, channel, said),
      tooMuch: () => reports.acted('unauthenticatedBytes', address),
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

  #endUnknown(socket: SharedSocket, address: string): void {
    if (socket.isKnown) return
    this.#parts.identification.refused(new TokenRefused('timeout'), address)
    socket.end(close('unauthenticated', 'no token has come in time'))
  }

  #knocked(caller: Caller, channel: Channel, token: string): void {
    this.#enter(caller, channel, token).catch((error: unknown) => {
      this.#parts.logger.error({ err: error }, 'a token could not be checked')
      refuse(channel, close('overloaded', 'the token could not be checked: try again'))
    })
  }

  async #enter(caller: Caller, channel: Channel, token: string): Promise<void> {
    const { entrance } = this.#parts
    const { socket, tokens, asked, identified } = caller
    const [name = ''] = channel.name.split('\0')
    const { path, problem } = readDocumentPath(name.split('/'))
    if (path === null) return refuse(channel, close('bad', problem))
    const { withdrawals } = entrance
    const identity = await socket.held(tokens.of(token))
    if (!socket.socket.isOpen) return
    // Who has left meanwhile has tried it all the same.
    if (identity instanceof TokenRefused) return refuse(channel, tokens.refused(identity))
    if (!channel.isOpen) return
    socket.know(identity.tenant.workspaceId)
    identified()
    if (!this.#enterWorkspace(channel, identity.tenant.workspaceId)) return
    const { origin } = asked
    entrance.admit({
      socket: channel,
      protocol: this.#protocols.enter(channel),
      identity,
      path,
      origin,
      renews: false,
      tokens,
      listens: true,
      withdrawals,
    })
  }

  /** Each document counts as a connection of its workspace. */
  #enterWorkspace(channel: Channel, workspaceId: string): boolean {
    const { admission, reports } = this.#parts
    const full = admission.workspaceProblem(workspaceId)
    if (full !== null) {
      if (full.limit !== null) reports.acted(full.limit, workspaceId)
      refuse(channel, full)
      return false
    }
    const place: Place = { address: null, workspaceId: null }
    admission.enterWorkspace(place, workspaceId)
    channel.onClosed(() => admission.leave(place))
    return true
  }
}

const refuse = (channel: Channel, { code, reason }: Close): void => channel.close(code, reason)

/** Clients come back when they have a document again. */
const unused = close('restarting', 'no document is open on this connection')
