import { shortened } from '../base/text.ts'
import type { LimitName } from '../quota/limits.ts'

/**
 * Close codes of websockets. Codes 44xx are permanent: clients of y-websocket 3.1 and later do not reconnect.
 * The other codes are transient: every client reconnects.
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
  /** The exceeded limit; null if the socket is closed for another reason. */
  readonly limit: LimitName | null
}

/** Returns whether the close is permanent: the client must not reconnect with the same request. */
export const isPermanent = ({ code }: Close): boolean => code >= 4000

const reasonBytesMax = 123

/**
 * Creates a close code with its reason.
 * @param reason text for the developer of the client; if it has more than 123 bytes, only the part before the
 * first semicolon is used, or the text is truncated
 */
export const close = (
  kind: keyof typeof closeCodes,
  reason: string,
  limit: LimitName | null = null,
): Close => ({
  code: closeCodes[kind],
  reason: fitting(reason) ?? fitting(reason.split(';')[0] ?? reason) ?? cut(reason),
  limit,
})

const fitting = (reason: string): string | null =>
  Buffer.byteLength(reason) <= reasonBytesMax ? reason : null

/**
 * Truncates a reason to at most `reasonBytesMax` bytes. In UTF-8, a UTF-16 unit takes at most 3 bytes, and
 * the ellipsis takes 3 bytes.
 */
const cut = (reason: string): string => shortened(reason, reasonBytesMax / 3 - 1)
