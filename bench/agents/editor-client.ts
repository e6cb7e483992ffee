import { WebSocket } from 'ws'
import { WebsocketProvider } from 'y-websocket'
import * as Y from 'yjs'
import { contentKey } from './flat-text.ts'

/** Origin of a change that one of the two documents of a client got from the other one. */
const linked = Symbol('linked')

/**
 * A user with an open editor. The document of the editor and the one of the provider are linked, so that the
 * delay of a slow network can be simulated between them.
 */
export class EditorClient {
  readonly editor = new Y.Doc()
  /** Number of updates that have arrived from others. */
  arrived = 0
  readonly #connected = new Y.Doc()
  readonly #provider: WebsocketProvider
  #isSlow = false
  #delayed: (() => void)[] = []

  /** @param syncUrl start of the URL of documents @param clientId id of this client in the document */
  constructor(syncUrl: string, document: string, token: string, clientId: number) {
    this.editor.clientID = clientId
    this.editor.getXmlFragment(contentKey)
    this.#link(this.editor, this.#connected)
    this.#link(this.#connected, this.editor)
    this.#connected.on('update', (_update: Uint8Array, origin: unknown) => {
      if (origin !== linked) this.arrived += 1
    })
    this.#provider = new WebsocketProvider(syncUrl.replace(/\/$/, ''), document, this.#connected, {
      params: { token },
      WebSocketPolyfill: WebSocket as never,
      disableBc: true,
    })
  }

  get isSynced(): boolean {
    return this.#provider.synced
  }

  /** From now on, updates wait in both directions until `releaseUpdates`. */
  delayUpdates(): void {
    this.#isSlow = true
  }

  releaseUpdates(): void {
    this.#isSlow = false
    for (const deliver of this.#delayed) deliver()
    this.#delayed = []
  }

  close(): void {
    this.#provider.destroy()
    this.#connected.destroy()
  }

  #link(from: Y.Doc, to: Y.Doc): void {
    from.on('update', (update: Uint8Array, origin: unknown) => {
      if (origin === linked) return
      const deliver = (): void => Y.applyUpdate(to, update, linked)
      if (this.#isSlow) this.#delayed.push(deliver)
      else deliver()
    })
  }
}

const settleMs = 30_000

/** Waits until a condition holds. @throws Error if it does not hold after 30 s */
export async function until(isTrue: () => boolean, name: string): Promise<void> {
  const start = performance.now()
  while (!isTrue()) {
    if (performance.now() - start > settleMs) throw new Error(`${name}: not within ${settleMs / 1000} s`)
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}

/** Waits until the documents of all clients are equal. */
export async function settled(clients: readonly Pick<EditorClient, 'editor'>[]): Promise<void> {
  const [first, ...others] = clients.map(({ editor }) => editor) as [Y.Doc, ...Y.Doc[]]
  await until(() => {
    const snapshot = Y.snapshot(first)
    return others.every((editor) => Y.equalSnapshots(snapshot, Y.snapshot(editor)))
  }, 'equal documents')
}
