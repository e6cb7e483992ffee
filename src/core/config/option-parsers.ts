import { isIP } from 'node:net'
import { resolve } from 'node:path'
import ipaddr from 'ipaddr.js'
import { attempt } from '../base/errors.ts'

/**
 * Parses the text of one option. A parser never throws. It returns `undefined` for an invalid text, and the
 * caller adds the name of the option to the error.
 */
export interface Parser<T> {
  /** Description of a valid text. It completes the sentence "expected …". */
  readonly expected: string
  /** The same for the table of options, if its chapter explains the form. */
  readonly brief?: string
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
  brief: `${min} to ${max}`,
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

/** Parses the URL of a node. Nodes forward requests without TLS, because they are in one private network. */
export const nodeUrl: Parser<string> = {
  expected: 'a URL such as http://10.0.0.7:8787',
  parse: (text) => (/^http:\/\/[^?#@]+$/i.test(text) && URL.canParse(text) ? text : undefined),
}

export const postgresUrl: Parser<string> = {
  expected: 'a URL such as postgres://user:password@host:5432/database, where several host:port may be named',
  parse: (text) =>
    /^postgres(ql)?:\/\//.test(text) && postgresUrls(text).every((url) => URL.canParse(url))
      ? text
      : undefined,
}

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

/** Matches a name of an HTTP header, and a value without control characters. */
const headerName = /^[!#$%&'*+.^_`|~\w-]{1,100}$/
const headerText = /^[\x20-\x7e]{0,4096}$/

/**
 * Parses `name=value,name=value` with percent-encoded values, the form of `OTEL_EXPORTER_OTLP_HEADERS`. Returns
 * undefined if the text is invalid.
 */
export function parseHeaderList(text: string): Readonly<Record<string, string>> | undefined {
  const entries = text.split(',').filter((entry) => entry.trim() !== '')
  const headers: Record<string, string> = {}
  for (const entry of entries) {
    const end = entry.indexOf('=')
    const name = entry.slice(0, Math.max(0, end)).trim()
    const value = attempt(() => decodeURIComponent(entry.slice(end + 1).trim()), undefined)
    if (!headerName.test(name) || value === undefined || !headerText.test(value)) return undefined
    headers[name] = value
  }
  return headers
}

/**
 * Splits a URL that contains several servers into one URL for each server, in the same order. The form is
 * that of libpq: `postgres://user@a:5432,b:5433/database` has two servers. A URL with one server is returned
 * unchanged.
 */
export function postgresUrls(url: string): readonly string[] {
  const [, before = '', hosts = '', after = ''] = /^([a-z]+:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/s.exec(url) ?? []
  return hosts.split(',').map((host) => `${before}${host}${after}`)
}

/** Names of the claims in the tokens of an identity provider. Null: the tokens do not contain this claim. */
export interface ClaimNames {
  readonly userId: string
  readonly name: string
  readonly email: string
  /** Name of a claim that is `true` if the user may edit all documents. */
  readonly admin: string | null
  readonly apiKey: string | null
}

export const usualClaimNames: ClaimNames = {
  userId: 'sub',
  name: 'name',
  email: 'email',
  admin: null,
  apiKey: null,
}

/**
 * Parses a list such as `userId=sub,apiKey=https://example.com/key`. Members that the list does not contain
 * keep their default names.
 */
export const claimNames: Parser<ClaimNames> = {
  expected: 'comma-separated `member=claim` pairs, of the members userId, name, email, admin, apiKey',
  parse(text) {
    const pairs = text.split(',').map((pair) => /^\s*(\w+)\s*=\s*(\S+)\s*$/.exec(pair))
    const names = new Map(pairs.map((pair) => [pair?.[1] ?? '', pair?.[2] ?? '']))
    const known = [...names.keys()].every((name) => Object.hasOwn(usualClaimNames, name))
    return known && names.size === pairs.length
      ? { ...usualClaimNames, ...Object.fromEntries(names) }
      : undefined
  },
}

const name = /^(?!-)[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*$/

/** Returns whether an entry is an IP address or a CIDR range. Otherwise it is a host name. */
export const isListedRange = (entry: string): boolean => isIP(entry) !== 0 || entry.includes('/')

/** Parses a list such as `hooks.internal,10.1.0.0/16,::1`. Converts the entries to lower case. */
export const webhookAllowlist: Parser<readonly string[]> = {
  expected: 'comma-separated host names, IP addresses and CIDRs',
  parse(text) {
    const entries = text.split(',').map((entry) => entry.trim().toLowerCase())
    return entries.every(isEntry) ? entries : undefined
  },
}

/**
 * Returns whether an entry is valid. A host name whose last part is a number is invalid, because URLs treat
 * such a name as an IP address.
 */
function isEntry(entry: string): boolean {
  if (entry.includes('%')) return false
  if (isListedRange(entry))
    return (
      isIP(entry) !== 0 || ipaddr.IPv4.isValidCIDRFourPartDecimal(entry) || ipaddr.IPv6.isValidCIDR(entry)
    )
  return name.test(entry) && entry.length <= 253 && !/(^|\.)(\d+|0x[0-9a-f]*)$/.test(entry)
}

/** A rate limit: a sustained rate, and the amount that is accepted at once after a pause. */
export interface Rate {
  /** Calls (or bytes) per second; 0: unlimited. */
  readonly perSecond: number
  /** Calls (or bytes) in a burst after a pause. At least 1, unless the rate is unlimited. */
  readonly burst: number
}

export const unlimited: Rate = { perSecond: 0, burst: 0 }

/** Formats a rate as the option has it: `400:10000`, or `0` if it is unlimited. */
export const formatRate = ({ perSecond, burst }: Rate): string =>
  perSecond === 0 ? '0' : `${perSecond}:${burst}`

/**
 * Parses a rate: `400:10000` are 400 per second with a burst of 10,000, and `0` is unlimited. If the text has
 * no burst, the rate and its burst have the same ratio as in the default.
 * @param max maximum of the rate and of the burst
 */
export function rateWithBurst(defaultRate: Rate, max: number): Parser<Rate> {
  const ratio = defaultRate.burst / defaultRate.perSecond
  return {
    expected: `a rate per second, or rate:burst such as ${formatRate(defaultRate)}, each at most ${max} (0: unlimited)`,
    brief: `a rate up to ${max}`,
    format: formatRate,
    parse(text) {
      const [, rateText, burstText] = /^(\d{1,15})(?::(\d{1,15}))?$/.exec(text) ?? []
      if (rateText === undefined) return undefined
      const perSecond = Number(rateText)
      if (perSecond === 0) return burstText === undefined ? unlimited : undefined
      const burst = burstText === undefined ? Math.min(max, Math.ceil(perSecond * ratio)) : Number(burstText)
      return perSecond <= max && burst >= 1 && burst <= max ? { perSecond, burst } : undefined
    },
  }
}

/** The editors that the server prunes by itself. */
export interface PruneRule {
  /** Days between two checks of an edited editor. */
  readonly days: number
  /** Minimum size. */
  readonly megabytes: number
  /** Minimum share of the size that the prune saves. */
  readonly percent: number
}

/** Parses a rule such as `7d,1MB,50%`. */
export const pruneRule: Parser<PruneRule> = {
  expected: 'days (up to 365), MB and percent, without spaces',
  format: ({ days, megabytes, percent }) => `${days}d,${megabytes}MB,${percent}%`,
  parse(text) {
    const [, ...numbers] = /^([1-9]\d{0,2})d,(\d{1,4})MB,([1-9]\d?)%$/.exec(text) ?? []
    const [days, megabytes, percent] = numbers.map(Number)
    return days === undefined || days > 365 || megabytes === undefined || percent === undefined
      ? undefined
      : { days, megabytes, percent }
  },
}
