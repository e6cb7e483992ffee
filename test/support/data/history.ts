import { randomUUID } from 'node:crypto'
import * as Y from 'yjs'
import { addressKey } from '../../../src/core/model/address.ts'
import type { Engine, Key } from '../../../src/core/store/engine.ts'
import { RawClient } from '../clients/clients.ts'
import type { TestServer } from '../servers/server.ts'

/** One of the servers that a history uses. */
export interface Place {
  readonly server: Pick<TestServer, 'wsUrl' | 'post' | 'token'> & {
    readonly credentials: Pick<TestServer['credentials'], 'workspaceId' | 'apiKey'>
  }
  /** Engine of the store of the server. The history reads its log directly. */
  readonly engine: Pick<Engine, 'log'>
}

export type Barrier = 'disable' | 'delete' | 'downgrade' | 'revoke' | 'revokeTokens'

export interface HistoryOptions {
  readonly seed: number
  readonly places: readonly Place[]
  /**
   * Number of barriers. A barrier is a change after which some writes are forbidden. The barriers happen one
   * after the other.
   */
  readonly barriers: number
  /** Kinds of barriers from which each barrier is chosen at random. */
  readonly kinds: readonly Barrier[]
  /** Maximum time in ms for which forbidden writes are expected after a barrier. */
  readonly watchMsMax?: number
  /** Slows down the disk, the bus or a node for some time. */
  readonly disturb: (random: () => number) => Promise<void>
}

/** Record of one run. */
export interface History {
  readonly events: readonly string[]
  /** Forbidden writes that are in the store, and acknowledged writes that are not in it. */
  readonly violations: readonly string[]
  readonly barriers: Readonly<Record<string, number>>
  /** Number of acknowledged writes. */
  readonly acknowledged: number
}

const organizationId = 'acme'
const documentIds = ['d0', 'd1']
const users = ['ann', 'bob']
const editorId = 'main'
/** Size of a text in characters that the server replaces on a thread. */
const largeText = 90_000
const writersPauseMs = 12
const barrierMs = 60
/** Maximum time in ms until a call succeeds or a websocket opens. */
const msMax = { call: 60_000, handshake: 3_000 }

/** Returns a generator of pseudorandom numbers (xorshift32). The same seed gives the same numbers. */
export function randomOf(seed: number): () => number {
  let state = seed | 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

interface Entry {
  readonly seq: number
  readonly by: string
}

interface Log {
  readonly epoch: number
  readonly head: number
  readonly entries: readonly Entry[]
}

/**
 * Runs writes of several users and backends concurrently with barriers, and checks their effects in the
 * store.
 */
class World {
  readonly events: string[] = []
  readonly violations: string[] = []
  readonly counts: Record<string, number> = {}
  readonly #options: HistoryOptions
  readonly #random: () => number
  readonly #sessions = new Set<RawClient>()
  /** Whether each user may get new tokens, by user. */
  readonly #mayMint = new Map(users.map((user) => [user, true]))
  /** Number of revocations that have begun. */
  #revocations = 0
  /**
   * Acknowledged writes. `generation` is the number of times that a deletion of the document had begun or ended when
   * the write began, so that writes during a deletion do not count.
   */
  readonly #acknowledged: {
    readonly documentId: string
    readonly generation: number
    readonly by: string
  }[] = []
  readonly #generations = new Map(documentIds.map((id) => [id, 0]))
  readonly #versions = new Map<string, string>()
  #writes = 0
  #isOver = false

  constructor(options: HistoryOptions) {
    this.#options = options
    this.#random = randomOf(options.seed)
  }

  async run(): Promise<History> {
    await this.#succeed('/v2/organizations/add', { organizations: [{ organizationId }] })
    for (const documentId of documentIds) await this.#make(documentId)
    const actors = [
      ...documentIds.flatMap((documentId) => users.map((user) => this.#type(user, documentId))),
      ...documentIds.flatMap((documentId) => [this.#apply(documentId), this.#replace(documentId)]),
      this.#restore(documentIds[0] as string),
      this.#disturb(),
    ]
    for (let index = 0; index < this.#options.barriers; index += 1) await this.#barrier()
    this.#isOver = true
    await Promise.all(actors)
    for (const session of this.#sessions) session.end()
    for (const documentId of documentIds) await this.#checkLost(documentId)
    const { events, violations, counts: barriers } = this
    return { events, violations, barriers, acknowledged: this.#acknowledged.length }
  }

  #pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.#random() * from.length)] as T
  }

  async #call(
    path: string,
    data: object,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<{ status: string; code: string | undefined; data: unknown }> {
    const { server } = this.#pick(this.#options.places)
    // Uses a new connection for each call, because the server may close an idle one while the disk is paused.
    const { body } = await server.post(path, data, { connection: 'close', ...headers })
    const { result, error } = body
    return { status: (result ?? error)?.status ?? '', code: error?.details?.code, data: result?.data }
  }

  /** Calls an operation repeatedly until it succeeds. A node that is cut off may return UNAVAILABLE. */
  async #succeed(path: string, data: object): Promise<unknown> {
    const deadline = Date.now() + msMax.call
    // A node that pauses may carry the call out after another one, and after the next barrier.
    let key = randomUUID()
    for (;;) {
      const answer = await this.#call(path, data, { 'idempotency-key': key })
      if (answer.status === 'success') return answer.data
      // The call may have taken effect. A history accepts that it does so twice.
      if (answer.code === 'idempotency/outcome-unknown') key = randomUUID()
      if (Date.now() > deadline) throw new Error(`${path}: ${JSON.stringify(answer)}`)
      await sleep(50)
    }
  }

  async #make(documentId: string): Promise<void> {
    const address = { organizationId, documentId, editorId }
    const documents = [{ documentId, accessType: 'restricted' }]
    await this.#succeed('/v2/organizations/documents/add', { organizationId, documents })
    await this.#succeed('/v2/crdt/update', {
      ...address,
      type: 'text',
      contentKey: 'body',
      data: 'x',
      upsert: true,
    })
    const { versionId } = (await this.#succeed('/v2/crdt/versions/create', address)) as { versionId: string }
    this.#versions.set(documentId, versionId)
    for (const user of users) await this.#grant(user, documentId, 'editor')
  }

  #grant(userId: string, id: string, accessRole: 'editor' | 'viewer'): Promise<unknown> {
    const resources = [{ type: 'document', id, organizationId, accessRole }]
    return this.#succeed('/v2/auth/permissions/add', { user: { userId }, permissions: { resources } })
  }

  /** Runs a client that types. The client reconnects if it is disconnected. */
  async #type(user: string, documentId: string): Promise<void> {
    let token: string | null = null
    while (!this.#isOver) {
      await sleep(this.#random() * 3 * writersPauseMs)
      if (this.#mayMint.get(user) === true) {
        const revocations = this.#revocations
        const created = await this.#pick(this.#options.places).server.token(user)
        // The token may be newer than a revocation that has begun meanwhile.
        if (revocations === this.#revocations) token = created
      }
      if (token === null) continue
      const { server } = this.#pick(this.#options.places)
      const url = `${server.wsUrl}/sync/${organizationId}/${documentId}/${editorId}?token=${token}`
      const connecting = RawClient.connect(url, {}, { handshakeTimeout: msMax.handshake })
      const client = await connecting.catch(() => null)
      if (client === null) continue
      this.#sessions.add(client)
      while (client.socket.readyState === client.socket.OPEN && !this.#isOver) {
        client.sendUpdate(this.#update())
        await sleep(this.#random() * writersPauseMs)
      }
      this.#sessions.delete(client)
      client.end()
    }
  }

  /** Returns an update with a new client id. Such an update has no dependencies. */
  #update(name = 'typed'): Uint8Array {
    const doc = new Y.Doc()
    doc.clientID = this.#options.seed * 100_000 + ++this.#writes
    doc.getMap('marks').set(`${name} ${this.#writes}`, true)
    return Y.encodeStateAsUpdate(doc)
  }

  async #write(path: string, documentId: string, data: object): Promise<void> {
    const generation = this.#generations.get(documentId) ?? 0
    const by = `w${++this.#writes}`
    const answer = await this.#call(path, { organizationId, documentId, editorId, userId: by, ...data })
    const { changed = true } = (answer.data ?? {}) as { changed?: boolean }
    if (answer.status === 'success' && changed) this.#acknowledged.push({ documentId, generation, by })
  }

  async #apply(documentId: string): Promise<void> {
    while (!this.#isOver) {
      const update = Buffer.from(this.#update()).toString('base64')
      await this.#write('/v2/crdt/apply', documentId, { update })
      await sleep(this.#random() * writersPauseMs)
    }
  }

  async #replace(documentId: string): Promise<void> {
    while (!this.#isOver) {
      const size = this.#random() < 0.5 ? 10 : largeText
      const data = `${this.#random()} `.repeat(Math.ceil(size / 20))
      await this.#write('/v2/crdt/update', documentId, { type: 'text', contentKey: 'body', data })
      await sleep(this.#random() * writersPauseMs)
    }
  }

  async #restore(documentId: string): Promise<void> {
    while (!this.#isOver) {
      const versionId = this.#versions.get(documentId) ?? ''
      await this.#write('/v2/crdt/versions/restore', documentId, { versionId })
      await sleep(4 * writersPauseMs)
    }
  }

  async #disturb(): Promise<void> {
    while (!this.#isOver) await this.#options.disturb(this.#random)
  }

  async #barrier(): Promise<void> {
    const [documentId, user] = [this.#pick(documentIds), this.#pick(users)]
    await sleep(this.#random() * barrierMs)
    const kind = this.#pick(this.#options.kinds)
    this.counts[kind] = (this.counts[kind] ?? 0) + 1
    this.events.push(`${kind} ${documentId} ${user}`)
    if (kind === 'disable') {
      await this.#setDisabled(documentId, true)
      await this.#nothingComes(kind, [documentId], () => true)
      await this.#setDisabled(documentId, false)
    } else if (kind === 'delete') {
      this.#endGeneration(documentId)
      await this.#succeed('/v2/organizations/documents/delete', { organizationId, documentIds: [documentId] })
      this.#endGeneration(documentId)
      await this.#nothingComes(kind, [documentId], () => true)
      await this.#make(documentId)
    } else if (kind === 'revokeTokens') {
      this.#mayMint.set(user, false)
      this.#revocations += 1
      await this.#succeed('/v2/auth/revoke_tokens', { userId: user })
      await this.#nothingComes(kind, documentIds, ({ by }) => by === user)
      this.#mayMint.set(user, true)
    } else {
      if (kind === 'downgrade') await this.#grant(user, documentId, 'viewer')
      else {
        const resources = [{ type: 'document', id: documentId, organizationId }]
        await this.#succeed('/v2/auth/permissions/remove', { userId: user, permissions: { resources } })
      }
      await this.#nothingComes(kind, [documentId], ({ by }) => by === user)
      await this.#grant(user, documentId, 'editor')
    }
  }

  #endGeneration(documentId: string): void {
    this.#generations.set(documentId, (this.#generations.get(documentId) ?? 0) + 1)
  }

  #setDisabled(documentId: string, disabled: boolean): Promise<unknown> {
    const documents = [{ documentId, disabled }]
    return this.#succeed('/v2/organizations/documents/update', { organizationId, documents })
  }

  /**
   * Checks that no write that the barrier forbids reaches the store. Call this method after the barrier is
   * acknowledged.
   */
  async #nothingComes(
    kind: string,
    ids: readonly string[],
    isForbidden: (entry: Entry) => boolean,
  ): Promise<void> {
    const before = await Promise.all(ids.map((id) => this.#log(id)))
    const { watchMsMax = 5 * barrierMs } = this.#options
    await sleep(barrierMs + this.#random() * (watchMsMax - barrierMs))
    const after = await Promise.all(ids.map((id) => this.#log(id)))
    for (const [index, id] of ids.entries()) {
      const [earlier, later] = [before[index] ?? null, after[index] ?? null]
      if (kind === 'delete' && later !== null) this.violations.push(`${kind}: ${id} is there again`)
      const from = earlier !== null && earlier.epoch === later?.epoch ? earlier.head : 0
      const late = later?.entries.filter((entry) => entry.seq > from && isForbidden(entry)) ?? []
      for (const { seq, by } of late)
        this.violations.push(`${kind}: ${id} got entry ${seq} of ${by} after the acknowledgment`)
    }
  }

  /** Returns the log of a document from the store; null if the document does not exist. */
  async #log(documentId: string): Promise<Log | null> {
    const [{ server, engine }] = this.#options.places as [Place]
    const { workspaceId, apiKey } = server.credentials
    const key: Key = addressKey({ workspaceId, apiKey, organizationId, documentId, editorId })
    const loaded = await engine.log.load(key, { since: 0 })
    return loaded.state === 'live' ? loaded : null
  }

  async #checkLost(documentId: string): Promise<void> {
    const log = await this.#log(documentId)
    const writers = new Set(log?.entries.map(({ by }) => by))
    for (const { documentId: id, generation, by } of this.#acknowledged) {
      if (id !== documentId || generation !== this.#generations.get(id)) continue
      if (!writers.has(by)) this.violations.push(`${id} has lost the acknowledged write ${by}`)
    }
  }
}

/** Runs a history. The result contains the violations. */
export const makeHistory = (options: HistoryOptions): Promise<History> => new World(options).run()
