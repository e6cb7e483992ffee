import type { Awareness } from 'y-protocols/awareness'
import type { Doc } from 'yjs'
import { endpointUrl, requestsTo } from '../endpoint/endpoint-request.ts'
import {
  DocumentProvider,
  type DocumentRole,
  type PresentUser,
  type ProviderOptions,
  type ProviderProblem,
  type ProviderStatus,
  type UserFields,
} from '../provider/index.ts'
import { CommentStore } from './comment-store.ts'
import { LiveValue } from './live-value.ts'
import type { RoomAddress, WeftProviderProps } from './weft-provider.ts'

/** State of a room, as `useRoom` returns it. */
export interface RoomState {
  readonly doc: Doc
  readonly awareness: Awareness
  readonly provider: DocumentProvider
  readonly status: ProviderStatus
  /** Why the room is not connected, or why the server does not accept the changes; null if there is no problem. */
  readonly problem: ProviderProblem | null
  /** True if the document has everything that the server had when the connection was opened, and later changes. */
  readonly synced: boolean
  /** The last known role of the user, also from the offline copy; null if it is not known. */
  readonly role: DocumentRole | null
  /** False if the server drops the changes of this user. Make the editor read-only then. */
  readonly canWrite: boolean
}

/** Users on the document, as `usePresence` returns them. */
export interface RoomPresence {
  /** Each user once, the own user first. */
  readonly users: readonly PresentUser[]
  /** The own user; null if this client publishes nothing. */
  readonly self: PresentUser | null
  readonly others: readonly PresentUser[]
  /** Replaces the fields that the other users see. A later change of the property `user` replaces them again. */
  readonly setUser: (user: UserFields) => void
}

/** An open room: a provider, and its state for components. */
export class RoomClient {
  readonly provider: DocumentProvider
  readonly state: LiveValue<RoomState>
  readonly presence: LiveValue<RoomPresence>
  readonly saved: LiveValue<boolean>
  readonly #address: RoomAddress
  readonly #endpoint: string | undefined
  /** JSON of the last property `user`. */
  #userJson: string
  /** Null until a component uses it. */
  #comments: CommentStore | null = null

  /**
   * Opens the room.
   * @param settings returns the settings of the last rendering
   * @throws TypeError if the settings are not valid
   */
  constructor(address: RoomAddress, settings: () => WeftProviderProps) {
    const provider = new DocumentProvider(providerOptions(address, settings))
    this.provider = provider
    this.#address = address
    this.#endpoint = settings().endpoint
    this.#userJson = JSON.stringify(settings().user ?? {})
    this.state = new LiveValue(() => stateOf(provider), isSameState)
    const setUser = (user: UserFields): void => provider.setUser(user)
    this.presence = new LiveValue(() => presenceOf(provider, setUser), isSamePresence)
    this.saved = new LiveValue(() => provider.saved)
    for (const event of ['status', 'synced', 'role'] as const) provider.on(event, this.state.refresh)
    // The id of the own user is known when the provider has a token.
    for (const event of ['users', 'status'] as const) provider.on(event, this.presence.refresh)
    provider.on('saved', this.saved.refresh)
  }

  /** Publishes the property `user` if it has changed. */
  publishUser(user: UserFields = {}): void {
    const json = JSON.stringify(user)
    if (json === this.#userJson) return
    this.#userJson = json
    this.provider.setUser(user)
  }

  /** Returns the comments of the room. @throws Error if there is no endpoint */
  comments(): CommentStore {
    if (this.#endpoint === undefined)
      throw new Error('useComments needs the property endpoint of <WeftProvider>')
    this.#comments ??= new CommentStore(this.provider, requestsTo(this.#endpoint, this.#address))
    return this.#comments
  }

  /** Ends the connection and all timers. */
  close(): void {
    this.provider.destroy()
  }
}

function providerOptions(address: RoomAddress, settings: () => WeftProviderProps): ProviderOptions {
  const { url = '/', user, offline, offlineOwner, retryMaxMs, WebSocket, endpoint, getToken } = settings()
  const { organizationId, documentId, editorId } = address
  const common = {
    url,
    organizationId,
    documentId,
    editorId,
    ...(user !== undefined && { user }),
    ...(offline !== undefined && { offline }),
    ...(offlineOwner !== undefined && {
      offlineName: ['weft', offlineOwner, organizationId, documentId, editorId]
        .map(encodeURIComponent)
        .join('/'),
    }),
    ...(retryMaxMs !== undefined && { retryMaxMs }),
    ...(WebSocket !== undefined && { WebSocket }),
  }
  if (getToken !== undefined)
    return { ...common, getToken: (signal) => (settings().getToken ?? getToken)(address, signal) }
  if (endpoint === undefined) throw new TypeError('<WeftProvider> has neither endpoint nor getToken')
  return { ...common, tokenUrl: endpointUrl(endpoint, 'token') }
}

function stateOf(provider: DocumentProvider): RoomState {
  const { doc, awareness, status, problem, synced, role, canWrite } = provider
  return { doc, awareness, provider, status, problem, synced, role, canWrite }
}

const isSameState = (one: RoomState, other: RoomState): boolean =>
  (Object.keys(one) as (keyof RoomState)[]).every((name) => one[name] === other[name])

function presenceOf(provider: DocumentProvider, setUser: RoomPresence['setUser']): RoomPresence {
  const users = provider.users()
  return {
    users,
    self: users.find(({ isSelf }) => isSelf) ?? null,
    others: users.filter(({ isSelf }) => !isSelf),
    setUser,
  }
}

/** Each movement of a cursor is a change of the awareness, but not of the users. */
const isSamePresence = (one: RoomPresence, other: RoomPresence): boolean =>
  JSON.stringify(one.users) === JSON.stringify(other.users)
