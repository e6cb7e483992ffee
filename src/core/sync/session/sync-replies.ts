import type { Room } from '../../rooms/room/room.ts'
import type { Member } from '../../rooms/updates/member.ts'
import type { Protocol } from '../protocols/message.ts'
import type { ClientSocket } from '../socket/client-socket.ts'

/** The session of the client that has sent the state vectors. */
interface SyncReplyTarget extends Member {
  readonly encoder: Protocol
  pauseReading(): void
  resumeReading(): void
  sendReply(frames: readonly Uint8Array[]): void
}

/**
 * Minimum bytes of a document whose whole content counts as a large reply. A large reply waits while the
 * clients of the workspace have too many unread bytes.
 */
const waitingFromBytes = 65_536

/** Returns whether the state vector contains no clients. A client without content sends such a vector. */
const isEmptyVector = (vector: Uint8Array): boolean => vector[0] === 0

/**
 * Replies to the state vectors of a client, one at a time. A reply may be a whole document, so a client that
 * does not read must not cause many replies. If several vectors wait, only the last one gets a reply, because
 * this reply covers the others.
 */
export class SyncReplyQueue {
  readonly #room: Room
  readonly #target: SyncReplyTarget
  readonly #socket: Pick<ClientSocket, 'isFull' | 'isCrowded' | 'isOpen'>
  #vector: Uint8Array | null = null
  #state: 'idle' | 'answering' = 'idle'

  constructor(
    room: Room,
    target: SyncReplyTarget,
    socket: Pick<ClientSocket, 'isFull' | 'isCrowded' | 'isOpen'>,
  ) {
    this.#room = room
    this.#target = target
    this.#socket = socket
  }

  request(vector: Uint8Array): void {
    this.#vector = Uint8Array.from(vector)
    this.resume()
  }

  /**
   * Replies to the waiting state vector, if there is one and the reply need not wait. Call it again when the
   * client has read enough, and about twice a second.
   */
  resume(): void {
    const vector = this.#vector
    if (this.#state === 'answering' || vector === null || this.#mustWait(vector)) return
    this.#vector = null
    this.#state = 'answering'
    this.#room.scheduleAnswer(() => this.#answer(vector))
  }

  #answer(vector: Uint8Array): void {
    if (!this.#socket.isOpen) return
    // The reply must include the updates that the client sent before the vector.
    this.#room.endTick()
    const waiting = this.#room.waitingOf(this.#target)
    if (waiting !== null) return this.#answerAfter(waiting, vector)
    const frames = this.#room.answer(this.#target.encoder, vector)
    if (frames === null) return
    this.#room.durable.then(
      () => this.#sendReply(frames),
      () => {},
    )
  }

  /**
   * Replies when `waiting` resolves. The socket is not read until then, so that newer updates do not postpone
   * the reply.
   */
  #answerAfter(waiting: Promise<void>, vector: Uint8Array): void {
    this.#target.pauseReading()
    const answer = (): void => {
      this.#answer(vector)
      this.#target.resumeReading()
    }
    void waiting.then(() => this.#room.scheduleAnswer(answer))
  }

  #mustWait(vector: Uint8Array): boolean {
    const { isFull, isCrowded } = this.#socket
    const isWhole = isEmptyVector(vector) && this.#room.state.sizeBytes >= waitingFromBytes
    return isFull || (isCrowded && isWhole)
  }

  #sendReply(frames: readonly Uint8Array[]): void {
    this.#target.sendReply(frames)
    this.#state = 'idle'
    this.resume()
  }
}
