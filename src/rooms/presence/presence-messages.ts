import type { DocumentScope } from '../../model/address.ts'
import type { PresenceRecord } from './presence-records.ts'
import type { PresenceDelta, PresenceSnapshot } from './state-log.ts'

/** A document as messages name it. */
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

/** Who says it. */
export interface MessageSender {
  readonly from: string
  /** Of the process; of two lives of a node the later is the greater. */
  readonly incarnation: number
  readonly at: number
}

export type PresenceMessage = MessageSender &
  (
    | ({ readonly type: 'delta'; readonly document: DocumentKey } & PresenceDelta<PresenceRecord>)
    | ({ readonly type: 'snapshot'; readonly document: DocumentKey } & PresenceSnapshot<PresenceRecord>)
    /** How far the sender has said something of documents. `wants`: it would like to hear all that others say of them. */
    | {
        readonly type: 'digest'
        readonly requestsReply: boolean
        readonly documents: readonly (readonly [document: DocumentKey, seq: number])[]
      }
    /** The sender lacks something. */
    | { readonly type: 'request'; readonly documents: readonly DocumentKey[] }
    /** The sender says nothing any more. */
    | { readonly type: 'leave' }
  )

/** What a node has to say, without who it is. */
export type UnsignedMessage = PresenceMessage extends infer Message
  ? Message extends MessageSender
    ? Omit<Message, keyof MessageSender>
    : never
  : never

export const bucketTopic = (bucket: number): string => `presence.${bucket}`
/** For one node alone. */
export const nodeTopic = (node: string): string => `presence.node.${node}`
export const allTopic = 'presence.all'

export const encodePresence = (message: PresenceMessage): Uint8Array => Buffer.from(JSON.stringify(message))
