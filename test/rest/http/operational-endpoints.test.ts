import { connect } from 'node:net'
import { expect, it } from 'vitest'
import { operationList } from '../../../src/capabilities/list.ts'
import { readConfig } from '../../../src/core/config/read-config.ts'
import type { Sample } from '../../../src/core/metrics/scrape.ts'
import { isStrict } from '../../../src/rest/members.ts'
import { publishedRequest } from '../../../src/rest/openapi/schemas.ts'
import { type Envelope, startTestServer, type TestServer } from '../../support/servers/server.ts'

async function withServer(
  overrides: Parameters<typeof startTestServer>[0],
  use: (server: TestServer) => Promise<void>,
) {
  const server = await startTestServer(overrides)
  try {
    await use(server)
  } finally {
    await server.stop()
  }
}

const json = async (url: string) => (await (await fetch(url)).json()) as Record<string, unknown>

const path = '/v2/auth/generate_token'
const user = { userId: 'ann', userProperties: { name: 'Ann', email: 'ann@example.com' } }

it('[OPS-1] serves /, /healthz, /readyz and /version with their content, and leads a browser from / to the console', () =>
  withServer({ publicUrl: 'http://localhost:1234' }, async ({ url }) => {
    expect(await json(`${url}/healthz`)).toEqual({ status: 'ok' })
    expect(await json(`${url}/readyz`)).toEqual({ status: 'ready' })
    expect(await json(`${url}/version`)).toEqual({
      name: 'weft',
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      publicUrl: 'http://localhost:1234',
    })
    const { links } = (await json(url)) as { links: Record<string, string> }
    for (const link of Object.values(links)) expect((await fetch(url + link)).status).toBe(200)
    const page = await fetch(url, { headers: { accept: 'text/html,*/*' } })
    expect(page.url).toBe(`${url}/console`)
    expect(await page.text()).toContain('<title>')
  }))

const sample =
  /^[a-z_][a-z0-9_]*(\{[a-z]+="[^"\\\n]*"(,[a-z]+="[^"\\\n]*")*\})? (-?\d+(\.\d+)?(e[+-]?\d+)?|Na[nN]|\+Inf)$/

it('[OPS-2] serves /metrics in the Prometheus format, with the names of Weft and without ids', () =>
  withServer({}, async ({ url, post }) => {
    await post(path, user)
    await fetch(`${url}/somewhere/secret-id`)
    await fetch(`${url}/sync-http/secret-id`, { method: 'PUT' })
    const answer = await fetch(`${url}/metrics`)
    expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
    const lines = (await answer.text()).split('\n')
    for (const line of lines) if (line !== '' && !line.startsWith('# ')) expect(line).toMatch(sample)
    const text = lines.join('\n')
    for (const name of [
      'rooms_open',
      'connections',
      'updates_total',
      'commit_latency_seconds',
      'slow_clients',
    ])
      expect(text).toContain(`# TYPE weft_${name} `)
    expect(text).toContain(`weft_http_request_duration_seconds_count{route="${path}",status="200"} 1`)
    expect(text).toContain('weft_http_request_duration_seconds_count{route="unknown",status="404"} 1')
    expect(text).toContain('weft_http_request_duration_seconds_count{route="/sync-http",status="405"} 1')
    expect(text).toContain('nodejs_eventloop_lag_seconds')
    expect(text).not.toContain('secret-id')
    const gauges = lines.filter((line) => /^# TYPE \S+_total (?!counter)/.test(line))
    expect(gauges).toEqual([])
  }))

it('[OPS-48] returns the samples of /metrics as JSON to a client that accepts only JSON', () =>
  withServer({}, async ({ url, post }) => {
    await post(path, user)
    const read = (accept: string) => fetch(`${url}/metrics`, { headers: { accept } })
    const answer = await read('application/json')
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
    const samples = (await answer.json()) as readonly Sample[]
    const calls = { route: path, status: '200' }
    expect(samples).toEqual(
      expect.arrayContaining([
        { name: 'weft_ready', labels: {}, value: 1 },
        { name: 'weft_http_request_duration_seconds_count', labels: calls, value: 1 },
        { name: 'weft_http_request_duration_seconds_bucket', labels: { ...calls, le: '10' }, value: 1 },
        { name: 'weft_http_request_duration_seconds_bucket', labels: { ...calls, le: '+Inf' }, value: 1 },
      ]),
    )
    expect(samples.filter(({ value }) => !Number.isFinite(value))).toEqual([])
    // Prometheus accepts any type, and prefers its own.
    const scraped = await read('text/plain;version=0.0.4;q=0.2,application/json;q=0.1,*/*;q=0.1')
    expect(scraped.headers.get('content-type')).toMatch(/^text\/plain/)
  }))

it('[OPS-3] requires the metrics token for /metrics if one is configured', () =>
  withServer({ metricsToken: 'a-token-for-metrics' }, async ({ url }) => {
    const get = (authorization?: string) =>
      fetch(`${url}/metrics`, { headers: authorization ? { authorization } : {} })
    expect((await get('Bearer a-token-for-metrics')).status).toBe(200)
    for (const wrong of [undefined, 'Bearer wrong', 'a-token-for-metrics', 'Basic a-token-for-metrics']) {
      const answer = await get(wrong)
      expect(answer.status).toBe(401)
      expect(((await answer.json()) as Envelope).error?.status).toBe('UNAUTHENTICATED')
    }
  }))

it('[OPS-4] describes every operation in /openapi.json as OpenAPI 3.1', () =>
  withServer({}, async ({ url }) => {
    const document = (await json(`${url}/openapi.json`)) as {
      openapi: string
      paths: Record<string, { post: { requestBody: object; responses: Record<string, object> } }>
    }
    expect(document.openapi).toBe('3.1.0')
    const others = [
      '/sync-http',
      '/sync-http/{organizationId}/{documentId}/{editorId}',
      '/v2/crdt/stream',
      '/v2/feed/stream',
    ]
    expect(Object.keys(document.paths).sort()).toEqual(
      [...operationList.map((each) => each.path), ...others].sort(),
    )
    for (const operation of operationList) {
      const { post } = document.paths[operation.path] as { post: { requestBody: object; responses: object } }
      expect(post.requestBody).toMatchObject({
        content: {
          'application/json': {
            schema: {
              required: ['data'],
              properties: { data: publishedRequest(operation.request, isStrict(operation)) },
            },
          },
        },
      })
      expect(Object.keys(post.responses)).toEqual(
        expect.arrayContaining(['200', '400', '401', '429', '500', '503']),
      )
    }
  }))

it('[RUN-10] at the default rate, accepts 400 concurrent calls, as in the first import of a backend', async () => {
  const { callsPerKey } = readConfig({ flags: {}, environment: {}, file: null }).config
  expect(callsPerKey.burst).toBeGreaterThanOrEqual(10_000)
  await withServer({ callsPerKey }, async ({ post }) => {
    const statuses = await Promise.all(
      Array.from({ length: 400 }, async () => (await post(path, user)).status),
    )
    expect(new Set(statuses)).toEqual(new Set([200]))
  })
})

it('[API-31] [RUN-10] when calls exceed the burst, rejects them with RESOURCE_EXHAUSTED and the time to wait', () =>
  withServer({ callsPerKey: { perSecond: 1, burst: 3 } }, async ({ post, url }) => {
    for (let call = 0; call < 3; call += 1) expect((await post(path, user)).status).toBe(200)
    const { status, body, headers } = await post(path, user)
    expect(status).toBe(429)
    expect(body.error?.status).toBe('RESOURCE_EXHAUSTED')
    expect(headers.get('retry-after')).toBe('1')
    expect(body.error?.message).toBe(
      'too many calls with this API key: the limit callsPerKey is 1 per second; try again after 1 s ' +
        '(Retry-After), call less often, or have the operator raise WEFT_CALLS_PER_KEY',
    )
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    expect((await post(path, user, { 'x-service-auth-token': 'wrong' })).status).toBe(401)
  }))

/**
 * A call whose body stops half-way until `finish` is called. Resolves when the server has begun to read it.
 */
async function halfCall({ port, credentials, url }: TestServer) {
  const body = JSON.stringify({ data: user })
  const socket = connect(port, '127.0.0.1')
  let answer = ''
  const ended = new Promise<string>((resolve) => {
    socket.setEncoding('utf8')
    socket.on('data', (chunk: string) => {
      answer += chunk
    })
    socket.on('close', () => resolve(answer))
    socket.on('error', () => resolve(answer))
  })
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\nconnection: close\r\n` +
      `x-service-api-key: ${credentials.apiKey}\r\nx-service-auth-token: ${credentials.authToken}\r\n` +
      `content-length: ${body.length}\r\nexpect: 100-continue\r\n\r\n`,
  )
  while (!answer.includes('100 Continue')) await fetch(`${url}/healthz`)
  return { finish: () => socket.write(body), ended }
}

it('[OPS-5] when the server stops, answers calls in progress, rejects new calls, and then closes the port', () =>
  withServer({ shutdownSeconds: 20 }, async (server) => {
    const half = await halfCall(server)
    const closed = server.server.close()
    const ready = await fetch(`${server.url}/readyz`)
    expect(ready.status).toBe(503)
    expect(((await ready.json()) as Envelope).error?.status).toBe('UNAVAILABLE')
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
    const late = await server.post(path, user)
    expect(late).toMatchObject({ status: 503, body: { error: { status: 'UNAVAILABLE' } } })
    expect(late.headers.get('retry-after')).toBe('1')
    half.finish()
    expect(await half.ended).toContain('HTTP/1.1 200 OK')
    await closed
    await expect(fetch(`${server.url}/healthz`)).rejects.toThrow()
  }))

it('[OPS-6] stops on time even if a call never ends, and treats a second stop like the first one', () =>
  withServer({ shutdownSeconds: 1 }, async (server) => {
    const half = await halfCall(server)
    const closed = server.server.close()
    expect(server.server.close()).toBe(closed)
    await closed
    expect(await half.ended).not.toContain('200 OK')
    await expect(fetch(`${server.url}/healthz`)).rejects.toThrow()
  }))
