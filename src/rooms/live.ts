import { keyName } from '../engine/keys.ts'
import { type DocumentAddress, type DocumentScope, documentPrefix } from '../model/address.ts'

/** Turns what a backend says into a whole websocket frame; one object a protocol. */
export interface LiveEncoder {
  /** `text` is JSON. */
  live(text: string): Uint8Array
}

/** Somebody who asked to hear what a backend says to those on a document. */
export interface Listener {
  readonly encoder: LiveEncoder
  /** A frame made by its encoder. Never throws, never blocks; `missed`: it can't take any more now, and is not told later. */
  deliverLive(frame: Uint8Array): 'sent' | 'missed'
}

/** How many listeners a message was sent to, and how many could not take it. */
export interface Reach {
  readonly delivered: number
  readonly missed: number
}

/** Of a document, whatever its editors. */
type Listeners = Map<Listener, string>

/**
 * Those who asked for messages of a backend, by document. A message is no state of the document: it is kept nowhere,
 * waits for nothing, and reaches everybody at most once. To a listener messages come in the order of the calls.
 */
export class Live {
  readonly #documents = new Map<string, Listeners>()

  /** Documents that somebody listens to. */
  get count(): number {
    return this.#documents.size
  }

  /** Returns how to leave. */
  enter(address: DocumentAddress, listener: Listener): () => void {
    const key = keyOf(address)
    const listeners: Listeners = this.#documents.get(key) ?? new Map()
    this.#documents.set(key, listeners)
    listeners.set(listener, address.editorId)
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0 && this.#documents.get(key) === listeners) this.#documents.delete(key)
    }
  }

  /**
   * @param text JSON of the message
   * @param editorId whose listeners are meant; null: those of all editors
   * @param except who hears nothing of it
   */
  broadcast(
    document: DocumentScope,
    editorId: string | null,
    text: string,
    except: Listener | null = null,
  ): Reach {
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

  /** What one client says to the others of its editor: told apart from what backends say by its event and its user. */
  say(address: DocumentAddress, text: string, { from, userId }: { from: Listener; userId: string }): void {
    const message = JSON.stringify({ event: 'stateless', data: text, userId })
    this.broadcast(address, address.editorId, message, from)
  }
}

const keyOf = (document: DocumentScope): string => keyName(documentPrefix(document, document.documentId))
