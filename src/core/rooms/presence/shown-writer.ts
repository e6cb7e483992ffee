import { randomUUID } from 'node:crypto'
import type * as Y from 'yjs'
import type { Clock } from '../../base/clock.ts'
import { encodePosition } from '../../content/edit/targets/anchor-positions.ts'
import type { PresenceCursor, RestPresence } from './rest-presence.ts'

/**
 * Milliseconds for which the other nodes show a writer after the last message of its node. If the node stops, the writer
 * disappears after this time.
 */
export const writerTtlMs = 10_000
const renewalMs = 4_000

/** A program that writes into an editor, as other users see it. */
export interface NewWriter extends Pick<RestPresence, 'name' | 'kind' | 'data' | 'color'> {
  /** Id of the user who writes. A user can have several writers. */
  readonly userId: string
  readonly editorId: string
  readonly contentKey: string
  /** Where the writer inserts its next text. */
  readonly cursor: Y.RelativePosition
}

/** The caret of a writer. It is visible until `end`. */
export interface ShownWriter {
  /** Moves the caret. Clients see the last of several fast moves. */
  move(cursor: Y.RelativePosition): void
  end(): void
}

/** Publishes the caret of one writer, and renews it while it does not move. */
export class WriterCaret implements ShownWriter {
  /** The id of the writer's record. Ids of users have no control characters. */
  readonly userId = `\u0001${randomUUID()}`
  readonly #clock: Clock
  /** Publishes the fields of the writer. Returns false if REST has deleted the user, or the document. */
  readonly #publish: (userId: string, fields: RestPresence) => boolean
  /** Removes the writer. */
  readonly #remove: (userId: string) => void
  readonly #place: Pick<PresenceCursor, 'editorId' | 'contentKey'>
  #position: string
  #cancelRenewal = (): void => {}
  #state: 'shown' | 'ended' = 'shown'

  constructor(
    { editorId, contentKey, cursor }: NewWriter,
    clock: Clock,
    publish: (userId: string, fields: RestPresence) => boolean,
    remove: (userId: string) => void,
  ) {
    this.#clock = clock
    this.#publish = publish
    this.#remove = remove
    this.#place = { editorId, contentKey }
    this.#position = encodePosition(cursor)
    this.#schedule()
  }

  get cursor(): PresenceCursor {
    return { ...this.#place, position: this.#position, positionEnd: this.#position }
  }

  move(cursor: Y.RelativePosition): void {
    const position = encodePosition(cursor)
    if (this.#state === 'ended' || position === this.#position) return
    this.#position = position
    this.#renew()
  }

  end(): void {
    if (this.#state === 'ended') return
    this.#stop()
    this.#remove(this.userId)
  }

  #renew(): void {
    this.#cancelRenewal()
    if (this.#publish(this.userId, { cursor: this.cursor })) this.#schedule()
    else this.#stop()
  }

  #schedule(): void {
    this.#cancelRenewal = this.#clock.after(renewalMs, () => this.#renew())
  }

  #stop(): void {
    this.#state = 'ended'
    this.#cancelRenewal()
  }
}
