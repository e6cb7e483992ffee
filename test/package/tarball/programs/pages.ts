import { type CommentThread, createClient, dataOf } from '@weft/client'
import { DocumentProvider } from '@weft/provider'
import { Room, type CommentThread as RoomThread, useComments, useRoom, WeftProvider } from '@weft/react'
import { createElement } from 'react'
import { renderToString } from 'react-dom/server'
import { WebSocket as NodeWebSocket } from 'ws'
import type { Doc } from 'yjs'

const [url = '', apiKey = '', authToken = ''] = process.argv.slice(2)
const client = createClient({ url, apiKey, authToken })
const address = { organizationId: 'acme', documentId: 'notes', editorId: 'main' }
dataOf(await client.crdt.update({ ...address, type: 'text', data: 'Hello', upsert: true }))
const resources = [{ type: 'document', id: 'notes', organizationId: 'acme', accessRole: 'editor' } as const]
const provider = new DocumentProvider({
  url,
  ...address,
  getToken: async () => {
    const userProperties = { name: 'Ada', email: 'ada@example.com' }
    return dataOf(
      await client.auth.generateToken({ userId: 'ada', userProperties, permissions: { resources } }),
    ).token
  },
  WebSocket: NodeWebSocket as unknown as typeof WebSocket,
})
await new Promise<void>((resolve) => provider.on('synced', () => resolve()))
const doc: Doc = provider.doc
const text = doc.getText('content')
const read = text.toString()
const saved = new Promise<void>((resolve) => provider.on('saved', (isSaved) => isSaved && resolve()))
text.insert(5, ' world')
await saved
const [{ data: written } = {}] = dataOf(await client.crdt.get(address))
provider.destroy()

function Notes(): string {
  // The class of both packages is the same.
  const { provider: own }: { provider: DocumentProvider } = useRoom()
  const threads: readonly RoomThread[] = useComments().threads
  const same: readonly CommentThread[] = threads
  return `${own.status} ${same.length}`
}
const page = renderToString(
  createElement(
    WeftProvider,
    { url, organizationId: 'acme', endpoint: '/weft' },
    createElement(Room, { documentId: 'notes', fallback: 'Loading' }, createElement(Notes)),
  ),
)
console.log(JSON.stringify({ read, written, page }))
