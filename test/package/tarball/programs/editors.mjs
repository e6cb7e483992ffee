import { DocumentProvider } from 'weft-server/provider'
import { WebSocket } from 'ws'
import { WebsocketProvider } from 'y-websocket'
import * as Y from 'yjs'

/** Waits until the condition is true. */
export async function until(condition, what) {
  const deadline = Date.now() + 20_000
  while (!condition()) {
    if (Date.now() > deadline) throw new Error(`not in time: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

function stockEditor(url, token) {
  const doc = new Y.Doc()
  const address = `${url.replace('http', 'ws')}/sync`
  const options = { params: { token }, WebSocketPolyfill: WebSocket, disableBc: true }
  const provider = new WebsocketProvider(address, 'acme/notes/main', doc, options)
  // Its awareness ends with the document.
  const destroy = () => {
    provider.destroy()
    doc.destroy()
  }
  return { doc, provider, destroy }
}

function ownEditor(url, getToken) {
  const at = { url, organizationId: 'acme', documentId: 'notes', editorId: 'main' }
  const provider = new DocumentProvider({ ...at, getToken, WebSocket })
  return { doc: provider.doc, provider, destroy: () => provider.destroy() }
}

/**
 * Opens one document with two stock editors and the provider of the package, while a backend edits it. All must
 * converge. Returns the text.
 */
export async function editTogether({ url, tokenOf, greet }) {
  const editors = [
    stockEditor(url, await tokenOf('ada')),
    stockEditor(url, await tokenOf('bob')),
    ownEditor(url, () => tokenOf('eve')),
  ]
  const texts = () => editors.map(({ doc }) => doc.getText('content').toString())
  await until(() => editors.every(({ provider }) => provider.synced), 'all editors are synced')
  await greet()
  await until(() => texts().every((text) => text === 'Hello'), 'all editors have the edit of the backend')
  for (const [index, { doc }] of editors.entries()) doc.getText('content').insert(5, String(index))
  const isEqual = () => new Set(texts()).size === 1 && texts()[0].length === 8
  await until(isEqual, 'all editors have all edits')
  await until(() => editors[2].provider.saved, 'the edits are saved')
  const [text] = texts()
  for (const editor of editors) editor.destroy()
  return text
}

/** Functions for `editTogether` with the operations of a server or of a client. */
export function backendOf(api, dataOf) {
  const address = { organizationId: 'acme', documentId: 'notes' }
  return {
    tokenOf: async (userId) => {
      const resources = [{ type: 'document', id: 'notes', organizationId: 'acme', accessRole: 'editor' }]
      const userProperties = { name: userId, email: `${userId}@example.com` }
      return dataOf(await api.auth.generateToken({ userId, userProperties, permissions: { resources } }))
        .token
    },
    greet: async () =>
      dataOf(
        await api.crdt.update({ ...address, editorId: 'main', type: 'text', data: 'Hello', upsert: true }),
      ),
  }
}

/** Resources that keep the process running. Its output is not one of them. */
const resources = () => process.getActiveResourcesInfo().filter((name) => !/^(Pipe|TTY)/.test(name))

/**
 * Prints the result of a program, with the resources that keep it running. Waits a short time for the ends of
 * connections, and for the last timers of stock editors.
 */
export async function report(result) {
  for (let round = 0; round < 100 && resources().length > 0; round++)
    await new Promise((resolve) => setTimeout(resolve, 50))
  console.log(JSON.stringify({ ...result, left: resources() }))
}
