/**
 * Measures callbacks beside connections without them: the time until a client is connected with `authorize` (a new
 * and a known user), the time to open a new document with `load`, and the connections of others while the endpoint
 * of both callbacks hangs. The backend is in this process and answers at once. The cases alternate in each round.
 *
 *   node --import tsx bench/callbacks.ts [--smoke]
 */
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { LoadSocket } from '../src/cli/bench/load-socket.ts'
import { quantile, round, table } from './support/report.ts'
import { startWeft, temporaryDirectory, unlimitedCalls } from './support/server.ts'

const smoke = process.argv.includes('--smoke')
const rounds = smoke ? 2 : 20
/** Number of connections of each case in a round. */
const perRound = smoke ? 5 : 50
/** Number of clients that wait for the endpoint that hangs. */
const waiting = smoke ? 20 : 300

const loaded = JSON.stringify({ type: 'text', data: 'word '.repeat(200) })
const decided = JSON.stringify({ role: 'editor', ttlSeconds: 3_600 })

/** Starts a backend. @param answer answers a request; it may leave it without an answer */
async function backend(answer: (response: ServerResponse, callback: string) => void): Promise<string> {
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const { callback } = JSON.parse(Buffer.concat(parts).toString()) as { callback: string }
      answer(response, callback)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

const answers = await backend((response, callback) => {
  response.writeHead(200).end(callback === 'load' ? loaded : decided)
})
const hangs = await backend(() => {})

const weft = await startWeft(temporaryDirectory(), {
  ...unlimitedCalls,
  WEFT_CONNECTS_PER_ADDRESS: '0',
  WEFT_WEBHOOK_ALLOWLIST: '127.0.0.1',
  WEFT_DEFAULT_ACCESS: 'public',
  WEFT_LOG_LEVEL: 'error',
})

async function call(path: string, data: object): Promise<unknown> {
  const { status, body } = await weft.post(path, data)
  if (status !== 200) throw new Error(`${path}: ${JSON.stringify(body.error)}`)
  return body.result?.data
}

const configure = (callbacks: object): Promise<unknown> =>
  call('/v2/workspace/callbacks/update', { authorize: null, load: null, ...callbacks })

const urlOf = (document: string, token: string): string =>
  `${weft.syncUrl}bench/${document}/main?token=${token}`

/** Returns the time in ms until a client has the first message of the server. */
async function connected(document: string, token: string): Promise<number> {
  const began = performance.now()
  let first: (ms: number) => void = () => {}
  const message = new Promise<number>((resolve) => {
    first = resolve
  })
  const socket = await LoadSocket.open(urlOf(document, token), () => first(performance.now() - began))
  const closed = new Promise<never>((_, reject) => {
    socket.onClose = () => reject(new Error(`closed with ${socket.closeCode}`))
  })
  const ms = await Promise.race([message, closed])
  socket.onClose = () => {}
  socket.end()
  return ms
}

interface Case {
  readonly name: string
  readonly callbacks: object
  /** Documents and users of a round. */
  readonly connections: (from: number) => readonly (readonly [document: string, userId: string])[]
}

const authorize = { url: answers, timeoutMs: 5_000 }
const numbers = (from: number): readonly number[] =>
  Array.from({ length: perRound }, (_, index) => from + index)
const known = (from: number) => numbers(from).map(() => ['there', 'known'] as const)

const connects: readonly Case[] = [
  { name: 'connect: no callback', callbacks: {}, connections: known },
  { name: 'connect: authorize, known user', callbacks: { authorize }, connections: known },
  {
    name: 'connect: authorize, new user',
    callbacks: { authorize },
    connections: (from) => numbers(from).map((number) => ['there', `user-${number}`] as const),
  },
]
const opens: readonly Case[] = [
  {
    name: 'new document: no callback',
    callbacks: {},
    connections: (from) => numbers(from).map((number) => [`empty-${number}`, 'known'] as const),
  },
  {
    name: 'new document: load',
    callbacks: { load: { url: answers, timeoutMs: 5_000 } },
    connections: (from) => numbers(from).map((number) => [`loaded-${number}`, 'known'] as const),
  },
]

const times = new Map<string, number[]>()

function took(name: string, ms: number): void {
  const all = times.get(name) ?? []
  all.push(ms)
  times.set(name, all)
}

async function measure(
  name: string,
  pairs: readonly (readonly [string, string])[],
  isTimed = true,
): Promise<void> {
  const tokens = await Promise.all(pairs.map(([, userId]) => weft.token(userId)))
  for (const [index, [document]] of pairs.entries()) {
    const ms = await connected(document, tokens[index] as string)
    if (isTimed) took(name, ms)
  }
}

await call('/v2/crdt/add', {
  organizationId: 'bench',
  documentId: 'there',
  editorId: 'main',
  type: 'text',
  data: 'x',
})
// The first round is a warm-up.
for (let number = 0; number <= rounds; number++)
  for (const { name, callbacks, connections } of [...connects, ...opens]) {
    await configure(callbacks)
    await measure(name, connections(number * perRound), number > 0)
  }

const resources = [{ type: 'document', id: 'there', organizationId: 'bench', accessRole: 'editor' }]
const { token: granted } = (await call('/v2/auth/generate_token', {
  userId: 'granted',
  userProperties: { name: 'Granted', email: 'granted@example.com' },
  permissions: { resources },
})) as { token: string }
const others = async (name: string): Promise<void> => {
  for (let count = 0; count < rounds * perRound; count++) took(name, await connected('there', granted))
}
await configure({})
await others('others: no callback')
const hanging = { url: hangs, timeoutMs: 30_000 }
await configure({ authorize: hanging, load: hanging })
for (let count = 0; count < waiting; count++) {
  const token = await weft.token(`waiting-${count}`)
  void LoadSocket.open(urlOf(`hanging-${count}`, token)).catch(() => null)
}
await others('others: the endpoint hangs')

const row = (name: string, baseline: string): readonly string[] => {
  const [own, base] = [times.get(name) ?? [], times.get(baseline) ?? []]
  return [
    name,
    round(quantile(own, 0.5)),
    round(quantile(own, 0.99)),
    round(quantile(own, 0.5) / quantile(base, 0.5)),
    round(quantile(own, 0.99) / quantile(base, 0.99)),
  ]
}
const groups = [
  connects.map(({ name }) => name),
  opens.map(({ name }) => name),
  ['others: no callback', 'others: the endpoint hangs'],
]
console.log(
  `${rounds * perRound} connections of each case, one after the other; ratios to the first case of each group:`,
)
table(
  ['', 'p50 ms', 'p99 ms', 'p50 ratio', 'p99 ratio'],
  groups.flatMap((names) => names.map((name) => row(name, names[0] as string))),
)
process.exit(0)
