import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type StepName, steps } from '../../cluster-faults/steps.ts'
import { type ClusterKind, TestCluster } from '../../cluster-faults/support/cluster.ts'
import { seed } from '../../support/data/seed.ts'
import { itLong } from '../../support/time/full-run.ts'

const timeout = 240_000

describe('three nodes', () => {
  const begun: Partial<Record<ClusterKind, Promise<TestCluster>>> = {}
  const cluster = (kind: ClusterKind): Promise<TestCluster> => (begun[kind] ??= TestCluster.start(kind))
  beforeAll(() => cluster('small'), timeout)
  afterAll(async () => {
    for (const each of Object.values(begun)) await (await each).remove()
  }, timeout)

  const keeps = async (kind: ClusterKind, ...names: readonly StepName[]): Promise<void> => {
    for (const name of names) {
      const { kept, line } = await steps[name]({
        cluster: await cluster(kind),
        size: 'smoke',
        seed,
        from: null,
      })
      console.info(`${name}, seed ${seed}: ${line}`)
      expect(kept, line).toBe(true)
    }
  }

  it(
    '[CR-1] shows an edit at one node to clients of the other nodes',
    () => keeps('small', 'together'),
    timeout,
  )

  it(
    '[EDIT-50] applies all edits of a request at one node or none while users type at other nodes, and once if it is repeated at another node',
    () => keeps('small', 'edits'),
    timeout,
  )

  it(
    '[STRM-20] streams of text continue at other nodes, to the character, while users type and a node is killed',
    () => keeps('small', 'streams'),
    timeout,
  )

  itLong(
    '[CT-2] after a call at one node, all nodes immediately return the same responses',
    () => keeps('small', 'operations'),
    timeout,
  )

  itLong(
    '[CT-3] when the owner of a document or a node that forwards to it is killed while many clients write, loses nothing, continues, and removes the clients of that node',
    () => keeps('small', 'owner-killed', 'proxy-killed'),
    timeout,
  )

  itLong(
    '[CT-5] when nodes of another version replace all nodes one after the other, or a node joins and leaves, closes clients with 1012 and no other code',
    () => keeps('small', 'rolling', 'node-joins'),
    timeout,
  )

  itLong(
    '[CT-6] loses nothing, and continues, when all nodes are killed at the same time',
    () => keeps('small', 'nodes-killed'),
    timeout,
  )

  itLong(
    '[CT-7] loses nothing, and continues, when the primary database is killed and a standby is promoted',
    () => keeps('whole', 'primary-killed'),
    timeout,
  )

  itLong(
    '[CT-8] loses nothing, and continues, when the connections of all buses are cut repeatedly',
    () => keeps('small', 'bus-cut'),
    timeout,
  )

  itLong(
    '[CT-9] loses nothing, and continues, when the owner of a document, a connection of a bus and the primary database pause',
    () => keeps('whole', 'owner-stopped', 'bus-stopped', 'primary-stopped'),
    timeout,
  )

  itLong(
    '[CT-11] loses nothing, and continues, when the packets between the owner of a document and the database are late in one direction',
    () => keeps('small', 'cut-to-database', 'cut-from-database'),
    timeout,
  )

  itLong(
    '[CL-27] stores no forbidden write while nodes pause or are separated from the database in one direction',
    () => keeps('small', 'barriers'),
    timeout,
  )

  itLong(
    '[CT-10] while the database is unavailable, keeps every process running and acknowledges nothing, then continues',
    () => keeps('small', 'database-away'),
    timeout,
  )
})
