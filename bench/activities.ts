/**
 * Measures how long pages of activities take with each filter, in an organization with a million activities.
 * The calls go over real sockets to a separate server process, which writes durably to disk.
 *
 *   node --import tsx bench/activities.ts [--smoke]
 */
import { fsyncMs } from '../src/cli/bench/measure.ts'
import { seededRandom } from './support/random.ts'
import { median, progress, quantile, round, table, thousands } from './support/report.ts'
import { startWeft, temporaryDirectory, unlimitedCalls } from './support/server.ts'

const smoke = process.argv.includes('--smoke')
const activities = smoke ? 5_000 : 1_000_000
const documents = smoke ? 20 : 2_000
const users = smoke ? 50 : 5_000
const targets = smoke ? 500 : 100_000
const calls = smoke ? 5 : 100
const batch = 500
/** Number of concurrent calls while the organization is filled with activities. */
const fillers = 8
const pageSizes = [100, 1_000]
const features = ['comment', 'reaction', 'recorder', 'crdt', 'custom']
const organizationId = 'acme'

const random = seededRandom(9)
const anyOf = (kind: string, count: number): string => `${kind}-${random(count)}`

const server = await startWeft(temporaryDirectory(), unlimitedCalls)

async function done(path: string, data: object): Promise<{ data: unknown[]; pageToken?: string }> {
  const { status, body } = await server.post(path, data)
  if (status !== 200) throw new Error(`${path}: ${JSON.stringify(body.error)}`)
  return body.result as { data: unknown[]; pageToken?: string }
}

function activity() {
  const featureType = features[random(features.length)] as string
  const userId = anyOf('user', users)
  return {
    featureType,
    // One activity in a thousand has a rare type.
    actionType: random(1_000) === 0 ? `${featureType}.rare` : `${featureType}.${random(4)}`,
    actionUser: { userId, name: `Name of ${userId}`, email: `${userId}@example.com` },
    targetEntityId: anyOf('target', targets),
    displayMessageTemplate: '{{user}} changed {{what}}',
    displayMessageTemplateData: { user: { userId, name: `Name of ${userId}` }, what: 'the second paragraph' },
  }
}

async function fill(): Promise<void> {
  await done('/v2/organizations/add', { organizations: [{ organizationId }] })
  for (let from = 0; from < documents; from += batch) {
    const ids = Array.from({ length: Math.min(batch, documents - from) }, (_, index) => from + index)
    const added = ids.map((id) => ({ documentId: `document-${id}` }))
    await done('/v2/organizations/documents/add', { organizationId, documents: added })
  }
  const bar = progress('filling')
  for (let from = 0; from < activities; from += batch * fillers) {
    await Promise.all(
      Array.from({ length: fillers }, async () =>
        done('/v2/activities/add', {
          organizationId,
          documentId: anyOf('document', documents),
          activities: Array.from({ length: batch }, activity),
        }),
      ),
    )
    bar.at(from / activities)
  }
  bar.end()
}

const filters: readonly (readonly [name: string, filter: () => object])[] = [
  ['none', () => ({})],
  ['none, oldest first', () => ({ order: 'asc' })],
  ['a document', () => ({ documentId: anyOf('document', documents) })],
  ['a user', () => ({ userId: anyOf('user', users) })],
  ['a target', () => ({ targetEntityId: anyOf('target', targets) })],
  ['a feature', () => ({ featureTypes: ['comment'] })],
  ['two features', () => ({ featureTypes: ['comment', 'crdt'] })],
  ['a rare action', () => ({ actionTypes: ['crdt.rare'] })],
  ['an action', () => ({ actionTypes: ['crdt.1'] })],
  ['a feature, an action of another', () => ({ featureTypes: ['comment'], actionTypes: ['crdt.1'] })],
  ['a document, a user', () => ({ documentId: anyOf('document', documents), userId: anyOf('user', users) })],
  ['a document, an action', () => ({ documentId: anyOf('document', documents), actionTypes: ['crdt.1'] })],
  ['a user, a feature', () => ({ userId: anyOf('user', users), featureTypes: ['crdt'] })],
  [
    'all of them',
    () => ({
      documentId: anyOf('document', documents),
      userId: anyOf('user', users),
      targetEntityId: anyOf('target', targets),
      featureTypes: ['crdt'],
      actionTypes: ['crdt.1'],
    }),
  ],
]

interface Measured {
  readonly found: number
  readonly times: readonly number[]
}

/**
 * Measures calls with a filter. Calls for a first page alternate with calls for the second page, if there is
 * one.
 */
async function measure(filter: () => object, pageSize: number): Promise<Measured> {
  const times: number[] = []
  let found = 0
  let next: object | null = null
  for (let call = 0; call < calls; call++) {
    const query: object = next ?? { organizationId, pageSize, ...filter() }
    const start = performance.now()
    const { data, pageToken } = await done('/v2/activities/get', query)
    times.push(performance.now() - start)
    found += data.length
    next = pageToken === undefined || call % 2 === 1 ? null : { ...query, pageToken }
  }
  return { found: found / calls, times }
}

const start = performance.now()
await fill()
const seconds = (performance.now() - start) / 1000
console.log(
  `filled by REST in ${round(seconds, 1)} s: ${thousands(activities)} activities of ${thousands(documents)} documents, ${thousands(users)} users`,
)
const rows: string[][] = []
for (const [name, filter] of filters) {
  const row = [name]
  for (const pageSize of pageSizes) {
    const { found, times } = await measure(filter, pageSize)
    row.push(round(found, 1), round(median(times), 1), round(quantile(times, 0.99), 1))
  }
  rows.push(row)
}
await server.kill()

const [small, large] = pageSizes.map(thousands)
table(['filter', `of ${small}`, 'p50 ms', 'p99 ms', `of ${large}`, 'p50 ms', 'p99 ms'], rows)
console.log(`fsync on this machine: p50 ${round(fsyncMs().p50)} ms`)
process.exit(0)
