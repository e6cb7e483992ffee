import { createHash } from 'node:crypto'
import * as s from '../../core/base/schema.ts'
import type { readingFormats } from '../../core/content/read-document.ts'
import type { QueuedEvent } from '../../core/events/outbound-event.ts'
import type { LocalReceivers } from '../../core/outgoing/checked-sender.ts'
import { storeTargetIds } from './webhook-records.ts'

/** Results of `authorize` if the call fails: `reject` gives no role, `stored` applies the access type. */
export const authorizeFailures = ['reject', 'stored'] as const
/** Results of `load` if the call fails: `reject` opens nothing, `empty` treats the editor as missing. */
export const loadFailures = ['reject', 'empty'] as const

/** Format of the content that `store` receives. */
type StoreFormat = (typeof readingFormats)[number]

// A newer version of Weft may store formats that this version does not know.
const format = s.trusted<StoreFormat>(s.string)

/** Receives the content of editors after changes. */
const storeSchema = s.object(
  {
    url: s.string,
    format,
    /** Minimum time in seconds between two deliveries of the same editor. */
    minSeconds: s.number,
  },
  {
    /** The root whose content is sent. Default: the root that `crdt/get` reads. */
    contentKey: s.string,
  },
)
export type StoreCallback = s.TypeOf<typeof storeSchema>

/** A URL of the application that answers while a client waits. */
const answering = {
  url: s.string,
  /** Maximum time in ms of a call, from the first wait to the last byte of the response, retries included. */
  timeoutMs: s.number,
}

/** The callbacks of an API key. A callback that is null is not called. */
export const callbacksRecordType = {
  name: 'callbacks of an API key',
  schema: s.object({
    /** Decides the role of a user on a document. */
    authorize: s.orNull(s.object({ ...answering, onFailure: s.choice(authorizeFailures) })),
    /** Returns the initial content of an editor that does not exist. */
    load: s.orNull(s.object({ ...answering, onFailure: s.choice(loadFailures) })),
    store: s.orNull(storeSchema),
    /** Time of the creation in epoch milliseconds. `updatedAt` is the time of the last change. */
    createdAt: s.number,
    updatedAt: s.number,
    /** Signing secret of all callbacks: `whsec_`, followed by 32 random bytes in base64. */
    secret: s.string,
    /**
     * The previous signing secret, which also signs until `until` (epoch milliseconds); null if there is none.
     */
    previousSecret: s.orNull(s.object({ secret: s.string, until: s.number })),
  }),
}
export type CallbacksRecord = s.TypeOf<typeof callbacksRecordType.schema>

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
