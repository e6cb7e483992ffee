import { lookup, Resolver } from 'node:dns/promises'

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
