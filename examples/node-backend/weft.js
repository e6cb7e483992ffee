// A small client that calls operations of Weft, and opens documents like a browser.
import { WebSocket } from 'ws'
import { WebsocketProvider } from 'y-websocket'
import * as Y from 'yjs'

export class Weft {
  constructor({ url, apiKey, authToken }) {
    this.url = url
    this.headers = {
      'content-type': 'application/json',
      'x-service-api-key': apiKey,
      'x-service-auth-token': authToken,
    }
  }

  /** Returns `result.data` of an operation, or throws an error with its status. */
  async call(path, data) {
    const response = await fetch(this.url + path, {
      method: 'POST',
      headers: this.headers,
      body: JSON.stringify({ data }),
    })
    const { result, error } = await response.json()
    if (error) throw Object.assign(new Error(`${path}: ${error.message}`), { status: error.status })
    return result.data
  }

  /** Returns a token with which a user opens one document. The backend creates it for the browser. */
  async tokenFor(userId, name, { organizationId, documentId: id }) {
    const userProperties = { name, email: `${userId}@example.com` }
    const permissions = { resources: [{ type: 'document', id, organizationId, accessRole: 'editor' }] }
    return (await this.call('/v2/auth/generate_token', { userId, userProperties, permissions })).token
  }

  /** Opens a document as a user. Resolves when it is synced, or with the close code after a rejection. */
  open(path, token) {
    const doc = new Y.Doc()
    const server = `${this.url.replace(/^http/, 'ws')}/sync`
    const provider = new WebsocketProvider(server, path, doc, {
      params: { token },
      WebSocketPolyfill: WebSocket,
      disableBc: true,
    })
    const closed = new Promise((resolve) =>
      provider.on('connection-close', (event) => {
        provider.shouldConnect = false
        resolve(event.code)
      }),
    )
    const synced = new Promise((resolve) => provider.on('sync', resolve))
    return Promise.race([
      synced.then(() => ({ doc, closed, close: () => provider.destroy() })),
      closed.then((code) => ({ refused: code })),
    ])
  }
}
