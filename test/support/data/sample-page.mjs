/**
 * Environment in which the samples of the documentation run. It simulates a page, its backend, and servers of
 * other vendors.
 */
import { WebSocket } from 'ws'
import * as Y from 'yjs'

globalThis.WebSocket ??= WebSocket
globalThis.token = process.env.USER_TOKEN
globalThis.doc = new Y.Doc()

const brought = new Y.Doc()
brought.getText('content').insert(0, 'Brought along.')
const update = Y.encodeStateAsUpdate(brought)

/** Responses by URL. They are returned if the headers of the call are right. */
const others = {
  '/token': () => new Response(process.env.USER_TOKEN),
  '/y-sweet-token': () => new Response(process.env.Y_SWEET_TOKEN),
  'https://y-sweet.example.com/doc/plan/auth': () =>
    Response.json({ baseUrl: 'https://y-sweet.example.com/d/plan', docId: 'plan', token: 'client-token' }),
  'https://y-sweet.example.com/d/plan/as-update': ({ headers }) => bytesIf(headers, 'Bearer client-token'),
  'https://yhub.example.com/api/ydoc/v1/acme/yhub-plan': ({ headers }) =>
    headers.accept === 'application/json'
      ? Response.json({ doc: Buffer.from(update).toString('base64') })
      : new Response('', { status: 400 }),
  'https://api.liveblocks.io/v2/rooms/liveblocks-plan/ydoc-binary': ({ headers }) =>
    bytesIf(headers, 'Bearer sk_example'),
  'https://example.collab.tiptap.cloud/api/documents/tiptap-plan?format=yjs': ({ headers }) =>
    bytesIf(headers, 'example-secret'),
}

const bytesIf = ({ authorization }, wanted) =>
  authorization === wanted ? new Response(update) : new Response('', { status: 401 })

const fetchThere = globalThis.fetch
globalThis.fetch = async (to, options) => {
  const address = String(to)
  if (Object.hasOwn(others, address)) return others[address](options)
  if (!address.startsWith('http://127.0.0.1:')) throw new Error(`nobody is at ${address}`)
  return fetchThere(address, options)
}

/** Ends the process. If the sample has a provider, waits until the provider has synced. */
globalThis.ended = async (provider) => {
  const isSynced = () => provider === null || provider.synced || provider.status === 'connected'
  const deadline = Date.now() + 10_000
  while (!isSynced()) {
    if (Date.now() > deadline) throw new Error('the provider did not sync')
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  process.exit(0)
}
