// Runs in Node, Deno and Bun, with the URL and the credentials of a server as arguments. Prints what the client returns.
import { createClient, createEndpoint, dataOf, verifyWebhook } from 'weft-server/client'

const [url, apiKey, authToken] = process.argv.slice(2)
const client = createClient({ url, apiKey, authToken })
const place = { organizationId: 'acme', documentId: 'notes', editorId: 'main' }

dataOf(await client.workspace.feed.update({ enabled: true }))
const { cursor } = dataOf(await client.feed.get({ from: 'now' }))
dataOf(await client.crdt.update({ ...place, type: 'text', data: 'Hello', upsert: true }))
const [{ data }] = dataOf(await client.crdt.get(place))
const failed = await client.crdt.get({ ...place, documentId: 'other' })
const late = await client.crdt.get(place, { signal: AbortSignal.abort() })

const documents = ['a', 'b', 'c'].map((documentId) => ({ documentId }))
dataOf(await client.organizations.documents.add({ organizationId: 'acme', documents }))
const pages = []
for await (const { id } of client.organizations.documents.get.items({ organizationId: 'acme', pageSize: 2 }))
  pages.push(id)

const ending = new AbortController()
const events = []
for await (const { type, documentId } of client.feedEvents({ cursor, signal: ending.signal })) {
  if (type === 'document.create') events.push(documentId)
  if (events.length === 4) ending.abort()
}

const bytes = new TextEncoder().encode('a secret of 32 bytes for webhooks')
const secret = `whsec_${btoa(String.fromCharCode(...bytes))}`
const body = JSON.stringify({ event: 'document.create' })
const seconds = String(Math.floor(Date.now() / 1000))
const key = await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
const signed = new TextEncoder().encode(`msg_1.${seconds}.${body}`)
const signature = btoa(String.fromCharCode(...new Uint8Array(await crypto.subtle.sign('HMAC', key, signed))))
const headers = new Headers({
  'webhook-id': 'msg_1',
  'webhook-timestamp': seconds,
  'webhook-signature': `v1,${signature}`,
})
const { event } = await verifyWebhook(body, headers, secret)
const forged = await verifyWebhook(`${body} `, headers, secret).catch((error) => error.name)

const endpoint = createEndpoint({
  api: client,
  authorize: () => ({ userId: 'ann', name: 'Ann', role: 'viewer' }),
})
const post = (path, members) =>
  endpoint(
    new Request(`https://app.example.com/weft/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(members),
    }),
  )
const answered = await (await post('token', place)).json()
const { accessRole } = dataOf(await client.auth.inspectToken({ token: answered.token, ...place }))
const rejected = await post('token', { documentId: 'notes' })

console.log(
  JSON.stringify({
    data,
    codes: [failed.error.code, late.error.code],
    pages,
    events,
    event,
    forged,
    accessRole,
    status: rejected.status,
  }),
)
