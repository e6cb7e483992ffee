import type { LookupAddress } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'
import { isListedRange } from '../config/webhook-allowlist.ts'
import { withoutTrailing } from '../text.ts'
import type { Resolve } from './dns-resolve.ts'

/** Where a request would go. */
export type Destination =
  /** The connection may be made to these addresses and no others. */
  | { readonly kind: 'reachable'; readonly host: string; readonly addresses: readonly LookupAddress[] }
  /** Says why, and nothing of what a name has resolved to: whoever sets URLs need not know our network. */
  | { readonly kind: 'refused'; readonly problem: string }

type Address = ipaddr.IPv4 | ipaddr.IPv6

/** Names that mean something else, or something more, on the inside (RFC 6761, 6762, 8375, ICANN's `internal`). */
const insideNames = /(^|\.)(localhost|localdomain|local|internal|intranet|corp|home|lan|private|home\.arpa)$/

/** All that is routed as IPv6 to the world; what lies outside of it (`::127.0.0.1`, say) only looks like unicast. */
const worldwide = ipaddr.IPv6.parseCIDR('2000::/3')

/** Of the public ranges, and yet it is answered by the machine that a virtual one runs on (Azure). */
const hypervisor = '168.63.129.16'

/**
 * Knows which destinations may be called: those on the public internet, and those that the operator has listed. A name
 * is looked up once for an attempt, every address that it has is looked at, and the connection is made to those very
 * addresses; what the name resolves to a moment later does not matter.
 */
export class DestinationPolicy {
  readonly #names: ReadonlySet<string>
  readonly #ranges: readonly [Address, number][]
  readonly #resolve: Resolve

  /** @param listed host names, addresses and CIDRs, as the option gives them */
  constructor(listed: readonly string[], resolve: Resolve) {
    this.#names = new Set(listed.filter((each) => !isListedRange(each)))
    this.#ranges = listed.filter(isListedRange).map(rangeOf)
    this.#resolve = resolve
  }

  /** Rejects when the name cannot be looked up. */
  async of(url: URL): Promise<Destination> {
    const problem = urlProblem(url)
    if (problem !== null) return { kind: 'refused', problem }
    const host = hostOf(url)
    if (isIP(host) !== 0) return this.#checked(host, [host], false)
    const isListed = this.#names.has(host)
    if (!isListed && isInside(host)) return refused(host)
    return this.#checked(host, await this.#resolve(host, isListed ? 'listed' : 'foreign'), isListed)
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

/** A lookup for connections that knows the addresses already. */
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

/** Without brackets and dots at the end. The URL parser has brought numbers into their normal form, and letters to lower case. */
const hostOf = (url: URL): string => withoutTrailing('.', url.hostname.replace(/^\[|\]$/g, ''))

/** Names of one label are of the inside as well: they are completed by a search list. */
const isInside = (host: string): boolean => !host.includes('.') || insideNames.test(host)

const refused = (host: string): Destination => ({
  kind: 'refused',
  problem: `${host} does not lead to the public internet, and is not on the list of the server`,
})

/** IPv4 in IPv6 (`::ffff:127.0.0.1`) is the IPv4 address that it means. Null: no address. */
function parsed(text: string): Address | null {
  return isIP(text) === 0 ? null : ipaddr.process(text)
}

/** Every range that is set aside for something (private, shared, tunnels, tests, …) is none of the public internet. */
function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast' || address.toString() === hypervisor) return false
  return address.kind() === 'ipv4' || address.match(worldwide)
}

function rangeOf(listed: string): [Address, number] {
  if (listed.includes('/')) return ipaddr.parseCIDR(listed)
  const address = ipaddr.process(listed)
  return [address, address.kind() === 'ipv4' ? 32 : 128]
}
