import type { LookupAddress } from 'node:dns'
import { lookup, Resolver } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'
import { withoutTrailing } from '../base/text.ts'
import { isListedRange } from '../config/option-parsers.ts'

/** Result of the check of a URL. */
export type Destination =
  /** The connection must use one of these addresses. */
  | { readonly kind: 'reachable'; readonly host: string; readonly addresses: readonly LookupAddress[] }
  /**
   * `problem` does not contain the resolved addresses, because the person who sets URLs must not learn about
   * the private network.
   */
  | { readonly kind: 'refused'; readonly problem: string }

type Address = ipaddr.IPv4 | ipaddr.IPv6

/** Names with a special meaning in private networks (RFC 6761, 6762, 8375, `internal` of ICANN). */
const insideNames = /(^|\.)(localhost|localdomain|local|internal|intranet|corp|home|lan|private|home\.arpa)$/

/**
 * The globally routed IPv6 range. Addresses outside of this range, such as `::127.0.0.1`, are not public,
 * even if the library classifies them as `unicast`.
 */
const worldwide = ipaddr.IPv6.parseCIDR('2000::/3')

/** An address that belongs to a public range, but leads to the host of a virtual machine (Azure). */
const hypervisor = '168.63.129.16'

/**
 * Checks whether a request may be sent to a destination. Allowed are public internet addresses, and
 * destinations that the operator has listed. A name is resolved once for each attempt, and all its addresses
 * are checked. The connection uses only these addresses, so a later change of the DNS record has no effect.
 */
export class DestinationPolicy {
  readonly #names: ReadonlySet<string>
  readonly #ranges: readonly [Address, number][]
  readonly #resolve: Resolve

  /**
   * Creates the policy.
   * @param listed host names, addresses and CIDR ranges from the option `webhookAllowlist`
   */
  constructor(listed: readonly string[], resolve: Resolve) {
    this.#names = new Set(listed.filter((each) => !isListedRange(each)))
    this.#ranges = listed.filter(isListedRange).map(rangeOf)
    this.#resolve = resolve
  }

  /**
   * Resolves the host of a URL, and checks all its addresses.
   * @throws Error if the name cannot be resolved
   */
  async of(url: URL): Promise<Destination> {
    const problem = urlProblem(url)
    if (problem !== null) return { kind: 'refused', problem }
    const host = hostOf(url)
    if (isIP(host) !== 0) return this.#checked(host, [host], false)
    const isListed = this.#names.has(host)
    if (!isListed && isInside(host)) return refused(host)
    return this.#checked(host, await this.#resolve(host, isListed ? 'listed' : 'foreign'), isListed)
  }

  /**
   * Returns why no request to a URL will be sent, without resolving its name; null if this depends on its
   * addresses, or if the destination is allowed.
   */
  problemOf(url: URL): string | null {
    const host = hostOf(url)
    if (isIP(host) === 0) return !this.#names.has(host) && isInside(host) ? notPublic(host) : null
    const checked = this.#checked(host, [host], false)
    return checked.kind === 'refused' ? checked.problem : null
  }

  #checked(host: string, found: readonly string[], isListed: boolean): Destination {
    const addresses = found.map((text) => ({ text, address: parsed(text) }))
    const isFine = ({ address }: { address: Address | null }): boolean =>
      address !== null && (isListed || isPublic(address) || this.#isInListedRange(address))
    if (addresses.length === 0 || !addresses.every(isFine)) return refused(host)
    return {
      kind: 'reachable',
      host,
      addresses: found.map((address) => ({ address, family: isIP(address) })),
    }
  }

  #isInListedRange(address: Address): boolean {
    return this.#ranges.some(([base, bits]) => base.kind() === address.kind() && address.match(base, bits))
  }
}

/** Returns a lookup function for connections that returns the checked addresses without another query. */
export const pinnedLookup =
  (addresses: readonly LookupAddress[]): LookupFunction =>
  (_host, options, callback) => {
    const [first] = addresses
    if (options.all === true) callback(null, [...addresses])
    else callback(null, first?.address ?? '', first?.family)
  }

function urlProblem(url: URL): string | null {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'the URL is not one of http or https'
  if (url.username !== '' || url.password !== '') return 'the URL has a user name or password in it'
  return null
}

/**
 * Returns the host without brackets and trailing dots. The URL parser has already normalized numbers and
 * converted letters to lower case.
 */
const hostOf = (url: URL): string => withoutTrailing('.', url.hostname.replace(/^\[|\]$/g, ''))

/**
 * Returns whether a name is private. A name with only one label is private, because the resolver completes it
 * from a search list.
 */
const isInside = (host: string): boolean => !host.includes('.') || insideNames.test(host)

const notPublic = (host: string): string =>
  `${host} is not a public internet address, and the webhookAllowlist of the server does not contain it`

const refused = (host: string): Destination => ({ kind: 'refused', problem: notPublic(host) })

/**
 * Parses an address; returns null if the text is not an address. IPv4 in IPv6 (`::ffff:127.0.0.1`) becomes
 * the IPv4 address.
 */
function parsed(text: string): Address | null {
  return isIP(text) === 0 ? null : ipaddr.process(text)
}

/**
 * Returns whether an address is public. Addresses in ranges with a special purpose (private, shared, tunnels,
 * tests, …) are not public.
 */
function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast' || address.toString() === hypervisor) return false
  return address.kind() === 'ipv4' || address.match(worldwide)
}

function rangeOf(listed: string): [Address, number] {
  if (listed.includes('/')) return ipaddr.parseCIDR(listed)
  const address = ipaddr.process(listed)
  return [address, address.kind() === 'ipv4' ? 32 : 128]
}

/**
 * Returns all addresses of a name. Rejects if the name is not known. `trust` is `listed` for names that the
 * operator configured, and `foreign` for names that any user may have configured.
 */
export type Resolve = (host: string, trust: 'listed' | 'foreign') => Promise<readonly string[]>

/**
 * Timeout in ms of one DNS query, and maximum number of queries to one server. All queries together take less
 * time than the deadline of an attempt.
 */
const timeoutMs = 3_000
const tries = 2

/**
 * Resolves a name. Foreign names are resolved by DNS only. A lookup by the operating system would occupy a
 * thread for as long as a name server takes, and the store needs the threads of the same pool for its writes.
 * Listed names use the lookup of the operating system, with its hosts file and search list.
 */
export const resolveName: Resolve = (host, trust) =>
  trust === 'listed' ? bySystem(host) : resolveByDns(host, new Resolver({ timeout: timeoutMs, tries }))

async function bySystem(host: string): Promise<readonly string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address)
}

/** Returns the IPv4 and IPv6 addresses of a name. Rejects if the name has no address. */
export async function resolveByDns(host: string, resolver: Resolver): Promise<readonly string[]> {
  const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
  const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  const [ipv4] = answers
  if (found.length === 0 && ipv4.status === 'rejected') throw ipv4.reason
  return found
}
