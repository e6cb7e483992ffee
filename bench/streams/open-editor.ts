import { WebSocket } from 'ws'
import { WebsocketProvider } from 'y-websocket'
import * as Y from 'yjs'
import type { BenchServer } from '../support/server.ts'

/** Name of the root with the text. */
const contentKey = 'content'

/** An open editor of a user: a stock y-websocket client. */
export class OpenEditor {
  readonly editor = new Y.Doc()
  readonly text = this.editor.getText(contentKey)
  readonly #provider: WebsocketProvider

  constructor({ syncUrl }: Pick<BenchServer, 'syncUrl'>, document: string, token: string) {
    this.#provider = new WebsocketProvider(syncUrl.replace(/\/$/, ''), document, this.editor, {
      params: { token },
      WebSocketPolyfill: WebSocket as never,
      disableBc: true,
    })
  }

  get isSynced(): boolean {
    return this.#provider.synced
  }

  close(): void {
    this.#provider.destroy()
    this.editor.destroy()
  }
}
