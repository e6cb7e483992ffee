import { HocuspocusProvider, HocuspocusProviderWebsocket } from '@hocuspocus/provider'
import { WebSocket } from 'ws'
import * as Y from 'yjs'
import type { EditStep } from '../../../src/cli/bench/trace.ts'
import { openEditor } from '../../support/clients/clients.ts'
import type { Random } from '../../support/data/random-doc.ts'

/** Pauses of a user between keystrokes. */
const pauseMs = { least: 100, more: 200 }
/** Pause between keystrokes of a recorded session. */
const recordedPauseMs = 20
/** The approximate maximum length of a document. */
const lengthMax = 2_000

interface Awareness {
  setLocalStateField(name: string, value: unknown): void
  getStates(): Map<number, unknown>
}

export interface PersonOptions {
  /** Returns the node for the next connection. */
  readonly cluster: { next(): { readonly wsUrl: string } }
  readonly documentId: string
  readonly token: string
  readonly random: Random
  /** Keystrokes that a user alone in a document types. The default is random letters. */
  readonly recorded?: readonly EditStep[]
  readonly onClose: (code: number, reason: string) => void
}

interface Connection {
  readonly doc: Y.Doc
  readonly awareness: Awareness
  /** Returns whether all edits are saved at the server, by the knowledge of this client. */
  isSettled(): boolean
  close(): void
}

/** A user with a stock client, which keeps its document and reconnects to any node. */
export class Person {
  readonly documentId: string
  readonly #connection: Connection
  readonly #random: Random
  readonly #typing: Promise<void>
  #state: 'typing' | 'still' = 'typing'
  /** Number of keystrokes of the recorded session, and the text after them. */
  readonly recorded = { count: 0, text: '' }

  constructor(options: PersonOptions, dialect: 'y-websocket' | 'hocuspocus') {
    const { documentId, random, recorded } = options
    this.documentId = documentId
    this.#random = random
    this.#connection = dialect === 'y-websocket' ? overYWebsocket(options) : overHocuspocus(options)
    this.#connection.awareness.setLocalStateField('cursor', { at: 0 })
    this.#typing = recorded === undefined ? this.#type() : this.#repeat(recorded)
  }

  get doc(): Y.Doc {
    return this.#connection.doc
  }

  get isSettled(): boolean {
    return this.#connection.isSettled()
  }

  get clientId(): number {
    return this.doc.clientID
  }

  /** The client ids that this user is shown. */
  get seen(): ReadonlySet<number> {
    return new Set(this.#connection.awareness.getStates().keys())
  }

  async stopTyping(): Promise<void> {
    this.#state = 'still'
    await this.#typing
  }

  close(): void {
    this.#connection.close()
  }

  async #repeat(recorded: readonly EditStep[]): Promise<void> {
    const content = this.doc.getText('content')
    while (this.#state === 'typing' && this.recorded.count < recorded.length) {
      await new Promise((resolve) => setTimeout(resolve, recordedPauseMs))
      const [at, deleted, inserted] = recorded[this.recorded.count] as EditStep
      this.doc.transact(() => {
        content.delete(at, deleted)
        content.insert(at, inserted)
      })
      const { text } = this.recorded
      this.recorded.text = text.slice(0, at) + inserted + text.slice(at + deleted)
      this.recorded.count += 1
    }
  }

  async #type(): Promise<void> {
    const text = this.doc.getText('content')
    const random = this.#random
    while (this.#state === 'typing') {
      await new Promise((resolve) => setTimeout(resolve, pauseMs.least + random.below(pauseMs.more)))
      const deletes = text.length > lengthMax || (text.length > 0 && random.below(4) === 0)
      if (deletes) text.delete(random.below(text.length), 1)
      else text.insert(random.below(text.length + 1), String.fromCharCode(97 + random.below(26)))
    }
  }
}

const path = (documentId: string): string => `acme/${documentId}/main`

function overYWebsocket({ cluster, documentId, token, onClose }: PersonOptions): Connection {
  const editor = openEditor(cluster.next().wsUrl, path(documentId), token)
  const { doc, provider } = editor
  const onEnd = (event: { code: number; reason: string } | null): void => {
    provider.serverUrl = `${cluster.next().wsUrl}/sync`
    // A connection that was never open has no close code.
    if (event !== null && provider.wsconnected) onClose(event.code, event.reason)
  }
  provider.on('connection-close', onEnd)
  return {
    doc,
    awareness: provider.awareness,
    isSettled: () => provider.synced,
    close: () => {
      provider.off('connection-close', onEnd)
      editor.close()
    },
  }
}

function overHocuspocus({ cluster, documentId, token, onClose }: PersonOptions): Connection {
  const url = (): string => `${cluster.next().wsUrl}/hocuspocus`
  const state = { closed: false, opened: false }
  const socket = new HocuspocusProviderWebsocket({
    url: url(),
    WebSocketPolyfill: WebSocket,
    delay: 50,
    minDelay: 50,
    maxDelay: 200,
    onOpen: () => {
      state.opened = true
    },
    onClose: ({ event }) => {
      if (state.closed) return
      Object.assign(socket.configuration, { url: url() })
      if (state.opened) onClose(event.code, event.reason)
      state.opened = false
    },
  })
  const document = new Y.Doc()
  const provider = new HocuspocusProvider({
    websocketProvider: socket,
    name: path(documentId),
    token,
    document,
  })
  provider.attach()
  return {
    doc: document,
    awareness: provider.awareness as Awareness,
    isSettled: () => provider.isSynced && !provider.hasUnsyncedChanges,
    close: () => {
      state.closed = true
      provider.destroy()
      socket.destroy()
      document.destroy()
    },
  }
}
