import * as Y from 'yjs'
import type { ApiCallError } from '../../api/client.ts'
import { AwarenessTracker } from './awareness-users.ts'
import { openReadOnlySocket } from './read-only-socket.ts'
import { RecentEdits } from './recent-edits.ts'

export type ConnectionState =
  | { readonly kind: 'connecting' | 'live' }
  /** Reconnects automatically. */
  | { readonly kind: 'lost'; readonly why: string }
  /** Does not reconnect. */
  | { readonly kind: 'ended'; readonly why: string }

const backoffMs = { least: 500, most: 15_000 } as const

/**
 * Close codes after which a new connection cannot succeed. Codes about tokens are not final: the next token is new.
 */
const isFinal = (code: number): boolean => code === 4400 || code === 4404 || code === 4413

/** Error statuses of a token request that may pass; a proxy returns `INTERNAL` without its server. */
const passing: ReadonlySet<string> = new Set(['OFFLINE', 'UNAVAILABLE', 'RESOURCE_EXHAUSTED', 'INTERNAL'])

export interface LiveOptions {
  /** Such as `ws://localhost:8900/sync/acme/notes/main`. */
  readonly url: string
  /** Creates a realtime token; called for each connection. */
  readonly token: () => Promise<string>
  /** Called after a change, at most once per frame. */
  readonly onChange: () => void
}

/** A read-only live document: it sends no edits and no awareness state. */
export class LiveDocument {
  readonly doc = new Y.Doc()
  readonly people = new AwarenessTracker()
  readonly fresh: RecentEdits
  connection: ConnectionState = { kind: 'connecting' }
  readonly #options: LiveOptions
  #hangUp: () => void = () => {}
  #retry: ReturnType<typeof setTimeout> | undefined
  #failures = 0
  #frame = 0
  #pause: ReturnType<typeof setTimeout> | undefined
  /** Time of `performance.now` before which nothing is drawn. */
  #restUntil = 0
  #isOver = false

  constructor(options: LiveOptions) {
    this.#options = options
    this.fresh = new RecentEdits(this.doc, () => this.#changed())
    this.doc.on('update', () => this.#changed())
    void this.#connect()
  }

  close(): void {
    this.#isOver = true
    this.#hangUp()
    clearTimeout(this.#retry)
    clearTimeout(this.#pause)
    cancelAnimationFrame(this.#frame)
    this.fresh.end()
    this.doc.destroy()
  }

  async #connect(): Promise<void> {
    const { url, token } = this.#options
    try {
      const given = await token()
      if (this.#isOver) return
      this.#hangUp = openReadOnlySocket(`${url}?token=${encodeURIComponent(given)}`, {
        vector: () => Y.encodeStateVector(this.doc),
        onUpdate: (update) => Y.applyUpdate(this.doc, update, this),
        onSynced: () => this.#synced(),
        onAwareness: (message) => {
          this.people.receive(message, Date.now())
          this.#changed()
        },
        onClose: (code, reason) => this.#lost(reason || `the connection was closed (${code})`, isFinal(code)),
      })
    } catch (error) {
      const { status, message } = error as ApiCallError
      this.#lost(message, !passing.has(status))
    }
  }

  #synced(): void {
    this.#failures = 0
    this.connection = { kind: 'live' }
    this.fresh.begin()
    this.#changed()
  }

  #lost(why: string, forGood: boolean): void {
    if (this.#isOver) return
    this.people.clear()
    this.connection = { kind: forGood ? 'ended' : 'lost', why }
    this.#changed()
    if (forGood) return
    const waitMs = Math.min(backoffMs.most, backoffMs.least * 2 ** this.#failures++)
    this.#retry = setTimeout(() => void this.#connect(), waitMs)
  }

  /** Draws at most once per frame, and less often if drawing is slow. */
  #changed(): void {
    if (this.#pause !== undefined || this.#isOver) return
    this.#pause = setTimeout(() => {
      this.#frame = requestAnimationFrame(() => this.#draw())
    }, this.#restUntil - performance.now())
  }

  #draw(): void {
    this.#pause = undefined
    const began = performance.now()
    this.#options.onChange()
    // Rendering runs before the next task. Two thirds of the time stay free for the user of the page.
    setTimeout(() => {
      const now = performance.now()
      this.#restUntil = now + 2 * (now - began)
    })
  }
}
