import { afterAll, beforeAll, expect, it } from 'vitest'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'

interface AuthToken {
  readonly token: string
  readonly domains: readonly string[]
}

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.stop())

/** Calls an operation on the API key of a new server. */
const ofKey = (path: string, data: object = {}) => {
  const { apiKey, workspaceId, workspaceAuthToken } = server.credentials
  return server.post(
    `/v2/workspace/${path}`,
    { apiKey, ...data },
    { 'x-service-workspace-id': workspaceId, 'x-service-workspace-auth-token': workspaceAuthToken },
  )
}
const reset = async (data: object = {}): Promise<AuthToken> =>
  (dataOf(await ofKey('authtoken/reset', data)) as { newAuthToken: AuthToken }).newAuthToken
const tokens = async () =>
  (dataOf(await ofKey('authtokens/get')) as { authTokens: readonly AuthToken[] }).authTokens
const codeFrom = async (token: string, origin: string) =>
  (await server.post('/v2/workspace/domains/get', {}, { 'x-service-auth-token': token, origin })).status

it('[WS-24] when a reset sets domains, restricts the new token to them; later tokens keep the domains until a reset changes them', async () => {
  const domains = ['https://www.Page.test/app', 'page.test', '*.apps.test']
  const limited = await reset({ domains, graceSeconds: 60 })
  expect(limited.domains).toEqual(['page.test', '*.apps.test'])
  expect(await tokens()).toEqual([limited])
  expect(await codeFrom(limited.token, 'https://page.test')).toBe(200)
  expect(await codeFrom(limited.token, 'https://a.apps.test')).toBe(200)
  expect(await codeFrom(limited.token, 'https://other.test')).toBe(403)
  expect(await codeFrom(server.credentials.authToken, 'https://other.test')).toBe(200)
  const next = await reset()
  expect(next.domains).toEqual(limited.domains)
  expect(await codeFrom(next.token, 'https://other.test')).toBe(403)
  const open = await reset({ domains: [] })
  expect(await codeFrom(open.token, 'https://other.test')).toBe(200)
})

it('[WS-24] when `domains` is not a list of at most 100 valid domains, rejects the reset, and keeps the token', async () => {
  const before = await tokens()
  const tooMany = Array.from({ length: 101 }, (_, index) => `d${index}.test`)
  for (const domains of [['page.test', 'no domain'], tooMany, 'page.test'])
    expect(await ofKey('authtoken/reset', { domains })).toMatchObject({
      status: 400,
      body: { error: { status: 'INVALID_ARGUMENT' } },
    })
  expect(await tokens()).toEqual(before)
})
