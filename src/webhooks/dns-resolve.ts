import { lookup, Resolver } from 'node:dns/promises'

/**
 * Returns all addresses of a name. Rejects if the name is not known. `listed` names come from the operator, `foreign`
 * names from any user.
 */
export type Resolve = (host: string, trust: 'listed' | 'foreign') => Promise<readonly string[]>

/** Timeout and number of the DNS queries to one server. Together they are shorter than the deadline of an attempt. */
const timeoutMs = 3_000
const tries = 2

/**
 * Resolves foreign names by DNS only. The lookup of the system occupies a thread of the pool that the store writes
 * with, for as long as a name server takes. Listed names use the lookup of the system, with the hosts file and the
 * search list.
 */
export const resolveName: Resolve = (host, trust) =>
  trust === 'listed' ? bySystem(host) : resolveByDns(host, new Resolver({ timeout: timeoutMs, tries }))

async function bySystem(host: string): Promise<readonly string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address)
}

/** Returns the IPv4 and IPv6 addresses of a name. Rejects if it has neither. */
export async function resolveByDns(host: string, resolver: Resolver): Promise<readonly string[]> {
  const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
  const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  const [ipv4] = answers
  if (found.length === 0 && ipv4.status === 'rejected') throw ipv4.reason
  return found
}
