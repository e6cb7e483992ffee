import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { type Editor, eventually, syncedEditor } from '../../support/clients/clients.ts'
import { startCluster, type TestCluster } from '../../support/servers/in-process-cluster.ts'
import type { Weather } from '../../support/servers/simulated-network.ts'

/** Number of messages about documents, and whether they are lost. */
let told = 0
let state: 'heard' | 'lost' = 'heard'
const weather: Weather = (topic) => {
  if (!topic.startsWith('document/')) return [0]
  told += 1
  return state === 'lost' ? [] : [0]
}

const opened: Editor[] = []
let cluster: TestCluster
let loads = 0

/** Two nodes that never compare their replicas with the log. They know of each other only by messages. */
beforeAll(async () => {
  const store = await openMemoryEngine()
  const { log } = store
  const load = log.load.bind(log)
  Object.assign(log, {
    heads: () => new Promise(() => undefined),
    load: (...asked: Parameters<typeof load>) => {
      loads += 1
      return load(...asked)
    },
  })
  cluster = await startCluster(2, { shutdownSeconds: 1 }, { store, weather })
})

afterEach(() => {
  for (const editor of opened.splice(0)) editor.close()
})
afterAll(() => cluster?.stop())

async function editorsOf(documentId: string): Promise<readonly [Editor, Editor]> {
  const all: Editor[] = []
  for (const { wsUrl, token } of cluster.servers)
    all.push(await syncedEditor(wsUrl, `acme/${documentId}/main`, await token('ada')))
  opened.push(...all)
  const [ada, bob] = all as [Editor, Editor]
  ada.text.insert(0, 'begun')
  await same(ada, bob)
  return [ada, bob]
}

const same = (one: Editor, other: Editor): Promise<void> =>
  eventually(() => one.text.toString() === other.text.toString())

it('[CR-20] sends an edit to the other nodes in a message, so that they do not read the log', async () => {
  const [ada, bob] = await editorsOf('told')
  const before = loads
  for (let round = 0; round < 10; round++) {
    const [from, to] = round % 2 === 0 ? [ada, bob] : [bob, ada]
    from.text.insert(0, `${round} `)
    await same(from, to)
  }
  expect(loads).toBe(before)
})

it('[CR-20] when a later message shows that the bus has lost a message, reads the missing entries from the log', async () => {
  const [ada, bob] = await editorsOf('between')
  state = 'lost'
  ada.text.insert(0, 'lost ')
  const before = told
  await eventually(() => told > before)
  state = 'heard'
  ada.text.insert(0, 'heard ')
  await same(ada, bob)
  expect(bob.text.toString()).toBe('heard lost begun')
})

it('[CR-20] if an update is too large for the bus, sends only its number, and the other nodes read the update from the log', async () => {
  const [ada, bob] = await editorsOf('large')
  const before = loads
  ada.text.insert(0, 'x'.repeat(200_000))
  await same(ada, bob)
  expect(loads).toBeGreaterThan(before)
})
