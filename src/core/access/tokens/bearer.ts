import type { IncomingHttpHeaders } from 'node:http'

const bearer = /^Bearer +(\S+)$/i

/** Returns the token of the header `Authorization: Bearer`; null if there is none. */
export const readBearer = ({ authorization = '' }: IncomingHttpHeaders): string | null =>
  bearer.exec(authorization)?.[1] ?? null
