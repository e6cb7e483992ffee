import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Random } from '../../support/data/random-doc.ts'
import { seed } from '../../support/data/seed.ts'
import { missing } from '../../support/needs.ts'
import { type Converged, stockClients } from '../../support/proxies/crowd.ts'
import { installedProxies } from '../../support/proxies/proxies.ts'
import { behindFailover, behindRestarts, type TrialOptions } from '../../support/proxies/trials.ts'
import { type PostgresServer, startPostgres } from '../../support/servers/postgres.ts'

const random = new Random(seed)
const kinds = installedProxies()

/** One version of y-websocket and one of Hocuspocus, which depend on the proxy. */
const optionsFor = (kind: (typeof kinds)[number]): TrialOptions => ({
  random,
  typingMs: 2_500,
  clients: stockClients.filter((_, index) => index % 3 === kinds.indexOf(kind) % 3),
})

function expectComplete(result: Converged): void {
  expect(result).toMatchObject({ lost: 0, doubled: 0 })
  expect(result.marks).toBeGreaterThan(10)
}

// The trials run at the same time, because they wait until stock clients renew their presence after 15 to 18 s.

it.concurrent.each(kinds)(
  `[TRANS-65] behind %s, nothing is lost or doubled if the server is killed and restarts, and then stops and restarts (seed ${seed})`,
  async (kind) => expectComplete(await behindRestarts(kind, optionsFor(kind))),
)

describe.skipIf(missing('postgres'))('two nodes', { concurrent: true }, () => {
  let postgres: PostgresServer
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres.remove())

  it.concurrent.each(kinds)(
    `[TRANS-66] behind %s, which chooses the node by the session, nothing is lost or doubled if one node is killed (seed ${seed})`,
    async (kind) => expectComplete(await behindFailover(kind, postgres, optionsFor(kind))),
  )
})
