import { HocuspocusProvider as Provider4, HocuspocusProviderWebsocket as Socket4 } from '@hocuspocus/provider'
import { YSweetProvider } from '@y-sweet/client'
import {
  HocuspocusProvider as Provider2,
  HocuspocusProviderWebsocket as Socket2,
} from 'hocuspocus-provider-2'
import {
  HocuspocusProvider as Provider3,
  HocuspocusProviderWebsocket as Socket3,
} from 'hocuspocus-provider-3'
import { WebSocket } from 'ws'
import * as Y from 'yjs'
import { eventually, type ProviderVersion, syncedEditor } from './clients.ts'

/** The addresses of a server that clients need. */
export interface Host {
  readonly url: string
  readonly wsUrl: string
  /** Class of the sockets of clients; default: the one of `ws`. */
  readonly Socket?: unknown
}

/** Stock versions of HocuspocusProvider by major version. */
export const hocuspocusProviders = { 2: Provider2, 3: Provider3, 4: Provider4 } as const
const hocuspocusSockets = { 2: Socket2, 3: Socket3, 4: Socket4 } as const
export type HocuspocusVersion = keyof typeof hocuspocusProviders

/** A user with a stock client of any protocol. */
export interface Person {
  readonly doc: Y.Doc
  readonly text: Y.Text
  readonly awareness: {
    setLocalStateField(name: string, value: unknown): void
    getStates(): Map<number, unknown>
  }
  /** Returns whether the client has unsaved changes. Returns false if its protocol has no acknowledgments. */
  readonly isUnsaved: () => boolean
  close(): void
}

/** A protocol, with a function that opens a document of the organization `acme` with a stock client. */
export interface Dialect {
  readonly name: string
  /** Whether the protocol has acknowledgments. */
  readonly saves: boolean
  open(server: Host, documentId: string, token: string, editorId?: string): Promise<Person>
}

const path = (documentId: string, editorId = 'main'): string =>
  ['acme', documentId, editorId].map(encodeURIComponent).join('/')

const yWebsocket = (version: ProviderVersion): Dialect => ({
  name: `y-websocket ${version}`,
  saves: false,
  async open(server, documentId, token, editorId) {
    const { wsUrl, Socket } = server
    const editor = await syncedEditor(wsUrl, path(documentId, editorId), token, { version, Socket })
    const { doc, text, provider } = editor
    return { doc, text, awareness: provider.awareness, isUnsaved: () => false, close: () => editor.close() }
  },
})

/** Opens a websocket of HocuspocusProvider, with a query in its URL. It can be used for any number of documents. */
export function hocuspocusSocket(server: Host, version: HocuspocusVersion = 4, query = ''): Socket4 {
  const Socket = hocuspocusSockets[version] as unknown as typeof Socket4
  return new Socket({
    url: `${server.wsUrl}/hocuspocus${query}`,
    WebSocketPolyfill: server.Socket ?? WebSocket,
    delay: 50,
    minDelay: 50,
    maxDelay: 200,
  })
}

export interface HocuspocusOptions {
  readonly version?: HocuspocusVersion
  readonly socket?: Socket4
  readonly sessionAwareness?: boolean
}

/** Opens a document with a stock provider. Does not wait until the provider is connected. */
export function hocuspocusProvider(
  server: Host,
  name: string,
  token: string | (() => string),
  {
    version = 4,
    socket = hocuspocusSocket(server, version),
    sessionAwareness = false,
  }: HocuspocusOptions = {},
): Provider4 {
  const Provider = hocuspocusProviders[version] as unknown as typeof Provider4
  const provider = new Provider({
    websocketProvider: socket,
    name,
    token,
    document: new Y.Doc(),
    sessionAwareness,
  })
  provider.attach?.()
  return provider
}

const hocuspocus = (version: HocuspocusVersion): Dialect => ({
  name: `Hocuspocus ${version}`,
  saves: true,
  async open(server, documentId, token, editorId) {
    const socket = hocuspocusSocket(server, version)
    const provider = hocuspocusProvider(server, path(documentId, editorId), token, { version, socket })
    const { document: doc } = provider
    await eventually(() => provider.isSynced && !provider.hasUnsyncedChanges)
    const close = (): void => {
      provider.destroy()
      socket.destroy()
      doc.destroy()
    }
    const isUnsaved = (): boolean => provider.hasUnsyncedChanges
    return {
      doc,
      text: doc.getText('content'),
      awareness: provider.awareness as Person['awareness'],
      isUnsaved,
      close,
    }
  },
})

export interface YSweetToken {
  readonly url: string
  readonly baseUrl: string
  readonly docId: string
  readonly token: string
}

/** Opens a document with a stock Y-Sweet provider. Does not wait until the provider is connected. */
export function ySweetProvider(clientToken: YSweetToken, doc = new Y.Doc(), connect = true): YSweetProvider {
  return new YSweetProvider(() => Promise.resolve(clientToken), clientToken.docId, doc, {
    initialClientToken: clientToken,
    WebSocketPolyfill: WebSocket as never,
    showDebuggerLink: false,
    connect,
  })
}

/**
 * Ends a provider permanently. Without this function, the provider would reconnect whenever its socket
 * closes, even after `disconnect`.
 */
export function endYSweet(provider: YSweetProvider): void {
  provider.connect = (): Promise<void> => Promise.resolve()
  provider.disconnect()
  provider.destroy()
}

const ySweet: Dialect = {
  name: 'Y-Sweet',
  saves: true,
  async open(server, documentId, token, editorId) {
    const docId = path(documentId, editorId)
    const doc = new Y.Doc()
    const provider = ySweetProvider({ url: `${server.wsUrl}/sync`, baseUrl: server.url, docId, token }, doc)
    await eventually(() => provider.status === 'connected' && !provider.hasLocalChanges)
    const close = (): void => {
      endYSweet(provider)
      doc.destroy()
    }
    const isUnsaved = (): boolean => provider.hasLocalChanges
    return { doc, text: doc.getText('content'), awareness: provider.awareness, isUnsaved, close }
  },
}

/** All protocols that the server supports, each with all versions of its stock client. */
export const dialects: readonly Dialect[] = [
  yWebsocket(1),
  yWebsocket(2),
  yWebsocket(3),
  hocuspocus(2),
  hocuspocus(3),
  hocuspocus(4),
  ySweet,
]
