import { memoized } from '../../base/maps.ts'
import { type DocumentAddress, type DocumentScope, documentPrefix } from '../../model/address.ts'
import { keyName } from '../../store/key-encoding.ts'

/**
 * Encodes a message from a backend as a whole websocket frame. There is one encoder object for each protocol.
 */
export interface LiveEncoder {
  /** Returns the frame of a message. @param text JSON */
  live(text: string): Uint8Array
}

/** A session that has subscribed to the messages from backends on a document. */
export interface LiveListener {
  readonly encoder: LiveEncoder
  /**
   * Sends a frame that the listener's `encoder` has made. Never throws and never blocks. Returns `missed` if
   * the send buffer is full; the listener then never receives this frame.
   */
  deliverLive(frame: Uint8Array): 'sent' | 'missed'
}

/**
 * The number of listeners to which a message was sent, and the number of listeners that missed the message.
 */
interface LiveReach {
  readonly delivered: number
  readonly missed: number
}

/**
 * The sessions that have subscribed to messages from backends, by document. Such a message is not part of the
 * document: the server does not store it, and sends it immediately and at most once to each listener. A
 * listener receives messages in the order of the calls.
 */
export class LiveMessageHub {
  /** The listeners of each document, each with the id of its editor. */
  readonly #documents = new Map<string, Map<LiveListener, string>>()

  /** Number of documents with listeners. */
  get count(): number {
    return this.#documents.size
  }

  /** Registers a listener. Returns a function that removes the listener. */
  enter(address: DocumentAddress, listener: LiveListener): () => void {
    const key = keyOf(address)
    const listeners = memoized(this.#documents, key, () => new Map<LiveListener, string>())
    listeners.set(listener, address.editorId)
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0 && this.#documents.get(key) === listeners) this.#documents.delete(key)
    }
  }

  /**
   * Sends a message to the listeners of a document.
   * @param text JSON of the message
   * @param editorId the editor whose listeners receive the message; null: the listeners of all editors
   * @param except a listener that does not receive the message
   */
  broadcast(
    document: DocumentScope,
    editorId: string | null,
    text: string,
    except: LiveListener | null = null,
  ): LiveReach {
    const frames = new Map<LiveEncoder, Uint8Array>()
    const reach = { delivered: 0, missed: 0 }
    for (const [listener, at] of this.#documents.get(keyOf(document)) ?? []) {
      if ((editorId !== null && at !== editorId) || listener === except) continue
      const frame = frames.get(listener.encoder) ?? listener.encoder.live(text)
      frames.set(listener.encoder, frame)
      reach[listener.deliverLive(frame) === 'sent' ? 'delivered' : 'missed'] += 1
    }
    return reach
  }

  /**
   * Sends a message of one client to the other clients of its editor. The members `event` and
   * `userId` of the message show that it comes from a client and not from a backend.
   */
  say(
    address: DocumentAddress,
    text: string,
    { from, userId }: { from: LiveListener; userId: string },
  ): void {
    const message = JSON.stringify({ event: 'stateless', data: text, userId })
    this.broadcast(address, address.editorId, message, from)
  }
}

const keyOf = (document: DocumentScope): string => keyName(documentPrefix(document, document.documentId))
