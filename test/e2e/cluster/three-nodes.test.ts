import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type StepName, steps } from '../../cluster-faults/steps.ts'
import { type ClusterKind, TestCluster } from '../../cluster-faults/support/cluster.ts'
import { seed } from '../../support/data/seed.ts'
import { noNats } from '../../support/servers/nats.ts'
import { noPostgres } from '../../support/servers/postgres.ts'
import { itLong } from '../../support/time/full-run.ts'

const timeout = 240_000

describe.skipIf(noPostgres !== null || noNats !== null)('three nodes', () => {
  const begun: Partial<Record<ClusterKind, Promise<TestCluster>>> = {}
  const cluster = (kind: ClusterKind): Promise<TestCluster> => (begun[kind] ??= TestCluster.start(kind))
  beforeAll(() => cluster('small'), timeout)
  afterAll(async () => {
    for (const each of Object.values(begun)) await (await each).remove()
  }, timeout)

  const keeps = async (kind: ClusterKind, ...names: readonly StepName[]): Promise<void> => {
    for (const name of names) {
      const { kept, line } = await steps[name]({ cluster: await cluster(kind), size: 'smoke', seed })
      console.info(`${name}, seed ${seed}: ${line}`)
      expect(kept, line).toBe(true)
    }
  }

  it('[CR-1] what is typed at one node is seen at the others', () => keeps('small', 'together'), timeout)

  itLong(
    '[CT-2] operations answer the same at each node, right after a call at another',
    () => keeps('small', 'operations'),
    timeout,
  )

  itLong(
    '[CT-3] a node is killed while many write: nothing is lost, all goes on, and who was there is gone',
    () => keeps('small', 'node-killed'),
    timeout,
  )

  itLong(
    '[CT-4] messages between nodes are lost, doubled and reordered: soon all have the same',
    () => keeps('small', 'weather'),
    timeout,
  )

  itLong(
    '[CT-5] nodes are restarted one after the other: clients meet 1012 and nothing else',
    () => keeps('small', 'rolling'),
    timeout,
  )

  itLong(
    '[CT-6] all nodes are killed at once: nothing is lost, and all goes on',
    () => keeps('small', 'nodes-killed'),
    timeout,
  )

  itLong(
    '[CT-7] the primary is killed and a standby promoted: nothing is lost, and all goes on',
    () => keeps('whole', 'primary-killed'),
    timeout,
  )

  itLong(
    '[CT-8] buses are killed, one and all: nothing is lost, and all goes on',
    () => keeps('whole', 'bus-killed', 'buses-killed'),
    timeout,
  )

  itLong(
    '[CT-9] a node, a bus and the primary stop for a while: nothing is lost, and all goes on',
    () => keeps('whole', 'node-stopped', 'bus-stopped', 'primary-stopped'),
    timeout,
  )

  itLong(
    '[CT-10] the database is away for a while: nobody ends, nothing is acknowledged or shown, then all goes on',
    () => keeps('small', 'database-away'),
    timeout,
  )
})
