import { type Doc, decodeStateVector, encodeStateVector } from 'yjs'
import type { DocumentRole } from './sync-connection.ts'

/** The role of a user, as the server has last reported it. */
export interface KnownRole {
  /** Absent if the token of the user has no id. */
  readonly userId?: string | undefined
  readonly role: DocumentRole
  readonly canWrite: boolean
}

/** An offline store of one document, such as an `IndexeddbPersistence` of y-indexeddb. */
export interface StoredCopy {
  /** Resolves when the stored content is in the document. */
  readonly whenSynced: Promise<unknown>
  get(key: string): Promise<unknown>
  set(key: string, value: ArrayBuffer | string): Promise<unknown>
  destroy(): Promise<unknown>
  clearData(): Promise<unknown>
}

/** The class of an offline store, such as `IndexeddbPersistence`. */
export type BrowserStorage = new (name: string, doc: Doc) => StoredCopy

/** Key of the last known state vector of the server. `examples/codemirror` stores a Uint8Array under it. */
const serverHad = 'server-had'
/** Key of the last known role, as the JSON of a `KnownRole`; an empty text if there is none. */
const knownRole = 'known-role'
/** Milliseconds after which a store that does not open is not used. */
const openMs = 10_000

/**
 * The copy of a document in this browser. It belongs to one document of the server: a document that was deleted and
 * created again has the same name, and a merge would put the old text next to the new one. A server never loses a
 * client of a document. So if it knows none of the clients of its last known state vector, it has another document.
 */
export class OfflineCopy {
  /** Null if nothing is stored. The state vector of the server is then known as long as the page lives. */
  readonly #store: StoredCopy | null
  readonly #doc: Doc
  #known: Map<number, number>
  /** True if the store has a state vector of this session. */
  #isCurrent = false
  /** The stored role, in its stored form. */
  #roleText: string

  private constructor(store: StoredCopy | null, doc: Doc, known?: ArrayBuffer, roleText = '') {
    this.#store = store
    this.#doc = doc
    this.#roleText = roleText
    this.#known = known === undefined ? new Map<number, number>() : decodeStateVector(new Uint8Array(known))
  }

  /** Loads the stored content into the document. Stores nothing if the browser does not open the store. */
  static async open(Storage: BrowserStorage | undefined, name: string, doc: Doc): Promise<OfflineCopy> {
    if (!Storage) return new OfflineCopy(null, doc)
    const store = new Storage(name, doc)
    let timer: ReturnType<typeof setTimeout> | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(reject, openMs)
    })
    try {
      await Promise.race([store.whenSynced, late])
      const known = (await store.get(serverHad)) as ArrayBuffer | undefined
      return new OfflineCopy(store, doc, known, (await store.get(knownRole)) as string | undefined)
    } catch {
      // A store that opens later would merge content that was not compared with the server.
      void store.destroy().catch(() => {})
      return new OfflineCopy(null, doc)
    } finally {
      clearTimeout(timer)
    }
  }

  /** True if the browser stores the document. */
  get isStored(): boolean {
    return this.#store !== null
  }

  /** Returns whether the copy can belong to the document of the server, and remembers the state vector. */
  matches(vector: Uint8Array): boolean {
    const has = decodeStateVector(vector)
    if (this.#known.size > 0 && ![...this.#known.keys()].some((client) => has.has(client))) return false
    if (has.size > 0) void this.#remember(vector, has).catch(() => {})
    return true
  }

  /** Must be called when the server has everything of this document. Resolves when the store knows that. */
  async saved(): Promise<void> {
    if (this.#isCurrent) return
    const vector = encodeStateVector(this.#doc)
    const has = decodeStateVector(vector)
    if (has.size > 0) await this.#remember(vector, has)
  }

  async #remember(vector: Uint8Array, has: Map<number, number>): Promise<void> {
    this.#known = has
    await this.#store?.set(serverHad, Uint8Array.from(vector).buffer)
    this.#isCurrent = true
  }

  /** The role of the last connection; null if it is not known. */
  get role(): KnownRole | null {
    return this.#roleText ? (JSON.parse(this.#roleText) as KnownRole) : null
  }

  /** Stores the role; with null, forgets it. */
  keepRole(role: KnownRole | null): void {
    const text = role ? JSON.stringify(role) : ''
    if (text === this.#roleText) return
    this.#roleText = text
    void this.#store?.set(knownRole, text).catch(() => {})
  }

  /** Deletes the copy from this browser. */
  async clear(): Promise<void> {
    await this.#store?.clearData()
  }

  async close(): Promise<void> {
    await this.#store?.destroy()
  }
}
