import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SignJWT } from 'jose'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Clock, systemClock } from '../../../src/core/base/clock.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { otherKey } from '../../support/servers/tenants.ts'

let server: TestServer
let aheadMs = 0
beforeAll(async () => {
  const clock: Clock = { ...systemClock, now: () => Date.now() + aheadMs }
  server = await startTestServer({}, { clock })
  const documents = [{ documentId: 'plan' }, { documentId: 'off' }]
  const added = { organizationId: 'acme', documents, createOrganization: true }
  dataOf(await server.post('/v2/organizations/documents/add', added))
  const off = { organizationId: 'acme', documents: [{ documentId: 'off', disabled: true }] }
  dataOf(await server.post('/v2/organizations/documents/update', off))
})
afterAll(() => server.stop())

const inspect = async (token: string, document: object = {}) =>
  dataOf(await server.post('/v2/auth/inspect_token', { token, ...document })) as Record<string, unknown>
const plan = { organizationId: 'acme', documentId: 'plan' }

it('[ACC-95] returns user, expiry, permissions and the current role for a token that the server accepts', async () => {
  const resources = [{ type: 'document', id: 'plan', organizationId: 'acme', accessRole: 'viewer' }] as const
  const before = Date.now()
  const limited = await server.token('ada', { name: 'Ada', resources, expiresInSeconds: 600 })
  const found = await inspect(limited, plan)
  expect(found).toEqual({
    accepted: true,
    userId: 'ada',
    name: 'Ada',
    email: 'ada@example.com',
    isAdmin: false,
    issuedAt: expect.any(Number),
    expiresAt: expect.any(Number),
    resources,
    accessRole: 'viewer',
    documentState: 'open',
  })
  expect(Number(found.issuedAt)).toBeGreaterThanOrEqual(before)
  expect(Number(found.expiresAt) - Number(found.issuedAt)).toBeGreaterThan(598_000)
  expect(await inspect(limited, { ...plan, documentId: 'other' })).toMatchObject({ accessRole: 'none' })
  const admin = await server.token('root', { isAdmin: true })
  expect(await inspect(admin, plan)).toMatchObject({ isAdmin: true, accessRole: 'editor' })
  expect(await inspect(admin, { ...plan, documentId: 'off' })).toMatchObject({
    accessRole: 'none',
    documentState: 'disabled',
  })
  expect(await inspect(admin)).not.toHaveProperty('accessRole')
})

it('[ACC-95] if a token is rejected, returns only the reason, and nothing about a token for another API key', async () => {
  const other = await otherKey(server)
  const token = await server.token('eve', { expiresInSeconds: 60 })
  const reasonOf = async (given: string) => Object.entries(await inspect(given, plan))
  const rejected = (reason: string) => [
    ['accepted', false],
    ['reason', reason],
    ['message', expect.stringMatching(/\btoken\b/)],
  ]
  expect(await reasonOf('nonsense')).toEqual(rejected('malformed'))
  expect(await reasonOf(`${token}x`)).toEqual(rejected('signature'))
  expect(await reasonOf(other.token)).toEqual(rejected('other_key'))
  const secret = Buffer.from(server.credentials.jwtSecret)
  const noKey = await new SignJWT({ sub: 'eve' }).setProtectedHeader({ alg: 'HS256' }).sign(secret)
  expect(await reasonOf(noKey)).toEqual(rejected('claims'))
  aheadMs = 61_000
  expect(await reasonOf(token)).toEqual(rejected('expired'))
  aheadMs = 0
  dataOf(await server.post('/v2/auth/revoke_tokens', { userId: 'eve' }))
  expect(await reasonOf(token)).toEqual(rejected('revoked'))
})

it.each([
  [{}, '/data/token'],
  [{ token: '' }, '/data/token'],
  [{ token: 'x', organizationId: 'acme' }, '/data/documentId'],
  [{ token: 'x', documentId: 'plan' }, '/data/organizationId'],
])(
  '[ACC-95] rejects malformed input with INVALID_ARGUMENT, and states the position of the problem (%#)',
  async (data, path) => {
    const { status, body } = await server.post('/v2/auth/inspect_token', data)
    expect([status, body.error?.details?.issues?.[0]?.path]).toEqual([400, path])
  },
)

it('[ACC-96] neither stores nor logs an inspected token', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'weft-inspect-'))
  const lines: string[] = []
  const log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) })
  const stored = await startTestServer({ dataDir, engine: 'level', audit: 'all' }, { log })
  const token = await stored.token('ada')
  for (const given of [token, `${token}x`])
    dataOf(
      await stored.post('/v2/auth/inspect_token', { token: given, ...plan }, { 'idempotency-key': 'once' }),
    )
  const { body } = await stored.post('/v2/requests/get', {})
  await stored.stop()
  const files = await readdir(dataDir, { recursive: true, withFileTypes: true })
  const contents = await Promise.all(
    files.filter((file) => file.isFile()).map((file) => readFile(join(file.parentPath, file.name), 'latin1')),
  )
  const signature = token.split('.')[2] as string
  expect(lines.length).toBeGreaterThan(0)
  for (const text of [...contents, ...lines, JSON.stringify(body)])
    expect(text.includes(signature)).toBe(false)
  await rm(dataDir, { recursive: true, force: true, maxRetries: 20 })
})
