import { createHash } from 'node:crypto'
import * as s from '../../core/base/schema.ts'
import type { readingFormats } from '../../core/content/read-document.ts'
import type { QueuedEvent } from '../../core/events/outbound-event.ts'
import type { LocalReceivers } from '../../core/outgoing/checked-sender.ts'
import type { RecordType } from '../../core/store/stored-record.ts'
import { storeTargetIds } from './target-ids.ts'

/** Results of `authorize` if the call fails: `reject` gives no role, `stored` applies the access type. */
export const authorizeFailures = ['reject', 'stored'] as const
/** Results of `load` if the call fails: `reject` opens nothing, `empty` treats the editor as missing. */
export const loadFailures = ['reject', 'empty'] as const

/** A URL of the application that answers while a client waits. */
interface AnsweringCallback {
  readonly url: string
  /** Maximum time in ms of a call, from the first wait to the last byte of the response, retries included. */
  readonly timeoutMs: number
}

/** Decides the role of a user on a document. */
interface AuthorizeCallback extends AnsweringCallback {
  readonly onFailure: (typeof authorizeFailures)[number]
}

/** Returns the initial content of an editor that does not exist. */
interface LoadCallback extends AnsweringCallback {
  readonly onFailure: (typeof loadFailures)[number]
}

/** Format of the content that `store` receives. */
type StoreFormat = (typeof readingFormats)[number]

/** Receives the content of editors after changes. */
export interface StoreCallback {
  readonly url: string
  readonly format: StoreFormat
  /** The root whose content is sent. Default: the root that `crdt/get` reads. */
  readonly contentKey?: string | undefined
  /** Minimum time in seconds between two deliveries of the same editor. */
  readonly minSeconds: number
}

/** The callbacks of an API key. A callback that is null is not called. */
export interface CallbacksRecord {
  readonly authorize: AuthorizeCallback | null
  readonly load: LoadCallback | null
  readonly store: StoreCallback | null
  /** Time of the creation in epoch milliseconds. `updatedAt` is the time of the last change. */
  readonly createdAt: number
  readonly updatedAt: number
  /** Signing secret of all callbacks: `whsec_`, followed by 32 random bytes in base64. */
  readonly secret: string
  /**
   * The previous signing secret, which also signs until `until` (epoch milliseconds); null if there is none.
   */
  readonly previousSecret: { readonly secret: string; readonly until: number } | null
}

// A newer version of Weft may store formats that this version does not know.
const format = s.trusted<StoreFormat>(s.string)

const answering = { url: s.string, timeoutMs: s.number }

export const callbacksRecordType: RecordType<CallbacksRecord> = {
  name: 'callbacks of an API key',
  schema: s.object({
    authorize: s.orNull(s.object({ ...answering, onFailure: s.choice(authorizeFailures) })),
    load: s.orNull(s.object({ ...answering, onFailure: s.choice(loadFailures) })),
    store: s.orNull(s.object({ url: s.string, format, minSeconds: s.number }, { contentKey: s.string })),
    createdAt: s.number,
    updatedAt: s.number,
    secret: s.string,
    previousSecret: s.orNull(s.object({ secret: s.string, until: s.number })),
  }),
}

/**
 * Callbacks of all API keys that are functions of this process. The URLs of the callbacks are those of the
 * receivers.
 */
export interface CallbackFunctions {
  readonly callbacks: CallbacksRecord
  readonly receivers: LocalReceivers
}

/** Returns the callbacks of an API key. A function has precedence over the stored callback with its name. */
export function withFunctions(
  stored: CallbacksRecord | null,
  functions: CallbacksRecord | null,
): CallbacksRecord | null {
  if (stored === null || functions === null) return stored ?? functions
  return {
    ...stored,
    authorize: functions.authorize ?? stored.authorize,
    load: functions.load ?? stored.load,
    store: functions.store ?? stored.store,
  }
}

/** An editor whose content the callback `store` gets. */
interface StoredEditor {
  /** Name of the editor, which is unique among the editors of an API key. */
  readonly name: string
  /** Id of the target that sends the content of this editor. */
  readonly targetId: string
}

/**
 * Returns the editor that an event reports. An editor always has the same target, which sends one request at a
 * time, so the versions of an editor stay in order.
 */
export function storedEditorOf({
  scope,
  documentId,
  data,
}: Pick<QueuedEvent, 'scope' | 'documentId' | 'data'>): StoredEditor {
  const address = JSON.stringify([scope.organizationId, documentId, data.editorId])
  const hash = createHash('sha256').update(address).digest()
  const targetId = storeTargetIds[hash.readUInt8(0) % storeTargetIds.length] as string
  return { name: hash.toString('hex').slice(0, 32), targetId }
}
