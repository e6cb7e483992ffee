import { afterAll, beforeAll, expect, it } from 'vitest'
import { Random } from '../../support/data/random-doc.ts'
import { seed } from '../../support/data/seed.ts'
import { stockClients } from '../../support/proxies/crowd.ts'
import { installedProxies, modesOf, type ProxyKind } from '../../support/proxies/proxies.ts'
import { behindProxy, type Problem, startUnlimited, type TrialOptions } from '../../support/proxies/trials.ts'
import type { ServerProcess } from '../../support/servers/process.ts'

let server: ServerProcess
let stop: () => Promise<void>
const random = new Random(seed)
const typingMs = 1_500
const kinds = installedProxies()
const kindsOf = (mode: 'buffers' | 'cuts' | 'http2'): ProxyKind[] =>
  kinds.filter((kind) => modesOf(kind).includes(mode))

beforeAll(async () => {
  const started = await startUnlimited()
  server = started.server
  stop = () => started.stop()
})
afterAll(() => stop())

let trials = 0

/** One version of y-websocket and one of Hocuspocus. The next trial gets other versions. */
function someClients(): TrialOptions['clients'] {
  trials += 1
  return stockClients.filter((_, index) => index % 3 === trials % 3)
}

async function works(kind: ProxyKind, problem: Problem, clients = someClients()): Promise<void> {
  const result = await behindProxy(server, kind, problem, { random, typingMs, clients })
  expect(result).toMatchObject({ lost: 0, doubled: 0 })
  expect(result.marks).toBeGreaterThan(10)
  if (problem === 'random') expect(result.cuts).toBeGreaterThan(5)
}

// The trials run at the same time, because they mostly wait. The soak has more of each.

it.concurrent.each(kinds)(
  `[TRANS-60] behind %s, stock clients converge without a websocket, and nothing is lost or doubled (seed ${seed})`,
  (kind) => works(kind, 'plain'),
)

it.concurrent.each(kindsOf('buffers'))(
  `[TRANS-61] the same if %s holds back each response until its end (seed ${seed})`,
  (kind) => works(kind, 'buffers'),
)

it.concurrent.each(kindsOf('cuts'))(
  `[TRANS-62] the same if %s cuts responses after 2 s (seed ${seed})`,
  (kind) => works(kind, 'cuts'),
)

it.concurrent.each(kinds)(
  `[TRANS-63] behind %s, nothing is lost or doubled if connections are cut at random times (seed ${seed})`,
  (kind) => works(kind, 'random'),
)

it.concurrent.each(kinds)(
  `[TRANS-64] behind %s, the same for seven clients on one page with six connections (seed ${seed})`,
  (kind) => works(kind, 'six', [...stockClients, ...stockClients.slice(0, 1)]),
)

it.concurrent.each(kindsOf('http2'))(
  `[TRANS-100] the same if clients use HTTP/2 to %s (seed ${seed})`,
  (kind) => works(kind, 'http2'),
)
