import { createElement, type ReactElement } from 'react'
import { createServer, type ServerOptions, type WeftEvent, type WeftServer } from 'weft-server'
import { createClient, dataOf, type Result, verifyWebhook, type WeftApi } from 'weft-server/client'
import { DocumentProvider, type ProviderProblem } from 'weft-server/provider'
import { Room, usePresence, useRoom, useSaved, WeftProvider } from 'weft-server/react'
import { IndexeddbPersistence } from 'y-indexeddb'
import * as Y from 'yjs'

const options: ServerOptions = { engine: 'memory', callsPerKey: { perSecond: 100, burst: 1000 } }
const weft: WeftServer = await createServer({
  ...options,
  authorize: async ({ user }) => ({ role: user.userId === 'ada' ? 'editor' : 'viewer', ttlSeconds: 60 }),
})
weft.on('comment.add', (event: WeftEvent<'comment.add'>) => console.log(event.data.actionUser.userId))
const client = createClient({ url: 'https://weft.example.com', apiKey: 'key', authToken: 'token' })

// The methods of the server and of the client have the same types.
const apis: readonly WeftApi[] = [weft.api, client]
for (const api of apis) {
  const read = await api.crdt.get({ organizationId: 'acme', documentId: 'notes' })
  if (!read.ok && read.error.code === 'crdt/no-content') console.log(read.error.message)
  const text: string | undefined = dataOf(read)[0]?.version
  console.log(text)
}
for await (const { id } of client.organizations.get.items()) console.log(id)
for await (const event of client.feedEvents({ content: 'text' })) console.log(event.content?.data)
const added: Result<unknown> = await client.organizations.add({
  organizations: [{ organizationId: 'acme', organizationName: 'Acme' }],
})
console.log(added.ok, (await verifyWebhook('{}', new Headers(), 'whsec_x')).event)

const doc = new Y.Doc()
const provider = new DocumentProvider({
  url: 'https://weft.example.com',
  organizationId: 'acme',
  documentId: 'notes',
  doc,
  tokenUrl: '/weft-token',
  offline: IndexeddbPersistence,
})
provider.on('status', (status, problem: ProviderProblem | null) => console.log(status, problem?.action))
const same: Y.Doc = provider.doc
console.log(same.guid, provider.role, provider.saved)

function Status(): string {
  // The class of the entry points is the same.
  const { provider: own, canWrite }: { provider: DocumentProvider; canWrite: boolean } = useRoom()
  return `${usePresence().users.length} ${useSaved()} ${canWrite} ${own.status}`
}
export const page: ReactElement = createElement(
  WeftProvider,
  { organizationId: 'acme', endpoint: '/weft' },
  createElement(Room, { documentId: 'notes' }, createElement(Status)),
)
