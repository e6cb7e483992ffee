import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { HocuspocusProvider } from '@hocuspocus/provider'
import * as Y from 'yjs'

const weftUrl = 'http://localhost:8787'
const oldUrl = 'ws://localhost:1234'
const oldToken = process.env.OLD_TOKEN ?? 'none'

/** Documents that users created in Weft, with the names that the old server must give them. */
const created = [
  // { name: 'new', organizationId: 'acme', documentId: 'new', editorId: 'main' },
]

const addressOf = ({ organizationId, documentId, editorId }) =>
  [organizationId, documentId, editorId].map(encodeURIComponent).join('/')

const { mapping } = JSON.parse(readFileSync('names.json', 'utf8'))
/** The names at the old server, by address in Weft. */
const oldNames = new Map([...mapping, ...created].map((each) => [addressOf(each), each.name]))

async function call(operation, data) {
  const response = await fetch(`${weftUrl}/v2/${operation}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-service-api-key': process.env.KEY,
      'x-service-auth-token': process.env.TOKEN,
    },
    body: JSON.stringify({ data }),
  })
  const { result, error } = await response.json()
  if (error?.details?.code === 'crdt/no-content') return { data: [] }
  if (error) throw new Error(`${operation}: ${error.message}`)
  return result
}

/** Yields the items of all pages. */
async function* list(operation, query) {
  for (let pageToken; ; ) {
    const page = await call(operation, { ...query, pageToken })
    yield* page.data
    pageToken = page.pageToken
    if (pageToken === undefined) return
  }
}

/** Yields each document of Weft, as a Yjs update. */
async function* documents() {
  for await (const { id: organizationId } of list('organizations/get', {}))
    for await (const { id: documentId } of list('organizations/documents/get', { organizationId })) {
      const editors = await call('crdt/get', { organizationId, documentId, format: 'update' })
      for (const { id: editorId, data } of editors.data) {
        const address = addressOf({ organizationId, documentId, editorId })
        yield { address, update: Buffer.from(data, 'base64') }
      }
    }
}

/** Returns whether two documents have the same edits and deletions. */
const isEqual = (one, other) => Y.equalSnapshots(Y.snapshot(one), Y.snapshot(other))

/** Opens a document at the old server. Resolves when it is synced. */
async function open(name, document) {
  const provider = new HocuspocusProvider({ url: oldUrl, name, document, token: oldToken })
  for (let tries = 0; !provider.isSynced; tries++) {
    if (tries === 300) throw new Error(`${name}: the old server does not sync`)
    await sleep(100)
  }
  return provider
}

async function bringBack(name, update) {
  const doc = new Y.Doc()
  Y.applyUpdate(doc, update)
  const sender = await open(name, doc)
  // A second client reads the document back.
  const readBack = new Y.Doc()
  const reader = await open(name, readBack)
  for (let tries = 0; !isEqual(doc, readBack); tries++) {
    if (tries === 300) throw new Error(`${name}: the old server has other content`)
    await sleep(100)
  }
  sender.destroy()
  reader.destroy()
  console.log(`${name}: the old server has it`)
}

const withoutName = []
for await (const { address, update } of documents()) {
  const name = oldNames.get(address)
  if (name === undefined) withoutName.push(address)
  else await bringBack(name, update)
  oldNames.delete(address)
}
for (const name of oldNames.values())
  console.log(`${name}: Weft has no content; the old server keeps its own`)
for (const address of withoutName) console.log(`${address}: not sent, because it has no old name`)
process.exit(withoutName.length === 0 ? 0 : 1)
