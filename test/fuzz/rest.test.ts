import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { operationList } from '../../src/capabilities/list.ts'
import { errorCodes, httpCodes } from '../../src/core/base/error-codes.ts'
import { exampleOf } from '../../src/rest/openapi/examples.ts'
import { publicSchema, resultBody } from '../../src/rest/openapi/schemas.ts'
import type { Operation } from '../../src/rest/operation.ts'
import { sendAndEnd } from '../support/clients/raw-websocket.ts'
import { type ExampleServer, makeWorld, startExampleServer } from '../support/data/openapi-example-data.ts'
import { Random } from '../support/data/random-doc.ts'
import { seed } from '../support/data/seed.ts'
import { asCase } from '../support/faults/corpus.ts'
import { bodiesWith, hostileBody } from '../support/faults/hostile-json.ts'
import { mutate } from '../support/faults/mutations.ts'
import { dataOf, type Envelope } from '../support/servers/server.ts'
import { itLong } from '../support/time/full-run.ts'

const all = process.env.WEFT_TEST_LONG === '1'
const cases = Number(process.env.WEFT_FUZZ_CASES ?? (all ? 60 : 2))

const canary = { organizationId: 'canary', documentId: 'song', editorId: 'main' }

let example: ExampleServer
let headers: Record<string, string>
beforeAll(async () => {
  example = await startExampleServer()
  headers = { ...(await allCredentials()), 'content-type': 'application/json' }
  await example.server.post('/v2/crdt/add', { ...canary, type: 'text', data: 'still here' })
})
afterAll(() => example?.server.stop())

const ajv = new Ajv2020({ strict: false, formats: { id: true, byte: true, 'date-time': true } })

async function expectCanary(): Promise<void> {
  const answer = await example.server.post('/v2/crdt/get', canary)
  expect(dataOf(answer)).toMatchObject([{ data: 'still here' }])
}

/** Returns all credentials; each operation reads the ones that it requires. */
async function allCredentials(): Promise<Record<string, string>> {
  const { components } = (await (await fetch(`${example.server.url}/openapi.json`)).json()) as {
    components: { securitySchemes: Record<string, { in?: string; name: string }> }
  }
  const schemes = Object.entries(components.securitySchemes).filter(([, scheme]) => scheme.in === 'header')
  return Object.fromEntries(
    schemes.map(([scheme, { name }]) => [name, example.credentials[scheme] as string]),
  )
}

/**
 * Returns a request that would succeed, with the ids that only responses contain, and one with every member,
 * some of which exclude each other.
 */
async function fittingData({ path, request }: Operation): Promise<readonly [object, object]> {
  const told = await makeWorld(example.server, path)
  const known = (side: 'request' | 'answer'): object => {
    const data = exampleOf(request, side) as Record<string, unknown>
    const repeated: Record<string, unknown> = 'authToken' in data ? { ...told, ...example.credentials } : told
    return Object.fromEntries(Object.entries(data).map(([name, shown]) => [name, repeated[name] ?? shown]))
  }
  return [known('request'), known('answer')]
}

/** Expects one envelope and nothing else. A success must have the described form. */
function expectEnvelope(
  operation: Operation,
  code: number,
  text: string,
  fits: (body: unknown) => boolean,
): void {
  const body = JSON.parse(text) as Envelope
  if (code === 200) {
    expect(Object.keys(body)).toEqual(['result'])
    expect(fits(body)).toBe(true)
    return
  }
  expect(Object.keys(body)).toEqual(['error'])
  const { status = '', message = '' } = body.error ?? {}
  expect(Object.keys(httpCodes)).toContain(status)
  // Some operations return INTERNAL on purpose. A server fault never names its cause.
  const meant =
    operation.errors.some((each) => errorCodes[each.code].status === status) &&
    !message.startsWith('internal error')
  expect([status, (code >= 400 && code < 500) || meant, message]).toEqual([status, true, expect.any(String)])
}

/** Longer than any response takes: a call that waits longer hangs. */
const patienceMs = 20_000

/** Calls an operation, checks the response, and returns its code. */
async function checkedCall(
  operation: Operation,
  body: string,
  fits: (body: unknown) => boolean,
): Promise<number> {
  try {
    const signal = AbortSignal.timeout(patienceMs)
    const answer = await fetch(example.server.url + operation.path, { method: 'POST', headers, body, signal })
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expectEnvelope(operation, answer.status, await answer.text(), fits)
    return answer.status
  } catch (error) {
    const { path } = operation
    throw new Error(asCase({ name: `seed ${seed}`, path, body: [[body, 1]], code: 400 }), { cause: error })
  }
}

/** It invalidates the credentials of the other calls. */
const lockingOut = '/v2/workspace/workspaceauthtoken/reset'
const lockingOutLast = [...operationList].sort(
  (a, b) => Number(a.path === lockingOut) - Number(b.path === lockingOut),
)

/** JSON of a string that cannot be a key of the store. */
const noKey = '"\\ud800"'

itLong(
  `[FUZZ-2] when the data of a request is hostile, every operation answers in the response envelope (seed ${seed}, ${cases} cases each)`,
  async () => {
    const answers: Record<number, number> = {}
    for (const [at, operation] of lockingOutLast.entries()) {
      const random = new Random(seed + at)
      const data = await fittingData(operation)
      const fits = ajv.compile(publicSchema(resultBody(operation)))
      const mutated = Array.from({ length: cases }, () => hostileBody(random.pick(data), random))
      const surely = data.flatMap((each) => bodiesWith(each, noKey))
      for (const body of [...mutated, ...surely]) {
        const code = await checkedCall(operation, body, fits)
        answers[code] = (answers[code] ?? 0) + 1
      }
      await expectCanary()
    }
    console.info(answers)
    // Proves that the requests pass the schemas.
    expect(answers[200]).toBeGreaterThan((operationList.length * cases) / 10)
  },
  600_000,
)

/** Headers that are false, contradict each other, or are not credible. */
const headerLines = [
  'content-length: 5',
  'content-length: -1',
  'content-length: 99999999999999999999',
  'transfer-encoding: chunked',
  'transfer-encoding: gzip, chunked',
  'content-encoding: br',
  'expect: 100-continue',
  'expect: a miracle',
  'connection: upgrade\r\nupgrade: h2c',
  'upgrade: websocket\r\nconnection: upgrade',
  'x-service-api-key: other',
  'x-request-id: <script>',
  'x-forwarded-for: 1, 2, 3',
  'x-http-method-override: DELETE',
  'host: a\r\nhost: b',
  'a b: c',
  ': nameless',
  'x: \0',
  ' folded',
  `x-long: ${'x'.repeat(40_000)}`,
]

/**
 * Returns the bytes of a call of `operation` with wrong headers, wrong bytes, or both; sometimes several
 * calls.
 */
function brokenCall(operation: Operation, random: Random): Uint8Array {
  const body = JSON.stringify({ data: exampleOf(operation.request, 'request') })
  const own = Object.entries({ ...headers, host: 'localhost' }).map(([name, value]) => `${name}: ${value}`)
  const length = random.below(4) === 0 ? [] : [`content-length: ${Buffer.byteLength(body)}`]
  const odd = random.below(2) === 0 ? [] : [random.pick(headerLines)]
  const method = random.pick(['POST', 'POST', 'POST', 'PUT', 'OPTIONS', 'PATCH', 'BREW'])
  const head = [`${method} ${operation.path} HTTP/1.1`, ...own, ...length, ...odd].join('\r\n')
  const bytes = Buffer.from(`${head}\r\n\r\n${body}`.repeat(random.pick([1, 1, 3])))
  return random.below(3) === 0 ? bytes : mutate(bytes, bytes, random)
}

it(`[FUZZ-3] answers broken HTTP requests in the response envelope, or closes the connection (seed ${seed}, ${cases * 100} cases)`, async () => {
  const random = new Random(seed)
  const answers: Record<number, number> = {}
  for (let round = 0; round < cases * 100; round++) {
    const bytes = brokenCall(random.pick(operationList), random)
    const { status, head, body } = await sendAndEnd(example.server.port, bytes)
    answers[status] = (answers[status] ?? 0) + 1
    const name = `seed ${seed}, round ${round}`
    const said = asCase({ name, bytes: [[Buffer.from(bytes).toString('latin1'), 1]], code: 400 })
    const meant = body.includes(`"status":"INTERNAL"`) && !body.includes('internal error')
    expect([0, 100, 200, 204].includes(status) || (status >= 400 && status < 500) || meant, said).toBe(true)
    if (status >= 400) {
      expect(head, said).toMatch(/^content-type: application\/json; charset=utf-8$/im)
      expect(body, said).toMatch(/^\{"error":\{"status":"[A-Z_]+"/)
    }
  }
  console.info(answers)
  await expectCanary()
}, 600_000)

/** Targets of requests, before they are changed. */
const targets = [
  '/',
  '/healthz',
  '/readyz',
  '/version',
  '/docs/errors/request/malformed',
  '/sync-http',
  '/sync-http/a/b/c',
  '/mcp',
  '/v1',
  '/v2/',
  '/v2/unknown',
  '/v2/feed/stream',
  '/v2/crdt/get',
  '/v1/organizations/folders/add',
  '*',
  '',
]
const origins = [
  'http://x',
  'HTTP://x:1',
  'https://a@b',
  'http://',
  'http:',
  'x:',
  '//x',
  '/..',
  'http://x\\',
]
const pieces = [
  '/',
  '//',
  '/.',
  '/..',
  '\\',
  '%',
  '%zz',
  '%2f',
  '%00',
  '%25',
  '%ff',
  '%C3%28',
  '\u00a0',
  '\u0080',
  '\u00ff',
  '?',
  '#',
  ';',
  ':',
  '*',
  '{',
  '}',
  '(',
  '[',
  '|',
  '@',
  '+',
  '?x=%zz',
  '/__proto__',
  '/constructor',
  'x'.repeat(3000),
]
const methods = ['POST', 'GET', 'HEAD', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'CONNECT', 'PROPFIND']
const lines = [
  ...headerLines,
  'origin: http://a.test\r\naccess-control-request-method: POST',
  'accept: text/html',
  'traceparent: 00-11111111111111111111111111111111-1111111111111111-01',
  'if-none-match: *',
  'range: bytes=0-1',
]

/** Returns the bytes of a request whose target, method, version and headers are at the edge of what HTTP allows. */
function requestAtTheEdge(random: Random): { readonly method: string; readonly bytes: Uint8Array } {
  let target = random.pick(targets)
  for (let changes = random.below(3); changes > 0; changes--) {
    const at = random.below(target.length + 1)
    target = target.slice(0, at) + random.pick(pieces) + target.slice(at)
  }
  if (random.below(4) === 0) target = random.pick(origins) + target
  const method = random.pick(methods)
  const version = random.below(8) === 0 ? random.pick(['1.0', '0.9', '2.0']) : '1.1'
  const odd = Array.from({ length: random.below(2) }, () => random.pick(lines))
  const body = random.pick(['', '', '{"data":{}}', '{'])
  const length = body === '' ? [] : ['content-type: application/json', `content-length: ${body.length}`]
  const head = [`${method} ${target} HTTP/${version}`, 'host: x', ...length, ...odd].join('\r\n')
  return { method, bytes: Buffer.from(`${head}\r\n\r\n${body}`, 'latin1') }
}

const requests = all ? 10_000 : 300

it(`[FUZZ-11] answers requests at the edge of HTTP in the response envelope, or closes the connection (seed ${seed}, ${requests} cases)`, async () => {
  const random = new Random(seed)
  const answers: Record<number, number> = {}
  for (let round = 0; round < requests; round++) {
    const { method, bytes } = requestAtTheEdge(random)
    const { status, head, body } = await sendAndEnd(example.server.port, bytes)
    answers[status] = (answers[status] ?? 0) + 1
    const name = `seed ${seed}, round ${round}`
    const said = asCase({ name, bytes: [[Buffer.from(bytes).toString('latin1'), 1]], code: 400 })
    expect([0, 100, 200, 204, 301, 304].includes(status) || (status >= 400 && status < 500), said).toBe(true)
    if (status < 400) continue
    expect(head, said).toMatch(/^x-request-id: \S+$/im)
    expect(head, said).toMatch(/^content-type: application\/json; charset=utf-8$/im)
    if (method !== 'HEAD') expect(body, said).toMatch(/^\{"error":\{"status":"[A-Z_]+"/)
  }
  console.info(answers)
  // Proves that the requests reach pages, unknown paths, methods and the checks of targets.
  for (const status of [200, 400, 404, 405]) expect(answers[status]).toBeGreaterThan(requests / 100)
  await expectCanary()
}, 600_000)
