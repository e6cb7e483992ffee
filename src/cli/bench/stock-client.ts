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

/** Time in ms in which a stock client must have the document, and the same if its connection was rejected. */
const [syncMs, rejectedMs] = [15_000, 5_000]

const silence = `the server has not answered within ${syncMs / 1000} s; is the protocol right?`

/** Connects a stock client to a document. */
export function stockClient(server: Running, document: string): StockClient {
  const doc = new Y.Doc()
  const { protocol } = server
  const connect = protocol === 'hocuspocus' ? connectHocuspocus : connectYWebsocket
  const { isSynced, problem, ...client } = connect(server.address(document), doc)
  return {
    ...client,
    doc,
    async synced() {
      const startedAt = performance.now()
      while (!isSynced()) {
        const ms = performance.now() - startedAt
        const reason = problem()
        if (ms > (reason === null ? syncMs : rejectedMs))
          throw new Error(`the stock client of ${protocol} has no document: ${reason ?? silence}`)
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    },
  }
}

interface Connected extends Pick<StockClient, 'awareness' | 'end'> {
  readonly isSynced: () => boolean
  /** Returns why the server rejected the last connection; null if it did not. */
  readonly problem: () => string | null
}

const closedWith = ({ code, reason }: { readonly code: number; readonly reason: string }): string =>
  `the connection was closed with ${[code, reason].join(' ').trim()}`

function connectYWebsocket({ server, name, token }: ClientTarget, doc: Y.Doc): Connected {
  const provider = new WebsocketProvider(server, name, doc, {
    params: token === undefined ? {} : { token },
    WebSocketPolyfill: WebSocket as never,
    disableBc: true,
  })
  let problem: string | null = null
  provider.on('connection-error', (event) => {
    problem = `the connection failed: ${'message' in event ? String(event.message) : event.type}`
  })
  provider.on('status', ({ status }) => {
    if (status === 'connected') problem = null
  })
  provider.on('connection-close', (event) => {
    if (event !== null) problem ??= closedWith(event)
  })
  return {
    awareness: provider.awareness,
    isSynced: () => provider.synced,
    problem: () => problem,
    end: () => provider.destroy(),
  }
}

function connectHocuspocus({ server, name, token }: ClientTarget, document: Y.Doc): Connected {
  const websocketProvider = new HocuspocusProviderWebsocket({ url: server, WebSocketPolyfill: WebSocket })
  const provider = new HocuspocusProvider({ websocketProvider, name, token: token ?? 'token', document })
  let problem: string | null = null
  provider.on('authenticationFailed', ({ reason }: { readonly reason: string }) => {
    problem = `the server rejected the token: ${reason}`
  })
  websocketProvider.on('open', () => {
    problem = null
  })
  provider.on('close', ({ event }: { readonly event: Parameters<typeof closedWith>[0] }) => {
    problem ??= closedWith(event)
  })
  provider.attach()
  return {
    awareness: provider.awareness as Awareness,
    isSynced: () => provider.isSynced,
    problem: () => problem,
    end: () => {
      provider.destroy()
      websocketProvider.destroy()
    },
  }
}
