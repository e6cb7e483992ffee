import { type ClientRecord, clientIdOwner } from './presence-records.ts'
import type { PresenceReplica } from './presence-replica.ts'

/** What becomes of a client id that other nodes claim: it is shown as this node says, as another one does, or not at all. */
export type ClientOwnership =
  | { readonly whose: 'ours' | 'nobody' | 'unchanged' }
  | { readonly whose: 'theirs'; readonly record: ClientRecord }

/** States of one client that its user's other connections may still tell back. */
const noticesMax = 4

export type ClientNotice = readonly Pick<ClientRecord, 'clock' | 'text'>[]

interface Shown {
  readonly record: ClientRecord
  /** What clients here were told of it, last. */
  readonly told: ClientNotice
}

/** The clients of one editor that are shown for other nodes. */
export class RemoteClients {
  readonly #desk: PresenceReplica
  readonly #editorId: string
  readonly #shown = new Map<number, Shown>()
  /** Of our own: stamps of when they took their ids. */
  readonly #since = new Map<number, number>()

  constructor(desk: PresenceReplica, editorId: string) {
    this.#desk = desk
    this.#editorId = editorId
  }

  /** All that other nodes show. */
  ids(): Iterable<number> {
    return this.#desk.heard.clients(this.#editorId)
  }

  /** What is shown for another node under a client id. */
  get(clientId: number): ClientRecord | undefined {
    return this.#shown.get(clientId)?.record
  }

  /** @param clock under which clients here are told: one that is news to them */
  shows(record: ClientRecord, clock: number, before: ClientNotice): void {
    const { editorId, clientId, text } = record
    if (clock > record.clock) this.#desk.showClient({ kind: 'floor', editorId, clientId, clock })
    else this.#desk.hideClient('floor', editorId, clientId)
    this.#shown.set(clientId, { record, told: [...before.slice(1 - noticesMax), { clock, text }] })
  }

  toldOf(clientId: number): ClientNotice {
    return this.#shown.get(clientId)?.told ?? []
  }

  /** It is shown no more, or as ours. */
  forget(clientId: number): void {
    if (this.#shown.delete(clientId)) this.#desk.hideClient('floor', this.#editorId, clientId)
  }

  /** Other nodes have told of a client under clocks as late as this. */
  floor(clientId: number): number {
    return this.#desk.heard.floor(this.#editorId, clientId)
  }

  /** A client of ours has taken its id. */
  took(clientId: number): void {
    this.#since.set(clientId, this.#desk.stamps.next())
  }

  left(clientId: number): void {
    this.#since.delete(clientId)
  }

  /** @param userId whose it is here; null: nobody's */
  judge(clientId: number, userId: string | null): ClientOwnership {
    const claims = this.#desk.heard.client(this.#editorId, clientId)
    const own = userId === null ? null : { userId, since: this.#since.get(clientId) ?? 0 }
    const winner = clientIdOwner<ClientRecord | { userId: string; since: number }>(
      own === null ? claims : [...claims, own],
    )
    if (winner === null) return { whose: 'nobody' }
    if (!('clock' in winner)) return { whose: 'ours' }
    const shown = this.#shown.get(clientId)?.record
    const isSame = shown?.clock === winner.clock && shown.text === winner.text && shown.since === winner.since
    return isSame ? { whose: 'unchanged' } : { whose: 'theirs', record: winner }
  }

  /**
   * A client says the state of one that another node shows: is it that client, come here? Others tell back what they
   * have heard, with the identity that the server has put in.
   */
  isItself(clientId: number, clock: number, state: object): boolean {
    const shown = this.#shown.get(clientId)
    if (shown === undefined) return true
    if (clock < shown.record.clock) return false
    const text = JSON.stringify(state)
    return !shown.told.some((told) => told.clock === clock && told.text === text)
  }

  /** Tells the other nodes what is shown of a client of ours. */
  tell(clientId: number, shown: { clock: number; text: string; userId: string } | null): void {
    const [editorId, since] = [this.#editorId, this.#since.get(clientId)]
    if (shown === null || since === undefined) return this.#desk.hideClient('client', editorId, clientId)
    const { clock, text, userId } = shown
    this.#desk.showClient({ kind: 'client', editorId, clientId, clock, text, userId, since })
  }

  /** The editor is closed. */
  close(): void {
    this.#desk.hideEditor(this.#editorId)
  }
}
