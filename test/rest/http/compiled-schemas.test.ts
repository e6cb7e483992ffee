import { afterAll, beforeAll, expect, it } from 'vitest'
import { operationList } from '../../../src/capabilities/list.ts'
import { exampleOf } from '../../../src/rest/openapi/examples.ts'
import { validatorOf } from '../../../src/rest/validator.ts'
import { callWithKey } from '../../support/data/idempotency.ts'
import { type ExampleServer, startExampleServer } from '../../support/data/openapi-example-data.ts'

let example: ExampleServer
const known = Function
/** Texts of the functions that ajv has compiled from schemas, without the numbers of their variables. */
let compiled: string[] = []
beforeAll(async () => {
  example = await startExampleServer()
  globalThis.Function = new Proxy(known, {
    construct(target, given: string[], newTarget) {
      compiled.push(given.at(-1)?.replaceAll(/\d+/g, '') ?? '')
      return Reflect.construct(target, given, newTarget) as object
    },
  })
})
afterAll(async () => {
  globalThis.Function = known
  await example?.server.stop()
})

/** Calls each operation with wrong members, so that it validates them for the first issue and for all. */
async function callAll(): Promise<void> {
  for (const { path, request } of operationList) {
    const names = Object.keys(exampleOf(request, 'request') as object)
    await callWithKey(example, path, Object.fromEntries(names.map((name) => [name, [[]]])), {})
  }
}

it('[TIDY-25] compiles no schema again when each operation is called again', async () => {
  // Other tests of this process may have compiled the schemas of the operations.
  validatorOf({ type: 'object', properties: { probe: { type: 'string' } } })({}, 0)
  expect(compiled.filter((text) => text.includes('probe'))).toHaveLength(1)
  await callAll()
  const first = new Set(compiled)
  compiled = []
  await callAll()
  expect(compiled.filter((text) => first.has(text))).toEqual([])
})
