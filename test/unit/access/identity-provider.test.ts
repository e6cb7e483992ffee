import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import type { MisspelledClaim } from '../../../src/core/access/tokens/claims.ts'
import { IdentityProvider } from '../../../src/core/access/tokens/identity-provider.ts'
import {
  RealtimeTokens,
  type TokenProblem,
  TokenRejectedError,
} from '../../../src/core/access/tokens/realtime-tokens.ts'
import { systemClock } from '../../../src/core/base/clock.ts'
import { claimNames, usualClaimNames } from '../../../src/core/config/option-parsers.ts'
import { newKey, type ProviderKey, TestProvider } from '../../support/servers/identity-provider.ts'

const provider = new TestProvider()
const tenant = { workspaceId: 'ws', apiKey: 'key' }
const other = { workspaceId: 'other-ws', apiKey: 'other-key' }
const tenants = [tenant, other]

const misspelled: MisspelledClaim[] = []
let jwksUrl: string
let rsa: ProviderKey
let ec: ProviderKey
beforeAll(async () => {
  jwksUrl = await provider.start()
  rsa = await newKey('rsa-1', 'RS256')
  ec = await newKey('ec-1', 'ES256')
})
afterAll(() => provider.stop())
beforeEach(() => {
  provider.keys = [rsa, ec]
  provider.state = 'up'
})

interface Options {
  readonly claims?: string
  readonly refetchMs?: number
  readonly fetchMs?: number
  readonly url?: string
}

function tokensWith({ claims, url = jwksUrl, ...times }: Options = {}): RealtimeTokens {
  const foreign = new IdentityProvider({
    jwksUrl: url,
    issuer: provider.issuer,
    audience: provider.audience,
    claims: claims === undefined ? usualClaimNames : (claimNames.parse(claims) ?? usualClaimNames),
    apiKey: tenant.apiKey,
    tenantOf: (apiKey) => Promise.resolve(tenants.find((each) => each.apiKey === apiKey) ?? null),
    clock: systemClock,
    onMisspelledClaim: (claim) => misspelled.push(claim),
    ...times,
  })
  return new RealtimeTokens({
    secret: 'the-signing-secret-of-these-tests-0001',
    previousSecret: null,
    clock: systemClock,
    isTenant: () => Promise.resolve(true),
    revokedUntil: async (_tenant, userIds) =>
      userIds.map((userId) => (userId === 'revoked' ? Date.now() : -1)),
    minted: null,
    foreign,
    agentPolicy: null,
  })
}

async function problemOf(token: string, by = tokensWith()): Promise<TokenProblem | null> {
  try {
    await by.verify(token)
    return null
  } catch (error) {
    if (error instanceof TokenRejectedError) return error.reason
    throw error
  }
}

it('[ACC-60] accepts tokens signed with RS256 and ES256', async () => {
  const tokens = tokensWith()
  for (const key of [rsa, ec])
    expect(await tokens.verify(await provider.sign(key))).toEqual({
      tenant,
      userId: 'idp|ann',
      name: 'Ann',
      email: 'ann@example.com',
      admin: false,
      grants: null,
      agent: null,
      issuedAt: expect.any(Number),
      expiresAt: expect.any(Number),
    })
})

it('[ACC-60] reads the user and the API key from the mapped claims', async () => {
  const claims =
    'userId=uid,name=nick,email=mail,admin=https://example.com/admin,apiKey=https://example.com/key'
  const tokens = tokensWith({ claims })
  const said = {
    uid: 'u1',
    nick: 'Nick',
    mail: 'nick@example.com',
    'https://example.com/admin': true,
    'https://example.com/key': 'other-key',
  }
  expect(await tokens.verify(await provider.sign(rsa, said))).toMatchObject({
    tenant: other,
    userId: 'u1',
    name: 'Nick',
    email: 'nick@example.com',
    admin: true,
  })
  const sign = (more: object) => provider.sign(rsa, { ...said, ...more })
  const wrongAdmin = await tokens.verify(await sign({ 'https://example.com/admin': 'true' }))
  expect(wrongAdmin.admin).toBe(false)
  expect(await problemOf(await sign({ 'https://example.com/key': undefined }), tokens)).toBe('claims')
  expect(await problemOf(await sign({ 'https://example.com/key': 'no-key' }), tokens)).toBe('tenant')
  expect(await problemOf(await sign({ uid: undefined }), tokens)).toBe('claims')
})

it("[ACC-60] accepts a token without optional claims, and ignores the claims of Weft's own tokens", async () => {
  const claims = { ws: 'other-ws', key: 'other-key', grants: [], agent: { policy: 'read-only' } }
  const own = { name: undefined, email: 7, admin: true, ...claims }
  const identity = await tokensWith().verify(await provider.sign(ec, own))
  expect(identity).toMatchObject({ tenant, name: '', email: '', admin: false, grants: null, agent: null })
})

it.each<[string, Record<string, unknown>, TokenProblem]>([
  ['another issuer', { iss: 'https://evil.example/' }, 'claims'],
  ['no issuer', { iss: undefined }, 'claims'],
  ['our issuer', { iss: 'weft' }, 'claims'],
  ['another audience', { aud: 'somebody-else' }, 'claims'],
  ['no audience', { aud: undefined }, 'claims'],
  ['no exp', { exp: undefined }, 'claims'],
  ['an exp in the past', { exp: 1_000_000_000 }, 'expired'],
  ['an iat that is not a number', { iat: 'now' }, 'claims'],
  ['no sub', { sub: undefined }, 'claims'],
  ['a sub that is not an id', { sub: 'a\nb' }, 'claims'],
  ['a revoked user', { sub: 'revoked' }, 'revoked'],
])('[ACC-61] rejects a token of the identity provider that has %s', async (_name, more, problem) => {
  expect(await problemOf(await provider.sign(rsa, more))).toBe(problem)
})

const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

it('[ACC-61] rejects the algorithm `none`, a public key used as a secret, and a key of another kind', async () => {
  const [, payload] = (await provider.sign(rsa)).split('.')
  expect(await problemOf(`${base64({ alg: 'none', kid: 'rsa-1' })}.${payload}.`)).toBe('malformed')
  for (const alg of ['HS256', 'HS384', 'HS512']) {
    const signed = `${base64({ alg, kid: 'rsa-1' })}.${payload}`
    const signature = createHmac(alg.replace('HS', 'sha'), rsa.pem).update(signed).digest('base64url')
    expect(await problemOf(`${signed}.${signature}`)).toBe(alg === 'HS256' ? 'signature' : 'malformed')
  }
  const [, , signature] = (await provider.sign(rsa)).split('.')
  const confused = `${base64({ alg: 'ES256', kid: 'rsa-1' })}.${payload}.${signature}`
  expect(await problemOf(confused)).toBe('signature')
})

it('[ACC-61] ignores a key that is inside the token', async () => {
  const evil = await newKey('rsa-1', 'RS256')
  expect(await problemOf(await provider.sign(evil))).toBe('signature')
  expect(await problemOf(await provider.sign({ ...evil, kid: 'unknown' }))).toBe('signature')
  const [, payload, signature] = (await provider.sign(rsa)).split('.')
  const changed = { ...JSON.parse(Buffer.from(payload ?? '', 'base64url').toString()), sub: 'bob' }
  expect(await problemOf(`${base64({ alg: 'RS256', kid: 'rsa-1' })}.${base64(changed)}.${signature}`)).toBe(
    'signature',
  )
})

it('[ACC-61] accepts tokens of this server, even while the provider is unavailable', async () => {
  const tokens = tokensWith({ url: 'http://127.0.0.1:1/' })
  const { token } = await tokens.issue({
    tenant,
    userId: 'ann',
    name: '',
    email: '',
    admin: false,
    grants: null,
    agent: null,
    expiresAt: Date.now() + 60_000,
  })
  expect(await problemOf(token, tokens)).toBeNull()
})

it('[ACC-62] finds a key that the provider adds later, and does not fetch the keys for each token', async () => {
  const tokens = tokensWith({ refetchMs: 0 })
  provider.fetches = 0
  for (let call = 0; call < 5; call += 1) expect(await problemOf(await provider.sign(rsa), tokens)).toBeNull()
  expect(provider.fetches).toBe(1)
  const next = await newKey('rsa-2', 'RS256')
  provider.keys = [next]
  expect(await problemOf(await provider.sign(next), tokens)).toBeNull()
  expect(provider.fetches).toBe(2)
  expect(await problemOf(await provider.sign(rsa), tokens)).toBe('signature')
})

it('[ACC-62] fetches the keys only once for several unknown key ids', async () => {
  const tokens = tokensWith()
  provider.fetches = 0
  for (let call = 0; call < 5; call += 1)
    expect(await problemOf(await provider.sign({ ...rsa, kid: `unknown-${call}` }), tokens)).toBe('signature')
  expect(provider.fetches).toBe(1)
})

it('[ACC-63] when the keys cannot be fetched, reports a different error than for an invalid token', async () => {
  const token = await provider.sign(rsa)
  provider.state = 'broken'
  expect(await problemOf(token)).toBe('provider')
  expect(await problemOf(token, tokensWith({ url: 'http://127.0.0.1:1/' }))).toBe('provider')
  provider.state = 'silent'
  expect(await problemOf(token, tokensWith({ fetchMs: 50 }))).toBe('provider')
  provider.state = 'up'
  expect(await problemOf(token)).toBeNull()
})

it.each(['', 'userId', 'userId=', 'other=x', 'userId=a,userId=b', 'userId=a;name=b c', '__proto__=x'])(
  '[CFG-3] rejects the claim mapping %j',
  (text) => expect(claimNames.parse(text)).toBeUndefined(),
)

it('[ACC-94] accepts a provider token with a misspelled claim, and reports the misspelled claim', async () => {
  misspelled.length = 0
  const tokens = tokensWith({ claims: 'admin=weft_admin' })
  const usual = { scope: 'openid', groups: ['a'], permissions: [], grnats: [], picture: 'x' }
  expect(await problemOf(await provider.sign(rsa, { ...usual, weft_admin: false }), tokens)).toBeNull()
  expect(misspelled).toEqual([])
  expect(await problemOf(await provider.sign(rsa, { ...usual, weft_amdin: true }), tokens)).toBeNull()
  expect(misspelled).toEqual([{ given: 'weft_amdin', intended: 'weft_admin' }])
})
