import { isIP } from 'node:net'

/** Maximum length of a text that is read as a domain, in characters. */
export const domainTextMax = 2_000
/** RFC 1035 2.3.4. */
const domainLengthMax = 253

const wildcard = '*.'
const label = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/

/**
 * Returns the domain of a URL or a bare domain, as it is stored and compared: lower case, ASCII (IDNA),
 * without scheme, credentials, port, path, leading `www.` and trailing dot. A leading `*.` stays: all
 * subdomains of any depth, and not the domain itself. Addresses are also domains. Null if the text contains
 * none, or means subdomains of everything (`*.com`).
 */
export function normalizeDomain(text: string): string | null {
  if (text.length > domainTextMax) return null
  const host = hostIn(text.trim())
  if (host.startsWith(wildcard)) return wildcardOf(host.slice(wildcard.length))
  return withoutWww(asciiHost(host)) || null
}

/** Returns the part between scheme and path, without credentials and port. */
function hostIn(text: string): string {
  const [authority = ''] = text.replace(/^([a-z][a-z0-9+.-]*:)?[/\\]{2}/i, '').split(/[/\\?#]/, 1)
  return authority.slice(authority.lastIndexOf('@') + 1).replace(/:\d*$/, '')
}

function wildcardOf(host: string): string | null {
  const domain = withoutWww(asciiHost(host))
  if (domain === '' || isAddress(domain)) return null
  return domain.includes('.') || domain === 'localhost' ? wildcard + domain : null
}

/** Returns the host as browsers write it in an origin, without a trailing dot; '' if it is not a host. */
function asciiHost(host: string): string {
  const url = `http://${host}/`
  // Characters that this excludes could turn the URL into another one.
  if (!/^(\[[\da-f:.]+\]|[^\s:*%/\\?#@[\]]+)$/i.test(host) || !URL.canParse(url)) return ''
  const { hostname } = new URL(url)
  const ascii = hostname.replace(/\.$/, '')
  if (isAddress(ascii)) return ascii
  return ascii.length <= domainLengthMax && ascii.split('.').every((part) => label.test(part)) ? ascii : ''
}

const isAddress = (domain: string): boolean => isIP(domain.replace(/^\[(.*)\]$/, '$1')) !== 0

const withoutWww = (host: string): string => host.replace(/^(www\.)+/, '')

/**
 * Returns whether a page of `origin` may use a thing restricted to `domains`; without domains every page may.
 */
export function isAllowedOrigin(domains: readonly string[], origin: string): boolean {
  if (domains.length === 0) return true
  const names = new Set(domainsOf(origin))
  return domains.some((domain) => names.has(domain))
}

/**
 * Returns all domains, including wildcards, that contain a page of `origin`. Empty if the origin has no host
 * (`null`).
 */
export function domainsOf(origin: string): readonly string[] {
  const host = /^[a-z][a-z0-9+.-]*:\/\//i.test(origin) ? asciiHost(hostIn(origin)) : ''
  if (host === '') return []
  if (isAddress(host)) return [host]
  return [withoutWww(host), ...parentsOf(host).map((parent) => wildcard + parent)]
}

function parentsOf(host: string): readonly string[] {
  const parts = host.split('.')
  return parts.slice(1).map((_, index) => parts.slice(index + 1).join('.'))
}
