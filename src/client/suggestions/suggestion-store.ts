import { EndpointReads } from '../endpoint/endpoint-reads.ts'
import { EndpointError, type EndpointRequest, requestsTo } from '../endpoint/endpoint-request.ts'
import type { StartedSuggesting, SuggestedChange, SuggestionList } from '../rest/endpoint-suggestions.ts'

/** The suggestions of an editor, as `SuggestionStore.get` returns them. */
export interface SuggestionsState extends SuggestionList {
  /** Why the last read, or else the last decision, has failed; or null. After a temporary error, a read is repeated. */
  readonly error: EndpointError | null
}

/** Address of the editor that the users suggest to change. */
export interface SuggestedEditor {
  readonly organizationId: string
  readonly documentId: string
  /** Default: `main`. */
  readonly editorId?: string
}

/** Events of a provider or of its presence. */
export interface SuggestionEvents {
  on(event: string, listener: (...values: never[]) => void): unknown
  off(event: string, listener: (...values: never[]) => void): unknown
}

/** A provider: `DocumentProvider`, or `HocuspocusProvider`. */
export interface SuggestionSource extends SuggestionEvents {
  readonly awareness:
    | (SuggestionEvents & {
        readonly clientID: number
        getStates(): ReadonlyMap<number, { readonly [field: string]: unknown }>
      })
    | null
}

/** The user who has written a suggestion. */
export interface SuggestionAuthor {
  readonly name: string
  /** Color of CSS. */
  readonly color: string
}

/**
 * The suggestions of all users for one editor. It reads them from the endpoint of the application while it has
 * subscribers, and again when a branch changes.
 */
export class SuggestionStore {
  /** Id of the main editor. */
  readonly editorId: string
  readonly #send: EndpointRequest
  readonly #colorOf: (userId: string) => string
  readonly #reads = new EndpointReads((signal) => this.#read(signal))
  readonly #subscribers = new Set<() => void>()
  /** The users whose presence was seen, by id. */
  readonly #authors = new Map<string, SuggestionAuthor>()
  #awareness: SuggestionSource['awareness'] = null
  #decisionError: EndpointError | null = null
  #state: SuggestionsState = { suggestions: [], userId: '', canDecide: false, error: null }

  /**
   * @param endpoint URL of the endpoint that `createEndpoint` has made
   * @param colorOf returns the color of a user whose presence has no color
   */
  constructor(endpoint: string, editor: SuggestedEditor, colorOf: (userId: string) => string = ownColorOf) {
    const { organizationId, documentId, editorId = 'main' } = editor
    this.editorId = editorId
    this.#send = requestsTo(endpoint, { organizationId, documentId, editorId })
    this.#colorOf = colorOf
  }

  /** Returns the same object until something changes. */
  readonly get = (): SuggestionsState => this.#state

  /** Calls a function after each change. Returns a function that ends this. */
  readonly subscribe = (subscriber: () => void): (() => void) => {
    this.#subscribers.add(subscriber)
    if (this.#subscribers.size === 1) this.#reads.start(0)
    return () => {
      this.#subscribers.delete(subscriber)
      if (this.#subscribers.size === 0) this.#reads.stop()
    }
  }

  /** Follows the messages and the presence of a connected provider. Returns a function that ends this. */
  listenTo(provider: SuggestionSource): () => void {
    const { awareness } = provider
    const received = ({ event, payload }: { readonly event?: unknown; readonly payload?: string }): void => {
      // Hocuspocus has the message as text.
      const name = payload === undefined ? event : (JSON.parse(payload) as { readonly event?: unknown }).event
      if (name === 'weft.branchChanged') this.#reads.changed()
    }
    // `DocumentProvider` also reports the end of a connection.
    const synced = (isSynced: unknown): void => {
      if (isSynced !== false) this.#reads.readIn(0)
    }
    const seen = (): void => this.#presenceChanged()
    this.#awareness = awareness
    for (const event of ['message', 'stateless']) provider.on(event, received)
    provider.on('synced', synced)
    awareness?.on('change', seen)
    seen()
    return () => {
      for (const event of ['message', 'stateless']) provider.off(event, received)
      provider.off('synced', synced)
      awareness?.off('change', seen)
    }
  }

  /** Returns the name and the color of the user in the presence. */
  author(userId: string): SuggestionAuthor {
    return this.#authors.get(userId) ?? { name: userId, color: this.#colorOf(userId) }
  }

  /**
   * Returns the id of the editor to open: the branch of the user while this user suggests, otherwise the main editor.
   * Creates the branch if the user has no open one.
   */
  async editorFor(isSuggesting: boolean): Promise<string> {
    if (!isSuggesting) return this.editorId
    return (await this.#send<StartedSuggesting>('suggestions/start', {})).data.editorId
  }

  /** Whether the user may accept or reject a suggestion. */
  may(is: 'accept' | 'reject', { createdBy }: SuggestedChange): boolean {
    const { canDecide, userId } = this.#state
    return canDecide || (is === 'reject' && createdBy === userId)
  }

  /** Accepts a suggestion, with those that it needs. Resolves when the server has stored the decision. */
  accept(hunkId: string): Promise<void> {
    return this.#decide('accept', hunkId, (one, other) => one.dependsOn.includes(other.hunkId))
  }

  /** Rejects a suggestion, with those that need it. Resolves when the server has stored the decision. */
  reject(hunkId: string): Promise<void> {
    return this.#decide('reject', hunkId, (one, other) => other.dependsOn.includes(one.hunkId))
  }

  async #decide(
    is: 'accept' | 'reject',
    hunkId: string,
    needs: (one: SuggestedChange, other: SuggestedChange) => boolean,
  ): Promise<void> {
    const { suggestions } = this.#state
    const chosen = new Set(suggestions.filter((each) => each.hunkId === hunkId))
    const [first] = chosen
    if (first === undefined) return
    // A set visits the members that are added while it is read.
    for (const one of chosen)
      for (const other of suggestions)
        if (other.branch === first.branch && needs(one, other)) chosen.add(other)
    const hunkIds = [...chosen].map((each) => each.hunkId)
    this.#decisionError = null
    // The decided text arrives before the next list.
    this.#set({ ...this.#state, suggestions: suggestions.filter((each) => !chosen.has(each)), error: null })
    try {
      await this.#send(`suggestions/${is}`, { branch: first.branch, hunkIds })
    } catch (error) {
      if (error instanceof EndpointError) {
        this.#decisionError = error
        this.#set({ ...this.#state, error })
      }
      throw error
    } finally {
      this.#reads.readIn(0)
    }
  }

  async #read(signal: AbortSignal): Promise<boolean> {
    let error: EndpointError | null = null
    let list: SuggestionList = this.#state
    try {
      list = (await this.#send<SuggestionList>('suggestions/get', {}, signal)).data
    } catch (failure) {
      error = failure as EndpointError
    }
    if (signal.aborted) return true
    this.#set({ ...list, error: error ?? this.#decisionError })
    this.#presenceChanged()
    return error?.isTemporary !== true
  }

  #set(state: SuggestionsState): void {
    this.#state = state
    for (const subscriber of this.#subscribers) subscriber()
  }

  #presenceChanged(): void {
    let isNew = false
    for (const [clientId, state] of this.#awareness?.getStates() ?? []) {
      const user = state.user as ({ readonly id?: string } & Partial<SuggestionAuthor>) | undefined
      // The own state does not have the id that the server adds.
      const id = clientId === this.#awareness?.clientID ? this.#state.userId : user?.id
      const { name = id, color } = user ?? {}
      if (!id || !name || color === undefined || this.#authors.get(id)?.color === color) continue
      this.#authors.set(id, { name, color })
      isNew = true
    }
    if (isNew) this.#set({ ...this.#state })
  }
}

/** Returns a color that is always the same one for a user. */
function ownColorOf(userId: string): string {
  let hue = 0
  for (const letter of userId) hue = (hue * 31 + (letter.codePointAt(0) ?? 0)) % 360
  return `hsl(${hue} 65% 45%)`
}
