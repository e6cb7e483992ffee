import { createHmac } from 'node:crypto'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { expect, it } from 'vitest'
import type { Identity } from '../../../src/core/access/identity.ts'
import {
  RealtimeTokens,
  type TokenProblem,
  TokenRejectedError,
} from '../../../src/core/access/tokens/realtime-tokens.ts'
import { HeldClock } from '../../support/time/clock.ts'

const secret = 'the-signing-secret-of-these-tests-0001'
const oldSecret = 'the-signing-secret-of-these-tests-0000'
const clock = new HeldClock()
const seconds = clock.now() / 1000
const tenant = { workspaceId: 'ws', apiKey: 'key' }
const isTenant = (asked: typeof tenant) =>
  Promise.resolve(asked.workspaceId === 'ws' && asked.apiKey === 'key')
const revokedUntil = async (_tenant: typeof tenant, userIds: readonly string[]) =>
  userIds.map((userId) => (userId === 'revoked' ? clock.now() : -1))
const rules = { clock, isTenant, revokedUntil, minted: null, foreign: null, agentPolicy: null }
const tokens = new RealtimeTokens({ secret, previousSecret: null, ...rules })
const rotating = new RealtimeTokens({ secret, previousSecret: oldSecret, ...rules })

const identity: Identity = {
  tenant,
  userId: 'ann/Ä',
  name: 'Ann',
  email: 'ann@example.com',
  admin: false,
  grants: [
    { type: 'document', id: 'plan', organizationId: 'acme', accessRole: 'viewer', expiresAt: seconds + 9 },
  ],
  agent: null,
  issuedAt: clock.now(),
  expiresAt: (seconds + 3600) * 1000,
}
const claims = { iss: 'weft', sub: 'ann', exp: seconds + 60, ws: 'ws', key: 'key' }

const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Signed by hand, so that a bug of the used library would show. */
function mint(
  payload: object,
  header: object = { alg: 'HS256', typ: 'JWT' },
  key = secret,
  hash = 'sha256',
): string {
  const signed = `${base64(header)}.${base64(payload)}`
  return `${signed}.${createHmac(hash, key).update(signed).digest('base64url')}`
}

async function problemOf(token: string, by = tokens): Promise<TokenProblem | null> {
  try {
    await by.verify(token)
    return null
  } catch (error) {
    if (error instanceof TokenRejectedError) return error.reason
    throw error
  }
}

it.each([
  ['grnats', 'grants', []],
  ['Grants', 'grants', []],
  ['grant', 'grants', []],
  ['permissions', 'grants', { resources: [] }],
  ['permisions', 'grants', { resources: [] }],
  ['admim', 'admin', false],
  ['emial', 'email', 'ann@example.com'],
])(
  '[ACC-94] rejects a token that has the claim %s and lacks %s, and states both in the reason',
  async (given, intended, value) => {
    const message = `the token has an unknown claim "${given}" (did you mean "${intended}"?)`
    const misspelled = mint({ ...claims, [given]: value })
    await expect(tokens.verify(misspelled)).rejects.toMatchObject({ reason: 'claims', message })
    expect(
      await problemOf(mint({ ...claims, grants: [], admin: false, email: '', [given]: value })),
    ).toBeNull()
  },
)

it('[ACC-94] accepts claims of identity providers and of applications', async () => {
  const names =
    'aud azp nonce auth_time scope scopes scp roles role groups group given_name family_name nickname picture profile ' +
    'email_verified emails zoneinfo locale address updated_at client_id realm_access resource_access entitlements tid oid ' +
    'tenant tenants plan plans brand teams domain department company gender birthdate website phone_number isAdmin is_admin'
  const others = Object.fromEntries(names.split(' ').map((name) => [name, 'x']))
  expect(await problemOf(mint({ ...claims, ...others }))).toBeNull()
})

it('[ACC-1] verifies an issued token, and returns the identity that it was issued for', async () => {
  const { token, expiresAt } = await tokens.issue(identity)
  expect(expiresAt).toBe(seconds + 3600)
  expect(await tokens.verify(token)).toEqual({ ...identity, revocations: '-1' })
  const plain = { ...identity, grants: null, admin: true }
  expect(await tokens.verify((await tokens.issue(plain)).token)).toEqual({ ...plain, revocations: '-1' })
  const agent = { model: 'm-1', onBehalfOf: 'grace', policies: ['no-delete'] } as const
  const bot = { ...identity, agent }
  expect(await tokens.verify((await tokens.issue(bot)).token)).toEqual({ ...bot, revocations: '-1 -1' })
})

it('[ACC-2] issues a token that has exactly the documented claims', async () => {
  const { token } = await tokens.issue(identity)
  const payload = decodeJwt(token)
  expect(decodeProtectedHeader(token)).toEqual({ alg: 'HS256', typ: 'JWT' })
  expect(Object.keys(payload).sort()).toEqual(
    ['iss', 'sub', 'exp', 'iat', 'jti', 'ws', 'key', 'name', 'email', 'admin', 'rev', 'grants'].sort(),
  )
  expect(payload).toMatchObject({ iss: 'weft', sub: identity.userId, exp: seconds + 3600, iat: seconds })
  expect(payload).toMatchObject({ ws: 'ws', key: 'key', name: 'Ann', admin: false, grants: identity.grants })
  expect(decodeJwt((await tokens.issue(identity)).token).jti).not.toBe(payload.jti)
})

it('[ACC-3] accepts a token that a backend signed with the secret, and uses defaults for missing optional claims', async () => {
  expect(await tokens.verify(mint(claims))).toEqual({
    tenant,
    userId: 'ann',
    name: '',
    email: '',
    admin: false,
    grants: null,
    agent: null,
    issuedAt: 0,
    expiresAt: (seconds + 60) * 1000,
  })
})

it.each<[string, string]>([
  ['alg none', `${base64({ alg: 'none' })}.${base64(claims)}.`],
  ['alg None with a signature', mint(claims, { alg: 'None' })],
  ['HS512', mint(claims, { alg: 'HS512' }, secret, 'sha512')],
  ['an unknown critical header', mint(claims, { alg: 'HS256', crit: ['x'], x: 1 })],
  ['no JWT', 'hello'],
  ['empty parts', '..'],
  ['too long', `${mint(claims)}${'a'.repeat(30_000)}`],
])('[ACC-4] rejects a token that does not use HS256 correctly: %s', async (_name, token) => {
  expect(await problemOf(token)).toBe('malformed')
})

it('[ACC-4] rejects a token whose signature was made with another secret or for another payload', async () => {
  expect(await problemOf(mint(claims, undefined, oldSecret))).toBe('signature')
  const [header, , signature] = mint(claims).split('.')
  expect(await problemOf(`${header}.${base64({ ...claims, admin: true })}.${signature}`)).toBe('signature')
})

it('[ACC-4] verifies each token separately, even after many accepted tokens', async () => {
  const tokenOf = (sub: string): string => mint({ ...claims, sub })
  for (let index = 0; index < 1_200; index++) await tokens.verify(tokenOf(`user ${index}`))
  for (const sub of ['user 0', 'user 1199']) {
    const token = tokenOf(sub)
    expect((await tokens.verify(token)).userId).toBe(sub)
    const [header = '', payload = '', signature = ''] = token.split('.')
    expect(await problemOf(`${header}.${payload}.`)).toBe('signature')
    expect(await problemOf(`${header}.${base64({ ...claims, sub: 'eve' })}.${signature}`)).toBe('signature')
  }
})

it('[ACC-5] rejects a token from the millisecond of its expiry on, and rejects a token without exp', async () => {
  expect(await problemOf(mint({ ...claims, exp: undefined }))).toBe('claims')
  expect(await problemOf(mint({ ...claims, exp: String(seconds + 60) }))).toBe('claims')
  expect(await problemOf(mint({ ...claims, exp: seconds }))).toBe('expired')
  expect(await problemOf(mint({ ...claims, exp: seconds - 3600 }))).toBe('expired')
  expect(await problemOf(mint({ ...claims, exp: seconds + 1 }))).toBeNull()
  expect(await problemOf(mint({ ...claims, nbf: seconds + 4 }))).toBeNull()
  expect(await problemOf(mint({ ...claims, nbf: seconds + 60 }))).toBe('claims')
})

it.each([
  ['no iss', { iss: undefined }],
  ['another iss', { iss: 'other' }],
  ['no sub', { sub: undefined }],
  ['an empty sub', { sub: '' }],
  ['a sub that is not an id', { sub: '..' }],
  ['no ws', { ws: undefined }],
  ['an iat that is not a number', { iat: 'now' }],
  ['a key that is not a string', { key: { length: 3 } }],
  ['a name that is not a string', { name: 1 }],
  ['an admin that is not a boolean', { admin: 'true' }],
  ['grants that are not an array', { grants: {} }],
  ['a grant of an unknown type', { grants: [{ ...identity.grants?.[0], type: 'planet' }] }],
  ['a grant of an unknown role', { grants: [{ ...identity.grants?.[0], accessRole: 'owner' }] }],
  ['a grant without organization', { grants: [{ ...identity.grants?.[0], organizationId: undefined }] }],
  ['a grant with an end that is not a number', { grants: [{ ...identity.grants?.[0], expiresAt: 'soon' }] }],
  ['a grant that is null', { grants: [null] }],
])('[ACC-6] rejects a token whose claim has the wrong type: %s', async (_name, wrong) => {
  expect(await problemOf(mint({ ...claims, ...wrong }))).toBe('claims')
})

it('[ACC-7] rejects a token for an unknown API key', async () => {
  expect(await problemOf(mint({ ...claims, key: 'other' }))).toBe('tenant')
  expect(await problemOf(mint({ ...claims, ws: 'other' }))).toBe('tenant')
})

it('[ACC-7] reads the API key and the revocations of a token at the same time', async () => {
  let answer = () => {}
  const answered = new Promise<void>((resolve) => {
    answer = resolve
  })
  const asked: string[] = []
  const slow = new RealtimeTokens({
    ...rules,
    secret,
    previousSecret: null,
    isTenant: async () => {
      asked.push('key')
      await answered
      return true
    },
    revokedUntil: async () => {
      asked.push('revocations')
      answer()
      return [-1]
    },
  })
  await slow.verify(mint(claims))
  expect(asked).toEqual(['key', 'revocations'])
})

it('[ACC-8] during a rotation, accepts both secrets, and signs with the new one', async () => {
  expect(await problemOf(mint(claims, undefined, oldSecret), rotating)).toBeNull()
  expect(await problemOf(mint(claims), rotating)).toBeNull()
  expect(await problemOf((await rotating.issue(identity)).token, tokens)).toBeNull()
  expect(await problemOf(mint(claims, undefined, 'x'.repeat(40)), rotating)).toBe('signature')
  expect(await problemOf(mint({ ...claims, exp: seconds }, undefined, oldSecret), rotating)).toBe('expired')
})

it('[ACC-9] rejects a secret of fewer than 32 bytes', () => {
  expect(() => new RealtimeTokens({ secret: 'x'.repeat(31), previousSecret: null, ...rules })).toThrow(
    RangeError,
  )
  expect(() => new RealtimeTokens({ secret, previousSecret: 'short', ...rules })).toThrow(RangeError)
})

it('[ACC-80] after a revocation, rejects a token of the user that was issued until then, that has no iat, or that has an iat in the future', async () => {
  const revoked = { ...claims, sub: 'revoked' }
  for (const iat of [undefined, seconds - 60, seconds, seconds * 1000])
    expect(await problemOf(mint({ ...revoked, iat }))).toBe('revoked')
  expect(await problemOf(mint({ ...revoked, iat: seconds + 0.001 }))).toBeNull()
  expect(await problemOf(mint({ ...claims, iat: seconds * 1000 }))).toBeNull()
})

it('[ACC-82] a token of the server names the last revocation, and so does not depend on clocks', async () => {
  const [own, until] = [new HeldClock(clock.now()), new Map<string, number>()]
  const revoke = (userId: string) => until.set(userId, Math.max(own.now(), (until.get(userId) ?? 0) + 1))
  const lookup = async (_: typeof tenant, userIds: readonly string[]) =>
    userIds.map((userId) => until.get(userId) ?? -1)
  const [one, other] = [secret, secret].map(
    (each) =>
      new RealtimeTokens({ secret: each, previousSecret: null, ...rules, clock: own, revokedUntil: lookup }),
  ) as [RealtimeTokens, RealtimeTokens]
  const agent = { model: null, onBehalfOf: 'ann/Ä', policies: [] }
  const issue = async (traits: Identity['agent'] = null) =>
    (await one.issue({ ...identity, agent: traits, ...(traits && { userId: 'bot' }) })).token
  const before = [await issue(), await issue(agent)]
  revoke('ann/Ä')
  for (const token of before) expect(await problemOf(token, other)).toBe('revoked')
  own.advance(-3_600_000)
  const after = [await issue(), await issue(agent)]
  for (const token of after) expect(await problemOf(token, other)).toBeNull()
  for (const token of before) expect(await problemOf(token, other)).toBe('revoked')
  revoke('ann/Ä')
  for (const token of [...before, ...after]) expect(await problemOf(token, other)).toBe('revoked')
  const last = await issue(agent)
  revoke('bot')
  expect(await problemOf(last, other)).toBe('revoked')
  // A token of an earlier version, and one of a backend, have no such name.
  const { rev, ...others } = decodeJwt(await issue())
  expect(rev).toBeTypeOf('string')
  expect(await problemOf(mint(others), other)).toBe('revoked')
  own.advance(3_600_100)
  expect(await problemOf(mint({ ...others, iat: own.now() / 1000 }), other)).toBeNull()
})

it('[ACC-80] accepts a token that was issued later in the same millisecond as the revocation', async () => {
  const { token } = await tokens.issue({ ...identity, userId: 'revoked' })
  expect(await problemOf(token)).toBeNull()
})
