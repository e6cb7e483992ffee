import { afterAll, beforeAll, expect, it } from 'vitest'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { HeldClock } from '../../support/time/clock.ts'

const adminToken = 'the-admin-token-of-these-tests'
const clock = new HeldClock()

let server: TestServer
beforeAll(async () => {
  server = await startTestServer({ adminToken, workspaceReadsPerMinute: 0 }, { clock })
})
afterAll(() => server?.stop())

interface Made {
  readonly id: string
  readonly authToken: string
}

const headersOf = ({ id, authToken }: Made): Record<string, string> => ({
  'x-service-workspace-id': id,
  'x-service-workspace-auth-token': authToken,
})

const create = async (): Promise<Made> =>
  dataOf(
    await server.post(
      '/v2/workspace/create',
      { ownerEmail: 'ada@example.com' },
      { 'x-service-admin-token': adminToken },
    ),
  ) as Made

const get = (made: Made, authToken = made.authToken) =>
  server.post('/v2/workspace/get', {}, headersOf({ ...made, authToken }))
const codeOf = async (made: Made, authToken: string): Promise<number> => (await get(made, authToken)).status

async function reset(made: Made, data: object = {}): Promise<string> {
  const answer = await server.post('/v2/workspace/workspaceauthtoken/reset', data, headersOf(made))
  expect(dataOf(answer)).toEqual({ workspaceId: made.id, newWorkspaceAuthToken: expect.any(String) })
  return (dataOf(answer) as { newWorkspaceAuthToken: string }).newWorkspaceAuthToken
}

it('[WS-25] replaces the token of a workspace immediately, and does not change the tokens of other workspaces', async () => {
  const [made, other] = [await create(), await create()]
  const token = await reset(made)
  expect([await codeOf(made, made.authToken), await codeOf(made, token)]).toEqual([401, 200])
  expect(await codeOf(other, other.authToken)).toBe(200)
  expect(await codeOf(other, token)).toBe(401)
  const shown = dataOf(await get(made, token))
  expect(shown).toMatchObject({ id: made.id, authToken: token })
  expect(JSON.stringify(shown)).not.toContain(made.authToken)
})

it('[WS-25] keeps the old token valid for its grace period, but no longer than the grace period of a later reset', async () => {
  const made = await create()
  const second = await reset(made, { graceSeconds: 60 })
  clock.advance(59_999)
  expect([await codeOf(made, made.authToken), await codeOf(made, second)]).toEqual([200, 200])
  clock.advance(1)
  expect([await codeOf(made, made.authToken), await codeOf(made, second)]).toEqual([401, 200])
  const third = await reset({ ...made, authToken: second }, { graceSeconds: 3600 })
  const fourth = await reset({ ...made, authToken: second })
  for (const ended of [second, third]) expect(await codeOf(made, ended)).toBe(401)
  expect(await codeOf(made, fourth)).toBe(200)
  for (const graceSeconds of [-1, 0.5, 2_592_001, '60'])
    expect(
      await server.post(
        '/v2/workspace/workspaceauthtoken/reset',
        { graceSeconds },
        headersOf({ ...made, authToken: fourth }),
      ),
    ).toMatchObject({ status: 400 })
})

it('[WS-25] after many concurrent resets, exactly one token is valid; if the resets have a grace period, all tokens are valid', async () => {
  const made = await create()
  const graceful = await Promise.all(Array.from({ length: 8 }, () => reset(made, { graceSeconds: 60 })))
  for (const token of graceful) expect(await codeOf(made, token)).toBe(200)
  const callers = graceful.map((authToken) => ({ ...made, authToken }))
  const answers = await Promise.all(
    callers.map((each) => server.post('/v2/workspace/workspaceauthtoken/reset', {}, headersOf(each))),
  )
  const left = answers.flatMap(({ body }) =>
    body.result === undefined
      ? []
      : [(body.result.data as { newWorkspaceAuthToken: string }).newWorkspaceAuthToken],
  )
  const codes = await Promise.all(left.map((token) => codeOf(made, token)))
  expect(codes.filter((code) => code === 200)).toHaveLength(1)
})

it('[WS-25] keeps at most ten replaced tokens valid, and ends the oldest ones first', async () => {
  const made = await create()
  const tokens = [made.authToken]
  for (let count = 0; count < 12; count++)
    tokens.push(await reset({ ...made, authToken: tokens.at(-1) as string }, { graceSeconds: 60 }))
  const codes = await Promise.all(tokens.map((token) => codeOf(made, token)))
  expect(codes).toEqual([401, 401, ...Array.from({ length: 11 }, () => 200)])
})
