import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { eventually } from '../support/clients/clients.ts'
import { ContentStream } from '../support/clients/content-stream.ts'
import { Random } from '../support/data/random-doc.ts'
import { startProcess } from '../support/servers/process.ts'
import { dataOf } from '../support/servers/server.ts'
import { fillStore, readStore } from '../support/stores/every-record.ts'
import type { Found, Size } from './steps.ts'
import { TestCluster } from './support/cluster.ts'
import { Load } from './support/load-report.ts'
import type { ClusterNode } from './support/node.ts'
import { buildOtherVersion, type OtherVersion } from './support/other-version.ts'

const sockets = { smoke: 12, full: 24 }
/** Pause between two REST replacements, and between two pieces of a stream. */
const pauseMs = 50
const pieces = 20
const credentials = { apiKey: 'test-key', authToken: 'test-auth-token-1234' }
const organizationId = 'acme'

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
const addressOf = (documentId: string) => ({ organizationId, documentId, editorId: 'main' })

/**
 * Replaces the nodes of an earlier version by nodes of this version, one after the other, while clients write. Then
 * returns one node to the earlier version, and upgrades it again. Does the same once with the embedded store.
 * @param from commit of the earlier version; null is the default of `buildOtherVersion`
 */
export async function upgrade(from: string | null, size: Size, seed: number): Promise<Found> {
  const other = buildOtherVersion(from)
  if (typeof other === 'string') return { kept: from === null, line: `skipped: ${other}` }
  try {
    const embedded = await upgradeEmbedded(other)
    const cluster = await upgradeCluster(other, size, seed)
    const problems = [...embedded, ...cluster.problems]
    const line = [`from ${other.commit}`, cluster.line, ...problems.slice(0, 10)].join('; ')
    return { kept: problems.length === 0, line }
  } finally {
    other.remove()
  }
}

/** The earlier version writes, this version reads and writes, and the earlier version reads again. */
async function upgradeEmbedded({ program }: OtherVersion): Promise<readonly string[]> {
  const data = mkdtempSync(join(tmpdir(), 'weft-embedded-'))
  const problems: string[] = []
  const content: unknown[] = []
  try {
    for (const version of [program, undefined, program]) {
      const server = await startProcess(data, {}, undefined, undefined, undefined, version)
      const post = async (path: string, body: object): Promise<unknown> => {
        const answer = await server.post(path, body)
        if (answer.status !== 200)
          throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.details)}`)
        return answer.data
      }
      if (content.length === 0) await fillStore(post)
      const before = await readStore(post)
      // Later versions may add members to a response.
      if (content.length > 0) problems.push(...differences(content.at(-1), before, ''))
      const text = { ...addressOf('of-text'), type: 'text', data: `by start ${content.length}` }
      await post('/v2/crdt/update', text)
      await post('/v2/crdt/add', { ...addressOf(`start-${content.length}`), type: 'text', data: 'new' })
      content.push(await readStore(post))
      const code = await server.end('SIGTERM')
      if (code !== 0) problems.push(`a server on the embedded store ended with ${code}`)
    }
  } finally {
    rmSync(data, { recursive: true, force: true, maxRetries: 5 })
  }
  return problems
}

/** Returns the places at which `after` differs from `before`. Members that only one of them has do not count. */
function differences(before: unknown, after: unknown, place: string): readonly string[] {
  if (isDeepStrictEqual(before, after)) return []
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length)
    return before.flatMap((item, index) => differences(item, after[index], `${place}[${index}]`))
  if (!isObject(before) || !isObject(after)) return [`${place}: ${short(before)} became ${short(after)}`]
  return Object.keys(before)
    .filter((name) => Object.hasOwn(after, name))
    .flatMap((name) => differences(before[name], after[name], `${place}.${name}`))
}

const short = (value: unknown): string => JSON.stringify(value)?.slice(0, 200) ?? 'nothing'

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

async function upgradeCluster(
  { program }: OtherVersion,
  size: Size,
  seed: number,
): Promise<{ readonly problems: readonly string[]; readonly line: string }> {
  const cluster = await TestCluster.start('small', program)
  const problems: string[] = []
  try {
    const random = new Random(seed)
    const load = await Load.begin(cluster, { name: `upgrade-${seed}`, seed, sockets: sockets[size] })
    const replacing = new Replacements(cluster)
    const streaming = (await hasStreams(cluster)) ? new Streams(cluster, random) : null
    const since = performance.now()
    const replace = async (node: ClusterNode, version: string | undefined): Promise<void> => {
      const code = await node.stop()
      if (code !== 0) problems.push(`${node.name} ended with ${code}`)
      await load.goesOn()
      node.program = version
      await node.start()
      await load.goesOn()
    }
    for (const node of cluster.nodes) await replace(node, undefined)
    const [first] = cluster.nodes as [ClusterNode]
    await replace(first, program)
    await replace(first, undefined)
    const seconds = ((performance.now() - since) / 1000).toFixed(0)
    const replaced = await replacing.finish()
    const streamed = (await streaming?.finish()) ?? null
    const { updates, lost, events, unseen } = await load.end()
    problems.push(...load.errors, ...replaced.problems, ...(streamed?.problems ?? []))
    if (lost > 0) problems.push(`${lost} updates are lost`)
    if (events.missing + events.doubled > 0)
      problems.push(`${events.missing} events are missing, ${events.doubled} arrived twice`)
    if (unseen !== null) problems.push(unseen)
    for (const node of cluster.nodes)
      problems.push(...suspiciousLines(node).map((line) => `log of ${node.name}: ${line}`))
    const line =
      `5 replacements of nodes in ${seconds} s; ${updates} updates acknowledged, ${lost} lost; ` +
      `${replaced.count} REST replacements; ${streamed === null ? 'no streams in the earlier version' : `${streamed.count} streams`}; ` +
      `${events.answered} events, ${events.missing} missing`
    return { problems, line }
  } finally {
    await cluster.remove()
  }
}

async function hasStreams(cluster: TestCluster): Promise<boolean> {
  const { paths } = (await (await fetch(`${cluster.next().url}/openapi.json`)).json()) as { paths: object }
  return '/v2/crdt/stream' in paths
}

/** Returns the lines that a node logs for errors, and for messages that it does not know. */
const suspiciousLines = ({ logLines }: ClusterNode): readonly string[] =>
  logLines.filter((line) => /"level":(5|6)0|unknown (message|kind|record)|malformed/i.test(line))

interface Written {
  readonly count: number
  readonly problems: readonly string[]
}

/** A program that replaces the content of one document, at one node after the other. */
class Replacements {
  readonly #cluster: TestCluster
  readonly #address = addressOf('replaced')
  readonly #running: Promise<void>
  #count = 0
  #last = ''
  #isDone = false

  constructor(cluster: TestCluster) {
    this.#cluster = cluster
    this.#running = this.#run()
  }

  async finish(): Promise<Written> {
    this.#isDone = true
    await this.#running
    const read = async (node: ClusterNode): Promise<unknown> => {
      const [content] = dataOf(await node.post('/v2/crdt/get', this.#address)) as [{ data: unknown }]
      return content.data
    }
    const wrong = await unequal(this.#cluster, read, this.#last)
    return { count: this.#count, problems: wrong.map((problem) => `replaced document: ${problem}`) }
  }

  async #run(): Promise<void> {
    while (!this.#isDone) {
      const data = Array.from(
        { length: 20 },
        (_, line) => `line ${line} of ${this.#count - (this.#count % (line + 1))}`,
      )
      const body = { ...this.#address, type: 'text', data: data.join('\n') }
      const key = { 'idempotency-key': `replacement-${this.#count}` }
      const path = this.#count === 0 ? '/v2/crdt/add' : '/v2/crdt/update'
      const answer = await this.#cluster
        .next()
        .post(path, body, key)
        .catch(() => null)
      if (answer?.status === 200) {
        this.#count += 1
        this.#last = body.data
      }
      await sleep(pauseMs)
    }
  }
}

/** A program that streams one text after the other to one document. */
class Streams {
  readonly #cluster: TestCluster
  readonly #random: Random
  readonly #address = addressOf('streamed')
  readonly #problems: string[] = []
  readonly #texts: string[] = []
  readonly #running: Promise<void>
  #isDone = false

  constructor(cluster: TestCluster, random: Random) {
    this.#cluster = cluster
    this.#random = random
    this.#running = this.#run()
  }

  async finish(): Promise<Written> {
    this.#isDone = true
    await this.#running
    const read = async (node: ClusterNode): Promise<unknown> => {
      const [content] = dataOf(await node.post('/v2/crdt/get', this.#address)) as [{ data: unknown }]
      return content.data
    }
    const wrong = await unequal(this.#cluster, read, `begin:${this.#texts.toReversed().join('')}`)
    this.#problems.push(...wrong.map((problem) => `streamed document: ${problem}`))
    return { count: this.#texts.length, problems: this.#problems }
  }

  async #run(): Promise<void> {
    const body = { ...this.#address, type: 'text', data: 'begin:' }
    dataOf(await this.#cluster.next().post('/v2/crdt/add', body))
    while (!this.#isDone) {
      const index = this.#texts.length
      const text = Array.from({ length: pieces }, (_, piece) => `${index}.${piece} `).join('')
      await eventually(
        () => this.#write(index, text).catch(() => false),
        () => `stream ${index} did not end`,
      )
      this.#texts.push(text)
    }
  }

  /** Continues a stream at its durable content, on another connection. */
  async #write(index: number, text: string): Promise<boolean> {
    const edit = { insert: { after: 'begin:' } }
    const opening = { ...this.#address, streamId: `s${index}`, edit, userId: 'agent' }
    const writer = await ContentStream.open({ url: this.#cluster.next().url, credentials }, opening)
    let at = writer.opened.received
    while (at < text.length) {
      const end = at + 1 + this.#random.below(12)
      writer.text(text.slice(at, end), at)
      at = Math.min(end, text.length)
      await sleep(this.#random.below(pauseMs))
    }
    const done = await writer.end()
    return done.received === text.length
  }
}

/** Returns the nodes whose content does not become the expected one. */
async function unequal(
  { serving }: TestCluster,
  read: (node: ClusterNode) => Promise<unknown>,
  expected: unknown,
): Promise<readonly string[]> {
  const problems: string[] = []
  for (const node of serving) {
    let last: unknown = null
    const isEqual = async (): Promise<boolean> => {
      last = await read(node).catch(String)
      return last === expected
    }
    await eventually(isEqual, () => `${node.name} has ${short(last)}, not ${short(expected)}`, 20_000).catch(
      (error: unknown) => problems.push(String(error)),
    )
  }
  return problems
}
