/** Thrown if the receiver did not respond. The message is for the person who configured the URL. */
export class NoResponseError extends Error {}

/** Messages by the error code of Node. */
const sentences: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was closed before the answer',
  EPIPE: 'the connection was closed before the answer',
  EHOSTUNREACH: 'there is no route to the host',
  ENETUNREACH: 'there is no route to the host',
  ETIMEDOUT: 'the connection attempt timed out',
  ENOTFOUND: 'the name of the host is not known',
  ENODATA: 'the name of the host has no address',
  ETIMEOUT: 'the name of the host could not be looked up in time',
  ESERVFAIL: 'the name of the host could not be looked up',
  HPE_HEADER_OVERFLOW: 'the headers of the answer are too large',
}

/**
 * Returns the reason of a failure. Does not use the message of the error, which may contain addresses of the
 * private network.
 */
export function failureText(error: unknown): string {
  if (error instanceof NoResponseError) return error.message
  const code = codeOf(error)
  const sentence = Object.hasOwn(sentences, code) ? sentences[code] : undefined
  if (sentence !== undefined) return sentence
  if (code.startsWith('HPE_')) return 'the answer is not HTTP'
  if (code === 'ERR_INVALID_CHAR') return 'a header holds characters that cannot be sent'
  if (/CERT|SELF_SIGNED|ALTNAME/.test(code)) return `the certificate is not valid (${code})`
  if (/SSL|TLS|EPROTO/.test(code)) return `the TLS connection failed (${code})`
  return code === '' ? 'the request failed' : `the request failed (${code})`
}

function codeOf(error: unknown): string {
  const [inner] = error instanceof AggregateError ? error.errors : [error]
  return inner instanceof Error && 'code' in inner ? String(inner.code) : ''
}
