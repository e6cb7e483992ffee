import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openLevelEngine } from '../../../src/core/store/level/engine.ts'
import { type History, makeHistory, randomOf } from '../../support/data/history.ts'
import { seed } from '../../support/data/seed.ts'
import { startNodes } from '../../support/servers/node-servers.ts'
import { startTestServer } from '../../support/servers/server.ts'
import { heldStore } from '../../support/stores/pausable-store.ts'
import { times } from '../../support/time/full-run.ts'

const barriers = times(12, 30)
const ofRights = ['disable', 'disable', 'downgrade', 'revoke', 'revokeTokens'] as const
const timeoutMs = times(120_000, 600_000)
/** All updates stay in the log, so that it can be checked. */
const config = { compactAfterUpdates: 1_000_000, computeThreads: 1 }
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

function check({ violations, acknowledged, barriers: counts, events }: History): void {
  console.log(`history of seed ${seed}: ${JSON.stringify(counts)}, ${acknowledged} acknowledged writes`)
  expect(violations, events.join('\n')).toEqual([])
  expect(acknowledged).toBeGreaterThan(0)
}

it(
  `[ROOM-60] after it has acknowledged that a document is disabled or a right revoked, stores no forbidden write, even while the disk pauses (seed ${seed})`,
  async () => {
    const directory = await mkdtemp(join(tmpdir(), 'weft-history-'))
    const disk = heldStore()
    const engine = await openLevelEngine({ directory, openStore: disk.openStore })
    const server = await startTestServer(config, { engine })
    try {
      const disturb = async (random: () => number): Promise<void> => {
        await sleep(random() * 60)
        disk.hold()
        await sleep(random() * 60)
        disk.release()
      }
      check(await makeHistory({ seed, barriers, kinds: ofRights, disturb, places: [{ server, engine }] }))
    } finally {
      disk.release()
      await server.stop()
      await rm(directory, { recursive: true, force: true, maxRetries: 20 })
    }
  },
  timeoutMs,
)

it(
  `[CL-27] after one node has acknowledged that a document is deleted or a right revoked, no node stores a forbidden write, despite message loss and separated nodes (seed ${seed})`,
  async () => {
    const weatherRandom = randomOf(seed + 1)
    let lossRate = 0.5
    const weather = (): readonly number[] => (weatherRandom() < lossRate ? [] : [weatherRandom() * 20])
    const { servers, stop } = await startNodes(2, config, { weather })
    const places = servers.map((server) => ({ server, engine: server.node.engine }))
    try {
      const disturb = async (random: () => number): Promise<void> => {
        await sleep(random() * 200)
        const node = servers[1]?.node
        node?.cut()
        lossRate = random()
        await sleep(random() * 200)
        node?.mend()
      }
      check(await makeHistory({ seed, barriers, kinds: [...ofRights, 'delete'], disturb, places }))
    } finally {
      await stop()
    }
  },
  timeoutMs,
)
