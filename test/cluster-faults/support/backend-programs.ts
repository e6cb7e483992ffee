import { eventually } from '../../support/clients/clients.ts'
import { ContentStream } from '../../support/clients/content-stream.ts'
import type { Random } from '../../support/data/random-doc.ts'
import { dataOf } from '../../support/servers/server.ts'
import type { TestCluster } from './cluster.ts'
import { stateInLog } from './read-document.ts'

/** Maximum time in ms until a call succeeds. No fault takes longer. */
const callMsMax = 120_000
const pauseMs = 50
/** Number of words of a stream. */
const words = 20
/** Maximum time in ms of one connection of a stream. */
const streamMs = 10_000
const credentials = { apiKey: 'test-key', authToken: 'test-auth-token-1234' }
const start = 'begin:'

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

interface ProgramOptions {
  readonly cluster: TestCluster
  readonly documentId: string
  readonly random: Random
}

/**
 * A backend that changes one document repeatedly, at one node after the other. It repeats each call until the call
 * succeeds. The calls have the same effect once or several times, so each change must be in the document exactly once.
 */
abstract class BackendProgram {
  readonly #options: ProgramOptions
  readonly #running: Promise<void>
  #count = 0
  #expected = start
  #isDone = false

  constructor(options: ProgramOptions) {
    this.#options = options
    this.#running = this.#run()
    // `finish` throws the error.
    this.#running.catch(() => undefined)
  }

  /** Changes the content once. Resolves with the new content when the change was acknowledged. */
  protected abstract change(number: number, content: string): Promise<string>

  /** Number of acknowledged changes. */
  get count(): number {
    return this.#count
  }

  protected get options(): ProgramOptions {
    return this.#options
  }

  protected get address() {
    return { organizationId: 'acme', documentId: this.#options.documentId, editorId: 'main' }
  }

  /** @param already code of the error if an earlier attempt has had the effect */
  protected async call(path: string, data: object, already?: string): Promise<void> {
    const { cluster, documentId } = this.#options
    let last: unknown = null
    await eventually(
      async () => {
        const answer = await cluster
          .next()
          .post(path, { ...this.address, ...data })
          .catch(String)
        if (typeof answer !== 'string') {
          const { status, body } = answer
          if (status === 200 || (already !== undefined && body.error?.details?.code === already)) return true
        }
        last = typeof answer === 'string' ? answer : answer.body.error
        await sleep(pauseMs)
        return false
      },
      () => ({ documentId, path, last }),
      callMsMax,
    )
  }

  async stop(): Promise<void> {
    this.#isDone = true
    await this.#running
  }

  /** Stops, and returns the places that do not have exactly the acknowledged changes. */
  async finish(): Promise<readonly string[]> {
    await this.stop()
    const { cluster, documentId } = this.#options
    const log = (await stateInLog(cluster, documentId)).getText('content').toString()
    const found = await Promise.all(
      cluster.serving.map(async (node) => {
        const [content] = dataOf(await node.post('/v2/crdt/get', this.address)) as [{ data: string }]
        return { place: node.name, content: content.data }
      }),
    )
    return [{ place: 'the log', content: log }, ...found]
      .filter(({ content }) => content !== this.#expected)
      .map(({ place, content }) => `${place} has ${documentId} ${content}, not ${this.#expected}`)
  }

  async #run(): Promise<void> {
    await this.call('/v2/crdt/update', { type: 'text', data: this.#expected, upsert: true })
    while (!this.#isDone) {
      this.#expected = await this.change(this.#count, this.#expected)
      this.#count += 1
      await sleep(pauseMs)
    }
  }
}

/** Replaces the content. */
export class Replacements extends BackendProgram {
  protected async change(number: number): Promise<string> {
    const lines = Array.from({ length: 20 }, (_, line) => `line ${line} of ${number - (number % (line + 1))}`)
    const data = lines.join('\n')
    await this.call('/v2/crdt/update', { type: 'text', data })
    return data
  }
}

/** Creates a branch, edits the branch, and merges it. */
export class BranchMerges extends BackendProgram {
  protected async change(number: number, content: string): Promise<string> {
    const name = `b${number}`
    const text = `${number} `
    const data = inserted(content, text)
    await this.call('/v2/crdt/branches/create', { name, userId: 'agent' }, 'branch/exists')
    await this.call('/v2/crdt/update', { editorId: `main@${name}`, type: 'text', data })
    await this.call('/v2/crdt/branches/merge', { name, userId: 'agent' })
    return data
  }
}

/** Streams one text after the other. Continues each stream on another connection where the node has received it. */
export class Streams extends BackendProgram {
  protected async change(number: number, content: string): Promise<string> {
    const text = Array.from({ length: words }, (_, word) => `${number}.${word} `).join('')
    await eventually(
      () => this.#write(number, text).catch(() => sleep(pauseMs).then(() => false)),
      () => `stream ${number} did not end`,
      callMsMax,
    )
    return inserted(content, text)
  }

  async #write(number: number, text: string): Promise<boolean> {
    const { cluster, documentId, random } = this.options
    const edit = { insert: { after: start } }
    const opening = { ...this.address, streamId: `${documentId}-${number}`, edit, userId: 'agent' }
    const writer = ContentStream.send({ url: cluster.next().url, credentials }, opening)
    const timer = setTimeout(() => writer.destroy(), streamMs)
    try {
      await writer.until(({ opened }) => opened !== undefined)
      for (let at = writer.opened.received; at < text.length; ) {
        const end = Math.min(at + 1 + random.below(12), text.length)
        writer.text(text.slice(at, end), at)
        at = end
        await sleep(random.below(pauseMs))
      }
      return (await writer.end()).received === text.length
    } finally {
      clearTimeout(timer)
      writer.destroy()
    }
  }
}

const inserted = (content: string, text: string): string => start + text + content.slice(start.length)
