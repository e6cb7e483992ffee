import { HocuspocusProvider, HocuspocusProviderWebsocket } from '@hocuspocus/provider'
import { WebSocket } from 'ws'
import type { Awareness } from 'y-protocols/awareness'
import { WebsocketProvider } from 'y-websocket'
import * as Y from 'yjs'
import type { ClientTarget, Running } from './contender.ts'

/** A client as applications have it, with the provider that the authors of its protocol publish. */
export interface StockClient {
  readonly doc: Y.Doc
  readonly awareness: Awareness
  /** Resolves when the server has sent the document. @throws Error if that does not happen in time */
  synced(): Promise<void>
  end(): void
}

/** Time in ms in which a stock client must have the document. */
const syncMs = 15_000

/** Connects a stock client to a document. */
export function stockClient(server: Running, document: string): StockClient {
  const doc = new Y.Doc()
  const { protocol } = server
  const connect = protocol === 'hocuspocus' ? connectHocuspocus : connectYWebsocket
  const { isSynced, ...client } = connect(server.address(document), doc)
  return {
    ...client,
    doc,
    async synced() {
      const deadline = performance.now() + syncMs
      while (!isSynced()) {
        if (performance.now() > deadline)
          throw new Error(`the stock client of ${protocol} has no document after ${syncMs / 1000} s`)
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    },
  }
}

type Connected = Pick<StockClient, 'awareness' | 'end'> & { readonly isSynced: () => boolean }

function connectYWebsocket({ server, name, token }: ClientTarget, doc: Y.Doc): Connected {
  const provider = new WebsocketProvider(server, name, doc, {
    params: token === undefined ? {} : { token },
    WebSocketPolyfill: WebSocket as never,
    disableBc: true,
  })
  return { awareness: provider.awareness, isSynced: () => provider.synced, end: () => provider.destroy() }
}

function connectHocuspocus({ server, name, token }: ClientTarget, document: Y.Doc): Connected {
  const websocketProvider = new HocuspocusProviderWebsocket({ url: server, WebSocketPolyfill: WebSocket })
  const provider = new HocuspocusProvider({ websocketProvider, name, token: token ?? 'token', document })
  provider.attach()
  return {
    awareness: provider.awareness as Awareness,
    isSynced: () => provider.isSynced,
    end: () => {
      provider.destroy()
      websocketProvider.destroy()
    },
  }
}
