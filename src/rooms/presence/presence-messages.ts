import type { DocumentScope } from '../../model/address.ts'
import { clientIdMax, varUintMax } from '../../update/byte-reader.ts'
import type { PresenceRecord } from './presence-records.ts'
import type { PresenceDelta, PresenceSnapshot, PresenceStateEntry } from './state-log.ts'

/** Identifies a document in messages between nodes. */
export type DocumentKey = readonly [
  workspaceId: string,
  apiKey: string,
  organizationId: string,
  documentId: string,
]

export const documentKey = (scope: DocumentScope): DocumentKey => [
  scope.workspaceId,
  scope.apiKey,
  scope.organizationId,
  scope.documentId,
]

/** The node that sent a message. */
export interface MessageSender {
  readonly from: string
  /**
   * Identifies the process of the sender: start time in epoch milliseconds, plus a random fraction. A later
   * process of the same node has a higher value.
   */
  readonly incarnation: number
  readonly at: number
}

export type PresenceMessage = MessageSender &
  (
    | ({ readonly type: 'delta'; readonly document: DocumentKey } & PresenceDelta<PresenceRecord>)
    | ({ readonly type: 'snapshot'; readonly document: DocumentKey } & PresenceSnapshot<PresenceRecord>)
    /**
     * A digest: the last sequence number of the sender for each document. If `requestsReply` is true, the
     * receivers must reply with their digests.
     */
    | {
        readonly type: 'digest'
        readonly requestsReply: boolean
        readonly documents: readonly (readonly [document: DocumentKey, seq: number])[]
      }
    /** A request to send snapshots of these documents to the sender. */
    | { readonly type: 'request'; readonly documents: readonly DocumentKey[] }
    /** The sender is stopping. */
    | { readonly type: 'leave' }
  )

/** A message without the members that describe its sender. */
export type UnsignedMessage = PresenceMessage extends infer Message
  ? Message extends MessageSender
    ? Omit<Message, keyof MessageSender>
    : never
  : never

export const bucketTopic = (bucket: number): string => `presence.${bucket}`
/** Returns the topic of one node. */
export const nodeTopic = (node: string): string => `presence.node.${node}`
export const allTopic = 'presence.all'

export const encodePresence = (message: PresenceMessage): Uint8Array => Buffer.from(JSON.stringify(message))

/**
 * A JSON object in a message from another node. A node with another version of Weft may send other members.
 */
type JsonObject = Readonly<Record<string, unknown>>

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isText = (value: unknown): value is string => typeof value === 'string'
const isNumber = (value: unknown): value is number => Number.isFinite(value)
const isUpTo = (value: unknown, max: number): boolean =>
  Number.isInteger(value) && Number(value) >= 0 && Number(value) <= max
const isOptionalText = (value: unknown): boolean => value === undefined || value === null || isText(value)

/**
 * Returns whether a value is a text that contains JSON. Clients receive the text unchanged, and would fail if
 * they could not parse it.
 */
const isJson = (value: unknown): boolean => isText(value) && parseJson(value) !== undefined

const isListOf = <T>(value: unknown, isOne: (one: unknown) => one is T): value is readonly T[] =>
  Array.isArray(value) && value.every(isOne)

const isDocument = (value: unknown): value is DocumentKey => isListOf(value, isText) && value.length === 4

const isEditor = (value: unknown): value is unknown =>
  Array.isArray(value) && isText(value[0]) && isNumber(value[1])

const areRestFields = (value: unknown): boolean =>
  isJsonObject(value) && [value.name, value.email, value.status].every(isOptionalText)

const hasTexts = (record: JsonObject, ...names: readonly string[]): boolean =>
  names.every((name) => isText(record[name]))
const hasNumbers = (record: JsonObject, ...names: readonly string[]): boolean =>
  names.every((name) => isNumber(record[name]))

/**
 * Returns whether a record has a client id and a clock that clients can read; clients would fail on other
 * numbers. The limit for the clock is higher than for clients, because the server may set a clock that is
 * higher than any clock that a client may send.
 */
const hasValidNumbers = ({ clientId, clock }: JsonObject): boolean =>
  isUpTo(clientId, clientIdMax) && isUpTo(clock, varUintMax)

/** For each kind of record, a function that returns whether a record is valid. */
const isRecordOf: Readonly<Record<PresenceRecord['kind'], (record: JsonObject) => boolean>> = {
  client: (record) =>
    hasTexts(record, 'editorId', 'userId') &&
    hasNumbers(record, 'since') &&
    hasValidNumbers(record) &&
    isJson(record.text),
  user: (record) =>
    hasTexts(record, 'userId', 'name', 'email') &&
    hasNumbers(record, 'fieldsAt', 'lastSeen') &&
    isOptionalText(record.status) &&
    isListOf(record.editors, isEditor) &&
    areRestFields(record.fields),
  rest: (record) =>
    hasTexts(record, 'userId') &&
    hasNumbers(record, 'at', 'ttlMs', 'lastSeen', 'deletedAt', 'addedAt', 'arrivedAt', 'keptUntil') &&
    areRestFields(record.fields),
}

function isEntry(value: unknown): value is PresenceStateEntry<PresenceRecord> {
  if (!Array.isArray(value) || !isText(value[0])) return false
  const record: unknown = value[1]
  if (record === null) return true
  if (!isJsonObject(record) || !isText(record.kind) || !Object.hasOwn(isRecordOf, record.kind)) return false
  return isRecordOf[record.kind as PresenceRecord['kind']](record)
}

const isDocumentSeq = (value: unknown): value is unknown =>
  Array.isArray(value) && isDocument(value[0]) && isNumber(value[1])

/** For each type of message, a function that returns whether a message is valid. */
const isMessageOf: Readonly<Record<PresenceMessage['type'], (message: JsonObject) => boolean>> = {
  delta: (message) =>
    isDocument(message.document) && hasNumbers(message, 'prev', 'seq') && isListOf(message.entries, isEntry),
  snapshot: (message) =>
    isDocument(message.document) &&
    hasNumbers(message, 'seq', 'part', 'parts') &&
    isListOf(message.entries, isEntry),
  digest: (message) => isListOf(message.documents, isDocumentSeq),
  request: (message) => isListOf(message.documents, isDocument),
  leave: () => true,
}

/**
 * Decodes a message that `encodePresence` has encoded. Returns null if the message has another format, for
 * example that of another version of Weft. Such a message counts as lost.
 */
export function decodePresence(bytes: Uint8Array): PresenceMessage | null {
  const message = parseJson(bytes)
  return isPresenceMessage(message) ? message : null
}

/** Parses JSON from another node. Returns undefined if the text is not JSON. */
export function parseJson(fields: Uint8Array | string): unknown {
  try {
    return JSON.parse(typeof fields === 'string' ? fields : Buffer.from(fields).toString())
  } catch {
    return undefined
  }
}

function isPresenceMessage(value: unknown): value is PresenceMessage {
  if (!isJsonObject(value) || !isText(value.type) || !Object.hasOwn(isMessageOf, value.type)) return false
  return (
    hasTexts(value, 'from') &&
    hasNumbers(value, 'incarnation', 'at') &&
    isMessageOf[value.type as PresenceMessage['type']](value)
  )
}
