import { ObservableV2 } from 'lib0/observable'
import { Awareness, removeAwarenessStates } from 'y-protocols/awareness'
import { Doc, decodeStateVector, encodeStateVector } from 'yjs'
import { pauseAfter } from '../../core/base/backoff.ts'
import { OfflineCopy } from './offline-copy.ts'
import { type PresentUser, presentUsers, type UserFields } from './present-users.ts'
import { type ProviderProblem, problem, problemOfClose } from './provider-problem.ts'
import type { ProviderEvents, ProviderOptions, ProviderStatus } from './provider-types.ts'
import { type DocumentRole, SyncConnection } from './sync-connection.ts'
import { TokenCache, TokenDeniedError, tokenRequest } from './token-cache.ts'

/** Problems after which the server needs time. The pause after them is as long as after this number of failures. */
const failuresMin: Partial<Record<ProviderProblem['code'], number>> = {
  'try-again-later': 3,
  'server-error': 6,
}
const firstRetryMs = 200
/** Minimum milliseconds between two new tokens, except for the first one after a rejection. */
const renewMs = 2_000
/** Milliseconds in which the server acknowledges that it has everything of a user who may not write. */
const knownMs = 2_000
/** Number of consecutive rejections after which the provider stops. A user whose tokens were just revoked needs two. */
const rejectionsMax = 3

const outdated = problem(
  'schema-outdated',
  'the document has a newer schema; load the new version of the application',
)

/** Returns whether a document has insertions that are not in a state vector. */
function hasMore(doc: Doc, vector: Uint8Array): boolean {
  const has = decodeStateVector(vector)
  return [...decodeStateVector(encodeStateVector(doc))].some(
    ([client, clock]) => clock > (has.get(client) ?? 0),
  )
}

/**
 * Keeps a Yjs document in sync with a Weft server. It uses a websocket, or HTTP behind proxies that reject
 * websockets. It reconnects and renews its token by itself.
 */
export class DocumentProvider extends ObservableV2<ProviderEvents> {
  readonly doc: Doc
  readonly awareness: Awareness
  readonly #options: ProviderOptions
  readonly #url: string
  readonly #tokens: TokenCache
  readonly #offline: Promise<OfflineCopy>
  /** Null until the offline copy is loaded. */
  #copy: OfflineCopy | null = null
  #connection: SyncConnection | null = null
  /** Changes that were sent and are not durable. */
  readonly #unsaved: Uint8Array[] = []
  /** Number of attempts; a result of an earlier attempt is ignored. */
  #attempt = 0
  /** Number of failures since the document was last in sync. */
  #failures = 0
  /** Number of tokens that the server rejected consecutively. */
  #rejections = 0
  /** Time at which the server last rejected a token (`Date.now()`). */
  #rejectedAtMs = 0
  #retryTimer: ReturnType<typeof setTimeout> | undefined
  #renewTimer: ReturnType<typeof setTimeout> | undefined
  #readOnlyTimer: ReturnType<typeof setTimeout> | undefined
  #isDestroyed = false
  #status: ProviderStatus = 'closed'
  #problem: ProviderProblem | null = null
  #isSaved: boolean
  #isSynced = false
  #role: DocumentRole | null = null
  #canWrite = true
  #isOutdated = false

  /** @throws TypeError if `url` is not a URL */
  constructor(options: ProviderOptions) {
    super()
    const { organizationId, documentId, editorId = 'main', getToken, tokenUrl } = options
    // Throws if the URL is invalid.
    this.#url = new URL(options.url, globalThis.location?.href).href
    this.#options = options
    this.doc = options.doc ?? new Doc()
    this.awareness = options.awareness ?? new Awareness(this.doc)
    const body = { organizationId, documentId, editorId }
    this.#tokens = new TokenCache(
      getToken ? async (signal) => getToken(signal) : tokenRequest(tokenUrl, body),
    )
    this.#isSaved = this.doc.store.clients.size === 0
    // Without this field, other users would not see a user who publishes nothing else.
    const { user } = this.awareness.getLocalState() ?? {}
    if (options.user !== undefined || user === undefined) this.setUser(options.user ?? {})
    this.doc.on('update', this.#changed)
    this.doc.on('destroy', this.#destroyed)
    this.awareness.on('update', this.#awarenessUpdated)
    this.awareness.on('change', this.#awarenessChanged)
    globalThis.addEventListener?.('online', this.#networkChanged)
    globalThis.addEventListener?.('offline', this.#networkChanged)
    globalThis.document?.addEventListener('visibilitychange', this.#networkChanged)
    const name = options.offlineName ?? `weft/${organizationId}/${documentId}/${editorId}`
    this.#offline = OfflineCopy.open(options.offline, name, this.doc).then((copy) => this.#loaded(copy))
    if (options.connect !== false) this.connect()
  }

  get status(): ProviderStatus {
    return this.#status
  }

  /**
   * Why the provider is not connected, or why the server does not accept the changes; null if there is no problem, or if
   * `disconnect` was called.
   */
  get problem(): ProviderProblem | null {
    return this.#problem
  }

  /** True if all changes of this document are durable on the server. */
  get saved(): boolean {
    return this.#isSaved
  }

  /** True if the document has everything that the server had when the connection was opened, and later changes. */
  get synced(): boolean {
    return this.#isSynced
  }

  /**
   * The last known role of the user. Before the first connection, it is the one in the offline copy. Null if there is
   * none, or if it is the role of another user.
   */
  get role(): DocumentRole | null {
    return this.#role
  }

  /**
   * False if the server drops the changes of this user, or if the offline copy has the role of another user. True before
   * the first connection if the offline copy has no role.
   */
  get canWrite(): boolean {
    return this.#canWrite
  }

  /** True if this browser stores the document. False until the stored content is loaded. */
  get isStoredOffline(): boolean {
    return this.#copy?.isStored === true
  }

  /** Resolves when the stored content is in the document, or when there is no offline store. */
  async whenLoaded(): Promise<void> {
    await this.#offline
  }

  /** Users on the document, this one first. */
  users(): readonly PresentUser[] {
    const { sub: id, name } = this.#tokens.claims
    return presentUsers(this.awareness, { id, name })
  }

  /** Changes what the other users see of this user. */
  setUser(user: UserFields): void {
    this.awareness.setLocalStateField('user', user)
  }

  /** Connects, also after a problem that has closed the provider. Does nothing if it is connected. */
  connect(): void {
    if (this.#isDestroyed || this.#connection) return
    if (this.#status === 'closed') {
      this.#rejections = 0
      this.#setStatus('connecting', null)
    }
    void this.#open()
  }

  /** Ends the connection. Changes stay in the document, and are sent after the next `connect`. */
  disconnect(): void {
    this.#close(null)
  }

  /** Deletes the offline copy from this browser. Its changes that are not saved are lost. Closes the provider. */
  async deleteOfflineCopy(): Promise<void> {
    this.disconnect()
    await (await this.#offline).clear()
  }

  /** Ends everything. The document stays, and so does an `awareness` of the options. */
  override destroy(): void {
    if (this.#isDestroyed) return
    this.#isDestroyed = true
    if (!this.#options.awareness) this.awareness.destroy()
    this.disconnect()
    this.#tokens.abort()
    this.doc.off('update', this.#changed)
    this.doc.off('destroy', this.#destroyed)
    this.awareness.off('update', this.#awarenessUpdated)
    this.awareness.off('change', this.#awarenessChanged)
    globalThis.removeEventListener?.('online', this.#networkChanged)
    globalThis.removeEventListener?.('offline', this.#networkChanged)
    globalThis.document?.removeEventListener('visibilitychange', this.#networkChanged)
    void this.#offline.then((copy) => copy.close())
    super.destroy()
  }

  readonly #destroyed = (): void => this.destroy()

  #loaded(copy: OfflineCopy): OfflineCopy {
    this.#copy = copy
    if (copy.role && !this.#isDestroyed) this.#applyRole(copy.role.role, copy.role.canWrite)
    return copy
  }

  readonly #changed = (update: Uint8Array, origin: unknown): void => {
    if (origin === this) return
    this.#setSaved(false)
    // The server drops changes of a user without the right. They are sent when the user gets it.
    if (this.#canWrite) this.#connection?.sendUpdate(update)
    else this.#connection?.withholdUpdate()
  }

  readonly #awarenessUpdated = ({ added, updated, removed }: Record<string, number[]>): void => {
    if ([added, updated, removed].some((clients) => clients?.includes(this.awareness.clientID)))
      this.#connection?.sendAwareness()
  }

  readonly #awarenessChanged = (): void => this.emit('users', [this.users()])

  /** Connects at once if the provider waits. Otherwise, finds out whether the connection still works. */
  readonly #networkChanged = (): void => {
    if (this.#status === 'connected') this.#connection?.probe()
    else if (this.#retryTimer !== undefined) void this.#open()
  }

  async #open(): Promise<void> {
    clearTimeout(this.#retryTimer)
    this.#retryTimer = undefined
    this.#attempt += 1
    const attempt = this.#attempt
    try {
      const copy = await this.#offline
      // A provider that was closed meanwhile must not request a token.
      if (attempt !== this.#attempt) return
      const token = await this.#tokens.get()
      if (attempt !== this.#attempt) return
      // The role in the copy can be that of another user of this browser.
      if (copy.role && copy.role.userId !== this.#tokens.claims.sub) this.#applyRole(null, false)
      this.#connectWith(token)
    } catch (error) {
      if (attempt !== this.#attempt) return
      const code = error instanceof TokenDeniedError ? 'token-denied' : 'token-unavailable'
      this.#failed(problem(code, error instanceof Error ? error.message : String(error)))
    }
  }

  #connectWith(token: string): void {
    const { doc, awareness } = this
    const { WebSocket } = this.#options
    this.#connection = new SyncConnection(
      {
        url: this.#urlWith(token),
        socket: WebSocket === undefined ? {} : { WebSocket },
        doc,
        awareness,
        origin: this,
        failures: this.#failures,
        unsaved: this.#unsaved,
      },
      {
        vectorReceived: (vector) => this.#vectorReceived(vector),
        synced: () => this.#setSynced(),
        allSaved: () => void this.#allSaved(),
        roleReceived: (...received) => this.#roleReceived(...received),
        messageReceived: (message) => this.emit('message', [message]),
        closed: (code, reason) => this.#failed(problemOfClose(code, reason)),
      },
    )
  }

  #urlWith(token: string): string {
    const { organizationId, documentId, editorId = 'main', schemaVersion } = this.#options
    const path = [organizationId, documentId, editorId].map(encodeURIComponent).join('/')
    const query = new URLSearchParams({ saved: '1', live: '1', role: '1', renew: '1', token })
    if (schemaVersion !== undefined) query.set('schemaVersion', `${schemaVersion}`)
    return `${this.#url.replace(/^http/, 'ws').replace(/\/$/, '')}/sync/${path}?${query}`
  }

  #vectorReceived(vector: Uint8Array): boolean {
    if (this.#copy?.matches(vector) === false) {
      this.#close(problem('document-replaced', 'the document was deleted and created again'))
      return false
    }
    if (hasMore(this.doc, vector)) this.#setSaved(false)
    // The server would count them as dropped, also those that it has.
    if (!this.#canWrite) this.#unsaved.length = 0
    return true
  }

  #setSynced(): void {
    this.#failures = 0
    this.#rejections = 0
    const wasSynced = this.#isSynced
    this.#isSynced = true
    this.#renewLater()
    this.#setStatus('connected', null)
    this.#showReadOnly()
    // A listener may have closed the provider.
    if (!wasSynced && this.#isSynced) this.emit('synced', [true])
  }

  async #allSaved(): Promise<void> {
    await this.#copy?.saved().catch(() => {})
    if (this.#connection?.isAllSaved === true) this.#setSaved(true)
  }

  #roleReceived(role: DocumentRole, canWrite: boolean, isOutdated: boolean): void {
    const couldWrite = this.#canWrite
    this.#isOutdated = isOutdated
    this.#applyRole(role, canWrite)
    this.#showReadOnly()
    this.#copy?.keepRole({ userId: this.#tokens.claims.sub, role, canWrite })
    // A new connection offers the changes that this one has not sent.
    if (canWrite && !couldWrite && !this.#isSaved && this.#connection?.hasOffered === true) this.#reopen()
  }

  #applyRole(role: DocumentRole | null, canWrite: boolean): void {
    if (role === this.#role && canWrite === this.#canWrite) return
    this.#role = role
    this.#canWrite = canWrite
    this.emit('role', [role, canWrite])
    this.#showReadOnly()
  }

  /** Shows changes that the server drops. If there are none, the server acknowledges that soon. */
  #showReadOnly(): void {
    clearTimeout(this.#readOnlyTimer)
    if (this.#status !== 'connected') return
    if (this.#isOutdated) return this.#setStatus('connected', outdated)
    if (this.#canWrite || this.#isSaved) return this.#setStatus('connected', null)
    const found = problem('read-only', 'the user may not write; the changes stay in this document')
    this.#readOnlyTimer = setTimeout(() => this.#setStatus('connected', found), knownMs)
  }

  /** Replaces the connection. The status changes only if that fails. */
  #reopen(): void {
    this.#connection?.close()
    this.#connection = null
    void this.#open()
  }

  #renewLater(): void {
    clearTimeout(this.#renewTimer)
    // Timers may fire a little early.
    this.#renewTimer = setTimeout(() => void this.#renew(), Math.max(this.#tokens.dueInMs + 50, renewMs))
  }

  /** Sends a new token over the open connection. If there is none, the server closes when the old one expires. */
  async #renew(): Promise<void> {
    const connection = this.#connection
    if (connection === null) return
    // The timer of a token with a long lifetime ends several times.
    if (this.#tokens.dueInMs > 0) return this.#renewLater()
    await this.#tokens.get().then(
      (token) => connection.sendToken(token),
      () => {},
    )
    if (connection === this.#connection) this.#renewLater()
  }

  /** Handles the end of a connection, or an attempt that has failed. */
  #failed(found: ProviderProblem): void {
    let cause = found
    if (cause.code === 'token-expired') {
      this.#rejections += 1
      if (this.#rejections >= rejectionsMax) cause = problem('token-rejected', cause.message, cause.closeCode)
      this.#tokens.discard()
    }
    if (cause.action === 'stop') return this.#close(cause)
    const isSoon = this.#status === 'connected' || cause.action === 'new-token'
    const delay = cause.action === 'new-token' ? this.#newTokenDelayMs() : this.#delayMs(cause.code)
    this.#failures += 1
    this.#end(isSoon ? 'connecting' : 'offline', cause, delay)
  }

  /** Returns 0, unless the server also rejected the last token soon. */
  #newTokenDelayMs(): number {
    const [last, now] = [this.#rejectedAtMs, Date.now()]
    this.#rejectedAtMs = now
    return now - last < renewMs ? renewMs : 0
  }

  #delayMs(code: ProviderProblem['code']): number {
    const { retryMaxMs = 15_000 } = this.#options
    const failures = Math.max(failuresMin[code] ?? 0, this.#failures + 1)
    return pauseAfter({ firstMs: firstRetryMs, maxMs: retryMaxMs }, failures)
  }

  #close(cause: ProviderProblem | null): void {
    // A user without permission must not write offline.
    if (cause?.code === 'token-denied' || cause?.code === 'forbidden') this.#copy?.keepRole(null)
    this.#end('closed', cause, null)
  }

  /**
   * Ends the connection, the attempt and the timers. The events come last, because their listeners may connect, close or
   * destroy the provider.
   * @param retryMs milliseconds until the next attempt; null if there is none
   */
  #end(status: ProviderStatus, cause: ProviderProblem | null, retryMs: number | null): void {
    this.#attempt += 1
    clearTimeout(this.#retryTimer)
    clearTimeout(this.#renewTimer)
    clearTimeout(this.#readOnlyTimer)
    this.#retryTimer = retryMs === null ? undefined : setTimeout(() => void this.#open(), retryMs)
    this.#connection?.close()
    this.#connection = null
    const wasSynced = this.#isSynced
    this.#isSynced = false
    const { awareness } = this
    const others = [...awareness.getStates().keys()].filter((client) => client !== awareness.clientID)
    this.#setStatus(status, cause)
    removeAwarenessStates(awareness, others, this)
    if (wasSynced) this.emit('synced', [false])
  }

  #setSaved(saved: boolean): void {
    if (saved === this.#isSaved) return
    this.#isSaved = saved
    this.emit('saved', [saved])
    this.#showReadOnly()
  }

  #setStatus(status: ProviderStatus, cause: ProviderProblem | null): void {
    const isSame = status === this.#status && cause?.code === this.#problem?.code
    this.#status = status
    this.#problem = cause
    if (!isSame) this.emit('status', [status, cause])
  }
}
