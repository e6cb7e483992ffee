import { createHmac, hkdfSync } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { timingSafeEqualBytes } from '../../access/credentials/timing-safe.ts'
import type { Clock } from '../../clock.ts'

/** Says that a request comes from another node, and on whose behalf. */
export const forwardingHeader = 'x-weft-hop'

/** How far apart clocks of nodes may be, and how long a request may be on its way, in ms. */
const validMs = 60_000

/** One way of one client's request, between two nodes. */
export interface ForwardedRequest {
  /** The node that is to serve it. */
  readonly to: string
  /** Of the request: path and query. */
  readonly url: string
}

/** Who is passed on. */
export interface ForwardedClient {
  /** The node that it came to. */
  readonly from: string
  /** Where it is, as limits count it. */
  readonly address: string
}

/** `forged`: it says so, and no node of ours has. */
export type ForwardingHeader =
  | { readonly kind: 'direct' }
  | { readonly kind: 'forged' }
  | ({ readonly kind: 'hop' } & ForwardedClient)

/**
 * Seals what nodes say to each other in a header of a client's request, with a key that is made from the signing secret.
 * A header that is seen somewhere is of use to nobody else: it is for one node, one request, and a minute.
 */
export class ForwardingSigner {
  readonly #keys: readonly Buffer[]
  readonly #clock: Clock

  /** @param secrets the first one seals, all are accepted */
  constructor(secrets: readonly string[], clock: Clock) {
    this.#keys = secrets.map((secret) => Buffer.from(hkdfSync('sha256', secret, '', 'weft hops', 32)))
    this.#clock = clock
  }

  seal(hop: ForwardedRequest, { from, address }: ForwardedClient): string {
    const [key] = this.#keys
    if (key === undefined) throw new RangeError('no secret to seal with')
    const said = [this.#clock.now(), ...[from, address].map(encoded)].join('.')
    return `${said}.${macOf(key, hop, said).toString('base64url')}`
  }

  sealUrl(node: string, url: string): string {
    const [key] = this.#keys
    if (key === undefined) throw new RangeError('no secret to seal with')
    return `${url} ${urlMacOf(key, node, url).toString('base64url')}`
  }

  /** Null for what that node has not sealed. */
  readUrl(node: string, sealed: string): URL | null {
    const [, url = '', given = ''] = sealedUrl.exec(sealed) ?? []
    const mac = Buffer.from(given, 'base64url')
    const isOurs = this.#keys.some((key) => timingSafeEqualBytes(urlMacOf(key, node, url), mac))
    return isOurs && URL.canParse(url) ? new URL(url) : null
  }

  read(headers: IncomingHttpHeaders, hop: ForwardedRequest): ForwardingHeader {
    const header = headers[forwardingHeader]
    if (header === undefined) return { kind: 'direct' }
    const [, said = '', at = '', from = '', address = '', given = ''] = form.exec(String(header)) ?? []
    const mac = Buffer.from(given, 'base64url')
    const isOurs = this.#keys.some((key) => timingSafeEqualBytes(macOf(key, hop, said), mac))
    const isFresh = Math.abs(this.#clock.now() - Number(at)) <= validMs
    if (!isOurs || !isFresh) return { kind: 'forged' }
    return { kind: 'hop', from: decoded(from), address: decoded(address) }
  }
}

/** Where a node is, as it says it itself over the bus: what clients send is passed on to no other place. */
const sealedUrl = /^(https?:\/\/[^ ]+) ([\w-]{43})$/

/** Time, node, address, and the seal on all of them. */
const form = /^((\d{1,15})\.([\w-]*)\.([\w-]*))\.([\w-]{43})$/

const encoded = (text: string): string => Buffer.from(text).toString('base64url')
const decoded = (text: string): string => Buffer.from(text, 'base64url').toString()

const macOf = (key: Buffer, { to, url }: ForwardedRequest, said: string): Buffer =>
  createHmac('sha256', key)
    .update(JSON.stringify([said, to, url]))
    .digest()

const urlMacOf = (key: Buffer, node: string, url: string): Buffer =>
  createHmac('sha256', key)
    .update(JSON.stringify(['url', node, url]))
    .digest()
