import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { operationList } from '../../../src/capabilities/list.ts'
import { callWithKey, fittingData } from '../../support/data/idempotency.ts'
import {
  type ExampleServer,
  startExampleServer,
  type WorldMaker,
  worldMaker,
} from '../../support/data/openapi-example-data.ts'

let example: ExampleServer
let worldFor: WorldMaker
beforeAll(async () => {
  example = await startExampleServer()
  worldFor = worldMaker(example.server)
})
afterAll(() => example?.server.stop())

/** Members of a request that limit the number of records in a response. */
const sizes = operationList.flatMap((operation) =>
  ['pageSize', 'limit']
    .filter((name) => operation.request.properties[name] !== undefined)
    .map((name) => [operation.path, name, operation] as const),
)

it('[COMPAT-5] has a maximum page size for each operation with pages', () => {
  const paged = operationList.filter(
    ({ request: { properties } }) => properties.pageToken ?? properties.iterator,
  )
  const paths = sizes.map(([path]) => path)
  expect(paged.filter(({ path }) => !paths.includes(path)).map(({ path }) => path)).toEqual([])
  expect(paged.length).toBeGreaterThan(10)
})

describe.each(sizes)('%s %s', (path, name, operation) => {
  it('[COMPAT-5] uses the maximum page size if the call requests a larger one, and rejects an invalid page size with INVALID_ARGUMENT', async () => {
    const data = await fittingData(example, operation, worldFor)
    // The specification limits only this operation.
    const largest = path === '/v2/workspace/advancedwebhook/endpoints/get' ? 250 : 1_000_000_000
    for (const size of [largest, 1]) {
      const { status, text } = await callWithKey(example, path, { ...data, [name]: size })
      expect([size, status, text]).toEqual([size, 200, text])
    }
    for (const size of [0, -1, 1.5]) {
      const { status, text } = await callWithKey(example, path, { ...data, [name]: size })
      expect([size, status]).toEqual([size, 400])
      expect(JSON.parse(text)).toMatchObject({
        error: { status: 'INVALID_ARGUMENT', details: { issues: [{ path: `/data/${name}` }] } },
      })
    }
  })
})
