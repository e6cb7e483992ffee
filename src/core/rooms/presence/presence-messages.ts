import * as s from '../../base/schema.ts'
import type { DocumentScope } from '../../model/address.ts'
import { type PresenceRecord, presenceRecordSchema } from './presence-records.ts'
import type { PresenceDelta, PresenceSnapshot } from './state-log.ts'

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
export const nodeTopic = (node: string): string => `presence.node.${node}`
export const allTopic = 'presence.all'

export const encodePresence = (message: PresenceMessage): Uint8Array => Buffer.from(JSON.stringify(message))

export const documentKeySchema = s.exactTuple([s.string, s.string, s.string, s.string])

const senderMembers = { from: s.string, incarnation: s.number, at: s.number }
export const senderSchema = s.object(senderMembers)

const entries = s.array(s.tuple([s.string, s.orNull(presenceRecordSchema)]))

export const presenceMessageSchema: s.SchemaOf<PresenceMessage> = s.variant('type', [
  s.object({
    type: s.literal('delta'),
    ...senderMembers,
    document: documentKeySchema,
    prev: s.number,
    seq: s.number,
    entries,
  }),
  s.object({
    type: s.literal('snapshot'),
    ...senderMembers,
    document: documentKeySchema,
    seq: s.number,
    part: s.number,
    parts: s.number,
    entries,
  }),
  s.object({
    type: s.literal('digest'),
    ...senderMembers,
    requestsReply: s.boolean,
    documents: s.array(s.tuple([documentKeySchema, s.number])),
  }),
  s.object({ type: s.literal('request'), ...senderMembers, documents: s.array(documentKeySchema) }),
  s.object({ type: s.literal('leave'), ...senderMembers }),
])
