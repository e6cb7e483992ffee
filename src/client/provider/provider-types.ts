import type { Awareness } from 'y-protocols/awareness'
import type { Doc } from 'yjs'
import type { BrowserStorage } from './offline-copy.ts'
import type { PresentUser, UserFields } from './present-users.ts'
import type { ProviderProblem } from './provider-problem.ts'
import type { DocumentRole, RealtimeMessage } from './sync-connection.ts'

/**
 * `connecting`: the first attempt, or the first attempts after a lost connection. `connected`: changes are exchanged.
 * `offline`: an attempt has failed; the provider tries again. `closed`: the provider does not try again.
 */
export type ProviderStatus = 'connecting' | 'connected' | 'offline' | 'closed'

export interface ProviderSettings {
  /** Address of the server, such as `https://weft.example.com`, or a path of the server of the page. A path is kept. */
  readonly url: string
  readonly organizationId: string
  readonly documentId: string
  /** Default: `main`. */
  readonly editorId?: string
  /** Default: a new document. */
  readonly doc?: Doc
  /** Default: a new instance, which ends with the provider. */
  readonly awareness?: Awareness
  /** Name, color and other fields that the other users see. */
  readonly user?: UserFields
  /** Class of the offline store: `IndexeddbPersistence` of y-indexeddb. Default: nothing is stored. */
  readonly offline?: BrowserStorage
  /** Name of the offline store. Put the id of the user into it if several users share a browser. */
  readonly offlineName?: string
  /** Default: true. With false, the provider connects when `connect` is called. */
  readonly connect?: boolean
  /** Maximum milliseconds between two attempts. Default: 15,000. */
  readonly retryMaxMs?: number
  /**
   * Version of the schema of this application. If a document has a newer one, the user is a viewer, with the problem
   * `schema-outdated`.
   */
  readonly schemaVersion?: number
  /** Class of websockets. Default: the one of the platform. With null, the provider uses HTTP only. */
  readonly WebSocket?: typeof WebSocket | null
}

/** Options of `DocumentProvider`. One of `getToken` and `tokenUrl` is necessary. */
export type ProviderOptions = ProviderSettings &
  (
    | {
        /**
         * Returns a realtime token for the user. Throws a `TokenDeniedError` if there is none for this user. The
         * signal is aborted after 20 s, and when the provider is destroyed.
         */
        readonly getToken: (signal: AbortSignal) => Promise<string> | string
        readonly tokenUrl?: never
      }
    | {
        /**
         * Endpoint of the application. The provider sends a POST request with the JSON
         * `{ organizationId, documentId, editorId }`. The response is a token, or the JSON `{ "token": "…" }`. The
         * statuses 401 and 403 mean that the user gets none.
         */
        readonly tokenUrl: string | URL
        readonly getToken?: never
      }
  )

/** Events of `DocumentProvider`, with the parameters of their listeners. */
export interface ProviderEvents {
  /** The status or the problem has changed. */
  status: (status: ProviderStatus, problem: ProviderProblem | null) => void
  /** All changes of this document are durable on the server, or no longer. */
  saved: (saved: boolean) => void
  /** The document has everything that the server had, or the connection has ended. */
  synced: (synced: boolean) => void
  /** The role of the user, or the right to write, has changed. Null: the role is not known. */
  role: (role: DocumentRole | null, canWrite: boolean) => void
  /** The users on the document have changed. */
  users: (users: readonly PresentUser[]) => void
  /** A backend has sent a message to the clients on the document. */
  message: (message: RealtimeMessage) => void
}
