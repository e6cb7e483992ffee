import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { eventually } from '../../support/clients/clients.ts'
import { Random } from '../../support/data/random-doc.ts'
import { seed } from '../../support/data/seed.ts'
import { type ServerProcess, startProcess } from '../../support/servers/process.ts'
import { times } from '../../support/time/full-run.ts'

const rounds = times(1, 8)
const writers = 8

interface Recorded {
  readonly operation: string
  readonly outcome: string
  readonly ids: Readonly<Record<string, readonly string[]>>
}

/** Returns all audit records, for any outcome of the calls. */
async function log(server: ServerProcess): Promise<readonly Recorded[]> {
  const headers = {
    'content-type': 'application/json',
    connection: 'close',
    'x-service-workspace-id': 'test',
    'x-service-workspace-auth-token': 'test-workspace-token',
  }
  const found: Recorded[] = []
  for (let pageToken: string | undefined; ; ) {
    const data = { pageSize: 1_000, order: 'asc', ...(pageToken !== undefined && { pageToken }) }
    const init = { method: 'POST', headers, body: JSON.stringify({ data }) }
    const answer = await fetch(`${server.url}/v2/workspace/audit/get`, init)
    const { result } = (await answer.json()) as { result: { data: Recorded[]; pageToken?: string } }
    found.push(...result.data)
    pageToken = result.pageToken
    if (pageToken === undefined) return found
  }
}

async function organizations(server: ServerProcess): Promise<readonly string[]> {
  const found: string[] = []
  for (let pageToken: string | undefined; ; ) {
    const answer = await server.post('/v2/organizations/get', pageToken === undefined ? {} : { pageToken })
    found.push(...(answer.data as { id: string }[]).map(({ id }) => id))
    pageToken = answer.pageToken
    if (pageToken === undefined) return found
  }
}

/**
 * Creates organizations, documents with content and tokens in turn until the server ends. Adds answered calls
 * to `answered`.
 */
async function change(server: ServerProcess, name: string, answered: string[]): Promise<void> {
  for (let turn = 0; ; turn++) {
    const [organizationId, userId] = [`${name}-${turn}`, `user-${name}-${turn}`]
    const content = { organizationId, documentId: 'd', editorId: 'e', type: 'text', data: 'x' }
    const user = { userId, userProperties: { name: 'Ann', email: '' } }
    const calls = [
      ['/v2/organizations/add', { organizations: [{ organizationId }] }, organizationId],
      ['/v2/crdt/add', { ...content, organizationId: `c-${organizationId}` }, `c-${organizationId}`],
      ['/v2/auth/generate_token', user, userId],
    ] as const
    const [path, data, id] = calls[turn % calls.length] as (typeof calls)[number]
    if ((await server.post(path, data)).status === 200) answered.push(id)
  }
}

it(`[AUDIT-3] after ${rounds} SIGKILLs at random moments, has an audit record for each change and each response (seed ${seed})`, async () => {
  const random = new Random(seed)
  const data = await mkdtemp(join(tmpdir(), 'weft-audit-crash-'))
  const options = { WEFT_AUDIT: 'all', WEFT_CALLS_PER_KEY: '0' }
  const answered: string[] = []
  for (let round = 0; round < rounds; round++) {
    const server = await startProcess(data, options)
    const working = Array.from({ length: writers }, (_, writer) =>
      change(server, `r${round}-w${writer}`, answered).catch(() => {}),
    )
    // Each third call creates a token, which is not counted below.
    const enough = answered.length + 2 * writers
    await eventually(() => answered.length >= enough, undefined, 60_000)
    await new Promise((resolve) => setTimeout(resolve, random.below(400)))
    await server.end('SIGKILL')
    await Promise.all(working)
  }
  const server = await startProcess(data, options)
  const [records, there] = await Promise.all([log(server), organizations(server)])
  await server.end('SIGTERM')
  await rm(data, { recursive: true })
  const recorded = new Set(records.flatMap(({ ids }) => Object.values(ids).flat()))
  expect(there.length).toBeGreaterThanOrEqual(rounds * writers)
  expect(answered.length).toBeGreaterThan(rounds)
  expect(there.filter((id) => !recorded.has(id))).toEqual([])
  expect(answered.filter((id) => !recorded.has(id))).toEqual([])
  const outcomes = new Set(records.map(({ outcome }) => outcome))
  expect([...outcomes].filter((outcome) => outcome !== 'success' && outcome !== 'UNKNOWN')).toEqual([])
  const unknown = records.filter(({ outcome }) => outcome === 'UNKNOWN')
  expect(unknown.length).toBeLessThanOrEqual(rounds * writers * 2)
}, 180_000)
