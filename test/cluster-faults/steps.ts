import { operationList } from '../../src/capabilities/list.ts'
import { eventually, syncedEditor } from '../support/clients/clients.ts'
import { callExample, type OpenApi } from '../support/data/example-calls.ts'
import { Random } from '../support/data/random-doc.ts'
import { runBarriers } from './barriers.ts'
import { editWhileTyping } from './edits.ts'
import { databaseAway, type Fault, type FaultName, faults, manyThings, ownerStopped } from './faults.ts'
import { streamWhileTyping } from './streams.ts'
import { adminToken, exampleWorkspace, type TestCluster } from './support/cluster.ts'
import { Load, type LoadResult } from './support/load-report.ts'
import { otherVersion } from './support/other-version.ts'

/** Maximum number of problems in a line. */
const problemsMax = 5

/** `smoke` is short enough to run on every change. */
export type Size = 'smoke' | 'full'

export interface Found {
  readonly kept: boolean
  readonly line: string
}

export interface Setting {
  readonly cluster: TestCluster
  readonly size: Size
  readonly seed: number
  /** The built package of another version for the step `rolling`; null is a copy of this build. */
  readonly from: string | null
}

export type Step = (setting: Setting) => Promise<Found>

const sockets = { smoke: 16, full: 64 }
/** Duration of the load before and after a fault. */
const quietMs = { smoke: 500, full: 2_000 }
/** For `full` longer than calls wait for the database. */
const awayMs = { smoke: 5_000, full: 35_000 }
/** Pause of an owner. Longer than the 4 s after which others take its documents. */
const stoppedMs = { smoke: 6_000, full: 60_000 }
/** Duration of repeated faults. */
const manyMs = { smoke: 5_000, full: 60_000 }
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`

/** Two clients at different nodes type alternately. */
const together: Step = async ({ cluster }) => {
  const token = await cluster.token('ada')
  const [there, here] = [cluster.next(), cluster.next()]
  const path = 'acme/together/main'
  const [ada, bob] = [
    await syncedEditor(there.wsUrl, path, token),
    await syncedEditor(here.wsUrl, path, token),
  ]
  const latencies: number[] = []
  for (let round = 0; round < 50; round++) {
    const [from, to] = round % 2 === 0 ? [ada, bob] : [bob, ada]
    const since = performance.now()
    from.text.insert(0, `${round} `)
    await eventually(() => to.text.toString() === from.text.toString())
    latencies.push(performance.now() - since)
  }
  for (const editor of [ada, bob]) editor.close()
  const p50 = latencies.sort((a, b) => a - b)[25] ?? Number.NaN
  return {
    kept: true,
    line: `two clients at ${there.name} and ${here.name}: 50 changes seen by the other one, p50 ${p50.toFixed(0)} ms`,
  }
}

/** Number of requests of edits for each kind of content. */
const editRounds = { smoke: 12, full: 100 }

/** Backends edit a document at all nodes while users type. */
const edits: Step = async ({ cluster, size, seed }) => {
  const lines: string[] = []
  const problems: string[] = []
  for (const type of ['text', 'xml'] as const) {
    const result = await editWhileTyping(cluster, type, { rounds: editRounds[size], seed })
    problems.push(...result.problems)
    lines.push(
      `${type}: ${result.applied} requests applied, ${result.rejected} rejected, ${result.aborted} calls aborted ` +
        `and repeated, ${result.typed} letters typed`,
    )
  }
  return { kept: problems.length === 0, line: [...lines, ...problems.slice(0, 5)].join('; ') }
}

/** Number of streams at the same time. */
const streamsAtOnce = { smoke: 4, full: 10 }

/** Programs stream text to one document while users type, and a node is killed. */
const streams: Step = async ({ cluster, size, seed }) => {
  const { connections, typed, problems } = await streamWhileTyping(cluster, {
    streams: streamsAtOnce[size],
    seed,
  })
  const line = `${streamsAtOnce[size]} streams, ${connections} connections, ${typed} letters typed, a node killed`
  return { kept: problems.length === 0, line: [line, ...problems.slice(0, 5)].join('; ') }
}

/** Runs each operation of the API; the calls that create what it needs go to one node after the other. */
const operations: Step = async ({ cluster, size }) => {
  const api = (await (await fetch(`${cluster.next().url}/openapi.json`)).json()) as OpenApi
  const paths = operationList
    .map(({ path }) => path)
    .filter((_, index) => size === 'full' || index % 16 === 0)
  const { workspaceId, workspaceToken } = exampleWorkspace
  const credentials = {
    apiKey: 'test-key',
    authToken: 'test-auth-token-1234',
    workspaceId,
    workspaceAuthToken: workspaceToken,
    adminToken,
  }
  let calls = 0
  const anywhere: Parameters<typeof callExample>[0] = {
    post: (...call) => {
      calls += 1
      return cluster.next().post(...call)
    },
  }
  const failed: string[] = []
  for (const path of paths) {
    const problem = await callExample(anywhere, api, credentials, path).then(
      ({ status, body }) => (status === 200 ? null : `${status} ${body.error?.message}`),
      (error: unknown) => String(error),
    )
    if (problem !== null) failed.push(`${path}: ${problem}`)
  }
  // Later steps connect clients, whose rights no callback decides.
  await cluster.next().post('/v2/workspace/callbacks/delete', {})
  return {
    kept: failed.length === 0,
    line: `${paths.length} operations, ${calls} calls, each at another node than the one before: ${failed.length === 0 ? 'all as described' : failed.join('; ')}`,
  }
}

/** Number of barriers. */
const barrierCount = { smoke: 4, full: 12 }

/**
 * Deletes and disables documents and takes rights from users while they write at all nodes. Meanwhile, nodes pause or are
 * separated from the database.
 */
const barriers: Step = async ({ cluster, size, seed }) => {
  const { violations, barriers: counts, acknowledged } = await runBarriers(cluster, barrierCount[size], seed)
  const { entries, terms, problems } = await cluster.terms.check()
  const wrong = [...violations, ...problems]
  const line = `${JSON.stringify(counts)}, ${acknowledged} calls acknowledged, ${entries} entries in ${terms} terms`
  return { kept: wrong.length === 0, line: [line, ...wrong.slice(0, problemsMax)].join('; ') }
}

interface Happening {
  readonly name: string
  readonly fault: Fault
  /** Close codes that clients may receive without closing themselves. */
  readonly closes: readonly number[]
}

/** Causes a fault while many clients write, and checks the results. */
const underLoad =
  ({ name, fault, closes }: Happening): Step =>
  async ({ cluster, size, seed, from }) => {
    const load = await Load.begin(cluster, { name: `${name}-${seed}`, seed, sockets: sockets[size] })
    const random = new Random(seed)
    const pauseMs = size === 'smoke' ? 6_000 : 6_000 + random.below(6_000)
    try {
      await sleep(quietMs[size])
      const said = await fault({ cluster, load, random, pauseMs, from })
      const wentOnMs = await load.goesOn()
      await sleep(quietMs[size])
      const result = await load.end()
      const wrong = [...load.errors, ...problemsOf(result, closes)]
      const before = `${said}; all went on after ${seconds(wentOnMs)}`
      return { kept: wrong.length === 0, line: [before, told(result, sockets[size]), ...wrong].join('; ') }
    } catch (error) {
      await load.abandon()
      await cluster.repair()
      throw error
    }
  }

function problemsOf(
  { lost, events, unseen, problems, closes }: LoadResult,
  expected: readonly number[],
): readonly string[] {
  const unexpected = [...closes.keys()].filter((code) => !expected.includes(code))
  return [
    ...(lost === 0 ? [] : ['something is lost']),
    ...(events.missing + events.doubled === 0 ? [] : ['events are not told of once']),
    ...(unseen === null ? [] : [unseen]),
    ...problems.slice(0, problemsMax),
    ...unexpected.map((code) => `nobody should meet ${code}`),
  ]
}

function told(result: LoadResult, writing: number): string {
  const { updates, lost, equalMs, shownMs, events, keystrokes, closes } = result
  const ended = [...closes].map(([code, times]) => `${code} ×${times}`)
  return (
    `${writing} sockets, ${updates} updates acknowledged, ${lost} lost; ` +
    `${keystrokes} keystrokes of a recorded session, ${result.replacements} replacements, ${result.streams} streams, ` +
    `${result.merges} merges of branches; ${result.entries} entries in ${result.terms} terms; ` +
    `nodes, clients and log equal ${seconds(equalMs)} after the last one, all people shown after ${seconds(shownMs)}; ` +
    `${events.answered} events, ${events.missing} not delivered, ${events.doubled} twice; ` +
    `connections ended: ${ended.join(', ') || 'none'}`
  )
}

/** Replaces each node by one of another version, then each by one of this version again. */
const rolling: Fault = async ({ cluster, load, from }) => {
  const { program, version } = otherVersion(from)
  const since = performance.now()
  const codes: (number | null)[] = []
  for (const next of [program, undefined])
    for (const node of cluster.nodes) {
      codes.push(await node.stop())
      await load.goesOn()
      node.program = next
      await node.start()
    }
  if (codes.some((code) => code !== 0)) throw new Error(`nodes ended with ${codes.join(', ')}`)
  return `one after the other to version ${version} and back within ${seconds(performance.now() - since)}`
}

/** A further node joins, owns documents, and leaves. */
const nodeJoins: Fault = async ({ cluster, load }) => {
  const node = await cluster.add()
  await node.start()
  await eventually(async () => (await cluster.termsOf(node)) > 0)
  const joinedMs = await load.goesOn()
  const terms = await cluster.termsOf(node)
  const code = await node.stop()
  cluster.drop()
  if (code !== 0) throw new Error(`${node.name} ended with ${code}`)
  return `${node.name} owned ${terms} buckets, all went on after ${seconds(joinedMs)}; then it left`
}

const allKilled: Fault = async ({ cluster }) => {
  await Promise.all(cluster.nodes.map((node) => node.kill()))
  await Promise.all(cluster.nodes.map((node) => node.start()))
  return 'all three'
}

const broken = [1006, 1012, 1013]

const happening = (name: FaultName): Step => underLoad({ name, fault: faults[name], closes: broken })

/** The steps in their order. */
export const steps = {
  together,
  edits,
  streams,
  operations,
  barriers,
  'owner-killed': happening('owner-killed'),
  'proxy-killed': happening('proxy-killed'),
  'owner-stopped': (setting: Setting) =>
    underLoad({ name: 'owner-stopped', fault: ownerStopped(stoppedMs[setting.size]), closes: broken })(
      setting,
    ),
  'cut-to-database': happening('cut-to-database'),
  'cut-from-database': happening('cut-from-database'),
  'bus-cut': happening('bus-cut'),
  'primary-killed': happening('primary-killed'),
  'bus-stopped': happening('bus-stopped'),
  'primary-stopped': happening('primary-stopped'),
  'database-away': (setting: Setting) =>
    underLoad({ name: 'database-away', fault: databaseAway(awayMs[setting.size]), closes: broken })(setting),
  'nodes-killed': underLoad({ name: 'nodes-killed', fault: allKilled, closes: broken }),
  'node-joins': underLoad({ name: 'node-joins', fault: nodeJoins, closes: [1012] }),
  rolling: underLoad({ name: 'rolling', fault: rolling, closes: [1012] }),
  many: (setting: Setting) =>
    underLoad({ name: 'many', fault: manyThings(manyMs[setting.size]), closes: broken })(setting),
} satisfies Record<string, Step>
export type StepName = keyof typeof steps
