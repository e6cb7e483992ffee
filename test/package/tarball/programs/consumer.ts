import { createServer as createHttp, type IncomingMessage } from 'node:http'
import { createElement, type ReactElement } from 'react'
import {
  createServer,
  type NodeHandler,
  nodeHandler,
  readClientOptions,
  type ServerOptions,
  type WeftEvent,
  type WeftServer,
} from 'weft-server'
import {
  type CommentThread,
  createClient,
  createEndpoint,
  dataOf,
  type Endpoint,
  type EndpointUser,
  type Result,
  verifyWebhook,
  type WebhookEvent,
  WebhookRejectedError,
  type WeftApi,
  WeftError,
} from 'weft-server/client'
import {
  DocumentProvider,
  type ProviderProblem,
  problemActions,
  TokenDeniedError,
} from 'weft-server/provider'
import {
  type CommentAnchor,
  decodeAnchor,
  EndpointError,
  encodeAnchor,
  Room,
  useComments,
  usePresence,
  useRoom,
  useSaved,
  WeftProvider,
} from 'weft-server/react'
import {
  acceptSuggestion,
  blockNoteSuggestions,
  rejectSuggestion,
  type SuggestedChange,
  SuggestionStore,
  suggestionsPlugin,
  tiptapSuggestions,
} from 'weft-server/suggestions'
import { IndexeddbPersistence } from 'y-indexeddb'
import * as Y from 'yjs'

const options: ServerOptions = { engine: 'memory', callsPerKey: { perSecond: 100, burst: 1000 } }
const weft: WeftServer = await createServer({
  ...options,
  authorize: async ({ user }) => ({ role: user.userId === 'ada' ? 'editor' : 'viewer', ttlSeconds: 60 }),
})
weft.on('comment.add', (event: WeftEvent<'comment.add'>) => console.log(event.data.actionUser.userId))
weft.on('comment.add', ({ data }) =>
  console.log(data.comment?.text.length, data.annotation?.status === 'open'),
)
weft.on('presence.join', ({ data }) => console.log(data.user.userId.length))
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
for await (const event of client.feedEvents({ content: 'text' })) {
  if (event.type === 'crdt.update_data') console.log(event.content?.data, event.data.version.length)
  if (event.type === 'document.delete') console.log(event.data.documentId.length)
}
const added: Result<unknown> = await client.organizations.add({
  organizations: [{ organizationId: 'acme', organizationName: 'Acme' }],
})
const webhook: WebhookEvent = await verifyWebhook('{}', new Headers(), 'whsec_x')
if ('test' in webhook.data) console.log(webhook.data.endpointId.length)
else if (webhook.event === 'document.create') console.log(added.ok, webhook.data.documentId.length)
else if (webhook.event === 'comment.add') {
  const text: string | undefined = webhook.data.comment?.text
  const id: string | undefined = webhook.data.comment?.commentId
  console.log(text, id)
}

console.log(createClient(await readClientOptions()).crdt.get, WeftError.name, WebhookRejectedError.name)

// An endpoint for a framework with standard requests, and one for `node:http`, whose context is its request.
const userOf = (cookie: string | null | undefined): EndpointUser | null =>
  cookie === 'ada' ? { userId: 'ada', name: 'Ada', role: 'editor', canComment: true } : null
const endpoint: Endpoint = createEndpoint({
  api: client,
  authorize: (request, { documentId }) =>
    documentId === 'notes' ? userOf(request.headers.get('cookie')) : null,
})
export const POST: (request: Request) => Promise<Response> = (request) => endpoint(request)
const handler: NodeHandler = nodeHandler(
  createEndpoint<IncomingMessage>({
    api: weft.api,
    authorize: async (_request, _document, { headers }) => userOf(headers.cookie),
    tokenSeconds: 600,
    onError: (error: unknown) => console.error(error),
  }),
)
createHttp((request, response) => void handler(request, response))

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
provider.on('role', (role, canWrite) => console.log(role?.length, canWrite))
console.log(problemActions['read-only'] === 'wait', new TokenDeniedError('signed out').name)
const same: Y.Doc = provider.doc
console.log(same.guid, provider.role, provider.saved)

const suggestions = new SuggestionStore('/weft', { organizationId: 'acme', documentId: 'notes' })
const stop: () => void = suggestions.listenTo(provider)
const [suggestion]: readonly SuggestedChange[] = suggestions.get().suggestions
console.log(stop, suggestion?.inserted, suggestions.get().error?.code)
console.log(suggestionsPlugin(suggestions).props, tiptapSuggestions(suggestions).name)
console.log(blockNoteSuggestions(suggestions).key, acceptSuggestion('hunk'), rejectSuggestion())

function Status(): string {
  // The class of the entry points is the same.
  const { provider: own, canWrite }: { provider: DocumentProvider; canWrite: boolean } = useRoom()
  return `${usePresence().users.length} ${useSaved()} ${canWrite} ${own.status}`
}
function Comments(): string {
  const { threads, error, canComment, isLoading, hasMore, ...changes } = useComments()
  const start = Y.createRelativePositionFromTypeIndex(doc.getText('content'), 0)
  const anchor: CommentAnchor = encodeAnchor(start, undefined, 'content')
  const change = async (thread: CommentThread): Promise<void> => {
    const { annotationId, commentId }: { annotationId: string; commentId: string } = await changes.add(
      'x',
      anchor,
    )
    const { commentId: answer } = await changes.reply(thread.annotationId, 'y')
    await changes.update(annotationId, commentId, 'z')
    await changes.remove(thread.annotationId, answer)
    await changes.resolve(annotationId, thread.status === 'open' ? 'resolved' : 'open')
    if (thread.anchor !== null) console.log(decodeAnchor(thread.anchor).start)
  }
  const [first] = threads
  if (first !== undefined && canComment)
    change(first).catch((failed: unknown) => failed instanceof EndpointError)
  const code: string | undefined = error?.code
  return `${first?.comments[0]?.from.name} ${isLoading} ${hasMore} ${code}`
}
export const page: ReactElement = createElement(
  WeftProvider,
  { organizationId: 'acme', endpoint: '/weft' },
  createElement(Room, { documentId: 'notes' }, createElement(Status), createElement(Comments)),
)
