import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { openPostgresEngine, type PostgresEngineOptions } from '../../../src/cluster/postgres/engine.ts'
import {
  type Engine,
  type Key,
  NotOwnerError,
  StoreUnavailableError,
  type Term,
} from '../../../src/core/store/engine.ts'
import { keyName } from '../../../src/core/store/key-encoding.ts'
import { eventually } from '../../support/clients/clients.ts'
import { startCuttingProxy } from '../../support/faults/connection-cutting-proxy.ts'
import { type PostgresServer, startPostgres } from '../../support/servers/postgres.ts'
import { withClient } from '../../support/servers/postgres-process.ts'
import { gate } from '../../support/time/gate.ts'
import { docKey, entriesOf, loadLive, outcomeOf, updates } from '../suite/sample-data.ts'

/** Lets no further message of a node reach the others. */
const silence = ({ bus }: Engine): void => void Object.assign(bus, { publish: () => undefined })

const docs = Array.from({ length: 40 }, (_, index) => docKey(`document ${index}`))

const ownedBy = ({ cluster }: Engine): Key => {
  const doc = docs.find((each) => cluster.owner(each).id === cluster.self)
  if (doc === undefined) throw new Error(`${cluster.self} owns no document`)
  return doc
}

/** Returns the term, or null if another node owns the document. */
const termOr = async ({ cluster }: Engine, doc: Key): Promise<Term | null> => {
  try {
    return await cluster.hold(doc)
  } catch (error) {
    if (error instanceof NotOwnerError) return null
    throw error
  }
}

describe('terms of documents', () => {
  let postgres: PostgresServer
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres?.remove())

  /** Opens nodes on a new schema. Each one serves calls. */
  async function openNodes(count: number, schema: string) {
    const open = async (name: string, options: Partial<PostgresEngineOptions> = {}): Promise<Engine> => {
      const nodes = { name }
      const engine = await openPostgresEngine({ url: postgres.url, schema, partitions: 2, nodes, ...options })
      silence(engine)
      engine.cluster.listening(`http://${name}`)
      return engine
    }
    const engines: Engine[] = []
    for (const name of ['a', 'b', 'c'].slice(0, count)) engines.push(await open(name))
    await settled(engines)
    return { engines, open, close: () => Promise.all(engines.map((engine) => engine.close())) }
  }

  /** Returns whether a transaction of another connection waits for one of the client. */
  async function isBlocking(client: Client): Promise<boolean> {
    const [{ pid }] = (await client.query('select pg_backend_pid() as pid')).rows as [{ pid: number }]
    const waiting = await postgres.sql(
      `select 1 from pg_stat_activity where ${pid} = any(pg_blocking_pids(pid))`,
    )
    return waiting.length > 0
  }

  const ownersOf = ({ cluster }: Engine): string => docs.map((doc) => cluster.owner(doc).id).join()

  /** Waits until the nodes agree on the owners, and each one holds its documents. */
  async function settled(engines: readonly Engine[]): Promise<void> {
    const names = engines.map(({ cluster }) => cluster.self)
    await eventually(
      () =>
        new Set(engines.map(ownersOf)).size === 1 &&
        docs.every((doc) => names.includes(engines[0]?.cluster.owner(doc).id ?? '')),
      () => engines.map(ownersOf),
    )
    // A node that has recovered may refuse again for a moment, until its next heartbeat.
    await eventually(async () => {
      const outcomes = engines.flatMap((engine) => docs.map((doc) => outcomeOf(termOr(engine, doc))))
      return !(await Promise.all(outcomes)).includes('StoreUnavailableError')
    })
  }

  it.concurrent('[CL-30] exactly one node holds each document and its branches, and the others name it with its URL', async ({
    expect,
  }) => {
    const { engines, close } = await openNodes(3, postgres.newSchema())
    for (const doc of docs) {
      const found = await Promise.all(engines.map((engine) => termOr(engine, doc)))
      const holders = engines.filter((_, index) => found[index] !== null)
      expect(holders).toHaveLength(1)
      const [{ cluster }] = holders as [Engine]
      for (const engine of engines)
        expect(engine.cluster.owner(doc)).toEqual({ id: cluster.self, url: `http://${cluster.self}` })
      expect(await cluster.hold([...doc.slice(0, 4), 'branch'])).toEqual(await cluster.hold(doc))
      expect(await cluster.hold(doc.slice(0, 4))).toEqual(await cluster.hold(doc))
    }
    expect(new Set(docs.map((doc) => engines[0]?.cluster.owner(doc).id)).size).toBe(3)
    expect(engines[0]?.cluster.others()).toEqual([
      { id: 'b', url: 'http://b' },
      { id: 'c', url: 'http://c' },
    ])
    await close()
  })

  it.concurrent('[CL-30] a node that serves no calls owns no document while another node serves calls', async ({
    expect,
  }) => {
    const schema = postgres.newSchema()
    const { engines, close } = await openNodes(1, schema)
    const nodes = { name: 'silent' }
    const silent = await openPostgresEngine({ url: postgres.url, schema, nodes })
    await eventually(() => engines[0]?.cluster.nodes().length === 2)
    for (const engine of [...engines, silent])
      expect(new Set(docs.map((doc) => engine.cluster.owner(doc).id))).toEqual(new Set(['a']))
    expect(engines[0]?.cluster.others()).toEqual([])
    await silent.close()
    await close()
  })

  it.concurrent('[CL-31] a node that stops or drains releases its documents when their use has ended', async ({
    expect,
  }) => {
    const { engines, close } = await openNodes(2, postgres.newSchema())
    const [a, b] = engines as [Engine, Engine]
    const doc = ownedBy(a)
    const before = await a.cluster.hold(doc)
    const using = gate()
    let isEnding = false
    a.cluster.onLose(async (isLost) => {
      if (!isLost(doc)) return
      isEnding = true
      await using.opened
    })
    await a.cluster.drain(5_000)
    await eventually(() => isEnding)
    expect(await termOr(a, doc)).toBeNull()
    let isHeld = false
    const held = b.cluster.hold(doc).finally(() => {
      isHeld = true
    })
    // The log still accepts what the former owner appends while it ends the use.
    expect(await a.log.append(doc, 'create', updates('last'), { term: before })).toMatchObject({ last: 1 })
    await sleep(300)
    expect(isHeld).toBe(false)
    using.open()
    const after = await held
    expect(after.value).toBeGreaterThan(before.value)
    expect(await outcomeOf(a.log.append(doc, 1, updates('late'), { term: before }))).toBe('term')
    expect(await b.log.append(doc, 1, updates('next'), { term: after })).toMatchObject({ last: 2 })
    expect(await outcomeOf(a.log.destroy(doc, before))).toBe('term')
    expect(await b.log.heads([doc])).toMatchObject([{ head: 2 }])
    await close()
  })

  for (const end of ['a known', 'an unknown'] as const) {
    const knownIf = (knownHead: number) => (end === 'a known' ? { knownHead } : {})

    it.concurrent(`[CL-32] a node takes no document while an append of the former owner is in progress, with ${end} end of the log`, async ({
      expect,
    }) => {
      const schema = postgres.newSchema()
      const { engines, close } = await openNodes(2, schema)
      const [a, b] = engines as [Engine, Engine]
      const doc = ownedBy(a)
      const term = await a.cluster.hold(doc)
      await a.log.append(doc, 'create', updates('first'), { term })
      await withClient(postgres.url, async (client) => {
        await client.query(`begin; select 1 from ${schema}.document for update`)
        const appending = a.log.append(doc, 1, updates('in progress'), { ...knownIf(1), term })
        await eventually(() => isBlocking(client))
        await a.cluster.drain(5_000)
        let isHeld = false
        const held = b.cluster.hold(doc).finally(() => {
          isHeld = true
        })
        await sleep(300)
        expect(isHeld).toBe(false)
        await client.query('commit')
        expect(await appending).toMatchObject({ last: 2 })
        expect((await held).value).toBeGreaterThan(term.value)
      })
      expect(entriesOf(await loadLive(b.log, doc))).toEqual([
        [1, 'first'],
        [2, 'in progress'],
      ])
      await close()
    })

    it.concurrent(`[CL-33] rejects what a node has sent before others took it for dead, and ends its use of the documents, with ${end} end of the log`, async ({
      expect,
    }) => {
      const schema = postgres.newSchema()
      const proxy = await startCuttingProxy(postgres.port)
      const { engines, open, close } = await openNodes(1, schema)
      const [b] = engines as [Engine]
      const a = await open('a-behind-proxy', {
        url: postgres.url.replace(`${postgres.port}`, `${proxy.port}`),
      })
      await settled([a, b])
      const [doc, idle] = docs.filter((each) => a.cluster.owner(each).id === a.cluster.self) as [Key, Key]
      const [term, idleTerm] = [await a.cluster.hold(doc), await a.cluster.hold(idle)]
      await a.log.append(doc, 'create', updates('first'), { term })
      const lost: Key[] = []
      a.cluster.onLose(async (isLost) => void lost.push(...[doc, idle].filter(isLost)))
      proxy.pause()
      const appending = outcomeOf(a.log.append(doc, 1, updates('too late'), { ...knownIf(1), term }))
      await eventually(() => b.cluster.owner(doc).id === b.cluster.self)
      const taken = await b.cluster.hold(doc)
      expect(taken.value).toBeGreaterThan(term.value)
      await b.log.append(doc, 1, updates('of the new owner'), { term: taken })
      await expect(a.cluster.hold(doc)).rejects.toThrow(StoreUnavailableError)
      proxy.resume()
      expect(await appending).toBe('term')
      await eventually(() => a.health().ok && lost.length === 2)
      expect(await outcomeOf(a.log.append(idle, 'create', updates('late'), { term: idleTerm }))).toBe('term')
      expect((await b.log.load(idle)).state).toBe('absent')
      expect(entriesOf(await loadLive(b.log, doc))).toEqual([
        [1, 'first'],
        [2, 'of the new owner'],
      ])
      await settled([a, b])
      const again = await a.cluster.hold(doc)
      expect(again.value).toBeGreaterThan(taken.value)
      expect(await a.log.append(doc, 1, updates('again'), { term: again })).toMatchObject({ last: 3 })
      await a.close()
      await close()
      proxy.close()
    })
  }

  it.concurrent('[CL-34] when a node dies in the middle of a transaction, other nodes take its documents and do not wait for the transaction', async ({
    expect,
  }) => {
    const schema = postgres.newSchema()
    const proxy = await startCuttingProxy(postgres.port)
    const { engines, open, close } = await openNodes(1, schema)
    const [b] = engines as [Engine]
    const a = await open('a-behind-proxy', { url: postgres.url.replace(`${postgres.port}`, `${proxy.port}`) })
    await settled([a, b])
    const doc = ownedBy(a)
    const term = await a.cluster.hold(doc)
    await a.log.append(doc, 'create', updates('first'), { term })
    let appending = Promise.resolve('')
    await withClient(postgres.url, async (client) => {
      await client.query(`begin; select 1 from ${schema}.document for update`)
      appending = outcomeOf(a.log.append(doc, 1, updates('unfinished'), { expectHead: 1, term }))
      await eventually(() => isBlocking(client))
      proxy.pause()
      await eventually(() => b.cluster.owner(doc).id === b.cluster.self)
      // The append would still be in progress: this transaction has a lock that it needs.
      const { value } = await b.cluster.hold(doc)
      expect(value).toBeGreaterThan(term.value)
    })
    expect(entriesOf(await loadLive(b.log, doc))).toEqual([[1, 'first']])
    proxy.close()
    // Nothing waits for the database any more when the engine closes.
    const closing = a.close()
    expect(await appending).toBe('StoreUnavailableError')
    await closing
    await close()
  })

  it.concurrent('[CL-35] no two terms interleave in a log while nodes join and leave', async ({
    expect,
    onTestFinished,
  }) => {
    const schema = postgres.newSchema()
    const { engines, open, close } = await openNodes(2, schema)
    const contested = docs.slice(0, 12)
    const state = { goesOn: true }
    let appended = 0
    // Every node appends in its last term also when it has lost the document.
    const write = async (engine: Engine, doc: Key): Promise<void> => {
      const { cluster, log } = engine
      let term: Term | null = null
      while (state.goesOn) {
        term = (await termOr(engine, doc).catch(() => null)) ?? term
        // After the end of the node, every call fails at once.
        await sleep(5)
        if (term !== null)
          for (const to of ['create', 1] as const) {
            const entry = updates(`${term.value} ${cluster.self}`)
            if ((await outcomeOf(log.append(doc, to, entry, { term }))) === 'appended') appended += 1
          }
      }
    }
    const writers: Promise<void>[] = []
    onTestFinished(() => {
      state.goesOn = false
    })
    const writeAll = (engine: Engine): void => {
      for (const doc of contested) writers.push(write(engine, doc))
    }
    for (const engine of engines) writeAll(engine)
    const [a, b] = engines as [Engine, Engine]
    const c = await open('c')
    writeAll(c)
    await settled([a, b, c])
    await b.cluster.drain(5_000)
    await eventually(async () =>
      (await Promise.all(contested.map((doc) => termOr(b, doc)))).every((term) => term === null),
    )
    await b.close()
    await settled([a, c])
    state.goesOn = false
    await Promise.all(writers)
    expect(appended).toBeGreaterThan(contested.length)
    const terms = new Set<string>()
    for (const doc of contested) {
      const entries = entriesOf(await loadLive(a.log, doc)).map(([, text]) => text ?? '')
      const values = entries.map((text) => Number(text.split(' ')[0]))
      expect(values).toEqual(values.toSorted((one, other) => one - other))
      for (const entry of new Set(entries)) terms.add(`${keyName(doc)} ${entry}`)
    }
    expect(terms.size).toBeGreaterThan(contested.length)
    await c.close()
    await close()
  }, 60_000)
})
