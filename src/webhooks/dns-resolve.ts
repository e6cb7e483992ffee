import { lookup, Resolver } from 'node:dns/promises'

/**
 * All addresses of a name; rejects when it is not known. `listed`: the operator has named it. `foreign`: anybody may
 * have.
 */
export type Resolve = (host: string, trust: 'listed' | 'foreign') => Promise<readonly string[]>

/** For one question to one server, and so many times; less than an attempt has. */
const timeoutMs = 3_000
const tries = 2

/**
 * Foreign names by DNS alone: the system's lookup holds a thread of the pool that the store writes with, and a name
 * server may take as long as it likes. Listed names as the system finds them, hosts file and search list included.
 */
export const resolveName: Resolve = (host, trust) =>
  trust === 'listed' ? bySystem(host) : resolveByDns(host, new Resolver({ timeout: timeoutMs, tries }))

async function bySystem(host: string): Promise<readonly string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address)
}

/** Both kinds of addresses; one is enough. Rejects when there is neither. */
export async function resolveByDns(host: string, resolver: Resolver): Promise<readonly string[]> {
  const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
  const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  const [ipv4] = answers
  if (found.length === 0 && ipv4.status === 'rejected') throw ipv4.reason
  return found
}
