import * as decoding from 'lib0/decoding'
import * as encoding from 'lib0/encoding'
import type { EditorState } from 'prosemirror-state'
import type { EditorView } from 'prosemirror-view'
import { WebsocketProvider } from 'y-websocket'
import * as Y from 'yjs'
import { openEditor, type Tool } from './editor.ts'
import { colorOf, type ListedParticipant, listParticipants, type Participant } from './participant.ts'
import { contentKey, room } from './playground-document.ts'

const messageSync = 0
const messageSaved = 111

/**
 * Reports whether the server has stored all edits of this window. The provider must have the parameter
 * `saved: '1'`. The server then sends the number of updates, and of replies to its sync requests, that it has
 * stored.
 */
function watchSaveStatus(provider: WebsocketProvider, onChange: (isSaved: boolean) => void): void {
  let [sent, saved, isSaved] = [0, 0, true]
  const show = (now: boolean): void => {
    if (now !== isSaved) onChange(now)
    isSaved = now
  }
  provider.doc.on('update', (_update: Uint8Array, origin: unknown) => {
    if (origin === provider) return
    if (provider.wsconnected) sent += 1
    show(false)
  })
  const { messageHandlers } = provider
  const readSync = messageHandlers[messageSync]
  messageHandlers[messageSync] = (encoder, ...rest) => {
    const before = encoding.length(encoder)
    readSync?.(encoder, ...rest)
    // If the encoder has only one more byte, this byte is the message type, and there is no reply. A longer
    // message is the reply to a sync request of the server. It contains all updates that the server lacks.
    if (encoding.length(encoder) > before + 1) sent += 1
  }
  messageHandlers[messageSaved] = (_encoder, decoder) => {
    saved = decoding.readVarUint(decoder)
    show(saved === sent)
  }
  provider.on('status', ({ status }) => {
    // After a reconnect, both sides count from zero. The first reply contains all edits that were not sent
    // before.
    if (status === 'connected') [sent, saved] = [0, 0]
  })
}

/** State of the connection between this window and the server. */
export type ConnectionStatus = 'connecting' | 'saved' | 'saving' | 'away' | { readonly refused: string }

/** One window on the document. It has a connection, an editor, and a status that the page shows. */
export class PlaygroundSession {
  readonly #doc = new Y.Doc()
  readonly #provider: WebsocketProvider
  readonly #onChange: () => void
  #view: EditorView | null = null
  #standing: ConnectionStatus = 'connecting'
  #isSaved = true

  /** @param onChange called after a change of the displayed status */
  constructor({ name, token }: Participant, onChange: () => void) {
    this.#onChange = onChange
    const server = `${location.origin.replace(/^http/, 'ws')}/sync`
    // Disables the BroadcastChannel, because windows of one browser must also sync through the server.
    this.#provider = new WebsocketProvider(server, room, this.#doc, {
      params: { saved: '1', ...(token !== '' && { token }) },
      disableBc: true,
    })
    const { awareness } = this.#provider
    awareness.setLocalStateField('user', { name, color: colorOf(awareness.clientID) })
    awareness.on('change', onChange)
    this.#watch()
  }

  get standing(): ConnectionStatus {
    return this.#standing
  }

  get people(): readonly ListedParticipant[] {
    return listParticipants(this.#provider.awareness)
  }

  get state(): EditorState | null {
    return this.#view?.state ?? null
  }

  /** Adds the editor to the page. */
  show(place: HTMLElement): void {
    const text = this.#doc.getXmlFragment(contentKey)
    this.#view = openEditor(place, { text, awareness: this.#provider.awareness, onChange: this.#onChange })
    this.#onChange()
  }

  run({ command }: Tool): void {
    const view = this.#view
    if (view === null) return
    command(view.state, view.dispatch, view)
    view.focus()
  }

  close(): void {
    this.#view?.destroy()
    this.#provider.destroy()
    this.#doc.destroy()
  }

  #watch(): void {
    const provider = this.#provider
    const connected = (): ConnectionStatus => (this.#isSaved ? 'saved' : 'saving')
    watchSaveStatus(provider, (isSaved) => {
      this.#isSaved = isSaved
      if (provider.synced) this.#stand(connected())
    })
    provider.on('sync', (isSynced) => isSynced && this.#stand(connected()))
    provider.on('status', ({ status }) => status === 'disconnected' && this.#stand('away'))
    provider.on('closed', ({ reason }) => this.#stand({ refused: reason }))
  }

  #stand(standing: ConnectionStatus): void {
    this.#standing = standing
    this.#onChange()
  }
}
