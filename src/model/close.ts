import type { LimitName } from '../quota/limits.ts'
import { shortened } from '../text.ts'

/**
 * Close codes of websockets. Codes 44xx are permanent: y-websocket 3.1 and later then stop retrying. The
 * other codes are transient: every client reconnects.
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
  /** Text for the developer of the client; at most 123 bytes of UTF-8 (RFC 6455 5.5). */
  readonly reason: string
  /** The exceeded limit; null if the reason is not a limit. */
  readonly limit: LimitName | null
}

/** Returns whether the client must not reconnect without a change. */
export const isPermanent = ({ code }: Close): boolean => code >= 4000

const reasonBytesMax = 123

/**
 * Creates a close code with its reason.
 * @param reason a reason that is too long is reduced to its part before the first semicolon, or truncated
 */
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

/**
 * Truncates a reason to its maximum length. In UTF-8, a UTF-16 unit has at most 3 bytes, and the ellipsis has
 * 3 bytes.
 */
const cut = (reason: string): string => shortened(reason, reasonBytesMax / 3 - 1)
