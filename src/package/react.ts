'use client'

/** The entry point `weft-server/react`. */
export { decodeAnchor, encodeAnchor } from './react/anchor.ts'
export type { AddedComment, CommentAnchor, RoomComments } from './react/comment-store.ts'
export { DocumentRoom as Room, type DocumentRoomProps as RoomProps } from './react/document-room.ts'
export { CommentError, type CommentErrorCode } from './react/endpoint-request.ts'
export type { RoomPresence, RoomState } from './react/room-client.ts'
export { useComments } from './react/use-comments.ts'
export { usePresence } from './react/use-presence.ts'
export { useRoom } from './react/use-room.ts'
export { useSaved } from './react/use-saved.ts'
export {
  type RoomAddress,
  type RoomTokenSource,
  WeftProvider,
  type WeftProviderProps,
  type WeftSettings,
} from './react/weft-provider.ts'
