import { keyName } from '../../engine/key-encoding.ts'
import { type DocumentAddress, type DocumentScope, documentPrefix } from '../../model/address.ts'
import type { NodeRequests } from '../replication/node-requests.ts'

/** Turns what a backend says into a whole websocket frame; one object a protocol. */
export interface LiveEncoder {
  /** `text` is JSON. */
  live(text: string): Uint8Array
}

/** Somebody who asked to hear what a backend says to those on a document. */
export interface LiveListener {
  readonly encoder: LiveEncoder
  /** A frame made by its encoder. Never throws, never blocks; `missed`: it can't take any more now, and is not told later. */
  deliverLive(frame: Uint8Array): 'sent' | 'missed'
}

/** How many listeners a message was sent to, and how many could not take it. */
export interface LiveReach {
  readonly delivered: number
  readonly missed: number
}

interface LiveMessage {
  readonly document: DocumentScope
  readonly editorId: string | null
  readonly text: string
}

/** Of a document, whatever its editors. */
type DocumentListeners = Map<LiveListener, string>

/**
 * Those who asked for messages of a backend, by document. A message is no state of the document: it is kept nowhere,
 * waits for nothing, and reaches everybody at most once. To a listener messages come in the order of the calls.
 */
export class LiveMessageHub {
  readonly #documents = new Map<string, DocumentListeners>()
  readonly #calls: NodeRequests

  /** @param calls to the other nodes, whose listeners also receive the messages */
  constructor(calls: NodeRequests) {
    this.#calls = calls
    calls.answer('live', 'ordered', (call) => {
      const { document, editorId, text } = call as LiveMessage
      return this.broadcast(document, editorId, text)
    })
  }

  /** Documents that somebody listens to. */
  get count(): number {
    return this.#documents.size
  }

  /** Returns how to leave. */
  enter(address: DocumentAddress, listener: LiveListener): () => void {
    const key = keyOf(address)
    const listeners: DocumentListeners = this.#documents.get(key) ?? new Map()
    this.#documents.set(key, listeners)
    listeners.set(listener, address.editorId)
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0 && this.#documents.get(key) === listeners) this.#documents.delete(key)
    }
  }

  /**
   * Like `broadcast`, on every node. Those that do not answer in time are not counted: they have died, or what they were
   * told is lost.
   */
  async broadcastToAll(document: DocumentScope, editorId: string | null, text: string): Promise<LiveReach> {
    const here = this.broadcast(document, editorId, text)
    const { workspaceId, apiKey, organizationId, documentId } = document
    const scope = { workspaceId, apiKey, organizationId, documentId }
    const message: LiveMessage = { document: scope, editorId, text }
    const there = [...(await this.#calls.ask('live', message)).values()] as LiveReach[]
    return {
      delivered: there.reduce((sum, { delivered }) => sum + delivered, here.delivered),
      missed: there.reduce((sum, { missed }) => sum + missed, here.missed),
    }
  }

  /**
   * To the listeners of this node.
   * @param text JSON of the message
   * @param editorId whose listeners are meant; null: those of all editors
   * @param except who hears nothing of it
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

  /** What one client says to the others of its editor: told apart from what backends say by its event and its user. */
  say(
    address: DocumentAddress,
    text: string,
    { from, userId }: { from: LiveListener; userId: string },
  ): void {
    const message = JSON.stringify({ event: 'stateless', data: text, userId })
    this.broadcast(address, address.editorId, message, from)
    this.#calls.tell('live', { document: address, editorId: address.editorId, text: message })
  }
}

const keyOf = (document: DocumentScope): string => keyName(documentPrefix(document, document.documentId))
