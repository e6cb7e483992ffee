import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { operationList } from '../../../src/capabilities/list.ts'
import { type Content, callExample, type Described, type OpenApi } from '../../support/data/example-calls.ts'
import { startExampleServer, type WorldMaker, worldMaker } from '../../support/data/openapi-example-data.ts'
import { type SchemaCheck, schemaCheckOf } from '../../support/data/openapi-validator.ts'
import type { TestServer } from '../../support/servers/server.ts'

let server: TestServer
let credentials: Readonly<Record<string, string>>
let document: OpenApi
let check: SchemaCheck
let worldFor: WorldMaker
beforeAll(async () => {
  ;({ server, credentials } = await startExampleServer())
  document = (await (await fetch(`${server.url}/openapi.json`)).json()) as OpenApi
  check = schemaCheckOf(document)
  worldFor = worldMaker(server)
})
afterAll(() => server?.stop())

/** Returns why an example does not fit its schema, or null. */
const problem = ({ 'application/json': { schema } }: Content, example: unknown): unknown =>
  check(schema, example)

describe.each(operationList.map(({ path }) => path))('%s', (path) => {
  const described = (): Described => (document.paths[path] as { post: Described }).post

  it('[API-40] has a description with valid examples', () => {
    const { tags, security, requestBody, responses } = described()
    expect(document.tags.find(({ name }) => name === tags[0])?.description).toBeTruthy()
    expect(document.components.securitySchemes).toMatchObject(
      Object.fromEntries(Object.keys(security[0]).map((name) => [name, { type: 'apiKey', in: 'header' }])),
    )
    const whole = { request: requestBody, ...responses }
    for (const [name, { content }] of Object.entries(whole)) {
      const values = Object.values(content['application/json'].examples).map((each) => each?.value)
      expect(values.length).toBeGreaterThan(0)
      for (const value of values) expect({ [name]: problem(content, value) }).toEqual({ [name]: null })
    }
  })

  it('[API-41] answers the example request as the description states', async () => {
    const { responses } = described()
    const { status, body } = await callExample(server, document, credentials, path, worldFor)
    expect({ status, body }).toMatchObject({ status: 200 })
    expect(problem((responses[200] as { content: Content }).content, body)).toBeNull()
  })
})

it('[DEF-7] grants no more access than necessary in any example', () => {
  const examples = operationList.flatMap(({ path }) => {
    const { requestBody, responses } = (document.paths[path] as { post: Described }).post
    return Object.values({ request: requestBody, ...responses }).flatMap(({ content }) =>
      Object.values(content['application/json'].examples).map((each) => ({
        path,
        text: JSON.stringify(each),
      })),
    )
  })
  expect(examples.filter(({ text }) => text.includes('"accessType":"restricted"')).length).toBeGreaterThan(3)
  expect(examples.filter(({ text }) => /"public"|"(isA|a)dmin":true/.test(text))).toEqual([])
  const { requestBody } = (document.paths['/v2/auth/generate_token'] as { post: Described }).post
  for (const each of Object.values(requestBody.content['application/json'].examples))
    expect(each?.value).toMatchObject({ data: { permissions: { resources: [{ type: 'document' }] } } })
})
