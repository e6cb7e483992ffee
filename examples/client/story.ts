// Shows the typed client: results, pages, the change feed and the signature of a webhook.
import assert from 'node:assert/strict'
import { createHmac, randomBytes } from 'node:crypto'
import { readClientOptions } from 'weft-server'
import { createClient, dataOf } from 'weft-server/client'
import { receive } from './receive.ts'

const weft = createClient(await readClientOptions({ dataDir: '../../data' }))
const organizationId = `client-${Date.now()}`
const draft = { organizationId, documentId: 'plan', editorId: 'main' }
const say = (text: string): void => console.log(`- ${text}`)

// `dataOf` returns the data of a call, or throws a WeftError.
dataOf(await weft.crdt.add({ ...draft, type: 'text', data: 'Launch on Monday.' }))
const [read] = dataOf(await weft.crdt.get(draft))
assert.ok(read)
say(`the document contains ${JSON.stringify(read.data)} at version ${read.version}`)

/** Rewrites the document unless it has changed. The compiler knows the codes and the data of the result. */
async function rewrite(data: string, ifVersion: string): Promise<string> {
  const result = await weft.crdt.update({ ...draft, type: 'text', data, ifVersion })
  if (result.ok) return `version ${result.data.version}`
  switch (result.error.code) {
    case 'crdt/version-conflict':
      return 'rejected, because the document has changed'
    case 'client/unreachable':
    case 'client/timeout':
      return 'not known, because there was no response'
    default:
      throw new Error(result.error.message)
  }
}
say(`first write: ${await rewrite('Launch on Tuesday.', read.version)}`)
say(`second write, with the old version: ${await rewrite('Never launch.', read.version)}`)

// The feed belongs to the API key. If this program turns it on, it turns it off at the end.
const { enabled } = dataOf(await weft.workspace.feed.get())
if (!enabled) dataOf(await weft.workspace.feed.update({ enabled: true }))
try {
  const { cursor } = dataOf(await weft.feed.get({ from: 'now' }))
  const documents = ['agenda', 'budget', 'minutes'].map((documentId) => ({ documentId }))
  dataOf(await weft.organizations.documents.add({ organizationId, documents }))

  const ids: string[] = []
  for await (const { id } of weft.organizations.documents.get.items({ organizationId, pageSize: 2 }))
    ids.push(id)
  say(`the pages of the list have the documents ${ids.join(', ')}`)

  const created: string[] = []
  for await (const event of weft.feedEvents({ organizationId, types: ['document.create'], cursor })) {
    created.push(event.documentId ?? '')
    if (created.length === documents.length) break
  }
  say(`the feed has the new documents ${created.join(', ')}`)
} finally {
  if (!enabled) dataOf(await weft.workspace.feed.update({ enabled: false }))
}

/** A request as Weft sends it to an endpoint with this secret. */
function webhook(secret: string): Request {
  const body = JSON.stringify({ event: 'document.create', data: { documentId: 'plan' } })
  const [id, seconds] = ['msg_1', String(Math.floor(Date.now() / 1000))]
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')
  return new Request('https://app.example.com/hook', {
    method: 'POST',
    body,
    headers: { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': `v1,${signature}` },
  })
}
const [secret, other] = [1, 2].map(() => `whsec_${randomBytes(24).toString('base64')}`) as [string, string]
assert.equal((await receive(webhook(secret), secret)).status, 204)
assert.equal((await receive(webhook(other), secret)).status, 401)
say('a webhook with a valid signature is accepted, and one with another signature is rejected')

dataOf(await weft.organizations.delete({ organizationIds: [organizationId] }))
say('the organization is deleted, with everything in it')
