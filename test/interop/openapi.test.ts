import { createConfig, lintFromString } from '@redocly/openapi-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ExampleServer, startExampleServer } from '../support/data/openapi-example-data.ts'
import { missing } from '../support/needs.ts'
import { type OpenApi, ofKnownWorld } from './example-schema.ts'
import { runSpecmatic } from './specmatic.ts'
import { startWorldRelay, type WorldRelay } from './specmatic-proxy.ts'

const isEverythingAsked = process.env.WEFT_TEST_LONG === '1'
/** Number of requests per operation, and the minimum in total. */
const { variations, testsMin } = { variations: 12, testsMin: 700 }
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

  // This takes minutes.
  it.skipIf(missing('java') !== null || !isEverythingAsked)(
    '[API-45] passes Specmatic, which calls every operation with many variants',
    async () => {
      const { tests, failures, said } = await runSpecmatic({
        url: relay.url,
        document: ofKnownWorld(JSON.parse(source) as OpenApi),
        credentials: example.credentials,
        variations,
        timeoutMs,
      })
      expect(failures, said).toEqual([])
      expect(tests, said).toBeGreaterThan(testsMin)
      expect(relay.requests()).toBeGreaterThanOrEqual(tests)
    },
    timeoutMs + 10_000,
  )
})
