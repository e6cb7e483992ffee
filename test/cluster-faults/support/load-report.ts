import { recordedTrace } from '../../../bench/support/recorded-trace.ts'
import type { EditStep } from '../../../src/cli/bench/trace.ts'
import { errorMessage } from '../../../src/core/base/errors.ts'
import { eventually } from '../../support/clients/clients.ts'
import { Random } from '../../support/data/random-doc.ts'
import { BranchMerges, Replacements, Streams } from './backend-programs.ts'
import type { TestCluster } from './cluster.ts'
import { Events } from './events.ts'
import { BlindDocument, BlindWriter } from './loss-detector.ts'
import { Person } from './presence-clients.ts'
import { digestOf, stateAt, stateInLog, vectorOf } from './read-document.ts'

export interface LoadOptions {
  /** A unique name of small letters and `-`. */
  readonly name: string
  readonly seed: number
  /** Number of websockets that write; three of four keep nothing of what they have written. */
  readonly sockets: number
}

/** The result of a load. */
export interface LoadResult {
  readonly updates: number
  /** Acknowledged or shown updates that the log or a node lacks. */
  readonly lost: number
  /** Time from the last keystroke until all clients, all nodes and the log are equal. */
  readonly equalMs: number
  /** Time until every client is shown exactly the users who are present. */
  readonly shownMs: number
  /** Why that did not happen, or null. */
  readonly unseen: string | null
  readonly events: { readonly answered: number; readonly missing: number; readonly doubled: number }
  /** Numbers of keystrokes of the recorded session, and of changes by backends. */
  readonly keystrokes: number
  readonly replacements: number
  readonly streams: number
  readonly merges: number
  /** Numbers of entries of logs, and of terms that nodes have taken. */
  readonly entries: number
  readonly terms: number
  /** Violations by these changes, and by the order in which nodes have written. */
  readonly problems: readonly string[]
  /** Close codes that clients received without closing themselves, with their numbers. */
  readonly closes: ReadonlyMap<number, number>
}

const blindDocuments = 6
const sharedDocuments = 3
const settleMs = 60_000
/** More than a load types. */
const keystrokesMax = 50_000
let recorded: readonly EditStep[] | undefined
/** A stock client renews its state after 15 s and checks every 3 s whether it is time. */
const shownMsMax = 20_000
/** Close codes that every client may receive: connection lost, server restarts, try again later. */
const ordinary: readonly number[] = [1006, 1012, 1013]

/** Many clients that write at all nodes during faults. */
export class Load {
  readonly #cluster: TestCluster
  readonly #token: string
  readonly #events: Events
  readonly #blind: readonly BlindDocument[]
  readonly #writers: readonly BlindWriter[]
  readonly #replacements: Replacements
  readonly #streams: Streams
  readonly #merges: BranchMerges
  /** Types the recorded session. */
  readonly #typist: Person
  readonly people: readonly Person[]
  readonly closes = new Map<number, number>()
  readonly #errors: string[] = []

  private constructor(
    cluster: TestCluster,
    { name, seed, sockets }: LoadOptions,
    token: string,
    events: Events,
  ) {
    this.#cluster = cluster
    this.#token = token
    this.#events = events
    const onClose = (code: number, reason: string): void => {
      this.closes.set(code, (this.closes.get(code) ?? 0) + 1)
      if (!ordinary.includes(code)) this.#errors.push(`${code} ${reason}`)
    }
    const url = (documentId: string): string =>
      `${cluster.next().wsUrl}/sync/acme/${documentId}/main?saved=1&token=${token}`
    const of = (kind: string, number: number): string => `${name}-${kind}-${number}-`
    this.#blind = Array.from(
      { length: blindDocuments },
      (_, number) => new BlindDocument(of('blind', number)),
    )
    // Writers go to the nodes in rotation. The writers of a document are consecutive, so that they use all nodes.
    const writers = Math.ceil((sockets * 3) / 4)
    this.#writers = Array.from({ length: writers }, (_, index) => {
      const document = this.#blind[Math.floor((index * blindDocuments) / writers)] as BlindDocument
      return new BlindWriter({ document, url, onClose, random: new Random(seed + index) })
    })
    const people = Math.floor(sockets / 4)
    const writing = Array.from({ length: people }, (_, index) => {
      const documentId = of('shared', Math.floor((index * sharedDocuments) / people))
      const random = new Random(seed - index - 1)
      return new Person(
        { cluster, documentId, token, random, onClose },
        index % 4 === 3 ? 'hocuspocus' : 'y-websocket',
      )
    })
    recorded ??= recordedTrace(keystrokesMax).patches
    const random = new Random(seed)
    const alone = { cluster, documentId: of('recorded', 0), token, random, recorded, onClose }
    this.#typist = new Person(alone, 'y-websocket')
    this.people = [...writing, this.#typist]
    const backend = (kind: string) => ({ cluster, documentId: of(kind, 0), random })
    this.#replacements = new Replacements(backend('replaced'))
    this.#streams = new Streams(backend('streamed'))
    this.#merges = new BranchMerges(backend('merged'))
  }

  /** Resolves when all clients write. */
  static async begin(cluster: TestCluster, options: LoadOptions): Promise<Load> {
    const events = await Events.begin(cluster, options.name)
    const load = new Load(cluster, options, await cluster.token('ada'), events)
    try {
      await load.goesOn()
    } catch (error) {
      await load.abandon()
      throw error
    }
    return load
  }

  /** A document that users share, and in which they are shown each other's client ids. */
  get sharedDocumentId(): string {
    return this.people[0]?.documentId ?? ''
  }

  get #backends() {
    return [this.#replacements, this.#streams, this.#merges]
  }

  /** Unexpected close codes and reasons. */
  get errors(): readonly string[] {
    return this.#errors
  }

  /** The numbers of updates that were acknowledged to the writers, and shown to them. */
  get told(): { readonly acknowledged: number; readonly shown: number } {
    const sum = (count: (document: BlindDocument) => number): number =>
      this.#blind.reduce((all, document) => all + count(document), 0)
    return { acknowledged: sum(({ updates }) => updates), shown: sum(({ shownUpdates }) => shownUpdates) }
  }

  /** Resolves with the time in ms until every writer has an acknowledgment of an edit made after the call. */
  async goesOn(timeoutMs = settleMs): Promise<number> {
    const since = performance.now()
    const waiting = (): number => this.#writers.filter((writer) => !writer.hasWrittenSince(since)).length
    await eventually(
      () => waiting() === 0,
      () => `${waiting()} of ${this.#writers.length} get nothing acknowledged`,
      timeoutMs,
    )
    return performance.now() - since
  }

  /** Stops all clients, and compares all replicas. */
  async end(): Promise<LoadResult> {
    await Promise.all([
      this.#events.stop(),
      ...this.#backends.map((backend) => backend.stop()),
      ...this.#writers.map((writer) => writer.finish()),
      ...this.people.map((person) => person.stopTyping()),
    ])
    const since = performance.now()
    await this.#converge()
    const equalMs = performance.now() - since
    const unseen = await this.#allShown().then(() => null, errorMessage)
    const shownMs = performance.now() - since
    const lost = await this.#lost()
    await eventually(
      () => this.#events.missing() === 0,
      () => '',
      settleMs,
    ).catch(() => undefined)
    const events = {
      answered: this.#events.count,
      missing: this.#events.missing(),
      doubled: this.#events.doubled(),
    }
    const problems = (await Promise.all(this.#backends.map((backend) => backend.finish()))).flat()
    const { count: keystrokes, text } = this.#typist.recorded
    if (this.#typist.doc.getText('content').toString() !== text) problems.push('the recorded session differs')
    for (const person of this.people) person.close()
    await this.#events.remove()
    const { entries, terms, problems: wrong } = await this.#cluster.terms.check()
    return {
      updates: this.told.acknowledged,
      lost,
      equalMs,
      shownMs,
      unseen,
      events,
      keystrokes,
      replacements: this.#replacements.count,
      streams: this.#streams.count,
      merges: this.#merges.count,
      entries,
      terms,
      problems: [...problems, ...wrong],
      closes: this.closes,
    }
  }

  /** Ends the load after an error. */
  async abandon(): Promise<void> {
    // Not awaited, because their calls may fail for long.
    for (const backend of this.#backends) void backend.stop().catch(() => undefined)
    await Promise.all([
      this.#events.stop(),
      ...this.#writers.map((writer) => writer.stop()),
      ...this.people.map((person) => person.stopTyping()),
    ])
    for (const person of this.people) person.close()
    await this.#events.remove().catch(() => undefined)
  }

  /** @throws unless all clients, all nodes and the log become equal */
  async #converge(): Promise<void> {
    const documentIds = [...new Set(this.people.map(({ documentId }) => documentId))]
    for (const documentId of documentIds) {
      const people = this.people.filter((person) => person.documentId === documentId)
      await this.#same(documentId, () => people.map(({ doc }) => digestOf(doc)))
    }
    for (const { documentId } of this.#blind) await this.#same(documentId, () => [])
    await eventually(() => this.people.every(({ isSettled }) => isSettled), undefined, settleMs)
  }

  /** @throws unless every client is shown exactly the users who are present */
  async #allShown(): Promise<void> {
    for (const documentId of new Set(this.people.map((person) => person.documentId)))
      await allShown(
        documentId,
        this.people.filter((person) => person.documentId === documentId),
      )
  }

  async #same(documentId: string, more: () => readonly string[]): Promise<void> {
    const digests = async (): Promise<readonly string[]> => {
      const places = this.#cluster.serving.map((node) => stateAt(node, documentId, this.#token))
      const states = await Promise.all([stateInLog(this.#cluster, documentId), ...places])
      return [...states.map(digestOf), ...more()]
    }
    let last: readonly string[] = []
    await eventually(
      async () => {
        last = await digests().catch((error: unknown) => [String(error), ''])
        return new Set(last).size === 1
      },
      () => `${documentId}: log, ${this.#cluster.serving.length} nodes, people: ${letters(last)}`,
      settleMs,
    )
  }

  /** Returns the largest loss of all places. */
  async #lost(): Promise<number> {
    let lost = 0
    for (const document of this.#blind) {
      const { documentId } = document
      const places = this.#cluster.serving.map((node) => stateAt(node, documentId, this.#token))
      const states = await Promise.all([stateInLog(this.#cluster, documentId), ...places])
      lost += Math.max(...states.map((state) => document.lostIn(vectorOf(state))))
      lost += await this.#lostByRest(
        document,
        states.map((state) => state.getText('content').length),
      )
    }
    return lost
  }

  /** Returns the number of nodes whose REST content is incomplete. */
  async #lostByRest({ documentId }: BlindDocument, lengths: readonly number[]): Promise<number> {
    const address = { organizationId: 'acme', documentId, editorId: 'main' }
    const answers = await Promise.all(this.#cluster.serving.map((node) => node.post('/v2/crdt/get', address)))
    const [expected = 0] = lengths
    return answers.filter(({ body }) => {
      const [content] = (body.result?.data ?? []) as readonly { data: string }[]
      return content?.data.length !== expected
    }).length
  }
}

/** Waits until every client is shown exactly the users who are present. */
function allShown(documentId: string, people: readonly Person[]): Promise<void> {
  const ids = people.map(({ clientId }) => clientId)
  const wrong = (): readonly string[] =>
    people.flatMap(({ seen }) => {
      const missing = ids.filter((id) => !seen.has(id)).length
      const ghosts = [...seen].filter((id) => !ids.includes(id)).length
      return missing + ghosts === 0 ? [] : [`${missing} missing, ${ghosts} ghosts`]
    })
  return eventually(
    () => wrong().length === 0,
    () => `${documentId}: of ${people.length} people some are shown ${wrong().join('; ')}`,
    shownMsMax,
  )
}

/** Returns which values are equal, for example `aab`. */
function letters(values: readonly string[]): string {
  const kinds = [...new Set(values)]
  return values.map((value) => String.fromCharCode(97 + kinds.indexOf(value))).join('')
}
