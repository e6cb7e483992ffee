import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import * as Y from 'yjs'
import { endWithThis } from '../../src/cli/bench/ending.ts'
import { attacks } from '../support/attacks/all.ts'
import {
  editorOf,
  hostileAddress,
  openSocket,
  served,
  syncUrl,
  type Target,
} from '../support/attacks/attack.ts'
import { message } from '../support/clients/clients.ts'
import { freePort, headers, type ServerProcess, startProcess } from '../support/servers/process.ts'
import type { AttackOrder } from './support/attacker.ts'
import { memoryOf } from './support/memory.ts'
import { Probe } from './support/probe.ts'
import { dataDirectory } from './support/server.ts'
import { neighbors } from './support/typing.ts'

export interface HostileOptions {
  /** The name of an attack. */
  readonly attack: string
  /** The duration of each measurement: one before the attack, one or more during it, one after it. */
  readonly seconds: number
}

/** Times that an honest tenant and a probe measured. */
export interface Noticed {
  /** The median and the 99th percentile of the round trips of updates. */
  readonly p50Ms: number
  readonly p99Ms: number
  /** The longest time for which `/healthz` got no response. */
  readonly stallMs: number
  /** The longest large read or replacement; 0 if none is measured. */
  readonly callMs: number
}

/** The measurements of one attack. */
export interface Hostile {
  readonly attack: string
  readonly finding: number
  readonly idle: Noticed
  readonly attacked: Noticed
  /** How often the step of the attack was done. */
  readonly rounds: number
  /** Time from the end of the attack until the server is as fast as before; infinite if it never is. */
  readonly recoveryMs: number
  readonly peakBytes: number
  readonly isAlive: boolean
  /** True if the honest document is the same after a restart. */
  readonly isIntact: boolean
  /** Hostile documents that got no answer after a restart. */
  readonly unanswered: readonly string[]
  /** The longest stall while the hostile documents are opened after a restart. */
  readonly reopenStallMs: number
}

const adminToken = 'admin-token-of-the-soak-test'
/** Like a container with little memory. */
const options = {
  NODE_OPTIONS: '--max-old-space-size=512',
  WEFT_ADMIN_TOKEN: adminToken,
  WEFT_LOG_LEVEL: 'silent',
  WEFT_WEBHOOK_ALLOWLIST: hostileAddress,
}
const script = fileURLToPath(new URL('support/attacker.ts', import.meta.url))
const preparesMs = 60_000
/** A call that is not answered within this time counts as unanswered. */
const answersMs = 20_000
/** After an attack, a server that answers within this time for a while has recovered. */
const promptMs = 100
const promptForMs = 500
const recoversMs = 20_000
/** Maximum duration of an attack; it ends earlier after two rounds. */
const attackedMs = 10_000
/** Maximum number of measurements for which there is text to type. */
const measurementsMax = 16
const sampleMs = 50
/** Characters of the honest tenant's large document. */
const largeCharacters = 300_000
const honest = { organizationId: 'bench', documentId: 'typed', editorId: 'main' }
const large = { ...honest, documentId: 'large', contentKey: 'content' }

/** Attacks a server as one tenant while another one works, and then restarts it. */
export async function hostile({ attack, seconds }: HostileOptions): Promise<Hostile> {
  const data = dataDirectory()
  const port = await freePort()
  let server = await start(data, port)
  const { finding, documents, delaysCalls } = attacks[attack] ?? { finding: 0, documents: [] }
  const target = await targetAt(server)
  const work = await honestWork(server, seconds, delaysCalls === true)
  const memory = memoryOf(server.child)
  const attacker = new Attacker({ attack, target })
  let peakBytes = 0
  let sampling: NodeJS.Timeout | undefined
  try {
    const before = await work.measure()
    memory.forgetPeak()
    sampling = setInterval(() => {
      peakBytes = Math.max(peakBytes, memory.peakBytes() || 0)
    }, sampleMs)
    await attacker.prepared()
    const attacked = await measureDuring(attacker, work)
    clearInterval(sampling)
    const recoveryMs = await work.recovery()
    const after = await work.measure()
    const isAlive = isRunning(server.child)
    const text = await textOf(server)
    work.stop()
    await Promise.race([server.end('SIGTERM'), sleep(answersMs)])
    await server.end('SIGKILL')
    server = await start(data, port)
    const reopened = await reopen(server, target, documents)
    return {
      attack,
      finding,
      // A server that still works for the attacker is not idle.
      idle: best([before, after]),
      attacked,
      rounds: attacker.rounds,
      recoveryMs,
      peakBytes,
      isAlive,
      isIntact: text !== null && text === (await textOf(server)),
      ...reopened,
    }
  } finally {
    clearInterval(sampling)
    attacker.end()
    work.stop()
    await server.end('SIGKILL')
  }
}

/**
 * Measures the honest tenant while another server of the same machine is attacked: the attack takes processor
 * time, but not from its server.
 */
export async function elsewhere({ attack, seconds }: HostileOptions): Promise<Noticed> {
  const [server, other] = [
    await start(dataDirectory(), await freePort()),
    await start(dataDirectory(), await freePort()),
  ]
  const attacker = new Attacker({ attack, target: await targetAt(other) })
  const work = await honestWork(server, seconds, attacks[attack]?.delaysCalls === true)
  try {
    await attacker.prepared()
    return await measureDuring(attacker, work)
  } finally {
    attacker.end()
    work.stop()
    await Promise.all([server.end('SIGKILL'), other.end('SIGKILL')])
  }
}

/** Measures the longest times until the attacker has completed two rounds. */
async function measureDuring(attacker: Attacker, work: HonestWork): Promise<Noticed> {
  attacker.go()
  const beganAt = performance.now()
  let attacked = await work.measure()
  while (attacker.rounds < 2 && performance.now() - beganAt < attackedMs && Number.isFinite(attacked.p99Ms))
    attacked = worst([attacked, await work.measure()])
  attacker.end()
  return attacked
}

async function start(data: string, port: number): Promise<ServerProcess> {
  const server = await startProcess(data, options, port)
  endWithThis(server.child)
  return server
}

const isRunning = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode === null && signalCode === null

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms).unref())

/** Creates a workspace for the hostile tenant. */
async function targetAt(server: ServerProcess): Promise<Target> {
  const { url, wsUrl } = server
  const owner = { ownerEmail: 'eve@example.com' }
  const made = (await server.post('/v2/workspace/create', owner, { 'x-service-admin-token': adminToken }))
    .data as {
    apiKey: string
    apiKeyAuthToken: string
  }
  const own = { 'x-service-api-key': made.apiKey, 'x-service-auth-token': made.apiKeyAuthToken }
  const user = { userId: 'eve', userProperties: { name: 'Eve', email: 'eve@example.com' } }
  const { token } = (await server.post('/v2/auth/generate_token', user, own)).data as { token: string }
  return { url, wsUrl, port: Number(new URL(url).port), headers: own, token }
}

interface HonestWork {
  recovery(): Promise<number>
  measure(): Promise<Noticed>
  stop(): void
}

const never: Noticed = {
  p50Ms: Number.POSITIVE_INFINITY,
  p99Ms: Number.POSITIVE_INFINITY,
  stallMs: Number.POSITIVE_INFINITY,
  callMs: Number.POSITIVE_INFINITY,
}

const of = (all: readonly Noticed[], pick: (...values: number[]) => number): Noticed => ({
  p50Ms: pick(...all.map(({ p50Ms }) => p50Ms)),
  p99Ms: pick(...all.map(({ p99Ms }) => p99Ms)),
  stallMs: pick(...all.map(({ stallMs }) => stallMs)),
  callMs: pick(...all.map(({ callMs }) => callMs)),
})
export const worst = (all: readonly Noticed[]): Noticed => of(all, Math.max)
const best = (all: readonly Noticed[]): Noticed => of(all, Math.min)

async function honestWork(server: ServerProcess, seconds: number, withCalls: boolean): Promise<HonestWork> {
  const type = await neighbors(server, seconds, measurementsMax)
  const probe = new Probe(server.url)
  const exited = once(server.child, 'exit')
  if (withCalls) await replaceLarge(server)
  const measured = async (): Promise<Noticed> => {
    probe.takeLongestMs()
    const until = performance.now() + seconds * 1000
    const [{ p50Ms, p99Ms }, callMs] = await Promise.all([
      type(),
      withCalls ? longestCallMs(server, until) : 0,
    ])
    return { p50Ms, p99Ms, stallMs: probe.takeLongestMs(), callMs }
  }
  return {
    measure: async () => {
      if (!isRunning(server.child)) return never
      const noticed = measured().catch(() => never)
      return Promise.race([noticed, exited.then(() => never)])
    },
    recovery: () => recovery(server, probe),
    stop: () => probe.stop(),
  }
}

async function recovery({ child }: ServerProcess, probe: Probe): Promise<number> {
  const beganAt = performance.now()
  while (isRunning(child) && performance.now() - beganAt < recoversMs) {
    probe.takeLongestMs()
    await sleep(promptForMs)
    if (probe.takeLongestMs() <= promptMs) return performance.now() - beganAt
  }
  return Number.POSITIVE_INFINITY
}

const replaceLarge = ({ url }: ServerProcess): Promise<number> => {
  const text = Array.from({ length: largeCharacters / 10 }, () => Math.random().toString(36).slice(2, 12))
  return callMs(`${url}/v2/crdt/add`, { ...large, type: 'text', data: text.join('') })
}

/** Repeats a large read and a large replacement until `until`, and returns the longest time. */
async function longestCallMs(server: ServerProcess, until: number): Promise<number> {
  let longestMs = 0
  while (performance.now() < until) {
    const readMs = await callMs(`${server.url}/v2/crdt/get`, large)
    const text = Math.random()
      .toString(36)
      .repeat(largeCharacters / 12)
    const replaceMs = await callMs(`${server.url}/v2/crdt/update`, { ...large, type: 'text', data: text })
    longestMs = Math.max(longestMs, readMs, replaceMs)
    await sleep(100)
  }
  return longestMs
}

/** Returns the time of a call that must succeed. */
async function callMs(url: string, data: unknown): Promise<number> {
  const beganAt = performance.now()
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ data }) })
  await response.arrayBuffer()
  return response.ok ? performance.now() - beganAt : Number.POSITIVE_INFINITY
}

/** Returns the typed document by REST; null without a response. */
async function textOf({ url }: ServerProcess): Promise<string | null> {
  const response = await fetch(`${url}/v2/crdt/get`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ data: { ...honest, format: 'json' } }),
    signal: AbortSignal.timeout(answersMs),
  }).catch(() => null)
  if (response?.ok !== true) return null
  const { result } = (await response.json()) as { result: { data: readonly { data: unknown }[] } }
  return JSON.stringify(result.data.map(({ data }) => data))
}

/** Reads each hostile document and edits it by websocket. A rejection counts as an answer. */
async function reopen(
  { url, child }: ServerProcess,
  target: Target,
  documents: readonly string[],
): Promise<Pick<Hostile, 'unanswered' | 'reopenStallMs'>> {
  const probe = new Probe(url)
  const unanswered: string[] = []
  for (const document of documents) {
    const answer = await fetch(`${url}/v2/crdt/get`, {
      method: 'POST',
      headers: { ...headers, ...target.headers },
      body: JSON.stringify({ data: { ...editorOf(document), format: 'json' } }),
      signal: AbortSignal.timeout(answersMs),
    })
      .then((response) => response.arrayBuffer())
      .catch(() => null)
    const isServed = answer !== null && (await isEdited(target, document))
    if (!isServed || !isRunning(child)) unanswered.push(document)
  }
  const reopenStallMs = probe.takeLongestMs()
  probe.stop()
  return { unanswered, reopenStallMs }
}

/** Returns whether the server accepts a keystroke or closes the connection. */
async function isEdited(target: Target, document: string): Promise<boolean> {
  const socket = await openSocket(syncUrl(target, document))
  if (socket === null) return false
  const doc = new Y.Doc()
  doc.getMap('reopened').set('edited', true)
  socket.send(message([0, 2], Y.encodeStateAsUpdate(doc)))
  const answered = await served(socket, answersMs)
  socket.terminate()
  return answered
}

/** The process of the hostile tenant. */
class Attacker {
  readonly #child: ChildProcess
  readonly #prepared: Promise<unknown>
  rounds = 0

  constructor(order: AttackOrder) {
    this.#child = fork(script, { execArgv: ['--import', 'tsx'] })
    endWithThis(this.#child)
    this.#prepared = once(this.#child, 'message')
    this.#child.on('message', (message) => {
      if (typeof message === 'number') this.rounds = message
    })
    this.#child.on('error', () => {})
    this.#child.send(order)
  }

  async prepared(): Promise<void> {
    await Promise.race([this.#prepared, sleep(preparesMs)])
  }

  go(): void {
    if (this.#child.connected) this.#child.send('go')
  }

  end(): void {
    this.#child.kill('SIGKILL')
  }
}
