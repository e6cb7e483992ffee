import { afterAll, beforeAll, describe, expect } from 'vitest'
import { probeDatabase } from '../../../src/cluster/postgres/connection/probe.ts'
import { openPostgresEngine } from '../../../src/cluster/postgres/engine.ts'
import { eventually } from '../../support/clients/clients.ts'
import { PostgresCluster } from '../../support/servers/postgres-cluster.ts'
import { itLong as it } from '../../support/time/full-run.ts'
import { bytesOf, docKey, entriesOf, loadLive, outcomeOf, textOf, updates } from '../suite/sample-data.ts'

describe('a primary with standbys', () => {
  let servers: PostgresCluster
  beforeAll(async () => {
    servers = await PostgresCluster.start()
  })
  afterAll(() => servers?.remove())

  const doc = docKey('with standbys')

  it('[PG-30] when several servers are configured, uses the one that accepts writes, even after a failover', async () => {
    const engine = await openPostgresEngine({ url: servers.url, schema: 'following' })
    await engine.log.append(doc, 'create', updates('1'))
    for (const seq of [2, 3, 4]) {
      await servers.failOver()
      expect(await engine.log.append(doc, 1, updates(`${seq}`))).toMatchObject({ last: seq })
      await servers.repair()
      // The server that is named first is a standby now.
      const look = await probeDatabase(servers.url)
      expect(look.warnings).toHaveLength(1)
    }
    await engine.close()
    const again = await openPostgresEngine({ url: servers.url, schema: 'following' })
    expect(entriesOf(await loadLive(again.log, doc)).map(([, text]) => text)).toEqual(['1', '2', '3', '4'])
    await again.close()
  }, 60_000)

  it('[PG-32] after a failover, does not use the former primary even if it accepts writes', async () => {
    const engine = await openPostgresEngine({ url: servers.url, schema: 'fenced', holdMs: 3_000 })
    await engine.log.append(doc, 'create', updates('1'))
    await servers.failOver()
    expect(await engine.log.append(doc, 1, updates('2'))).toMatchObject({ last: 2 })
    const endFormer = await servers.startFormer()
    await servers.primary.kill()
    expect(await outcomeOf(loadLive(engine.log, doc))).toBe('StoreUnavailableError')
    await servers.primary.start()
    await eventually(() => engine.health().ok, undefined, 20_000)
    expect((await loadLive(engine.log, doc)).head).toBe(2)
    await engine.close()
    await endFormer()
    await servers.repair()
  }, 60_000)

  it('[PG-37] when the primary does not answer, moves all connections to the promoted standby, including open connections', async () => {
    const engine = await openPostgresEngine({ url: servers.url, schema: 'silent' })
    await engine.log.append(doc, 'create', updates('1'))
    await Promise.all(Array.from({ length: 10 }, () => loadLive(engine.log, doc)))
    const former = servers.primary
    await servers.failOver('silent')
    expect(await engine.log.append(doc, 1, updates('2'))).toMatchObject({ last: 2 })
    expect((await loadLive(engine.log, doc)).head).toBe(2)
    former.resume()
    // Statements in progress on the former primary continue, and nothing waits for them.
    const usable = `select 1 from pg_stat_activity where application_name = 'weft' and state like 'idle%'`
    await eventually(async () => (await former.sql(usable)).length === 0)
    await engine.close()
    await former.kill()
    await servers.repair()
  }, 60_000)

  it('[CL-8] after a failover, the buses of all nodes use the new primary, and report a message loss', async () => {
    const open = (name: string) =>
      openPostgresEngine({ url: servers.url, schema: 'talking', nodes: { name } })
    const [a, b] = [await open('a'), await open('b')]
    const heard: string[] = []
    const lost = new Set<string>()
    b.bus.subscribe('topic', (message) => void heard.push(textOf(message) ?? ''))
    a.bus.onLoss(() => void lost.add('a'))
    b.bus.onLoss(() => void lost.add('b'))
    a.bus.publish('topic', bytesOf('before'))
    await eventually(() => heard.length === 1)
    const former = servers.primary
    await servers.failOver('silent')
    await eventually(() => lost.size === 2 && a.bus.isConnected && b.bus.isConnected)
    // The former primary answers again. Nobody may stay there.
    former.resume()
    a.bus.publish('topic', bytesOf('after'))
    await eventually(() => heard.includes('after'))
    await Promise.all([a.close(), b.close()])
    await former.kill()
    await servers.repair()
  }, 120_000)

  it('[PG-31] does not acknowledge a write that no standby has, even if the wait for a standby is cancelled', async () => {
    // Also when the database sends only errors.
    await servers.sql('alter role weft set client_min_messages = error')
    const engine = await openPostgresEngine({ url: servers.url, schema: 'alone', holdMs: 1_000 })
    await engine.log.append(doc, 'create', updates('1'))
    for (const { server } of servers.standbys()) server.pause()
    const outcomes = Promise.all([
      outcomeOf(engine.log.append(doc, 1, updates('2'))),
      outcomeOf(engine.kv.commit(['p'], { puts: [{ key: ['k'], value: new Uint8Array(2) }] })),
    ])
    const cancel = `select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'`
    for (let cancelled = 0; cancelled < 2; ) cancelled += (await servers.sql(cancel)).length
    expect(await outcomes).toEqual(['StoreUnavailableError', 'StoreUnavailableError'])
    expect(engine.health().ok).toBe(false)
    for (const { server } of servers.standbys()) server.resume()
    await eventually(() => engine.health().ok, undefined, 20_000)
    const { head } = await loadLive(engine.log, doc)
    expect(await engine.log.append(doc, 1, updates('next'))).toMatchObject({ last: head + 1 })
    await engine.close()
    await servers.sql('alter role weft reset client_min_messages')
  }, 60_000)
})
