import { type ClientRecord, clientIdOwner } from './presence-records.ts'
import type { PresenceReplica } from './presence-replica.ts'

/** The clients of one editor that are shown for other nodes. */
export class RemoteClients {
  readonly #desk: PresenceReplica
  readonly #editorId: string
  readonly #shown = new Map<number, ClientRecord>()
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
    return this.#shown.get(clientId)
  }

  shows(record: ClientRecord): void {
    this.#shown.set(record.clientId, record)
  }

  /** It is not shown any more, or as ours. */
  forget(clientId: number): void {
    this.#shown.delete(clientId)
  }

  /** A client of ours has taken its id. */
  took(clientId: number): void {
    this.#since.set(clientId, this.#desk.stamps.next())
  }

  left(clientId: number): void {
    this.#since.delete(clientId)
  }

  /**
   * The record of the owner of a client id that other nodes claim; null: this node owns it, or no node claims it.
   * @param userId the user who has it here; null: no user
   */
  winner(clientId: number, userId: string | null): ClientRecord | null {
    const claims = this.#desk.heard.client(this.#editorId, clientId)
    const own = userId === null ? null : { userId, since: this.#since.get(clientId) ?? 0 }
    const winner = clientIdOwner<ClientRecord | { userId: string; since: number }>(
      own === null ? claims : [...claims, own],
    )
    return winner !== null && 'clock' in winner ? winner : null
  }

  /** Publishes to the other nodes what is shown of a client of ours. */
  publish(clientId: number, shown: { clock: number; text: string; userId: string } | null): void {
    const [editorId, since] = [this.#editorId, this.#since.get(clientId)]
    if (shown === null || since === undefined) return this.#desk.hideClient(editorId, clientId)
    const { clock, text, userId } = shown
    this.#desk.showClient({ kind: 'client', editorId, clientId, clock, text, userId, since })
  }

  /** The editor is closed. */
  close(): void {
    this.#desk.hideEditor(this.#editorId)
  }
}

/** Returns whether a node shows the same state of a client id as before. */
export const isSameClaim = (before: ClientRecord, after: ClientRecord): boolean =>
  before.clock === after.clock && before.text === after.text && before.since === after.since
