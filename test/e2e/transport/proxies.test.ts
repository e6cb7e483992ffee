import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { Random } from '../../support/data/random-doc.ts'
import { seed } from '../../support/data/seed.ts'
import { startCuttingRelay } from '../../support/faults/cutting-relay.ts'
import {
  faultsOf,
  missingProxies,
  type ProxyFault,
  type ProxyKind,
  proxyKinds,
  startProxy,
} from '../../support/servers/proxies.ts'
import { dataOf, metric, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { times } from '../../support/time/full-run.ts'
import { Crowd, type CrowdOptions } from './marks.ts'

let server: TestServer
const ends: (() => unknown)[] = []
const random = new Random(seed)
let documents = 0

beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.stop())
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

const open = async (
  host: { readonly url: string; readonly wsUrl: string },
  documentId: string,
  options: CrowdOptions = {},
): Promise<Crowd> => {
  const crowd = await Crowd.open(host, documentId, (user) => server.token(user), random, options)
  ends.push(() => crowd.close())
  return crowd
}

const newDocument = (): string => `behind a proxy ${++documents}`

/** Returns the text that the server has. */
const stored = async (documentId: string): Promise<unknown> => {
  const [{ data }] = dataOf(
    await server.post('/v2/crdt/get', { organizationId: 'acme', documentId, editorId: 'main' }),
  ) as [{ data: unknown }]
  return data
}

/** Types behind a proxy, and checks content and presence. */
async function worksBehind(kind: ProxyKind, fault: ProxyFault, options: CrowdOptions = {}): Promise<void> {
  const proxy = await startProxy(kind, fault, [server.port])
  ends.push(() => proxy.stop())
  const documentId = newDocument()
  const crowd = await open(proxy, documentId, options)
  await crowd.showsEveryone()
  await crowd.type(times(2_000, 8_000))
  if (fault === 'cuts') {
    // Some proxies cut only a response on which they receive nothing.
    await new Promise((resolve) => setTimeout(resolve, 3_000))
    await crowd.type(1_000)
  }
  const text = await crowd.converge()
  expect(await stored(documentId)).toBe(text)
  expect(await metric(server, 'weft_connections{protocol="y-websocket",transport="http"')).toBeGreaterThan(0)
  await crowd.leaveFirst().showsEveryone()
}

describe.each(proxyKinds.filter((kind) => !missingProxies.includes(kind)))('behind %s', (kind) => {
  it(`[TRANS-60] stock clients converge without a websocket, and nothing is lost or doubled (seed ${seed})`, () =>
    worksBehind(kind, 'none'))

  it.skipIf(!faultsOf(kind).includes('buffers'))(
    `[TRANS-61] the same if the proxy holds back each response until its end (seed ${seed})`,
    () => worksBehind(kind, 'buffers'),
  )

  it.skipIf(!faultsOf(kind).includes('cuts'))(
    `[TRANS-62] the same if the proxy cuts responses after 2 s (seed ${seed})`,
    () => worksBehind(kind, 'cuts'),
  )

  it.skipIf(!faultsOf(kind).includes('six'))(
    `[TRANS-64] the same for six clients on one page with six connections (seed ${seed})`,
    () => worksBehind(kind, 'six', { onOnePage: true }),
  )

  it(`[TRANS-63] nothing is lost or doubled if connections are cut at random times (seed ${seed})`, async () => {
    const proxy = await startProxy(kind, 'none', [server.port])
    ends.push(() => proxy.stop())
    const relay = await startCuttingRelay(proxy.port, random)
    ends.push(() => relay.stop())
    const documentId = newDocument()
    const crowd = await open(relay, documentId)
    relay.cut()
    await crowd.type(times(3_000, 15_000))
    expect(relay.cuts).toBeGreaterThan(5)
    relay.heal()
    const text = await crowd.converge()
    expect(await stored(documentId)).toBe(text)
    await crowd.showsEveryone()
  })
})
