import type { LimitName } from '../quota/limits.ts'

/**
 * Close codes of the websocket. 44xx are permanent: y-websocket 3.1 and later stop retrying; the others are
 * transient: every client comes back.
 */
export const closeCodes = {
  /** A bad address, or a message that no legitimate client sends. */
  bad: 4400,
  unauthenticated: 4401,
  revoked: 4403,
  notFound: 4404,
  tooBig: 4413,
  internal: 1011,
  restarting: 1012,
  overloaded: 1013,
} as const

export interface Close {
  readonly code: (typeof closeCodes)[keyof typeof closeCodes]
  /** Shown to the client's developer; at most 123 bytes of UTF-8 (RFC 6455 5.5). */
  readonly reason: string
  /** The limit that has acted; null: none. */
  readonly limit: LimitName | null
}

export const close = (
  kind: keyof typeof closeCodes,
  reason: string,
  limit: LimitName | null = null,
): Close => ({
  code: closeCodes[kind],
  reason,
  limit,
})
