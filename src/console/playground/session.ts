import type { EditorState } from 'prosemirror-state'
import type { EditorView } from 'prosemirror-view'
import { WebsocketProvider } from 'y-websocket'
import * as Y from 'yjs'
import type { Tool } from './commands.ts'
import { openEditor } from './editor.ts'
import type { Guest } from './guest.ts'
import { colourOf, type Person, peopleOf } from './people.ts'
import { contentKey, room } from './place.ts'
import { watchSaved } from './saved.ts'

/** How it stands between this window and the server. */
export type Standing = 'connecting' | 'saved' | 'saving' | 'away' | { readonly refused: string }

/** One window on the document: connection, editor, and what is to be seen around it. */
export class Session {
  readonly #doc = new Y.Doc()
  readonly #provider: WebsocketProvider
  readonly #onChange: () => void
  #view: EditorView | null = null
  #standing: Standing = 'connecting'
  #isSaved = true

  /** @param onChange called when anything that this tells has changed */
  constructor({ name, token }: Guest, onChange: () => void) {
    this.#onChange = onChange
    const server = `${location.origin.replace(/^http/, 'ws')}/sync`
    // Windows of one browser, too, are to sync by way of the server.
    this.#provider = new WebsocketProvider(server, room, this.#doc, {
      params: { saved: '1', ...(token !== '' && { token }) },
      disableBc: true,
    })
    const { awareness } = this.#provider
    awareness.setLocalStateField('user', { name, color: colourOf(awareness.clientID) })
    awareness.on('change', onChange)
    this.#watch()
  }

  get standing(): Standing {
    return this.#standing
  }

  get people(): readonly Person[] {
    return peopleOf(this.#provider.awareness)
  }

  get state(): EditorState | null {
    return this.#view?.state ?? null
  }

  /** Puts the editor into the page. */
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
    const connected = (): Standing => (this.#isSaved ? 'saved' : 'saving')
    watchSaved(provider, (isSaved) => {
      this.#isSaved = isSaved
      if (provider.synced) this.#stand(connected())
    })
    provider.on('sync', (isSynced) => isSynced && this.#stand(connected()))
    provider.on('status', ({ status }) => status === 'disconnected' && this.#stand('away'))
    provider.on('closed', ({ reason }) => this.#stand({ refused: reason }))
  }

  #stand(standing: Standing): void {
    this.#standing = standing
    this.#onChange()
  }
}
