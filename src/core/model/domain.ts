import { isIP } from 'node:net'

/** Maximum length in characters of a text that is parsed as a domain. */
export const domainTextMax = 2_000
/** Maximum length of a domain name in characters (RFC 1035 2.3.4). */
const domainLengthMax = 253

const wildcard = '*.'
const label = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/

/**
 * Returns the normalized domain of a URL or of a bare domain, or null if the text contains no domain. Domains
 * are stored and compared in this form: lower case, ASCII (IDNA), without scheme, credentials, port, path,
 * leading `www.` and trailing dot. IP addresses count as domains.
 *
 * A leading `*.` is kept. It stands for all subdomains of any depth, but not for the domain itself. All
 * subdomains of a top-level domain (`*.com`) are rejected: the result is null.
 */
export function normalizeDomain(text: string): string | null {
  if (text.length > domainTextMax) return null
  const host = hostIn(text.trim())
  if (host.startsWith(wildcard)) return wildcardOf(host.slice(wildcard.length))
  return withoutWww(asciiHost(host)) || null
}

/** Returns the host of a URL or text, without scheme, credentials, port and path. */
function hostIn(text: string): string {
  const [authority = ''] = text.replace(/^([a-z][a-z0-9+.-]*:)?[/\\]{2}/i, '').split(/[/\\?#]/, 1)
  return authority.slice(authority.lastIndexOf('@') + 1).replace(/:\d*$/, '')
}

function wildcardOf(host: string): string | null {
  const domain = withoutWww(asciiHost(host))
  if (domain === '' || isAddress(domain)) return null
  return domain.includes('.') || domain === 'localhost' ? wildcard + domain : null
}

/**
 * Returns the host in the form in which a browser writes it in an origin, without a trailing dot. Returns ''
 * if the text is not a host.
 */
function asciiHost(host: string): string {
  const url = `http://${host}/`
  // Characters that could change the meaning of the URL are not allowed.
  if (!/^(\[[\da-f:.]+\]|[^\s:*%/\\?#@[\]]+)$/i.test(host) || !URL.canParse(url)) return ''
  const { hostname } = new URL(url)
  const ascii = hostname.replace(/\.$/, '')
  if (isAddress(ascii)) return ascii
  return ascii.length <= domainLengthMax && ascii.split('.').every((part) => label.test(part)) ? ascii : ''
}

const isAddress = (domain: string): boolean => isIP(domain.replace(/^\[(.*)\]$/, '$1')) !== 0

const withoutWww = (host: string): string => host.replace(/^(www\.)+/, '')

/**
 * Returns whether pages with this origin may use something that is restricted to `domains`. An empty
 * `domains` allows every page.
 */
export function isAllowedOrigin(domains: readonly string[], origin: string): boolean {
  if (domains.length === 0) return true
  const names = new Set(domainsOf(origin))
  return domains.some((domain) => names.has(domain))
}

/**
 * Returns all domains, including wildcards, to which pages with this origin belong. Returns an empty array if
 * the origin has no host (`null`).
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
