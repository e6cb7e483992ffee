import { eventually, openEditor, RawClient, typed } from '../support/clients/clients.ts'
import { type SoakServer, startInspected } from './support/server.ts'

/** Leftovers of a load after all clients have left. */
export interface Left {
  /** Connections and open documents by the metrics of the server. */
  readonly connections: number
  readonly documents: number
  /** Sockets, timers and similar resources of which there are more than before, by kind. */
  readonly resources: Readonly<Record<string, number>>
  /** Growth since the end of an equal load before. */
  readonly heapBytes: number
  /** Number of connections. */
  readonly visits: number
}

const documents = 20
const editorsEach = 3
/** Number of checks of the remaining resources, and the time between them in ms. */
const [looks, lookMs] = [10, 500]

/** The ways in which clients leave. */
const leave = [
  (client: RawClient) => client.socket.close(),
  (client: RawClient) => client.end(),
  // The last message is incomplete.
  (client: RawClient) => {
    client.socket.send(new Uint8Array(100), { fin: false })
    client.end()
  },
]

/**
 * Runs rounds of clients that connect, type, send awareness, call REST, and leave in several ways.
 * @param settleMs wait before the check: the server keeps some state for 10 s
 */
export async function leaks(rounds: number, settleMs: number): Promise<Left> {
  // Each stock client listens for the end of the process.
  process.setMaxListeners(0)
  const server = await startInspected({
    WEFT_IDLE_UNLOAD_SECONDS: '0',
    WEFT_EDIT_ACTIVITY_WINDOW_SECONDS: '10',
  })
  try {
    const token = await server.token()
    for (let round = 0; round < rounds; round++) await load(server, token)
    await settled(server, settleMs)
    const before = { ...(await server.inspector.heap()), resources: await server.inspector.resources() }
    for (let round = 0; round < rounds; round++) await load(server, token)
    await settled(server, settleMs)
    const after = await server.inspector.heap()
    return {
      connections: await server.metric('weft_connections'),
      documents: await server.metric('weft_rooms_open'),
      resources: await lastingMore(before.resources, server),
      heapBytes: after.usedBytes + after.bufferBytes - before.usedBytes - before.bufferBytes,
      visits: rounds * documents * (leave.length + editorsEach),
    }
  } finally {
    await server.stop()
  }
}

async function load(server: SoakServer, token: string): Promise<void> {
  const work = Array.from({ length: documents }, async (_, number) => {
    const path = `acme/leak-${number}/main`
    const url = `${server.wsUrl}/sync/${path}?token=${token}`
    const editors = Array.from({ length: editorsEach }, () => openEditor(server.wsUrl, path, token))
    const clients = await Promise.all(leave.map(() => RawClient.connect(url)))
    for (const [index, client] of clients.entries()) {
      client.sendAwareness(index + 1, 1, { cursor: index })
      client.sendUpdate(typed('hello', index + 1))
    }
    await Promise.all(clients.map((client) => client.roundTrip()))
    await eventually(() => editors.every(({ provider }) => provider.synced))
    const address = { organizationId: 'acme', documentId: `leak-${number}`, editorId: 'main' }
    await server.post('/v2/crdt/update', { ...address, type: 'text', data: `number ${number}` })
    for (const [index, client] of clients.entries()) leave[index]?.(client)
    for (const editor of editors) editor.close()
    await Promise.all(clients.map((client) => client.closed))
  })
  await Promise.all(work)
}

/** Waits until all clients have left and temporary state has expired. */
async function settled(server: SoakServer, ms: number): Promise<void> {
  await eventually(async () => (await server.metric('weft_connections')) === 0)
  await eventually(async () => (await server.metric('weft_rooms_open')) === 0)
  await new Promise((resolve) => setTimeout(resolve, ms))
}

type Counts = Readonly<Record<string, number>>

/** Temporary work appears and disappears: only what exceeds the counts before at every check is a leak. */
async function lastingMore(before: Counts, { inspector }: SoakServer): Promise<Counts> {
  let left: Counts = {}
  for (let look = 0; look < looks; look++) {
    left = more(before, await inspector.resources())
    if (Object.keys(left).length === 0) break
    await new Promise((resolve) => setTimeout(resolve, lookMs))
  }
  return left
}

const more = (before: Counts, after: Counts): Counts =>
  Object.fromEntries(
    Object.entries(after)
      .map(([kind, count]) => [kind, count - (before[kind] ?? 0)] as const)
      .filter(([, count]) => count > 0),
  )
