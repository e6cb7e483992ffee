import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { callWithKey, changing, fittingData, worldOf } from '../../support/data/idempotency.ts'
import { type ExampleServer, startExampleServer } from '../../support/data/openapi-example-data.ts'
import { dataOf, type Envelope } from '../../support/servers/server.ts'

const add = '/v2/organizations/add'

let example: ExampleServer
beforeAll(async () => {
  example = await startExampleServer()
})
afterAll(() => example?.server.stop())

const call = (path: string, data: unknown, key: string, headers = {}) =>
  callWithKey(example, path, data, { 'idempotency-key': key, ...headers })

/** Removes the times of changes. */
const withoutTimes = (world: string): string =>
  world.replaceAll(/"(lastUpdated|updatedAt)":(\d+|"[^"]*")/g, '')

const errorOf = (text: string) => (JSON.parse(text) as Envelope).error
const organization = () => ({ organizations: [{ organizationId: randomUUID() }] })

describe('the header', () => {
  const good = ['a', 'x'.repeat(255), '"quoted"', '~!{}[],;', randomUUID()]
  const bad = ['', 'x'.repeat(256), 'two words', 'caf\u00e9', 'a, b', 'tab\tbed']

  it.each(good)('[IDEM-1] accepts the key %s', async (key) => {
    expect((await call(add, organization(), key)).status).toBe(200)
  })

  it.each(['x-idempotency-key', 'idempotencykey', 'idempotent-key', 'idempotancy-key'])(
    '[IDEM-15] rejects the header %s, and states the correct name',
    async (name) => {
      const data = organization()
      const answer = await example.server.post(add, data, { [name]: 'a' })
      expect(answer).toMatchObject({ status: 400, body: { error: { status: 'INVALID_ARGUMENT' } } })
      expect(answer.body.error?.message).toBe(`the header ${name} is unknown; use idempotency-key`)
      expect((await example.server.post('/v2/organizations/get', {}, { [name]: 'a' })).status).toBe(200)
    },
  )

  it.each(bad)('[IDEM-1] rejects the key "%s"', async (key) => {
    const data = organization()
    const answer = await call(add, data, key)
    expect([answer.status, errorOf(answer.text)?.status]).toEqual([400, 'INVALID_ARGUMENT'])
    expect(errorOf(answer.text)?.message).toContain('idempotency-key')
    const added = dataOf(await example.server.post(add, data)) as Record<string, { success: boolean }>
    expect(Object.values(added).map(({ success }) => success)).toEqual([true])
  })

  it('[IDEM-1] rejects a call that has the header idempotency-key twice', async () => {
    const answer = await fetch(example.server.url + add, {
      method: 'POST',
      headers: [
        ['content-type', 'application/json'],
        ['x-service-api-key', example.credentials.apiKey as string],
        ['x-service-auth-token', example.credentials.authToken as string],
        ['idempotency-key', 'a'],
        ['idempotency-key', 'a'],
      ],
      body: JSON.stringify({ data: organization() }),
    })
    expect(answer.status).toBe(400)
  })

  it('[IDEM-1] ignores the key of a call that changes nothing', async () => {
    for (const key of ['', 'a', 'a'])
      expect(await call('/v2/workspace/domains/get', {}, key)).toMatchObject({ status: 200, replayed: false })
  })
})

describe.each(changing)('$path', (operation) => {
  it('[IDEM-2] when a call is repeated with the same key, returns the same bytes, and changes nothing', async () => {
    const data = await fittingData(example, operation)
    const key = randomUUID()
    const first = await call(operation.path, data, key)
    expect(first).toMatchObject({ status: 200, replayed: false })
    const repeated = async (): Promise<void> => {
      for (let times = 0; times < 2; times++)
        expect(await call(operation.path, data, key)).toEqual({ ...first, replayed: true })
    }
    // What is repeatable would change nothing anyway, see IDEM-9.
    if (operation.effect === 'repeatable') return repeated()
    const world = await worldOf(example)
    await repeated()
    expect(await worldOf(example)).toBe(world)
  })
})

describe.each(changing.filter(({ effect }) => effect === 'repeatable'))('$path', (operation) => {
  it('[IDEM-9] is repeatable: a second call with another key gets the same results, and leaves the same state', async () => {
    const data = await fittingData(example, operation)
    const answers = [await callWithKey(example, operation.path, data)]
    const world = withoutTimes(await worldOf(example))
    answers.push(await callWithKey(example, operation.path, data))
    expect(withoutTimes(await worldOf(example))).toBe(world)
    expect(answers.map(({ status, replayed }) => [status, replayed])).toEqual([
      [200, false],
      [200, false],
    ])
    const [first, second] = answers.map(({ text }) => text.match(/"success":(true|false)/g))
    expect(second).toEqual(first)
  })
})
