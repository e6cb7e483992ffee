// Shows the typed client. The address and credentials of the server come from WEFT_URL, WEFT_API_KEY and
// WEFT_AUTH_TOKEN, or from the credentials file in its data directory.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { Weft, WeftError } from './client.ts'

async function credentials(): Promise<{ apiKey: string; authToken: string }> {
  const { WEFT_API_KEY: apiKey, WEFT_AUTH_TOKEN: authToken } = process.env
  if (apiKey && authToken) return { apiKey, authToken }
  const kept = new URL('../../data/credentials.json', import.meta.url)
  return JSON.parse(await readFile(kept, 'utf8')) as { apiKey: string; authToken: string }
}

const { apiKey, authToken } = await credentials()
const weft = new Weft({
  url: process.env.WEFT_URL ?? 'http://localhost:8787',
  credentials: { 'x-service-api-key': apiKey, 'x-service-auth-token': authToken },
})
const say = (text: string): void => console.log(`- ${text}`)
const organizationId = `client-${Date.now()}`
const draft = { organizationId, documentId: 'plan', editorId: 'main' }

await weft.call('/v2/crdt/add', { ...draft, type: 'text', data: 'Launch on Monday.' })
const [read] = await weft.call('/v2/crdt/get', draft)
assert.ok(read)
say(`the document contains ${JSON.stringify(read.data)} at version ${read.version}`)

const written = await weft.call('/v2/crdt/update', {
  ...draft,
  type: 'text',
  data: 'Launch on Tuesday.',
  ifVersion: read.version,
})
say(`a backend has rewritten it: version ${written.version}`)

const late = weft.call('/v2/crdt/update', { ...draft, type: 'text', data: '', ifVersion: read.version })
const refused = await late.then(
  () => null,
  (error: unknown) => error,
)
assert.ok(refused instanceof WeftError && refused.status === 'ABORTED')
say(`a write with the old version is rejected: ${refused.message}`)

await weft.call('/v2/organizations/delete', { organizationIds: [organizationId] })
say('the organization is deleted, with everything in it')
