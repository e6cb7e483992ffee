/**
 * The main REST operations on organizations of growing size: how long they take, how many a second, and how that grows
 * with what is there. Calls go over real sockets to a server of its own, durable on disk.
 *
 *   node --import tsx bench/rest.ts [--smoke]
 */
import { fsyncMs } from './support/disk.ts'
import { seededRandom } from './support/random.ts'
import { median, progress, quantile, round, table, thousands } from './support/report.ts'
import { type BenchServer, startWeft, temporaryDirectory } from './support/server.ts'

const smoke = process.argv.includes('--smoke')
const sizes = smoke ? [200, 400] : [1_000, 100_000]
const users = smoke ? 100 : 10_000
const folders = smoke ? 50 : 1_000
const calls = smoke ? 20 : 400
/** Calls under way at once while throughput is measured. */
const atOnce = 16
const batch = 500

const random = seededRandom(9)

interface Operation {
  readonly name: string
  readonly path: string
  data(organizationId: string, documents: number): object
}

const anyOf = (kind: string, count: number): string => `${kind}-${random(count)}`
const document = (organizationId: string, documents: number) => ({
  organizationId,
  documentId: anyOf('document', documents),
})

const operations: readonly Operation[] = [
  {
    name: 'one document',
    path: '/v2/organizations/documents/get',
    data: (organizationId, documents) => ({ organizationId, documentIds: [anyOf('document', documents)] }),
  },
  {
    name: 'a page of 100 documents',
    path: '/v2/organizations/documents/get',
    data: (organizationId) => ({ organizationId, pageSize: 100 }),
  },
  {
    name: 'a document renamed',
    path: '/v2/organizations/documents/update',
    data: (organizationId, documents) => ({
      organizationId,
      documents: [{ documentId: anyOf('document', documents), documentName: anyOf('name', 1e6) }],
    }),
  },
  {
    name: 'a document moved',
    path: '/v2/organizations/documents/move',
    data: (organizationId, documents) => ({
      organizationId,
      documentIds: [anyOf('document', documents)],
      folderId: anyOf('folder', folders),
    }),
  },
  {
    name: 'a folder and what is in it',
    path: '/v2/organizations/folders/get',
    data: (organizationId) => ({ organizationId, folderId: anyOf('folder', folders) }),
  },
  {
    name: 'one user',
    path: '/v2/users/get',
    data: (organizationId) => ({ organizationId, userIds: [anyOf('user', users)] }),
  },
  {
    name: 'a permission added',
    path: '/v2/auth/permissions/add',
    data: (organizationId, documents) => ({
      user: { userId: anyOf('user', users) },
      permissions: { resources: [{ type: 'document', id: anyOf('document', documents), organizationId }] },
    }),
  },
  {
    name: 'permissions of a user on a document',
    path: '/v2/auth/permissions/get',
    data: (organizationId, documents) => ({
      organizationId,
      userIds: [anyOf('user', users)],
      documentIds: [anyOf('document', documents)],
    }),
  },
  {
    name: 'a realtime token',
    path: '/v2/auth/generate_token',
    data: () => ({ userId: anyOf('user', users), userProperties: { name: 'Ann', email: 'ann@example.com' } }),
  },
  {
    name: 'a text written',
    path: '/v2/crdt/update',
    data: (organizationId, documents) => ({
      ...document(organizationId, Math.min(documents, 200)),
      editorId: 'main',
      type: 'text',
      data: `some words and a number: ${random(1e9)}`,
      upsert: true,
    }),
  },
  {
    name: 'a text read',
    path: '/v2/crdt/get',
    data: (organizationId) => ({ organizationId, documentId: 'read', editorId: 'main' }),
  },
]

async function done(server: BenchServer, path: string, data: object): Promise<void> {
  const { status, body } = await server.post(path, data)
  if (status !== 200) throw new Error(`${path}: ${JSON.stringify(body.error)}`)
}

async function inBatches(count: number, call: (from: number, to: number) => Promise<void>): Promise<void> {
  const bar = progress('filling')
  for (let from = 0; from < count; from += batch) {
    await call(from, Math.min(count, from + batch))
    bar.at(from / count)
  }
  bar.end()
}

const range = <T>(from: number, to: number, make: (index: number) => T): T[] =>
  Array.from({ length: to - from }, (_, index) => make(from + index))

async function fill(server: BenchServer, organizationId: string, documents: number): Promise<void> {
  await done(server, '/v2/organizations/add', { organizations: [{ organizationId }] })
  await inBatches(folders, (from, to) =>
    done(server, '/v1/organizations/folders/add', {
      organizationId,
      folders: range(from, to, (index) => ({
        folderId: `folder-${index}`,
        folderName: `Folder ${index}`,
        // Ten in each, so that a thousand are three deep.
        parentFolderId: index < 10 ? 'root' : `folder-${Math.floor(index / 10)}`,
      })),
    }),
  )
  await inBatches(documents, (from, to) =>
    done(server, '/v2/organizations/documents/add', {
      organizationId,
      documents: range(from, to, (index) => ({
        documentId: `document-${index}`,
        documentName: `Document ${index}`,
        folderId: `folder-${index % folders}`,
      })),
    }),
  )
  await inBatches(users, (from, to) =>
    done(server, '/v2/users/add', {
      organizationId,
      users: range(from, to, (index) => ({ userId: `user-${index}`, name: `User ${index}` })),
    }),
  )
  const read = { organizationId, documentId: 'read', editorId: 'main', type: 'text', data: 'to be read' }
  await done(server, '/v2/crdt/add', read)
}

interface Measured {
  readonly p50Ms: number
  readonly p99Ms: number
  readonly perSecond: number
}

async function measure(server: BenchServer, operation: Operation, organizationId: string, documents: number) {
  const { path } = operation
  const times: number[] = []
  for (let index = 0; index < calls; index++) {
    const body = operation.data(organizationId, documents)
    const start = performance.now()
    await done(server, path, body)
    times.push(performance.now() - start)
  }
  const start = performance.now()
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let index = 0; index < calls / atOnce; index++)
        await done(server, path, operation.data(organizationId, documents))
    }),
  )
  const seconds = (performance.now() - start) / 1000
  return { p50Ms: median(times), p99Ms: quantile(times, 0.99), perSecond: calls / seconds }
}

const server = await startWeft(temporaryDirectory(), {
  WEFT_RATE_LIMIT_PER_SECOND: '0',
  WEFT_CALLS_PER_ADDRESS_PER_SECOND: '0',
})
const results = new Map<string, Measured[]>()
for (const size of sizes) {
  const organizationId = `of ${size}`
  const start = performance.now()
  await fill(server, organizationId, size)
  const seconds = (performance.now() - start) / 1000
  console.log(
    `filled by REST in ${round(seconds, 1)} s: ${thousands(size)} documents, ${thousands(users)} users, ${thousands(folders)} folders`,
  )
  for (const operation of operations) {
    const measured = await measure(server, operation, organizationId, size)
    results.set(operation.name, [...(results.get(operation.name) ?? []), measured])
  }
}
await server.kill()

const rows = operations.map(({ name }) => {
  const [small, large] = results.get(name) as [Measured, Measured]
  return [
    name,
    round(small.p50Ms),
    round(large.p50Ms),
    round(large.p50Ms / small.p50Ms),
    round(large.p99Ms),
    thousands(large.perSecond),
  ]
})
const [few, many] = sizes.map(thousands)
table(['', `p50 ms, ${few}`, `p50 ms, ${many}`, 'ratio', `p99 ms, ${many}`, 'calls/s'], rows)
console.log(`fsync on this machine: p50 ${round(fsyncMs().p50)} ms`)
process.exit(0)
