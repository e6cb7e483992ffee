import { createConfig, lintFromString } from '@redocly/openapi-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ExampleServer, startExampleServer } from '../support/data/openapi-example-data.ts'
import { Random } from '../support/data/random-doc.ts'
import { seed } from '../support/data/seed.ts'
import { missing } from '../support/needs.ts'
import { type OpenApi, ofKnownWorld } from './example-schema.ts'
import { runSpecmatic } from './specmatic.ts'
import { startWorldRelay, type WorldRelay } from './specmatic-proxy.ts'

const isEverythingAsked = process.env.WEFT_TEST_LONG === '1'
/** Number of requests per operation, and the minimum in total. */
const { variations, testsMin } = { variations: 12, testsMin: 700 }
/** Number of operations in a short run. */
const sampleSize = 12
const timeoutMs = 900_000

describe('/openapi.json', () => {
  let example: ExampleServer
  let relay: WorldRelay
  let source: string
  beforeAll(async () => {
    example = await startExampleServer()
    relay = await startWorldRelay(example.server)
    source = await (await fetch(`${example.server.url}/openapi.json`)).text()
  })
  afterAll(async () => {
    await relay?.close()
    await example?.server.stop()
  })

  it('[API-44] passes the linter of Redocly', async () => {
    const config = await createConfig({ extends: ['recommended-strict'] })
    const lint = (text: string) => lintFromString({ source: text, absoluteRef: 'openapi.json', config })
    const problems = (await lint(source)).map(({ ruleId, message, location }) => ({
      ruleId,
      message,
      at: location[0]?.pointer,
    }))
    expect(problems).toEqual([])
    // Proves that the linter checks: an operation without a response is invalid.
    expect(await lint(source.replaceAll('"responses"', '"answers"'))).not.toEqual([])
  })

  it.skipIf(missing('java') !== null)(
    `[API-45] passes Specmatic, which calls ${isEverythingAsked ? 'every operation' : 'a sample of the operations'} with many variants (seed ${seed})`,
    async () => {
      const document = ofKnownWorld(JSON.parse(source) as OpenApi)
      // Its update must have the encoding that the request names, which a schema cannot say.
      delete document.paths['/v2/crdt/apply']
      if (!isEverythingAsked) keepSample(document)
      const { tests, failures, said } = await runSpecmatic({
        url: relay.url,
        document,
        credentials: example.credentials,
        variations,
        timeoutMs,
      })
      expect(failures, said).toEqual([])
      expect(tests, said).toBeGreaterThan(isEverythingAsked ? testsMin : sampleSize)
      expect(relay.requests()).toBeGreaterThanOrEqual(tests)
    },
    timeoutMs + 10_000,
  )
})

/** Removes all operations except a sample, which the seed chooses. */
function keepSample({ paths }: OpenApi): void {
  const random = new Random(seed)
  while (Object.keys(paths).length > sampleSize) delete paths[random.pick(Object.keys(paths))]
  console.log(`Specmatic calls ${Object.keys(paths).join(', ')}`)
}
