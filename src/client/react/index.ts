'use client'

export { EndpointError, type EndpointFailureCode } from '../endpoint/endpoint-request.ts'
/** The entry point `weft-server/react`. */
export type {
  CommentAuthor,
  CommentThread,
  ThreadComment,
} from '../rest/endpoint-comments.ts'
export type { EndpointErrorCode } from '../rest/endpoint-rejection.ts'
export { decodeAnchor, encodeAnchor } from './anchor.ts'
export type { AddedComment, CommentAnchor, RoomComments } from './comment-store.ts'
export { DocumentRoom as Room, type DocumentRoomProps as RoomProps } from './document-room.ts'
export { useComments, usePresence, useRoom, useSaved } from './hooks.ts'
export type { RoomPresence, RoomState } from './room-client.ts'
export {
  type RoomAddress,
  type RoomTokenSource,
  WeftProvider,
  type WeftProviderProps,
  type WeftSettings,
} from './weft-provider.ts'
