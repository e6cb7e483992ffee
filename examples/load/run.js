import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { dataOf } from 'weft-server/client'
import { Client } from './client.js'
import { Histogram } from './histogram.js'

/** Connections that are opened at the same time. */
const atOnce = 20
/** Number of users whose tokens the clients use. */
const usersMax = 20
/** Time for edits that are in flight at the end. */
const patienceMs = 5000
const restEveryMs = 500

/** Counts events while the clients edit. All clients are in this process, so they share one clock. */
class Watch {
  edits = new Histogram()
  connects = new Histogram()
  rest = new Histogram()
  closes = {}
  restErrors = {}
  typedCount = 0
  /** The time of each typed character, by client and clock. */
  #typedAt = new Map()

  connected = (ms) => this.connects.add(ms)
  closed = (code) => {
    this.closes[code] = (this.closes[code] ?? 0) + 1
  }
  typed = ({ clientID }) => {
    const times = this.#typedAt.get(clientID) ?? []
    this.#typedAt.set(clientID, times)
    times.push(performance.now())
    this.typedCount += 1
  }
  seen = (client, from, to) => {
    const now = performance.now()
    const times = this.#typedAt.get(client) ?? []
    for (const typedAt of times.slice(from, to)) this.edits.add(now - typedAt)
  }
}

/** Calls `act` for each item, a few at a time. */
async function each(items, act) {
  const rest = [...items]
  const worker = async () => {
    while (rest.length > 0) await act(rest.shift())
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, rest.length) }, worker))
}

async function openClients({ url, documents, clients }, weft, organizationId, watch) {
  const tokens = []
  for (let user = 0; user < Math.min(clients, usersMax); user++) {
    const userProperties = { name: `Load ${user}`, email: `load-${user}@example.com` }
    const permissions = { resources: [{ type: 'organization', id: organizationId, accessRole: 'editor' }] }
    const asked = { userId: `load-${user}`, userProperties, permissions }
    tokens.push(dataOf(await weft.auth.generateToken(asked)).token)
  }
  const base = `${url.replace(/^http/, 'ws')}/sync/${organizationId}`
  return Array.from(
    { length: clients },
    (_, index) =>
      new Client(
        `${base}/document-${index % documents}/main?token=${encodeURIComponent(tokens[index % tokens.length])}`,
        watch,
      ),
  )
}

/** Makes the clients type in rotation, at `rate` on average, until the time is over or `signal` aborts. */
async function type(clients, { seconds, rate }, signal) {
  const start = performance.now()
  for (let made = 0; ; ) {
    const elapsed = Math.min(seconds, (performance.now() - start) / 1000 || 0.001)
    for (const due = Math.floor(elapsed * rate * clients.length); made < due; made++)
      clients[made % clients.length].type()
    if (elapsed >= seconds || signal.aborted) return elapsed
    await sleep(2)
  }
}

/** Replaces another text of the documents by REST, one call after the other, while the clients type. */
async function replace({ documents }, weft, organizationId, watch, signal) {
  for (let count = 0; !signal.aborted; count++) {
    const began = performance.now()
    const place = { organizationId, documentId: `document-${count % documents}`, editorId: 'main' }
    const content = { type: 'text', contentKey: 'notice', data: `Notice ${count}. `.repeat(100) }
    const result = await weft.crdt.update({ ...place, ...content, upsert: true, newRoot: true })
    if (result.ok) watch.rest.add(performance.now() - began)
    else watch.restErrors[result.error.code] = (watch.restErrors[result.error.code] ?? 0) + 1
    await sleep(restEveryMs, null, { signal }).catch(() => {})
  }
}

/** Returns the number of expected receptions: all other clients on a document must receive each character. */
function toBeSeen({ documents, clients }, typedCount) {
  // Clients type in rotation, so their numbers of characters differ by at most one.
  const watchers = (index) => Math.ceil((clients - (index % documents)) / documents) - 1
  const [rounds, rest] = [Math.floor(typedCount / clients), typedCount % clients]
  let sum = 0
  for (let index = 0; index < clients; index++) sum += watchers(index) * (rounds + (index < rest ? 1 : 0))
  return sum
}

/**
 * Opens the clients, lets them type, and returns what was measured. Deletes everything that it has created.
 * @param weft client of the REST API
 * @param progress receives a short text at times
 * @param signal ends the run early
 */
export async function run(options, weft, progress, signal) {
  const organizationId = `load-${Date.now()}-${process.pid}`
  const watch = new Watch()
  const ended = new AbortController()
  const clients = await openClients(options, weft, organizationId, watch)
  try {
    let open = 0
    const interrupted = aborted(signal)
    await each(clients, async (client) => {
      if (!signal.aborted) await Promise.race([client.open(), interrupted])
      progress(`connected: ${++open} of ${clients.length}`)
    })
    const delay = monitorEventLoopDelay({ resolution: 1 })
    delay.enable()
    const cpu = process.cpuUsage()
    const shown = setInterval(() => progress(`typed: ${watch.typedCount}, seen: ${watch.edits.count}`), 500)
    const replacing = replace(options, weft, organizationId, watch, ended.signal)
    const seconds = await type(clients, options, signal)
    const { user, system } = process.cpuUsage(cpu)
    ended.abort()
    const wanted = toBeSeen(options, watch.typedCount)
    for (let waited = 0; waited < patienceMs && watch.edits.count < wanted; waited += 10) await sleep(10)
    await replacing
    clearInterval(shown)
    return {
      edits: watch.edits.summary(),
      connects: watch.connects.summary(),
      rest: watch.rest.summary(),
      editsPerSecond: Math.round(watch.typedCount / seconds),
      seenPerSecond: Math.round(watch.edits.count / seconds),
      neverSeen: Math.max(0, wanted - watch.edits.count),
      closes: watch.closes,
      restErrors: watch.restErrors,
      own: {
        cpuPercent: Math.round((user + system) / 1e4 / seconds),
        lateP99: Math.round(delay.percentile(99) / 1e4) / 100,
      },
    }
  } finally {
    ended.abort()
    for (const client of clients) client.end()
    await weft.organizations.delete({ organizationIds: [organizationId] })
  }
}

const aborted = (signal) =>
  new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
