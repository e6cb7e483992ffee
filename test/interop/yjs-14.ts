import { WebSocket } from 'ws'

/** Loads Yjs 14 and its provider. The function `open` opens a document like the page of a user. */
export async function loadYjs14() {
  const [Y, { WebsocketProvider }] = await Promise.all([import('@y/y'), import('@y/websocket')])
  return {
    Y,
    open(wsUrl: string, path: string, params: Readonly<Record<string, string>>) {
      const doc = new Y.Doc()
      const provider = new WebsocketProvider(`${wsUrl}/sync`, path, doc, {
        params: { ...params },
        WebSocketPolyfill: WebSocket as never,
        disableBc: true,
        maxBackoffTime: 200,
      })
      const close = (): void => {
        provider.destroy()
        doc.destroy()
      }
      return { doc, provider, close }
    },
  }
}
