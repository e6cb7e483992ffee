import type { DocumentScope } from '../../model/address.ts'
import type { PresenceRecord } from './presence-records.ts'
import type { PresenceDelta, PresenceSnapshot } from './state-log.ts'

/** The name of a document in messages. */
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
  /** Start time of the process, with a random fraction. A later process of the same node has a higher value. */
  readonly incarnation: number
  readonly at: number
}

export type PresenceMessage = MessageSender &
  (
    | ({ readonly type: 'delta'; readonly document: DocumentKey } & PresenceDelta<PresenceRecord>)
    | ({ readonly type: 'snapshot'; readonly document: DocumentKey } & PresenceSnapshot<PresenceRecord>)
    /**
     * The last sequence numbers of the sender, by document. `requestsReply`: the sender requests the digests of the
     * others.
     */
    | {
        readonly type: 'digest'
        readonly requestsReply: boolean
        readonly documents: readonly (readonly [document: DocumentKey, seq: number])[]
      }
    /** The sender requests snapshots. */
    | { readonly type: 'request'; readonly documents: readonly DocumentKey[] }
    /** The sender has stopped. */
    | { readonly type: 'leave' }
  )

/** A message without its sender. */
export type UnsignedMessage = PresenceMessage extends infer Message
  ? Message extends MessageSender
    ? Omit<Message, keyof MessageSender>
    : never
  : never

export const bucketTopic = (bucket: number): string => `presence.${bucket}`
/** Topic of one node. */
export const nodeTopic = (node: string): string => `presence.node.${node}`
export const allTopic = 'presence.all'

export const encodePresence = (message: PresenceMessage): Uint8Array => Buffer.from(JSON.stringify(message))
