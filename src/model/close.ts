import type { LimitName } from '../quota/limits.ts'
import { shortened } from '../text.ts'

/**
 * Close codes of the websocket. 44xx are permanent: y-websocket 3.1 and later stop retrying. The others are
 * transient: every client reconnects.
 */
export const closeCodes = {
  /** An invalid address, or a message that no legitimate client sends. */
  badRequest: 4400,
  unauthenticated: 4401,
  forbidden: 4403,
  notFound: 4404,
  tooLarge: 4413,
  internalError: 1011,
  serviceRestart: 1012,
  tryAgainLater: 1013,
} as const

export interface Close {
  readonly code: (typeof closeCodes)[keyof typeof closeCodes]
  /** For the client's developer; at most 123 bytes of UTF-8 (RFC 6455 5.5). */
  readonly reason: string
  /** The limit that was exceeded, if any. */
  readonly limit: LimitName | null
}

/** Returns whether the client must not reconnect without a change. */
export const isPermanent = ({ code }: Close): boolean => code >= 4000

const reasonBytesMax = 123

/** @param reason if it is too long, its part before the first semicolon, or as many characters as fit */
export const close = (
  kind: keyof typeof closeCodes,
  reason: string,
  limit: LimitName | null = null,
): Close => ({
  code: closeCodes[kind],
  reason: fitting(reason) ?? fitting(reason.split(';')[0] as string) ?? cut(reason),
  limit,
})

const fitting = (reason: string): string | null =>
  Buffer.byteLength(reason) <= reasonBytesMax ? reason : null

/** A UTF-16 unit has at most 3 bytes, and so has the ellipsis. */
const cut = (reason: string): string => shortened(reason, reasonBytesMax / 3 - 1)
