import { resolve } from 'node:path'
import { parseHeaderList } from './header-list.ts'
import { postgresUrls } from './postgres-urls.ts'

/**
 * Parses the text of one option. A parser never throws. It returns `undefined` for an invalid text, and the
 * caller adds the name of the option to the error.
 */
export interface Parser<T> {
  /** Description of a valid text. It completes the sentence "expected …". */
  readonly expected: string
  parse(text: string): T | undefined
  /** Returns the text of a value, if `String` does not. */
  format?(value: T): string
  /**
   * Returns the exact problem of an invalid text, without secrets. Returns null if the problem has no better
   * description than `expected`.
   */
  problem?(text: string): string | null
}

export const wholeNumber = (min: number, max: number): Parser<number> => ({
  expected: `a whole number from ${min} to ${max}`,
  parse(text) {
    if (!/^\d{1,15}$/.test(text)) return undefined
    const value = Number(text)
    return value >= min && value <= max ? value : undefined
  },
})

export const booleanFlag: Parser<boolean> = {
  expected: '"true" or "false"',
  parse: (text) => (text === 'true' ? true : text === 'false' ? false : undefined),
}

export const oneOf = <const T extends string>(...values: readonly T[]): Parser<T> => ({
  expected: values.map((value) => `"${value}"`).join(' or '),
  parse: (text) => values.find((value) => value === text),
})

/** Parses a path. Converts a relative path to an absolute path. */
export const filePath: Parser<string> = {
  expected: 'a path',
  parse: (text) => (text === '' || text.includes('\0') ? undefined : resolve(text)),
}

export const host: Parser<string> = {
  expected: 'a host name or an IP address',
  parse: (text) => (/^[\w.:%-]{1,255}$/.test(text) ? text : undefined),
}

/**
 * Parses an identifier or a token. Allows only visible ASCII characters, because the value is sent in a
 * header.
 */
export const headerValue = (lengthMin: number): Parser<string> => ({
  expected: `${lengthMin} to 512 visible ASCII characters`,
  parse: (text) =>
    /^[\x21-\x7e]+$/.test(text) && text.length >= lengthMin && text.length <= 512 ? text : undefined,
})

/**
 * Minimum length of a key for HMAC-SHA256, in bytes. It is the length of the output of HMAC-SHA256 (RFC 7518
 * 3.2).
 */
const secretBytesMin = 32

/** Parses a share, such as `0.25`. */
export const ratio: Parser<number> = {
  expected: 'a number from 0 to 1',
  parse: (text) =>
    /^(0|1|0?\.\d{1,9}|[01]\.\d{1,9})$/.test(text) && Number(text) <= 1 ? Number(text) : undefined,
}

/** Parses headers. The value of the option is the text, because it is a secret. */
export const headerList: Parser<string> = {
  expected: 'name=value,name=value with percent-encoded values',
  parse: (text) => (text.trim() === '' || parseHeaderList(text) === undefined ? undefined : text),
}

export const signingSecret: Parser<string> = {
  expected: `at least ${secretBytesMin} bytes`,
  parse: (text) => (Buffer.byteLength(text) >= secretBytesMin ? text : undefined),
}

export const webUrl: Parser<string> = {
  expected: 'an http(s) URL',
  parse: (text) => (/^https?:\/\//i.test(text) && URL.canParse(text) ? text : undefined),
}

export const postgresUrl: Parser<string> = {
  expected: 'a URL such as postgres://user:password@host:5432/database, where several host:port may be named',
  parse: (text) =>
    /^postgres(ql)?:\/\//.test(text) && postgresUrls(text).every((url) => URL.canParse(url))
      ? text
      : undefined,
}

/** Parses the URLs of the servers of one NATS cluster. Either all URLs must use TLS, or none. */
export const natsUrls: Parser<readonly string[]> = {
  expected: 'comma-separated URLs such as nats://user:password@host:4222 or tls://host:4222',
  parse(text) {
    const urls = text.split(',').map((url) => url.trim())
    const isOfOneKind = ['nats:', 'tls:'].some((scheme) => urls.every((url) => isServer(url, scheme)))
    return isOfOneKind ? urls : undefined
  },
}

function isServer(text: string, scheme: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || url.protocol !== scheme || url.hostname === '') return false
  return /^\/?$/.test(url.pathname) && [url.username, url.password].every(isEncoded)
}

const isEncoded = (text: string): boolean => !/%(?![0-9a-f]{2})/i.test(text)

/**
 * Parses the name of a schema. Only names that need no quotes in SQL are valid, so that the name is spelled
 * the same everywhere.
 */
export const schemaName: Parser<string> = {
  expected: 'a name of lowercase letters, digits and _',
  parse: (text) => (/^[a-z_][a-z0-9_]{0,62}$/.test(text) ? text : undefined),
}

export const nonEmpty: Parser<string> = {
  expected: 'a non-empty text',
  parse: (text) => (text.trim() === '' ? undefined : text),
}
